/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a replica goes on: from the newest checkpoint that is good, from what its origin sampled, or from the
 * beginning.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
#include "engine/base/number.h"
#include "engine/series/energy.h"
#include "engine/series/work_table.h"

/* Good ones, but: what follows from it was a failure; not of the meeting that all replicas go on from. */
enum { LEADS_ASTRAY = CHECKPOINT_NONE + 1, NOT_COMMON };

struct candidate {
    struct replica *r;
    struct checkpoint c;
    int which;
};

/* One of the end is one of the last stage where the target has become later since. */
static uint64_t meetings_before(const struct spec *spec, const struct checkpoint *c)
{
    uint64_t last = (uint64_t)spec->nstages - 1;
    if (c->stage <= last)
        return timeline_meetings(spec, c->stage, c->stage_step);
    bool over = !c->stage_step || c->stage_step >= spec->stages[last].steps;
    return over ? timeline_meetings(spec, last + 1, 0) : timeline_meetings(spec, last, c->stage_step);
}

/* What follows from it was a failure that would come again. */
static bool leads_astray(const struct candidate *k)
{
    return k->which == CHECKPOINT_NEWEST && k->c.salt < k->r->setup.salt && k->c.stage < (uint64_t)k->r->spec->nstages;
}

static int read_own(struct candidate *k, struct err *e)
{
    const struct checkpoint_owner owner = replica_owner(k->r);
    int rc = checkpoint_read(k->r->folder, k->which, &k->c, e);
    if (!rc && k->c.window != (uint64_t)k->r->setup.window)
        rc = err_set(e, ERR_CHECKPOINT, "the checkpoint is of window %" PRIu64 ", not %d", k->c.window,
                     k->r->setup.window);
    return rc ? rc : checkpoint_check_owner(&k->c, &owner, e);
}

static int read_job(void *arg, struct err *e)
{
    struct candidate *k = arg;
    const struct spec *spec = k->r->spec;
    int rc = read_own(k, e);
    if (!rc && exchange_on(k->r) && !leads_astray(k) && meetings_before(spec, &k->c) != k->r->common)
        return NOT_COMMON;
    if (!rc)
        replica_fit_target(k->r, &k->c);
    if (!rc && (k->c.windows != (uint64_t)spec_windows(spec) || k->c.stage > (uint64_t)spec->nstages ||
                (k->c.stage < (uint64_t)spec->nstages && k->c.stage_step > spec->stages[k->c.stage].steps)))
        rc = err_set(e, ERR_CHECKPOINT, "the checkpoint is of another ladder or protocol");
    if (!rc && leads_astray(k))
        return LEADS_ASTRAY;
    return rc ? rc : outputs_reach(&k->r->outputs, k->c.offset, e);
}

/* Takes up one of the checkpoint files, when there is one and it fits. CHECKPOINT_NONE as checkpoint_read;
 * LEADS_ASTRAY. */
static int CO_FN load(struct replica *r, int which, struct err *e)
{
    struct candidate k = {.r = r, .which = which};
    int rc = replica_on_disk(r, read_job, &k, e);
    if (!rc)
        rc = replica_enter(r, k.c.stage, e);
    if (!rc)
        rc = sim_load(r->sim, k.c.state.data, k.c.state.len, e);
    if (!rc)
        rc = replica_open_at(r, k.c.offset, e);
    if (!rc) {
        replica_go_on_from(r, &k.c);
        r->kept_stage = r->stage;
        r->kept_step = r->stage_step;
    }
    if (!rc && k.c.exchanged && exchange_on(r)) {
        r->walker = (uint32_t)k.c.walker;
        replica_place(r);
    }
    checkpoint_close(&k.c);
    return rc;
}

static int drop_job(void *arg, struct err *e)
{
    const struct candidate *k = arg;
    return checkpoint_drop(k->r->folder, k->which, e);
}

static int CO_FN begin(struct replica *r, struct err *e)
{
    int rc = replica_enter(r, 0, e);
    if (!rc)
        rc = replica_open_files(r, e);
    if (rc)
        return rc;
    const struct settings *set = &r->spec->settings;
    energy_header(outputs_begin(&r->outputs, OUTPUT_ENERGY), set, &r->shared->system);
    outputs_end(&r->outputs, OUTPUT_ENERGY);
    if (r->spec->walkers) {
        const double length = (double)switch_steps(&set->switching) * set->integrator.timestep;
        work_table_header(outputs_begin(&r->outputs, OUTPUT_WORK), set->integrator.temperature, length);
        outputs_end(&r->outputs, OUTPUT_WORK);
    }
    return replica_flush(r, e);
}

/* Replicas that start together do not all want the disk at the same time ever after: the first checkpoint comes after a
 * part of the interval, which parts spread evenly over (the golden ratio's multiples). */
static void spread_checkpoints(struct replica *r)
{
    double part = 0.6180339887498949 * r->setup.replica;
    r->saved = clock_now() - r->spec->checkpoint_seconds * (part - (double)(uint64_t)part);
}

