/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/replica/timeline.h"

#include "engine/observe/observe.h"

static bool is_dynamics(const struct stage *s)
{
    return s->kind != STAGE_MINIMIZE;
}

uint64_t timeline_timesteps(const struct spec *spec, uint64_t stage, uint64_t step)
{
    uint64_t n = stage < (uint64_t)spec->nstages && is_dynamics(&spec->stages[stage]) ? step : 0;
    for (uint64_t i = 0; i < stage; i++)
        n += is_dynamics(&spec->stages[i]) ? spec->stages[i].steps : 0;
    return n;
}

/* From one step of one stage to a later one. Timesteps of one length are counted before they are made a time. */
static double time_between(const struct spec *spec, uint64_t stage, uint64_t step, uint64_t to, uint64_t to_step)
{
    double time = 0, timestep = 0;
    uint64_t run = 0;
    for (; stage <= to && stage < (uint64_t)spec->nstages; stage++, step = 0) {
        const struct stage *s = &spec->stages[stage];
        if (!is_dynamics(s))
            continue;
        if (s->timestep != timestep) {
            time += (double)run * timestep;
            timestep = s->timestep;
            run = 0;
        }
        run += (stage == to ? to_step : s->steps) - step;
    }
    return time + (double)run * timestep;
}

static uint64_t first_produce(const struct spec *spec)
{
    uint64_t i = 0;
    while (i < (uint64_t)spec->nstages && spec->stages[i].kind != STAGE_PRODUCE)
        i++;
    return i;
}

double timeline_elapsed(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return time_between(spec, 0, 0, stage, step);
}

double timeline_time(const struct spec *spec, uint64_t stage, uint64_t step)
{
    uint64_t zero = first_produce(spec);
    return stage < zero ? 0 - time_between(spec, stage, step, zero, 0) : time_between(spec, zero, 0, stage, step);
}

uint64_t timeline_clock_zero(const struct spec *spec)
{
    return timeline_timesteps(spec, first_produce(spec), 0);
}

void timeline_place(const struct spec *spec, uint64_t timesteps, uint64_t *stage, uint64_t *step)
{
    *stage = first_produce(spec);
    for (; *stage + 1 < (uint64_t)spec->nstages; ++*stage) {
        const struct stage *s = &spec->stages[*stage];
        uint64_t n = is_dynamics(s) ? s->steps : 0;
        if (timesteps <= n && is_dynamics(s))
            break;
        timesteps -= n;
    }
    *step = timesteps;
}

bool timeline_has_pv(const struct spec *spec)
{
    for (int i = 0; i < spec->nstages; i++)
        if (spec->stages[i].kind == STAGE_PRODUCE && spec->stages[i].npt)
            return true;
    return false;
}

bool timeline_due(uint64_t every, uint64_t step)
{
    return every && step % every == 0;
}

static struct rows_due rows_of(const struct stage *s, uint64_t step)
{
    bool produce = s->kind == STAGE_PRODUCE, sampled = is_dynamics(s) && timeline_due(s->sample_every, step);
    return (struct rows_due){produce && sampled, sampled, produce && timeline_due(s->frames_every, step)};
}

struct rows_due timeline_rows(const struct spec *spec, uint64_t stage, uint64_t step)
{
    struct rows_due rows = rows_of(&spec->stages[stage], step);
    if (step == 0 && stage > 0) {
        const struct stage *before = &spec->stages[stage - 1];
        struct rows_due written = rows_of(before, before->steps);
        rows.dhdl &= !written.dhdl;
        rows.energy &= !written.energy;
        rows.frame &= !written.frame;
    }
    return rows;
}

bool timeline_volume_move(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return spec->stages[stage].npt && step && timeline_due((uint64_t)spec->settings.barostat.every, step);
}

bool timeline_water_moves(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return spec->settings.waters.on && is_dynamics(&spec->stages[stage]) && step &&
           timeline_due((uint64_t)spec->settings.waters.every, step);
}

