/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker observe: the observables of a spec from a trajectory. Frames go through the same launches as those of a
 * run.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/spec/document/value.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/observe/files.h"
#include "daemon/worker/observe/read_ahead.h"
#include "daemon/worker/observe/stage_times.h"
#include "daemon/worker/offline/input.h"
#include "daemon/worker/offline/measure.h"
#include "engine/base/clock.h"
#include "engine/base/number.h"
#include "engine/math/box.h"
#include "engine/observe/observe.h"

#define NEWS 0.2        /* seconds between two lines of progress */
#define CUTOFF_PART 0.1 /* of the longest cut-off that a box can have */

struct observe_request {
    const char *spec, *trajectory, *device;
    struct observe_files files;
    struct args_list includes;
    double begin, end, dt; /* ps; dt 0: all frames */
    int window;
    bool json, quiet, stages;
};

/* ---- which frames ---- */

struct picker {
    const struct observe_request *q;
    struct read_ahead *trajectory;
    uint64_t picked;
    double first, last; /* ps: the first that counts; the last one that was seen */
};

/* Times are single precision in most files: so far from each other may two of them be that are one. */
static double slack(double time)
{
    return 1e-6 + 1.2e-7 * fabs(time);
}

static bool picks(const struct picker *p, double time)
{
    const double since = time - p->first, dt = p->q->dt;
    if (isnan(time)) /* only without a choice by time */
        return true;
    if (time < p->q->begin - slack(time))
        return false;
    return !p->picked || !(dt > 0) || fabs(since - dt * rint(since / dt)) < slack(time);
}

/* The next frame that counts; TRAJECTORY_END. */
static int next_frame(struct picker *p, struct trajectory_frame *f, struct err *e)
{
    const struct observe_request *q = p->q;
    for (;;) {
        int rc = read_ahead_next(p->trajectory, f, e);
        if (rc)
            return rc;
        if (isnan(f->time) && (q->begin > -INFINITY || q->end < INFINITY || q->dt > 0))
            return err_set(e, ERR_COORDINATES,
                           "%s: frame %llu: its title says no time (t= 1.5); --begin, --end and --dt need one",
                           q->trajectory, (unsigned long long)f->number);
        p->last = f->time;
        if (f->time > q->end + slack(f->time))
            return TRAJECTORY_END;
        if (!picks(p, f->time))
            continue;
        p->first = p->picked++ ? p->first : f->time;
        return 0;
    }
}

/* The time between the first two frames that count: of what is as near as their single precision tells, that with the
 * fewest digits. NAN: there are no two, or no times. */
static double interval_of(const double time[2])
{
    const double interval = time[1] - time[0];
    double unit = 1e6, near = interval;
    for (; unit > 1e-7; unit /= 10) {
        near = rint(interval / unit) * unit;
        if (near != 0 && fabs(near - interval) < slack(time[1]))
            break;
    }
    return near;
}

static int find_interval(const struct observe_request *q, struct system *sys, struct err *e)
{
    struct picker p = {.q = q};
    struct trajectory_frame f;
    double time[2] = {NAN, NAN};
    int rc = read_ahead_open(&p.trajectory, q->trajectory, sys, e);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = next_frame(&p, &f, e);
        time[i] = rc ? NAN : f.time;
    }
    read_ahead_close(p.trajectory);
    for (int i = 0; i < sys->nobservables; i++)
        sys->observables[i].interval = interval_of(time);
    return rc < 0 ? rc : 0;
}

/* ---- the work ---- */

struct observe_work {
    const struct observe_request *q;
    const struct system *sys;
    struct dev *dev;
    struct model *model;
    struct sim *sim;
    struct observe_series series[OBSERVABLES_MAX];
    double told;    /* when progress was */
    double begin;   /* ps: of the first frame */
    double started; /* with the second frame: the first has graphs made */
    double seconds; /* that the frames after the first took */
    uint64_t frames;
};

/* One line, written over, on a terminal alone. */
static void tell(struct observe_work *w, const struct picker *p, bool last)
{
    if (w->q->quiet || !isatty(STDERR_FILENO) || (!last && clock_now() - w->told < NEWS))
        return;
    w->told = clock_now();
    fprintf(stderr, "\r%3.0f %%  %llu frames  %.6g ps\033[K%s", 100 * read_ahead_part(p->trajectory),
            (unsigned long long)p->picked, p->last, last ? "\n" : "");
}

/* Where an observable needs them to. */
static int check_time(struct observe_work *w, const struct picker *p, const struct trajectory_frame *f, struct err *e)
{
    for (int i = 0; i < w->sys->nobservables; i++) {
        const struct observable *o = &w->sys->observables[i];
        const double due = w->begin + (double)(p->picked - 1) * o->interval;
        const double off = fmin(0.1 * o->interval + slack(due), 0.5 * o->interval);
        if (p->picked == 1)
            w->begin = f->time;
        else if (observe_kinds[o->kind]->equal_times && !(fabs(f->time - due) < off))
            return err_set(e, ERR_COORDINATES,
                           "%s: frame %llu is at %.10g ps, expected %.10g ps: %s needs frames at equal times",
                           w->q->trajectory, (unsigned long long)f->number, f->time, due, o->name);
    }
    return 0;
}

