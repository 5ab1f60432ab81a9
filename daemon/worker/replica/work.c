/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica's work on its device, what it tells of it, and when it stops or saves: what all other files here call.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"

#define BATCH_SECONDS 0.25 /* a stop is noticed after about so long */
#define GROW_LIMIT 32      /* buffers grown without a step done in between */

int64_t replica_clock_steps(const struct replica *r)
{
    return (int64_t)(timeline_timesteps(r->spec, r->stage, r->stage_step) - timeline_clock_zero(r->spec));
}

int replica_doublings(const struct replica *r, uint64_t number)
{
    return number < r->spec->lengthen.after ? 0 : r->setup.doublings;
}

/* Timesteps of all switches that it has done. */
static uint64_t switched(const struct replica *r)
{
    const struct switch_settings *set = &r->shared->settings.switching;
    const uint64_t plain = r->switches < r->spec->lengthen.after ? r->switches : r->spec->lengthen.after;
    return plain * switch_steps(set) + (r->switches - plain) * switch_steps_longer(set, r->setup.doublings);
}

/* Within a switch steps go on from those of production, which come back with its state. */
uint64_t replica_timesteps(const struct replica *r)
{
    return sim_step_number(r->sim) + switched(r);
}

void replica_report(const struct replica *r, struct replica_report what)
{
    if (r->spec) {
        what.steps = spec_steps(r->spec, r->spec->nstages);
        what.step = spec_steps(r->spec, (int)r->stage) + r->stage_step;
        what.time = timeline_elapsed(r->spec, r->stage, r->stage_step);
        what.switched = switched(r);
    }
    if (r->sim && sim_switch(r->sim).under_way)
        what.switched += sim_switch(r->sim).steps;
    what.stage = r->stage;
    r->setup.report(r->setup.ctx, r, &what);
}

void replica_report_event(const struct replica *r, const char *kind, const struct err *why)
{
    replica_report(r, (struct replica_report){.kind = REPORT_EVENT, .event = kind, .why = why});
}

void CO_FN replica_wait(struct replica *r)
{
    while (!sim_done(r->sim))
        co_pause();
}

void CO_FN replica_let_others(struct replica *r)
{
    r->lets_others = true;
    co_pause();
    r->lets_others = false;
}

int CO_FN replica_fetch(struct replica *r, struct err *e)
{
    int rc = sim_fetch(r->sim, e);
    if (!rc)
        replica_wait(r);
    return rc;
}

int replica_submit(struct replica *r, enum sim_work kind, uint32_t n, struct err *e)
{
    co_hold(CO_CAPTURE);
    int rc = sim_submit(r->sim, kind, n, e);
    co_release(CO_CAPTURE);
    return rc;
}

int replica_grew(struct replica *r, uint32_t done, struct err *e)
{
    struct err why = {0};
    r->grown = done ? 0 : r->grown + 1;
    if (r->grown > GROW_LIMIT)
        return err_set(e, ERR_OVERFLOW, "a buffer overflows however often it is grown");
    err_set(&why, ERR_OVERFLOW, "a pair list or buffer was grown at step %" PRIu64, sim_step_number(r->sim));
    replica_report_event(r, "grow", &why);
    return 0;
}

uint32_t replica_batch(const struct replica *r, uint64_t most, uint64_t ahead, uint32_t unit)
{
    double fit = r->step_seconds > 0 ? BATCH_SECONDS / r->step_seconds : 4;
    uint64_t n = fit < unit ? unit : fit > 1e6 ? 1000000 : (uint64_t)fit;
    n = n > ahead ? (n - ahead) / unit * unit : 0;
    return (uint32_t)(n < most ? n : most);
}

void replica_timed(struct replica *r, double seconds, uint32_t n, double time)
{
    r->step_seconds = seconds / n;
    if (r->setup.load)
        load_add(r->setup.load, &r->load_period, n, time, r->shared->system.natoms);
}

bool replica_save_due(const struct replica *r, uint64_t step)
{
    if (r->spec->checkpoint_every)
        return timeline_due(r->spec->checkpoint_every, step);
    return clock_now() - r->saved >= r->spec->checkpoint_seconds;
}

int replica_take_spec(struct replica *r, struct err *e)
{
    const struct spec *spec = r->shared->spec;
    free(r->stages);
    r->stages = NULL;
    r->spec = spec;
    if (!r->setup.steps || r->setup.steps == spec_steps(spec, spec->nstages))
        return 0;
    r->stages = xcalloc((size_t)spec->nstages, sizeof *r->stages);
    memcpy(r->stages, spec->stages, (size_t)spec->nstages * sizeof *r->stages);
    int rc = spec_retarget(spec, r->stages, r->setup.steps, e);
    r->own = *spec;
    r->own.stages = r->stages;
    r->spec = &r->own;
    return rc;
}