/* Some observable has a frame there; of those alone that need a sample, if that is asked. */
static bool observes(const struct spec *spec, uint64_t stage, uint64_t step, bool sample)
{
    const struct stage *s = &spec->stages[stage];
    const uint64_t steps = timeline_timesteps(spec, stage, step);
    bool due = false;
    if (s->kind != STAGE_PRODUCE || (!step && stage && s[-1].kind == STAGE_PRODUCE))
        return false;
    for (int i = 0; i < spec->nobservables; i++) {
        const struct observable *o = &spec->observables[i].of;
        due |= (!sample || observe_kinds[o->kind]->needs_sample) && timeline_due(o->every, steps);
    }
    return due;
}

bool timeline_observes(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return observes(spec, stage, step, false);
}

bool timeline_samples(const struct spec *spec, uint64_t stage, uint64_t step)
{
    const struct rows_due rows = timeline_rows(spec, stage, step);
    return rows.dhdl || rows.energy || observes(spec, stage, step, true);
}

uint64_t timeline_steps(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return spec_steps(spec, (int)stage) + step;
}

bool timeline_together(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return timeline_steps(spec, stage, step) > spec->exchange_after;
}

static bool is_time(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return step && timeline_due(spec->stages[stage].exchange_every, step);
}

bool timeline_exchange(const struct spec *spec, uint64_t stage, uint64_t step)
{
    return is_time(spec, stage, step) && timeline_together(spec, stage, step);
}

uint64_t timeline_exchanges(const struct spec *spec, uint64_t stage, uint64_t step, bool now)
{
    uint64_t n = 0 - (uint64_t)(!now && is_time(spec, stage, step));
    for (uint64_t i = 0; i <= stage && i < (uint64_t)spec->nstages; i++) {
        const struct stage *s = &spec->stages[i];
        n += s->exchange_every ? (i < stage ? s->steps : step) / s->exchange_every : 0;
    }
    return n;
}

uint64_t timeline_switches(const struct spec *spec, uint64_t stage, uint64_t step)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i <= stage && i < (uint64_t)spec->nstages; i++) {
        const struct stage *s = &spec->stages[i];
        n += s->switch_every ? (i < stage ? s->steps : step) / s->switch_every : 0;
    }
    return n;
}

uint64_t timeline_meetings(const struct spec *spec, uint64_t stage, uint64_t step)
{
    if (!timeline_together(spec, stage, step))
        return 0;
    uint64_t n = timeline_exchanges(spec, stage, step, true);
    for (uint64_t i = 0; i < stage; i++)
        n += spec->stages[i].exchange_every != 0;
    return n;
}

static uint64_t next_multiple(uint64_t every, uint64_t step, uint64_t most)
{
    uint64_t next = every ? (step / every + 1) * every : most;
    return next < most ? next : most;
}

/* Of the steps of a stage that produces. */
static uint64_t next_observed(const struct spec *spec, uint64_t stage, uint64_t step, uint64_t most)
{
    const uint64_t begin = timeline_timesteps(spec, stage, 0);
    for (int i = 0; i < spec->nobservables; i++)
        most = next_multiple(spec->observables[i].of.every, begin + step, begin + most) - begin;
    return most;
}

uint64_t timeline_next_event(const struct spec *spec, uint64_t stage, uint64_t step)
{
    const struct stage *s = &spec->stages[stage];
    uint64_t next = next_multiple(s->sample_every, step, s->steps);
    if (s->kind == STAGE_PRODUCE)
        next = next_multiple(s->frames_every, step, next);
    if (s->kind == STAGE_PRODUCE)
        next = next_observed(spec, stage, step, next);
    next = next_multiple(s->switch_every, step, next);
    if (s->npt)
        next = next_multiple((uint64_t)spec->settings.barostat.every, step, next);
    if (spec->settings.waters.on)
        next = next_multiple((uint64_t)spec->settings.waters.every, step, next);
    return next_multiple(spec->checkpoint_every, step, next);
}
