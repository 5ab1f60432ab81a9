/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches of a walker. Nothing else of it is on its way meanwhile. A checkpoint within a switch has
 * the state that is held, and the number of switches says that this one is not done: it goes on where it was. A switch
 * that blows up has its line too.
 *
 * Where dH/dlambda of each switch is written to a file, checkpoints are of production alone: rows are kept in memory
 * until the switch has arrived. One that is stopped within is left, and begins anew from its snapshot.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/series/switch_slopes.h"
#include "engine/series/work_table.h"

enum { BLOWN_MOST = 5 }; /* switches in a row */

static void note_work(struct replica *r, enum switch_way way, double work)
{
    struct buf *works = outputs_begin(&r->outputs, OUTPUT_WORK);
    const struct settings *set = &r->shared->settings;
    const int doublings = replica_doublings(r, r->switches);
    if (r->switches && doublings != replica_doublings(r, r->switches - 1))
        work_table_length(works, (double)switch_steps_longer(&set->switching, doublings) * set->integrator.timestep);
    work_table_row(works, timeline_time(r->spec, r->stage, r->stage_step), way, work);
    outputs_end(&r->outputs, OUTPUT_WORK);
    r->switches++;
}

bool replica_switch_due(const struct replica *r, uint64_t step)
{
    return r->spec->walkers && timeline_switches(r->spec, r->stage, step) > r->switches;
}

/* n timesteps of it, again for what is left when a buffer had to grow. */
static int CO_FN advance(struct replica *r, uint32_t n, struct err *e)
{
    const double start = clock_now();
    for (uint32_t left = n; left;) {
        int rc = replica_submit(r, SIM_SWITCH, left, e);
        if (rc)
            return rc;
        replica_wait(r);
        rc = sim_outcome(r->sim, e);
        const uint32_t done = rc == SIM_GROW ? sim_steps_done(r->sim) : left;
        left -= done;
        if (rc == SIM_GROW)
            rc = replica_grew(r, done, e);
        if (rc)
            return rc;
    }
    r->grown = 0;
    replica_timed(r, clock_now() - start, n, n * r->shared->settings.integrator.timestep);
    return 0;
}

/* The work of a switch at even times from its beginning on, where its file is to have dH/dlambda. */
struct work_course {
    double *work; /* [n] kJ/mol; owned */
    size_t n;
};

static void note_slope(const struct replica *r, struct work_course *s)
{
    const struct sim_switch at = sim_switch(r->sim);
    if (!r->spec->slopes_every || at.steps % r->spec->slopes_every)
        return;
    s->work = xrealloc(s->work, s->n + 1, sizeof *s->work);
    s->work[s->n++] = at.work;
}

struct slopes_file {
    struct buf path, text;
};

static int write_slopes_job(void *arg, struct err *e)
{
    const struct slopes_file *f = arg;
    return buf_write_file(f->path.data, f->text.data, f->text.len, e);
}

static void slopes_path(const struct replica *r, uint64_t number, struct buf *path)
{
    char name[SWITCH_SLOPES_NAME];
    switch_slopes_name(name, number);
    buf_printf(path, "%s/%s", r->folder, name);
}

/* Before its line in work.tsv: a walker that is killed in between makes the switch again, and the same file. */
static int CO_FN write_slopes(struct replica *r, enum switch_way way, const struct work_course *s, struct err *e)
{
    const struct settings *set = &r->shared->settings;
    const uint64_t steps = switch_steps_longer(&set->switching, replica_doublings(r, r->switches));
    struct slopes_file f = {0};
    slopes_path(r, r->switches, &f.path);
    switch_slopes_file(&f.text, set->integrator.temperature, (double)steps * set->integrator.timestep, way, s->work,
                       s->n);
    int rc = replica_on_disk(r, write_slopes_job, &f, e);
    buf_free(&f.path);
    buf_free(&f.text);
    return rc;
}

/* Names of other files are of no switch. */
static int drop_if_later(const struct replica *r, const char *name, struct err *e)
{
    uint64_t number;
    if (!switch_slopes_number(name, &number) || number < r->switches)
        return 0;
    struct buf path = {0};
    buf_printf(&path, "%s/%s", r->folder, name);
    int rc = unlink(path.data) ? err_errno(e, "remove %s", path.data) : 0;
    buf_free(&path);
    return rc;
}

