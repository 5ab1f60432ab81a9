/* SPDX-License-Identifier: Apache-2.0
 *
 * The timesteps of a stage. Steps, samples and volume moves are queued on the device one behind the other, so that it
 * goes on while what they have reported is written; what needs the state itself, a frame or a checkpoint, waits until
 * all is done.
 *
 * What comes after what depends on the protocol alone (next_work); how far ahead it is queued changes no output. Rows
 * are written when the work behind their sample was queued, and that of others too.
 */
#include <inttypes.h>
#include <math.h>

#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
#include "engine/base/number.h"
#include "engine/series/dhdl.h"
#include "engine/series/energy.h"

enum { QUEUE = 3 };

/* What comes next of all that happens after `step` steps of the stage. */
enum event { ROWS, OBSERVE, FRAME, KICK, EXCHANGE, MOVE, WATERS, SWITCH, KEEP, STEPS };
struct next_event {
    uint64_t step;
    enum event next;
};

struct queued {
    enum sim_work kind;
    uint32_t n;
    struct next_event after;
};

struct dynamics {
    struct replica *r;
    const struct stage *stage;
    struct queued queue[QUEUE]; /* on their way, oldest first */
    int count;
    struct next_event planned; /* behind the last of them */
    double since;              /* wall clock: the oldest was not begun before */
    struct sample sample;      /* whose rows are to be written, if any */
    struct rows_due rows;
};

/* ---- planning ---- */

static uint64_t steps_queued(const struct dynamics *d)
{
    uint64_t n = 0;
    for (int i = 0; i < d->count; i++)
        n += d->queue[i].kind == SIM_STEP ? d->queue[i].n : 0;
    return n;
}

/* Replicas that exchange windows decide that together. */
static bool to_be_kept(const struct dynamics *d, uint64_t step)
{
    if (step < d->stage->steps && replica_exchanging(d->r, step))
        return d->r->agreed.keep;
    return step >= d->stage->steps || (step > 0 && (d->r->stop || replica_save_due(d->r, step)));
}

static bool exchanges(const struct dynamics *d, uint64_t step)
{
    return exchange_on(d->r) && timeline_exchange(d->r->spec, d->r->stage, step);
}

static bool is(struct queued *out, enum sim_work kind, uint32_t n)
{
    out->kind = kind;
    out->n = n;
    return true;
}

/* The work that comes after what is on its way. False: something else does, at `after`, or enough is on its way. */
static bool next_work(const struct dynamics *d, struct queued *out)
{
    const struct spec *spec = d->r->spec;
    const uint64_t stage = d->r->stage, step = d->planned.step;
    const struct rows_due rows = timeline_rows(spec, stage, step);
    struct next_event *at = &out->after;
    uint32_t n;
    for (*at = d->planned;; at->next++)
        switch (at->next) {
        case ROWS:
            if (!timeline_samples(spec, stage, step))
                break;
            at->next = OBSERVE;
            return is(out, SIM_SAMPLE, 1);
        case OBSERVE:
            if (!timeline_observes(spec, stage, step))
                break;
            at->next = FRAME;
            return is(out, SIM_OBSERVE, 1);
        case FRAME:
            if (rows.frame)
                return false;
            break;
        case KICK: /* by the forces of the window that may be left */
            if (!exchanges(d, step))
                break;
            at->next = EXCHANGE;
            return is(out, SIM_KICK, 1);
        case EXCHANGE: /* after the sample that decides, before anything moves */
            if (exchanges(d, step))
                return false;
            break;
        case MOVE:
            if (step == 0 || !timeline_volume_move(spec, stage, step))
                break;
            at->next = WATERS;
            return is(out, SIM_BAROSTAT, 1);
        case WATERS:
            if (!timeline_water_moves(spec, stage, step))
                break;
            at->next = SWITCH;
            return is(out, SIM_WATERS, 1);
        case SWITCH:
            if (replica_switch_due(d->r, step))
                return false;
            break;
        case KEEP:
            if (to_be_kept(d, step))
                return false;
            break;
        case STEPS:
            n = replica_batch(d->r, timeline_next_event(spec, stage, step) - step, steps_queued(d),
                              mesh_cycle(&spec->settings.integrator));
            if (n)
                *at = (struct next_event){step + n, ROWS};
            return n && is(out, SIM_STEP, n);
        }
}

/* Queues as much as there is room for. */
static int fill_queue(struct dynamics *d, struct err *e)
{
    int rc = 0;
    struct queued next;
    while (!rc && d->count < QUEUE && sim_room(d->r->sim)) {
        bool more = next_work(d, &next);
        d->planned = next.after;
        if (!more)
            break;
        if (d->count == 0)
            d->since = clock_now();
        d->queue[d->count++] = next;
        rc = replica_submit(d->r, next.kind, next.n, e);
    }
    return rc;
}

/* ---- what was done ---- */

/* What a sample has found. */
static int take_sample(struct dynamics *d, struct err *e)
{
    const struct replica *r = d->r;
    d->sample = (struct sample){.delta_u = r->delta_u};
    sim_sample(r->sim, &d->sample);
    d->sample.time = timeline_time(r->spec, r->stage, r->stage_step);
    d->sample.walker = (int)r->walker;
    d->sample.exchanges = timeline_exchanges(r->spec, r->stage, r->stage_step, false);
    if (!isfinite(d->sample.potential))
        return err_set(e, ERR_NONFINITE, "the potential energy is %g at step %" PRIu64, d->sample.potential,
                       sim_step_number(r->sim));
    d->rows = timeline_rows(r->spec, r->stage, r->stage_step);
    return 0;
}