static int check_velocities(const struct observable *o, const struct trajectory_frame *f, struct err *e)
{
    if (f->v || !observe_kinds[o->kind]->needs_velocities)
        return 0;
    return err_set(e, ERR_COORDINATES, "%s: no velocities; expected a .trr or .gro file that has them", o->name);
}

static int add_to_series(struct observe_work *w, int i, double time, struct err *e)
{
    const struct observable *o = &w->sys->observables[i];
    void *bytes = xcalloc(1, observe_bytes(o));
    int rc = sim_observe_read(w->sim, i, bytes, e);
    const struct observe_result r = observe_result(w->sys, o, bytes);
    if (!rc)
        observe_series_add(&w->series[i], &r, time);
    free(bytes);
    return rc;
}

static int take_frame(struct observe_work *w, const struct picker *p, const struct trajectory_frame *f, struct err *e)
{
    int rc = check_time(w, p, f, e);
    if (rc)
        return rc;
    for (int i = 0; i < w->sys->nobservables && !rc; i++) {
        rc = check_velocities(&w->sys->observables[i], f, e);
        if (!rc)
            rc = observe_check_box(&w->sys->observables[i], w->sys, f->box, e);
    }
    if (rc)
        return err_prefix(e, "%s: frame %llu, at %.10g ps", w->q->trajectory, (unsigned long long)f->number, f->time);
    rc = sim_put(w->sim, (const double(*)[3])f->x, (const double(*)[3])f->v, f->box, e);
    if (!rc)
        rc = work_through(w->dev, w->sim, SIM_OBSERVE, 1, e);
    for (int i = 0; i < w->sys->nobservables && !rc; i++)
        if (observe_series_of(&w->sys->observables[i]))
            rc = add_to_series(w, i, f->time, e);
    return rc;
}

static int take_frames(struct observe_work *w, struct err *e)
{
    struct picker p = {.q = w->q};
    struct trajectory_frame f;
    int rc = read_ahead_open(&p.trajectory, w->q->trajectory, w->sys, e);
    if (rc)
        return rc;
    while (!(rc = next_frame(&p, &f, e)) && !(rc = take_frame(w, &p, &f, e))) {
        if (p.picked == 1)
            w->started = clock_now();
        tell(w, &p, false);
    }
    w->seconds = clock_now() - w->started;
    w->frames = p.picked;
    if (p.picked)
        tell(w, &p, true);
    read_ahead_close(p.trajectory);
    if (rc == TRAJECTORY_END && !p.picked)
        return err_set(e, ERR_USAGE,
                       "%s: none of its frames is between --begin and --end; the last one read is at %.10g ps",
                       w->q->trajectory, p.last);
    return rc < 0 ? rc : 0;
}

/* ---- what came out ---- */

static int results(struct observe_work *w, struct observe_files *files, struct buf *out, struct err *e)
{
    struct writer json = {.out = out};
    int rc = 0;
    if (w->q->json) {
        jw_begin(&json, NULL, '{');
        jw_text(&json, "trajectory", w->q->trajectory);
        jw_begin(&json, "observables", '[');
    }
    for (int i = 0; i < w->sys->nobservables && !rc; i++) {
        const struct observable *o = &w->sys->observables[i];
        void *bytes = xcalloc(1, observe_bytes(o));
        rc = sim_observe_read(w->sim, i, bytes, e);
        const struct observe_result r = observe_result(w->sys, o, bytes);
        if (!rc)
            rc = observe_files_add(files, &r, &w->series[i], e);
        if (!rc && w->q->json) {
            jw_begin(&json, NULL, '{');
            observe_json(&r, true, &json);
            if (observe_series_of(o))
                observe_series_json(&w->series[i], &json);
            jw_end(&json, '}');
        } else if (!rc)
            observe_line(&r, out);
        free(bytes);
    }
    if (w->q->json) {
        jw_end(&json, ']');
        if (w->frames > 1)
            jw_real(&json, "frames_per_second", (double)(w->frames - 1) / w->seconds);
        if (!rc && w->q->stages)
            rc = stage_times(w->sim, &json, e);
        jw_end(&json, '}');
        buf_printf(out, "\n");
    }
    return rc;
}

/* ERR_SPEC: it cannot be of a trajectory. */
static int check_observable(const struct observable *o, const struct system *sys, struct err *e)
{
    if (observe_kinds[o->kind]->needs_sample)
        return err_set(
            e, ERR_SPEC,
            "%s: a trajectory lacks the forces of its frames; expected observables of positions and velocities "
            "alone, and %s in a run",
            o->name, observable_words[o->kind]);
    return observe_check(o, sys, e);
}

/* No force is computed of frames: cut-offs that fit any box, and no mesh. */
static struct settings without_forces(const struct settings *of, const double box[BOX_SIZE])
{
    struct settings set = *of;
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    set.nonbonded.vdw_modifier = VDW_CUTOFF;
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = CUTOFF_PART * box_cutoff_limit(box);
    return set;
}