static int drop_slopes_job(void *arg, struct err *e)
{
    const struct replica *r = arg;
    DIR *d = opendir(r->folder);
    int rc = d ? 0 : err_errno(e, "look into %s", r->folder);
    for (const struct dirent *item; !rc && (item = readdir(d));)
        rc = drop_if_later(r, item->d_name, e);
    if (d)
        closedir(d);
    return rc;
}

int CO_FN replica_drop_slopes(struct replica *r, struct err *e)
{
    return r->spec->slopes_every ? replica_on_disk(r, drop_slopes_job, r, e) : 0;
}

/* Checkpoints that come after a number of steps come after those of production. */
static bool kept_within(const struct replica *r)
{
    return r->stop || (!r->spec->checkpoint_every && replica_save_due(r, r->stage_step));
}

/* Timesteps until the next row, or the end. */
static uint32_t steps_ahead(const struct replica *r)
{
    const struct sim_switch at = sim_switch(r->sim);
    const uint64_t every = r->spec->slopes_every;
    const uint64_t to_row = every ? every - at.steps % every : at.steps_left;
    return to_row < at.steps_left ? (uint32_t)to_row : at.steps_left;
}

/* Without rows in memory it is kept where it is; with them only a stop is heard, for which it is left. */
static int CO_FN keep_or_leave(struct replica *r, struct err *e)
{
    if (r->spec->slopes_every && !r->stop)
        return 0;
    int rc = r->spec->slopes_every ? sim_switch_end(r->sim, e) : 0;
    return rc ? rc : replica_save_or_stop(r, e);
}

static int CO_FN drive(struct replica *r, struct work_course *s, struct err *e)
{
    const uint32_t cycle = mesh_cycle(&r->spec->settings.integrator);
    int rc = 0;
    note_slope(r, s);
    while (!rc && sim_switch(r->sim).steps_left) {
        rc = advance(r, replica_batch(r, steps_ahead(r), 0, cycle), e);
        if (!rc)
            note_slope(r, s);
        if (!rc && sim_switch(r->sim).steps_left && kept_within(r))
            rc = keep_or_leave(r, e);
        if (!rc)
            rc = replica_progress(r, e);
    }
    return rc;
}

static int seal(void *arg, struct err *e)
{
    (void)e;
    sim_seal(arg);
    return 0;
}

/* A simulation anew, in which production goes on. */
static int CO_FN go_back(struct replica *r, struct err *e)
{
    struct buf held = sim_switch_rescue(r->sim);
    replica_drop_sim(r);
    int rc = replica_on_disk(r, seal, &held, e);
    if (!rc)
        rc = replica_simulate(r, e);
    if (!rc)
        rc = sim_load(r->sim, held.data, held.len, e);
    buf_free(&held);
    if (rc)
        return rc;
    if (r->salt)
        sim_salt(r->sim, (uint32_t)r->salt);
    replica_begin_moves(r, r->spec->stages + r->stage);
    return 0;
}

/* The atoms were driven where no timestep can follow. With other noise the switch might come through, and works would
 * be those of switches that do: another distribution. So it is noted as one whose work is not a number, and results
 * count it. Where all blow up the replica does. */
static int CO_FN give_up(struct replica *r, struct err *e)
{
    struct err what = *e;
    if (++r->blown >= BLOWN_MOST)
        return -(int)e->code;
    replica_blown_up(r, &what);
    err_prefix(&what, "the switch is noted without a work, and production goes on");
    replica_report_event(r, "switch", &what);
    return go_back(r, e);
}

/* To its end, and back. */
static int CO_FN make(struct replica *r, enum switch_way way, struct work_course *s, struct err *e)
{
    int rc = replica_fetch(r, e);
    if (!rc && !sim_switch(r->sim).under_way)
        rc = sim_switch_begin(r->sim, way, replica_doublings(r, r->switches), (uint32_t)r->switches, e);
    if (!rc)
        rc = drive(r, s, e);
    double work = sim_switch(r->sim).work;
    if (!rc) {
        r->blown = 0;
        rc = sim_switch_end(r->sim, e);
        if (!rc && r->spec->slopes_every)
            rc = write_slopes(r, way, s, e);
    } else if (rc < 0 && replica_blew_up(e)) {
        work = NAN;
        rc = give_up(r, e);
    }
    if (rc)
        return rc;
    note_work(r, way, work);
    return 0;
}

int CO_FN replica_switch(struct replica *r, struct err *e)
{
    struct work_course s = {0};
    int rc = make(r, r->setup.window < r->spec->walkers ? SWITCH_FORWARD : SWITCH_BACKWARD, &s, e);
    free(s.work);
    return rc;
}
