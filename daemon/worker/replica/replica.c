/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a replica; dynamics.c has its timesteps. It yields in replica_wait, wait_gate and while a job reads or
 * writes files, with nothing captured or borrowed.
 *
 * 1. The bytes of the output files depend on spec, seed and device model alone: what is submitted in one batch, when a
 * stop comes and how often the replica was started changes none of them.
 * 2. A checkpoint is made between steps, after every event of its step (sample, frame, volume move) was carried out,
 * and after the outputs up to it are on disk.
 */
#include "daemon/worker/replica/replica.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"

static void CO_FN wait_gate(struct replica *r)
{
    r->at_gate = true;
    while (!replica_ready(r))
        co_pause();
    r->at_gate = false;
}

/* Submits n steps of descent and waits for them, again for what is left when a buffer had to grow. */
static int CO_FN descend(struct replica *r, uint32_t n, struct err *e)
{
    double start = clock_now();
    for (uint32_t left = n; left;) {
        int rc = replica_submit(r, SIM_MINIMIZE, left, e);
        if (rc)
            return rc;
        replica_wait(r);
        rc = sim_outcome(r->sim, e);
        uint32_t done = rc == SIM_GROW ? sim_steps_done(r->sim) : left;
        left -= done;
        if (rc == SIM_GROW)
            rc = replica_grew(r, done, e);
        if (rc)
            return rc;
    }
    replica_timed(r, clock_now() - start, n, 0);
    return 0;
}

