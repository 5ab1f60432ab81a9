/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker bench: what a step of a replica costs, for one number of replicas or for several, on one device or on
 * several, with replicas of one spec or of several side by side.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/offline/bench_plot.h"
#include "daemon/worker/offline/bench_profile.h"
#include "daemon/worker/offline/bench_run.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/plot/plot.h"

enum { COUNTS_MAX = 32, DEVICES_MAX = 4, STEPS_MAX = 1000000000 };

struct bench_options {
    struct bench_task task;
    const char *devices[DEVICES_MAX];
    unsigned counts[COUNTS_MAX];
    int ndevices, ncounts;
    int steps, warm_up; /* of each replica, and before them; 0: the usual */
    const char *plot;
    bool json, sweep, each, profile;
};

/* ---- results ---- */

static double us_of(const struct bench_result *r, int spec)
{
    return r->wall / (double)r->share[spec].steps * 1e6;
}

static double ns_per_day_of(const struct bench_result *r, int spec)
{
    const struct bench_share *s = &r->share[spec];
    return (double)s->steps * s->timestep * 1e-3 / r->wall * 86400;
}

/* Of what all did together, one spec's part; of steps of replicas, or of those of atoms, of which a large system does
 * more. */
static double part_of(const struct bench_task *t, const struct bench_result *r, int spec, bool of_atoms)
{
    double own = 0, all = 0;
    for (int k = 0; k < t->nspecs; k++) {
        const double steps = (double)r->share[k].steps * (of_atoms ? r->share[k].natoms : 1);
        own = k == spec ? steps : own;
        all += steps;
    }
    return own / all;
}

/* Processor time of the feeding thread for a step of any replica. */
static double feeding_of(const struct bench_task *t, const struct bench_result *r)
{
    uint64_t steps = 0;
    for (int k = 0; k < t->nspecs; k++)
        steps += r->share[k].steps;
    return r->feeding / (double)steps * 1e6;
}

/* "none": there is no mesh, or the device has one way to do it. */
static const char *const form_names[] = {[FORM_AUTO] = "auto", [FORM_GANG] = "gang", [FORM_GRAPH] = "graph"},
                         *const pme_names[] = {[PME_AUTO] = "none", [PME_BLOCK] = "block", [PME_CARD] = "card"};

/* One spec of one measurement. */
static json_t *figures(const struct bench_task *t, const struct bench_result *r, int spec)
{
    const struct bench_share *s = &r->share[spec];
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:f, s:I, s:I, s:f, s:f, s:f, s:i, s:f, s:f, s:I}", "spec",
                  t->specs[spec], "device", t->device, "form", form_names[s->forms.step], "pme",
                  pme_names[s->forms.pme], "replicas", (int)t->replicas, "atoms", s->natoms, "timestep_fs",
                  s->timestep * 1e3, "steps", (json_int_t)t->steps, "replica_steps", (json_int_t)s->steps, "wall_s",
                  r->wall, "us_per_replica_step", us_of(r, spec), "ns_per_day_aggregate", ns_per_day_of(r, spec),
                  "kernel_nodes_per_step", (int)s->nodes, "cpu_s_per_wall_s", r->cpu / r->wall,
                  "feeding_us_per_replica_step", feeding_of(t, r), "device_bytes_per_replica", (json_int_t)s->bytes);
    if (t->nspecs > 1) {
        json_object_set_new(out, "part_of_replica_steps", json_real(part_of(t, r, spec, false)));
        json_object_set_new(out, "part_of_atom_steps", json_real(part_of(t, r, spec, true)));
    }
    return out;
}

static void print_one(const struct bench_task *t, const struct bench_result *r)
{
    json_t *out = figures(t, r, 0), *value;
    const char *key;
    json_object_foreach (out, key, value)
        if (json_is_string(value))
            printf("%-28s %s\n", key, json_string_value(value));
        else
            printf("%-28s %.6g\n", key, json_number_value(value));
    json_decref(out);
}

/* A row for each spec; one after the other as they are measured, since a sweep takes its time. Of several side by side
 * with what each gets of the device. */