/* Into the files. Everybody's work is to be on its way before. */
static void CO_FN write_rows(struct dynamics *d)
{
    struct replica *r = d->r;
    const struct settings *set = &r->spec->settings;
    if (d->count)
        replica_let_others(r);
    if (d->rows.dhdl) {
        dhdl_row(outputs_begin(&r->outputs, OUTPUT_DHDL), set, timeline_has_pv(r->spec), &d->sample);
        outputs_end(&r->outputs, OUTPUT_DHDL);
    }
    if (d->rows.energy) {
        energy_row(outputs_begin(&r->outputs, OUTPUT_ENERGY), set, &r->shared->system, &d->sample);
        outputs_end(&r->outputs, OUTPUT_ENERGY);
    }
    d->rows = (struct rows_due){0};
}

/* A buffer grew, and all that was queued behind is gone: what is left of the oldest is submitted again. */
static int go_on(struct dynamics *d, struct err *e)
{
    struct queued *first = &d->queue[0];
    uint32_t done = first->kind == SIM_STEP ? sim_steps_done(d->r->sim) : 0;
    int rc = replica_grew(d->r, done, e);
    first->n -= done;
    d->count = 1;
    d->planned = first->after;
    return rc ? rc : replica_submit(d->r, first->kind, first->n, e);
}

/* Once the first steps of production are done: an event of its own, which says how long they took. */
static void tell_first_steps(const struct replica *r, uint64_t n)
{
    struct err what = {0};
    err_set(&what, ERR_NONE, "production has begun: %" PRIu64 " %s done", n,
            number_word((int64_t)n, "step is", "steps are"));
    replica_report_event(r, "produces", &what);
}

static int CO_FN stepped(struct dynamics *d, const struct queued *done, struct err *e)
{
    struct replica *r = d->r;
    const uint64_t before = r->stage_step;
    r->stage_step = done->after.step;
    const uint64_t n = r->stage_step - before;
    replica_timed(r, clock_now() - d->since, (uint32_t)n, (double)n * r->shared->settings.integrator.timestep);
    if (before == 0 && d->stage->kind == STAGE_PRODUCE)
        tell_first_steps(r, n);
    return replica_progress(r, e);
}

/* Waits for the oldest work, and takes up what came of it. */
static int CO_FN finish_oldest(struct dynamics *d, struct err *e)
{
    struct replica *r = d->r;
    replica_wait(r);
    int rc = sim_outcome(r->sim, e);
    if (rc == SIM_GROW)
        return go_on(d, e);
    if (rc)
        return rc;
    const struct queued done = d->queue[0];
    r->grown = 0;
    for (int i = 1; i < d->count; i++)
        d->queue[i - 1] = d->queue[i];
    d->count--;
    if (done.kind == SIM_STEP)
        rc = stepped(d, &done, e);
    if (done.kind == SIM_SAMPLE)
        rc = take_sample(d, e);
    if (done.kind == SIM_BAROSTAT)
        replica_moved(r);
    d->since = clock_now();
    return rc;
}

/* New velocities, unless the coordinates brought some that are to be continued: then nothing has moved the atoms yet
 * and no thermostat would replace them anyway. */
static int start_moving(struct replica *r, struct err *e)
{
    const struct spec *spec = r->spec;
    bool first = timeline_timesteps(spec, r->stage, 0) == 0;
    bool continued = r->stage == 0 && system_start(&r->shared->system, replica_row(r)).v &&
                     integrator_conserves_energy(spec->settings.integrator.kind);
    return first && !continued ? sim_thermalize(r->sim, e) : 0;
}

/* Nothing is on its way: what needs the state itself. *over: the stage is. */
static int CO_FN pause(struct dynamics *d, bool *over, struct err *e)
{
    const enum event what = d->planned.next++;
    *over = what == KEEP && d->planned.step >= d->stage->steps;
    if (what == FRAME)
        return replica_frame(d->r, e);
    if (what == EXCHANGE)
        return exchange_meet(d->r, e);
    if (what == SWITCH)
        return replica_switch(d->r, e);
    return *over ? 0 : replica_save_or_stop(d->r, e);
}

int CO_FN replica_dynamics(struct replica *r, const struct stage *stage, struct err *e)
{
    const enum event next = r->stage_step == 0                     ? ROWS
                            : replica_switch_due(r, r->stage_step) ? SWITCH
                            : r->stage_step < stage->steps         ? STEPS
                                                                   : KEEP;
    struct dynamics d = {.r = r, .stage = stage, .planned = {r->stage_step, next}};
    bool over = false;
    int rc = r->stage_step ? 0 : start_moving(r, e);
    while (!rc && !over) {
        rc = fill_queue(&d, e);
        if (!rc && (d.rows.dhdl || d.rows.energy))
            write_rows(&d);
        if (!rc)
            rc = d.count ? finish_oldest(&d, e) : pause(&d, &over, e);
    }
    return rc;
}