static int observe(struct observe_request *q, const struct spec *spec, struct system *sys, struct err *e)
{
    struct observe_work w = {.q = q, .sys = sys};
    const struct settings set = without_forces(&spec->settings, sys->box);
    struct buf out = {0};
    if (!sys->nobservables)
        return err_set(e, ERR_SPEC,
                       "%s: expected observables, such as observables: [{rdf: {between: [OW, OW], max: 1 nm}}]",
                       q->spec);
    int rc = input_window(spec, q->window, e);
    if (!rc)
        rc = observe_series_check(sys, e);
    if (!rc)
        rc = find_interval(q, sys, e);
    for (int i = 0; i < sys->nobservables && !rc; i++)
        rc = check_observable(&sys->observables[i], sys, e);
    if (!rc)
        rc = observe_files_begin(&q->files, e);
    if (!rc)
        rc = engine_open(&w.dev, q->device, e);
    if (rc)
        return rc;
    rc = model_new(&w.model, w.dev, sys, &set, e);
    if (!rc)
        rc = sim_new(&w.sim, w.model, (int)q->window, 0, e);
    if (!rc)
        rc = take_frames(&w, e);
    if (!rc)
        rc = results(&w, &q->files, &out, e);
    if (!rc)
        rc = observe_files_end(&q->files, e);
    if (!rc)
        fwrite(out.data, 1, out.len, stdout);
    buf_free(&out);
    for (int i = 0; i < OBSERVABLES_MAX; i++)
        observe_series_close(&w.series[i]);
    sim_free(w.sim);
    model_free(w.model);
    dev_close(w.dev);
    return rc;
}

/* ---- the command ---- */

static int read_time(const char *option, const char *text, double *out, struct err *e)
{
    struct quantity q;
    if (value_quantity(text, "ps", false, &q) != QUANTITY_OK)
        return err_set(e, ERR_USAGE, "%s %s: expected a time (units: %s), such as '20 ps'", option, text,
                       value_units("ps"));
    *out = q.value;
    return 0;
}

static int take_begin(void *request, const char *value, struct err *e)
{
    struct observe_request *q = request;
    return read_time("--begin", value, &q->begin, e);
}

static int take_end(void *request, const char *value, struct err *e)
{
    struct observe_request *q = request;
    return read_time("--end", value, &q->end, e);
}

static int take_dt(void *request, const char *value, struct err *e)
{
    struct observe_request *q = request;
    int rc = read_time("--dt", value, &q->dt, e);
    return rc || q->dt >= 0 ? rc : err_set(e, ERR_USAGE, "--dt %s: expected no time below zero", value);
}

static const struct arg rows[] = {
    ARG(TEXT, "trajectory", "FILE", struct observe_request, trajectory),
    ARG_CALL("begin", "TIME", .take = take_begin),
    ARG_CALL("end", "TIME", .take = take_end),
    ARG_CALL("dt", "TIME", .take = take_dt),
    ARG(TEXT, "output", "DIR", struct observe_request, files.output),
    ARG(TEXT, "plot", "PATH", struct observe_request, files.plot),
    ARG(FLAG, "csv", NULL, struct observe_request, files.csv),
    ARG(WHOLE, "window", "K", struct observe_request, window, .most = INT_MAX),
    ARG(TEXT, "device", "DEVICE", struct observe_request, device),
    ARG(LIST, "include", "DIR", struct observe_request, includes),
    ARG(FLAG, "json", NULL, struct observe_request, json),
    ARG(FLAG, "quiet", NULL, struct observe_request, quiet),
    ARG(FLAG, "stages", NULL, struct observe_request, stages),
};

/* What goes with what. */
static int check_request(const struct observe_request *q, struct err *e)
{
    if (!q->trajectory)
        return err_set(e, ERR_USAGE, "expected --trajectory FILE; shoal observe --help shows how");
    return q->stages && !q->json ? err_set(e, ERR_USAGE, "--stages goes with --json") : 0;
}

int observe_main(int argc, char **argv)
{
    static const struct command_line line = {"observe", "SPEC", 1, 1, rows, sizeof rows / sizeof *rows, NULL};
    struct observe_request q = {.files.output = ".", .device = "cpu:1", .begin = -INFINITY, .end = INFINITY};
    struct err e = {0};
    struct spec *spec = NULL;
    struct system sys = {0};
    int words, code;
    if (!command_line_read(&line, &q, argc, argv, &words, &code))
        return code;
    int rc = check_request(&q, &e);
    if (rc)
        return exit_with("observe", &e);
    q.spec = argv[1];
    rc = input_read(q.spec, q.includes.items, q.includes.n, &spec, &sys, &e);
    if (!rc)
        rc = observe(&q, spec, &sys, &e);
    observe_files_close(&q.files);
    system_close(&sys);
    spec_free(spec);
    return rc ? exit_with("observe", &e) : EXIT_OK;
}