static void print_rows(const struct bench_task *t, const struct bench_result *r, bool first)
{
    const bool parts = t->nspecs > 1;
    if (first)
        printf("%-10s %8s %8s %14s %10s %8s %s%s\n", "device", "replicas", "atoms", "us/replica-step", "ns/day",
               "cores", parts ? "% of steps  of atom-steps " : "", "spec");
    for (int k = 0; k < t->nspecs; k++) {
        printf("%-10s %8u %8d %14.3f %10.1f %8.2f ", t->device, t->replicas, r->share[k].natoms, us_of(r, k),
               ns_per_day_of(r, k), r->cpu / r->wall);
        if (parts)
            printf("%10.1f %14.1f ", 100 * part_of(t, r, k, false), 100 * part_of(t, r, k, true));
        printf("%s\n", t->specs[k]);
    }
    fflush(stdout);
}

/* ---- measurements ---- */

/* Several figures, a row each. */
static bool is_table(const struct bench_options *o)
{
    return o->sweep || o->ndevices > 1 || o->task.nspecs > 1;
}

/* One measurement as its user sees it; of the task's specs, or with --profile of the only one. */
static void tell(const struct bench_options *o, const struct bench_task *task, const struct bench_profile *p,
                 json_t *runs, bool first)
{
    for (int k = 0; o->json && k < task->nspecs; k++) {
        json_t *run = figures(task, &p->together, k);
        if (o->profile)
            json_object_set_new(run, "profile", bench_profile_json(p));
        json_array_append_new(runs, run);
    }
    if (o->json)
        return;
    if (is_table(o))
        print_rows(task, &p->together, first || o->profile);
    else
        print_one(task, &p->together);
    if (o->profile)
        bench_profile_print(task, p);
}

/* Specs side by side, or with --each the one of that number alone. Adds to what is told and drawn. */
static int measure_point(struct bench_options *o, int spec, json_t *runs, struct bench_point *point, bool first,
                         struct err *e)
{
    struct bench_task task = o->task;
    struct bench_profile p;
    if (o->each) {
        task.specs[0] = o->task.specs[spec];
        task.nspecs = 1;
    }
    int rc = o->profile ? bench_profile(&task, &p, e) : bench_run(&task, &p.together, e);
    if (rc)
        return rc;
    *point = o->each ? (struct bench_point){task.device, p.together.share[0].natoms, ns_per_day_of(&p.together, 0), ""}
                     : (struct bench_point){task.device, task.replicas, us_of(&p.together, 0), ""};
    tell(o, &task, &p, runs, first);
    return 0;
}

/* Of the first device beside the last, where each spec was measured alone: how many times as fast it is. */
static void compare_devices(struct bench_point *points, int ndevices, int nspecs)
{
    for (int k = 0; k < nspecs && ndevices > 1; k++) {
        struct bench_point *p = &points[k];
        snprintf(p->note, sizeof p->note, "x %.3g", p->y / points[(ndevices - 1) * nspecs + k].y);
    }
}

