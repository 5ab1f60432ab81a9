/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches of a walker. Nothing else of it is on its way meanwhile. A checkpoint within a switch has
 * the state that is held, and the number of switches says that this one is not done: it goes on where it was. A switch
 * that blows up has its line too.
 */
#include <math.h>

#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
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

/* Checkpoints that come after a number of steps come after those of production. */
static bool kept_within(const struct replica *r)
{
    return r->stop || (!r->spec->checkpoint_every && replica_save_due(r, r->stage_step));
}

static int CO_FN drive(struct replica *r, struct err *e)
{
    const uint32_t cycle = mesh_cycle(&r->spec->settings.integrator);
    int rc = 0;
    while (!rc && sim_switch(r->sim).steps_left) {
        rc = advance(r, replica_batch(r, sim_switch(r->sim).steps_left, 0, cycle), e);
        if (!rc && sim_switch(r->sim).steps_left && kept_within(r))
            rc = replica_save_or_stop(r, e);
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
    sim_free(r->sim);
    r->sim = NULL;
    int rc = replica_on_disk(r, seal, &held, e);
    if (!rc)
        rc = sim_new(&r->sim, r->shared->model, replica_row(r), replica_random_key(r), e);
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

int CO_FN replica_switch(struct replica *r, struct err *e)
{
    const enum switch_way way = r->setup.window < r->spec->walkers ? SWITCH_FORWARD : SWITCH_BACKWARD;
    int rc = replica_fetch(r, e);
    if (!rc && !sim_switch(r->sim).under_way)
        rc = sim_switch_begin(r->sim, way, replica_doublings(r, r->switches), (uint32_t)r->switches, e);
    if (!rc)
        rc = drive(r, e);
    double work = sim_switch(r->sim).work;
    if (!rc) {
        r->blown = 0;
        rc = sim_switch_end(r->sim, e);
    } else if (rc < 0 && replica_blew_up(e)) {
        work = NAN;
        rc = give_up(r, e);
    }
    if (rc)
        return rc;
    note_work(r, way, work);
    return 0;
}