static int CO_FN minimize(struct replica *r, const struct stage *stage, struct err *e)
{
    sim_minimize_setup(r->sim, stage->force_tolerance);
    while (r->stage_step < stage->steps) {
        uint32_t n = replica_batch(r, stage->steps - r->stage_step, 0, 1);
        int rc = descend(r, n, e);
        if (rc)
            return rc;
        r->stage_step += n;
        double max_force, potential;
        if (sim_minimized(r->sim, &max_force, &potential))
            break;
        if (r->stage_step < stage->steps && (r->stop || replica_save_due(r, r->stage_step)))
            rc = replica_save_or_stop(r, e);
        if (!rc)
            rc = replica_progress(r, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* An event where the spec has the motion of the center of mass taken out, and production does not. */
static void tell_center(const struct replica *r, const struct stage *stage)
{
    struct err what = {0};
    if (stage->kind != STAGE_PRODUCE || r->stage_step || r->shared->settings.integrator.com_every <= 0 ||
        !system_held_in_space(&r->shared->system))
        return;
    err_set(&what, ERR_NONE,
            "the motion of the center of mass stays in production: position restraints hold atoms in space");
    replica_report_event(r, "center", &what);
}

static int CO_FN run_stages(struct replica *r, struct err *e)
{
    while (r->stage < (uint64_t)r->spec->nstages) {
        const struct stage *stage = &r->spec->stages[r->stage];
        wait_gate(r);
        if (r->stop)
            return REPLICA_STOPPED;
        replica_begin_moves(r, stage);
        tell_center(r, stage);
        if (r->setup.load)
            r->setup.load->stages++;
        int rc = stage->kind == STAGE_MINIMIZE ? minimize(r, stage, e) : replica_dynamics(r, stage, e);
        if (rc)
            return rc;
        replica_end_moves(r);
        bool parts = stage + 1 < r->spec->stages + r->spec->nstages && stage[1].phase != stage->phase;
        rc = parts ? sim_part(r->sim, e) : 0;
        r->stage++;
        r->stage_step = 0;
        /* The checkpoint that says that all is done comes after the final coordinates. */
        if (!rc && r->stage < (uint64_t)r->spec->nstages)
            rc = stage->exchange_every && timeline_together(r->spec, r->stage, 0) ? replica_save_together(r, e)
                                                                                  : replica_save(r, e);
        if (!rc && parts)
            rc = replica_next_phase(r, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int CO_FN story(struct replica *r, struct err *e)
{
    struct models *models = r->setup.models;
    int rc = models_get(models, r->setup.jobs, &r->job, r->directory, r->setup.ladder, MODELS_ANY, &r->shared, e);
    if (rc)
        return rc;
    rc = replica_take_spec(r, e);
    if (rc)
        return rc;
    int natoms = r->shared->system.natoms, rows = r->spec->settings.alchemy.nwindows, windows = spec_windows(r->spec);
    if (r->setup.window < 0 || r->setup.window >= windows)
        return err_set(e, ERR_PROTOCOL, "window %d of an ensemble of %d", r->setup.window, windows);
    r->outputs.works = r->spec->walkers > 0;
    rc = replica_lock(r, e);
    if (!rc)
        rc = replica_memory(r, e);
    if (rc)
        return rc;
    r->delta_u = xcalloc((size_t)rows, sizeof *r->delta_u);
    r->x = xcalloc((size_t)natoms, sizeof *r->x);
    r->v = xcalloc((size_t)natoms, sizeof *r->v);
    rc = replica_simulate(r, e);
    if (!rc)
        rc = replica_restore(r, e);
    if (!rc) /* reading can take long: from here on, silence means that it is stuck */
        replica_report(r, (struct replica_report){.kind = REPORT_PROGRESS});
    bool finished = !rc && r->stage == (uint64_t)r->spec->nstages;
    if (!rc)
        rc = run_stages(r, e);
    if (!rc)
        rc = replica_write_final(r, e);
    if (rc || finished)
        return rc;
    return timeline_together(r->spec, r->stage, 0) ? replica_save_together(r, e) : replica_save(r, e);
}

void CO_FN replica_run(void *replica)
{
    struct replica *r = replica;
    struct err e = {0}, late = {0};
    int rc = story(r, &e);
    if (rc < 0)
        replica_blown_up(r, &e);
    replica_finish_frame(r, &late); /* of a story that failed or stopped; any other has waited for it */
    if (rc == REPLICA_STOPPED) {    /* which may have been on the way to an exchange that some did not come to */
        r->stage = r->kept_stage;
        r->stage_step = r->kept_step;
    }
    if (rc == REPLICA_STOPPED)
        replica_report(r, (struct replica_report){.kind = REPORT_STOPPED});
    else if (rc)
        replica_report(r, (struct replica_report){.kind = REPORT_FAILED, .why = &e});
    else
        replica_report(r, (struct replica_report){.kind = REPORT_DONE});
    outputs_close(&r->outputs);
    replica_drop_sim(r);
    r->spec = NULL;
    if (r->shared)
        models_put(r->setup.models, r->shared);
    r->shared = NULL;
}

bool replica_ready(const void *replica)
{
    const struct replica *r = replica;
    if (r->at_gate)
        return r->stop || !r->setup.gate || r->setup.gate(r->setup.ctx, r, r->stage);
    if (exchange_waits(r))
        return false;
    if (job_pending(&r->job) || (r->frame.awaited && job_pending(&r->frame.job)) ||
        (r->shared && !models_ready(r->shared, &r->job)))
        return false;
    return !r->sim || r->lets_others || sim_done(r->sim);
}

bool replica_at_work(const void *replica)
{
    const struct replica *r = replica;
    return r->sim && !sim_done(r->sim);
}

struct replica *replica_new(const struct replica_setup *setup)
{
    struct replica *r = xcalloc(1, sizeof *r);
    r->setup = *setup;
    r->directory = xstrdup(setup->directory);
    r->setup.directory = r->directory;
    struct buf folder = {0};
    if (setup->folder)
        buf_printf(&folder, "%s/%s", r->directory, setup->folder);
    else
        buf_printf(&folder, "%s/lambda_%02" PRIu32, r->directory, setup->replica);
    r->folder = folder.data;
    if (setup->origin) {
        struct buf origin = {0};
        buf_printf(&origin, "%s/%s", r->directory, setup->origin);
        r->origin = origin.data;
    }
    r->setup.folder = r->setup.origin = NULL;
    r->walker = (uint32_t)setup->window;
    r->origin_window = -1;
    r->origin_at = UINT64_MAX;
    if (setup->exchange)
        exchange_join(setup->exchange, r);
    return r;
}

void replica_free(struct replica *r)
{
    if (!r)
        return;
    if (r->setup.exchange)
        exchange_leave(r->setup.exchange, r);
    buf_free(&r->state);
    free(r->stages);
    free(r->delta_u);
    free(r->x);
    free(r->v);
    free(r->folder);
    free(r->origin);
    free(r->directory);
    free(r);
}

void replica_stop(struct replica *r)
{
    r->stop = true;
}

const struct sim *replica_sim(const struct replica *r)
{
    return r->sim;
}

const char *replica_directory(const struct replica *r)
{
    return r->directory;
}

const struct dev *replica_device(const struct replica *r)
{
    return r->under ? r->under->dev : r->setup.models->dev;
}