static int by_size(const void *a, const void *b)
{
    const struct bench_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static int draw(const struct bench_options *o, struct bench_point *points, int n, struct err *e)
{
    const char *slash = strrchr(o->task.specs[0], '/');
    char title[48];
    struct bench_picture p = {slash ? slash + 1 : o->task.specs[0], "replicas on the device", "us per replica-step",
                              false};
    if (o->each) {
        snprintf(title, sizeof title, "%u replica%s on a device", o->task.replicas, o->task.replicas > 1 ? "s" : "");
        p = (struct bench_picture){title, "atoms", "ns/day", true};
        compare_devices(points, o->ndevices, o->task.nspecs);
        for (int d = 0; d < o->ndevices; d++)
            qsort(points + d * o->task.nspecs, (size_t)o->task.nspecs, sizeof *points, by_size);
    }
    return bench_plot(o->plot, &p, points, n, e);
}

static int measure_all(struct bench_options *o, json_t *runs, struct bench_point *points, struct err *e)
{
    int n = 0, rc = 0;
    for (int d = 0; d < o->ndevices; d++)
        for (int k = 0; k < o->ncounts; k++)
            for (int spec = 0; spec < (o->each ? o->task.nspecs : 1); spec++, n++) {
                o->task.device = o->devices[d];
                o->task.replicas = o->counts[k];
                rc = measure_point(o, spec, runs, &points[n], n == 0, e);
                if (rc)
                    return rc;
            }
    if (o->json)
        json_dumpf(is_table(o) ? runs : json_array_get(runs, 0), stdout, JSON_REAL_PRECISION(6));
    if (o->json)
        putchar('\n');
    return o->plot ? draw(o, points, n, e) : 0;
}

static int bench(struct bench_options *o, struct err *e)
{
    static struct bench_point points[DEVICES_MAX * COUNTS_MAX];
    json_t *runs = json_array();
    int rc = measure_all(o, runs, points, e);
    json_decref(runs);
    return rc;
}

/* ---- options ---- */

static int read_count(struct bench_options *o, const char *option, const char *given, struct err *e)
{
    int64_t n;
    int rc = number_whole(&n, option, given, 1, 10000, e);
    if (!rc && o->ncounts == COUNTS_MAX)
        return err_set(e, ERR_USAGE, "%stakes at most %d numbers", option, COUNTS_MAX);
    if (!rc)
        o->counts[o->ncounts++] = (unsigned)n;
    return rc;
}

static int take_sweep(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    char *list = xstrdup(given), *rest = list, *part;
    int rc = 0;
    o->sweep = true;
    o->ncounts = 0;
    while (!rc && (part = strsep(&rest, ",")))
        rc = read_count(o, "--sweep ", part, e);
    free(list);
    return rc;
}

/* 0: auto; 1, 2: what comes of names[1], names[2]. Negative: neither. */
static int read_form(const char *option, const char *const names[3], const char *text, struct err *e)
{
    if (strcmp(text, "auto") == 0)
        return 0;
    for (int k = 1; k < 3; k++)
        if (strcmp(text, names[k]) == 0)
            return k;
    return err_set(e, ERR_USAGE, "%s %s: expected auto, %s or %s", option, text, names[1], names[2]);
}

static int take_replicas(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    o->ncounts = 0;
    return read_count(o, "--replicas ", given, e);
}

static int take_form(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    const int form = read_form("--form", form_names, given, e);
    o->task.form = (enum step_form)form;
    return form < 0 ? form : 0;
}

static int take_pme(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    const int form = read_form("--pme", pme_names, given, e);
    o->task.pme = (enum pme_form)form;
    return form < 0 ? form : 0;
}

static int take_device(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    if (o->ndevices == DEVICES_MAX)
        return err_set(e, ERR_USAGE, "--device: at most %d of them", DEVICES_MAX);
    o->devices[o->ndevices++] = given;
    return 0;
}

static int take_plot(void *options, const char *given, struct err *e)
{
    struct bench_options *o = options;
    o->plot = given;
    return plot_check_name(given, false, e);
}

static const struct arg rows[] = {
    ARG_CALL("replicas", "N", .take = take_replicas),
    ARG_CALL("sweep", "N,N,...", .take = take_sweep),
    ARG(FLAG, "each", NULL, struct bench_options, each),
    ARG(FLAG, "profile", NULL, struct bench_options, profile),
    ARG(WHOLE, "steps", "S", struct bench_options, steps, .least = 1, .most = STEPS_MAX, .usual = 1000),
    ARG(WHOLE, "warm-up", "S", struct bench_options, warm_up, .least = 1, .most = STEPS_MAX),
    ARG_CALL("device", "DEVICE", .take = take_device),
    ARG_CALL("form", "auto|gang|graph", .take = take_form),
    ARG_CALL("pme", "auto|block|card", .take = take_pme),
    ARG_CALL("plot", "FILE", .take = take_plot),
    ARG(LIST, "include", "DIR", struct bench_options, task.includes),
    ARG(FLAG, "json", NULL, struct bench_options, json),
};

/* What is not given, and what goes with what. */
static int complete(struct bench_options *o, char **words, int n, struct err *e)
{
    if (!o->ndevices)
        o->devices[o->ndevices++] = "cpu";
    o->task.steps = (uint64_t)o->steps;
    o->task.warm_up = (uint64_t)o->warm_up;
    for (int i = 0; i < n; i++)
        o->task.specs[o->task.nspecs++] = words[i];
    if (o->each && o->sweep)
        return err_set(e, ERR_USAGE, "--each --sweep: expected one of them");
    if (o->profile && n > 1 && !o->each)
        return err_set(e, ERR_USAGE, "--profile of several specs: expected --each, which takes them one by one");
    return 0;
}

int bench_main(int argc, char **argv)
{
    static const struct command_line line = {"bench", "SPEC...", 1, BENCH_SPECS_MAX, rows, sizeof rows / sizeof *rows,
                                             NULL};
    struct bench_options o = {.counts = {1}, .ncounts = 1};
    struct err e = {0};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    return complete(&o, argv + 1, words, &e) || bench(&o, &e) ? exit_with("bench", &e) : EXIT_OK;
}