/* The newest checkpoint that is good, else the beginning. */
static int CO_FN restore_any(struct replica *r, struct err *e)
{
    for (int which = 0; which < CHECKPOINT_FILES; which++) {
        struct err why = {0};
        int rc = load(r, which, &why);
        if (rc == 0)
            return 0;
        if (rc == CHECKPOINT_NONE)
            continue;
        if (rc == NOT_COMMON)
            err_set(&why, ERR_CHECKPOINT, "not after meeting %" PRIu64 ", from where all replicas go on", r->common);
        if (rc != LEADS_ASTRAY && why.code != ERR_CHECKPOINT) {
            *e = why;
            return rc;
        }
        if (rc != LEADS_ASTRAY)
            replica_report_event(r, "checkpoint", &why);
        struct candidate k = {.r = r, .which = which};
        rc = replica_on_disk(r, drop_job, &k, e);
        if (rc)
            return rc;
    }
    bool found = false;
    int rc = r->origin ? replica_take_over(r, &found, e) : 0;
    return rc || found ? rc : begin(r, e);
}

/* From here on the replica's noise is another one than the seed alone gives. Saved at once, so that the next start
 * needs no telling. */
static int CO_FN salt_anew(struct replica *r, struct err *e)
{
    struct err why = {0};
    r->salt = r->setup.salt;
    err_set(&why, ERR_NONE,
            "goes on from step %" PRIu64 " with other random numbers (salt %" PRIu64
            "): with the same it would fail again",
            timeline_timesteps(r->spec, r->stage, r->stage_step), r->salt);
    replica_report_event(r, "salt", &why);
    /* A switch that is under way begins anew from its snapshot: works are of whole switches of one noise. */
    int rc = sim_switch(r->sim).under_way ? sim_switch_end(r->sim, e) : 0;
    sim_salt(r->sim, (uint32_t)r->salt);
    return rc ? rc : replica_save(r, e);
}

/* ---- together ---- */

struct offering {
    struct replica *r;
    uint64_t meetings[CHECKPOINT_FILES];
    int n;
};

/* Which checkpoints there are that it could go on from. What is wrong with others restore_any says. */
static int offer_job(void *arg, struct err *e)
{
    struct offering *o = arg;
    struct replica *r = o->r;
    int rc = 0;
    for (int which = 0; which < CHECKPOINT_FILES && rc >= 0; which++) {
        struct candidate k = {.r = r, .which = which};
        rc = read_own(&k, e);
        if (!rc && !leads_astray(&k))
            rc = outputs_reach(&r->outputs, k.c.offset, e);
        if (rc == -ERR_CHECKPOINT)
            rc = CHECKPOINT_NONE;
        if (!rc && !leads_astray(&k)) {
            if (!o->n) {
                r->kept_stage = k.c.stage;
                r->kept_step = k.c.stage < (uint64_t)r->spec->nstages ? k.c.stage_step : 0;
            }
            o->meetings[o->n++] = meetings_before(r->spec, &k.c);
        }
        checkpoint_close(&k.c);
    }
    return rc < 0 ? rc : 0;
}

/* Whether all that exchange windows are here, or they do not meet any more. */
static int check_company(const struct replica *r, struct err *e)
{
    int here = exchange_members(r), windows = r->spec->settings.alchemy.nwindows;
    const uint64_t last = (uint64_t)r->spec->nstages;
    if (here == windows || r->stage == last || !timeline_together(r->spec, last, 0))
        return 0;
    return err_set(e, ERR_CHECKPOINT,
                   "it is to go on, but of the %d windows that exchange replicas only %d %s: the others have come to "
                   "their end",
                   windows, here, number_word(here, "is", "are"));
}

static int CO_FN restore_together(struct replica *r, struct err *e)
{
    struct offering o = {.r = r};
    int rc = exchange_has_origins(r) ? replica_agree_on_origin(r, e) : 0;
    if (!rc)
        rc = replica_on_disk(r, offer_job, &o, e);
    if (!rc)
        rc = exchange_common(r, o.meetings, o.n, e);
    if (!rc)
        rc = restore_any(r, e);
    if (!rc && exchange_has_origins(r)) /* what one takes up the windows of the others say: none is done before */
        rc = exchange_kept(r, e);
    return rc ? rc : check_company(r, e);
}

int CO_FN replica_restore(struct replica *r, struct err *e)
{
    spread_checkpoints(r);
    int rc = exchange_on(r) ? restore_together(r, e) : restore_any(r, e);
    if (!rc)
        rc = replica_drop_slopes(r, e);
    if (!rc && r->salt < r->setup.salt && r->stage < (uint64_t)r->spec->nstages)
        return salt_anew(r, e);
    if (!rc && r->salt)
        sim_salt(r->sim, (uint32_t)r->salt);
    return rc;
}
