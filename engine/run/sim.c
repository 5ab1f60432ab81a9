/* SPDX-License-Identifier: Apache-2.0
 *
 * One replica's life: its lane and its arena; submitting work and saying how it went.
 *
 *   1. x and v in the arena are those of the last whole step whenever nothing is in flight.
 *   2. The report of ticket n is that of the n-th piece of work; s->submitted counts those asked for, s->heard those
 * whose outcome was. No more than SIM_REPORTS are in between, so none is written over.
 *   3. The arena moves only in grow(), while the lane is idle; every recorder, and its place in a gang, begins a new
 * epoch then. So they do in follow_model(), where the mesh goes another way from then on: nothing moves.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/run/sim_parts.h"
#include "engine/run/switches.h"

void sim_lay_out(struct sim *s, struct arena *a)
{
    size_t n = (size_t)s->model->sys->natoms;
    s->d.ctl = arena_take(a, sizeof *s->d.ctl);
    s->d.x = arena_take(a, n * sizeof *s->d.x);
    s->d.v = arena_take(a, n * sizeof *s->d.v);
    s->d.x_old = arena_take(a, n * sizeof *s->d.x_old);
    s->d.f_best = arena_take(a, n * sizeof *s->d.f_best);
    s->d.observed = arena_take(a, model_observed_bytes(s->model));
    s->kept_bytes = a->used;
    s->d.f = arena_take(a, n * sizeof *s->d.f);
    s->d.v_out = arena_take(a, n * sizeof *s->d.v_out);
    s->d.w = arena_take(a, (3 * n + 1) * sizeof *s->d.w);
    s->d.energy_at_window = arena_take(a, (size_t)s->model->windows.n * sizeof *s->d.energy_at_window);
    s->d.bias_sums = arena_take(a, s->model->bias_bytes);
    s->d.bias_work = arena_take(a, s->model->program->bias_work(s->model));
    s->d.observe_work = arena_take(a, s->model->program->observe_work(s->model));
    s->d.nonbonded = arena_take(a, s->model->program->block_bytes(s->model->nonbonded, &s->caps));
}

static int new_arena(struct sim *s, struct err *e)
{
    struct arena a = {0};
    sim_lay_out(s, &a);
    void *device, *host;
    int rc = s->model->dev->ops->alloc(s->model->dev, s->lane, DEV_MEMORY, a.used, &device, &host, e);
    if (rc)
        return err_prefix(e, "memory of a replica");
    s->arena_bytes = a.used;
    a = (struct arena){.base = device};
    sim_lay_out(s, &a);
    s->spans[SPAN_ARENA] = (struct span){device, s->arena_bytes};
    return 0;
}

static int copy(struct sim *s, void *to, const void *from, size_t bytes, struct err *e)
{
    return s->model->dev->ops->copy(s->model->dev, s->lane, to, from, bytes, e);
}

static struct sim_report *report_of(const struct sim *s, uint64_t ticket)
{
    return report_at(s->reports, report_bytes(s->model->windows.n), ticket);
}

struct sim_report *sim_heard(const struct sim *s)
{
    return report_of(s, s->heard);
}

struct ctl *sim_edit_ctl(struct sim *s)
{
    assert(s->submitted == s->heard); /* or what the device knows by then is written over */
    sim_memory_edited(s);
    return &sim_heard(s)->ctl;
}

/* From the report, which is not written over before work that comes after this was heard. */
int sim_send_ctl(struct sim *s, struct err *e)
{
    if (!sim_memory_is_edited(s))
        return 0;
    const size_t at = (size_t)((char *)&sim_heard(s)->ctl - (char *)s->reports);
    sim_memory_sent(s);
    s->gang.behind_lane = true;
    return s->model->dev->ops->copy_async(s->model->dev, s->lane, s->d.ctl, (char *)s->report_device + at,
                                          sizeof *s->d.ctl, e);
}

/* ---- birth and death ---- */

static int start_state(struct sim *s, int window, uint32_t replica, struct err *e)
{
    const struct model *m = s->model;
    struct ctl *c = sim_edit_ctl(s);
    const struct start from = system_start(m->sys, window);
    s->seed = m->set->integrator.seed;
    *c = (struct ctl){.seed = s->seed, .replica = replica, .window = (uint32_t)window};
    memcpy(c->box, from.box, sizeof c->box);
    memcpy(c->lambda, m->windows.lambda[window], sizeof c->lambda);
    size_t bytes = (size_t)m->sys->natoms * sizeof *from.x;
    int rc = copy(s, s->d.x, m->x[m->nstarts > 1 ? window : 0], bytes, e);
    if (rc == 0 && from.v)
        rc = copy(s, s->d.v, from.v, bytes, e);
    return rc;
}

static size_t bytes_of_reports(const struct sim *s)
{
    return SIM_REPORTS * report_bytes(s->model->windows.n);
}

static size_t bytes_of_digests(const struct sim *s)
{
    return model_chunks(s->model) * sizeof(uint64_t);
}

size_t sim_mapped_bytes(const struct sim *s)
{
    return bytes_of_reports(s) + sizeof *s->state + 3 * sim_array_bytes(s) + model_observed_bytes(s->model) +
           bytes_of_digests(s);
}

static int new_mapped(struct sim *s, struct err *e)
{
    s->mapped_bytes = sim_mapped_bytes(s);
    const size_t digests = s->mapped_bytes - bytes_of_digests(s);
    void *host;
    int rc =
        s->model->dev->ops->alloc(s->model->dev, s->lane, DEV_MAPPED, s->mapped_bytes, &s->report_device, &host, e);
    if (rc)
        return err_prefix(e, "memory of a replica");
    s->reports = host;
    s->state = (struct ctl *)((unsigned char *)host + bytes_of_reports(s));
    s->spans[SPAN_SHARED] = s->model->shared.span;
    s->spans[SPAN_NONBONDED] = s->model->program->nonbonded_tables(s->model->nonbonded)->span;
    s->spans[SPAN_MAPPED] = (struct span){s->report_device, s->mapped_bytes};
    return tables_open(s, (uint64_t *)((unsigned char *)s->report_device + digests),
                       (const uint64_t *)((unsigned char *)host + digests), e);
}

int sim_new(struct sim **out, struct model *m, int window, uint32_t replica, struct err *e)
{
    if (window < 0 || window >= m->windows.n)
        return err_set(e, ERR_SPEC, "window %d: there are %d", window, m->windows.n);
    struct sim *s = xcalloc(1, sizeof *s);
    sim_states_init(s);
    s->model = m;
    s->pme = m->pme;
    m->program->caps_guess(m->nonbonded, &s->caps);
    int rc = m->dev->ops->lane_new(m->dev, &s->lane, e);
    if (rc == 0 && m->program->observe_open)
        rc = m->program->observe_open(m, s->lane, e);
    if (rc == 0)
        rc = new_mapped(s, e);
    if (rc == 0)
        rc = new_arena(s, e);
    if (rc == 0)
        rc = start_state(s, window, replica, e);
    if (rc == 0)
        rc = sim_new_recorders(s, e);
    if (rc) {
        sim_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void sim_salt(struct sim *s, uint32_t salt)
{
    struct ctl *c = sim_edit_ctl(s);
    const uint64_t before = s->seed;
    /* An odd factor: no two salts give one key. */
    s->seed = s->model->set->integrator.seed ^ salt * UINT64_C(0x9e3779b97f4a7c15);
    c->seed ^= before ^ s->seed; /* that of a switch is the one with something else, too */
}

void sim_place(struct sim *s, int window, uint32_t replica)
{
    struct ctl *c = sim_edit_ctl(s);
    memcpy(c->lambda, s->model->windows.lambda[window], sizeof c->lambda);
    c->replica = replica;
    c->window = (uint32_t)window;
}

/* An odd factor: no two switches have one key. */
static uint64_t switch_seed(uint64_t seed, const struct switch_course *at)
{
    return seed ^ (((uint64_t)at->number * SWITCH_WAYS + at->way + 1) * UINT64_C(0xd1342543de82ef95));
}

void sim_enter_switch(const struct sim *s, struct ctl *c, const struct switch_course *at)
{
    const struct switch_schedule schedule = switch_schedule_of(s->model->set, s->model->schedule.lambda);
    c->switching = *at;
    c->seed = switch_seed(s->seed, at);
    c->min_steps = 0;
    switch_set(&schedule, c);
}

void sim_leave_switch(const struct sim *s, struct ctl *c)
{
    c->switching = (struct switch_course){0};
    c->seed = s->seed;
    memcpy(c->lambda, s->model->windows.lambda[c->window], sizeof c->lambda);
}

void sim_tune_volume(struct sim *s, bool tune)
{
    sim_edit_ctl(s)->volume_fixed = !tune;
}

void sim_count_moves(struct sim *s)
{
    struct ctl *c = sim_edit_ctl(s);
    c->counted = (struct volume_moves){0};
    c->waters = (struct water_moves){0};
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    const struct dev_ops *ops = s->model->dev->ops;
    sim_free_recorders(s);
    tables_close(s);
    if (s->lane)
        ops->lane_free(s->model->dev, s->lane);
    if (s->spans[SPAN_ARENA].start)
        ops->free(s->model->dev, DEV_MEMORY, (void *)(uintptr_t)s->spans[SPAN_ARENA].start);
    if (s->report_device)
        ops->free(s->model->dev, DEV_MAPPED, s->report_device);
    buf_free(&s->held);
    free(s);
}

/* ---- work ---- */

/* 0, or the failure that it had. */
static int sim_failure(const struct sim *s, struct err *e)
{
    if (sim_failed(s))
        *e = s->failure;
    return -(int)s->failure.code;
}

static bool has_ended(const struct sim *s, uint64_t ticket)
{
    return __atomic_load_n(&report_of(s, ticket)->ticket, __ATOMIC_ACQUIRE) == ticket;
}

static void watch(struct sim *s, uint64_t ticket)
{
    s->model->dev->ops->watch(s->model->dev, s->lane, &report_of(s, ticket)->ticket, ticket);
}

void sim_await(struct sim *s)
{
    sim_memory_changed(s);
    sim_count_submitted(s);
    if (s->submitted == s->heard + 1)
        watch(s, s->submitted);
}

bool sim_room(const struct sim *s)
{
    const struct dev *dev = s->model->dev;
    /* What is queued ahead would hold up others. */
    const bool crowded = dev->limits.queues && dev->lanes > dev->limits.queues + gang_lanes(dev);
    if (s->submitted == s->heard)
        return true;
    return s->submitted - s->heard < SIM_REPORTS - 1 && !crowded && !s->gang.gang && s->pme == s->model->pme &&
           !sim_failed(s);
}

/* A step by another way of the mesh finds other things done (SIM_PREPARE). */
static void follow_model(struct sim *s)
{
    if (s->pme == s->model->pme || s->submitted != s->heard)
        return;
    s->pme = s->model->pme;
    sim_memory_unready(s);
    sim_begin_epoch(s);
}

int sim_submit(struct sim *s, enum sim_work work, uint32_t n, struct err *e)
{
    follow_model(s);
    if (s->submitted == s->heard)
        s->step_after = sim_heard(s)->ctl.step;
    if (work == SIM_MINIMIZE && sim_heard(s)->ctl.min_tolerance != s->min_tolerance)
        sim_edit_ctl(s)->min_tolerance = s->min_tolerance;
    int rc = sim_failure(s, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    if (rc == 0)
        rc = tables_listen(s, e);
    if (rc == 0)
        rc = tables_ask_if_due(s, e);
    if (rc == 0)
        rc = sim_submit_recorded(s, work, n, e);
    sim_await(s);
    if (rc)
        sim_fail(s, e);
    return rc;
}

int sim_check(struct sim *s, struct err *e)
{
    int rc = sim_check_recorders(s, e);
    if (rc == 0)
        rc = tables_check(s, e);
    if (rc)
        sim_fail(s, e);
    return rc;
}

/* What is behind a piece of work that halted ends soon, and buffers can grow only when all has. */
bool sim_done(const struct sim *s)
{
    uint64_t next = s->heard + 1;
    if (sim_failed(s))
        return true;
    if (s->heard < s->submitted &&
        (!has_ended(s, next) || (report_of(s, next)->ctl.halt && !has_ended(s, s->submitted))))
        return false;
    return mark_passed(&s->fetch);
}

/* The next report is the one that answers are about. */
static void hear(struct sim *s)
{
    s->done_before = sim_heard(s)->ctl.done;
    sim_count_heard(s);
    if (s->heard < s->submitted)
        watch(s, s->heard + 1);
}

int sim_wait(struct sim *s, struct err *e)
{
    while (!sim_done(s) || (!sim_failed(s) && s->heard < s->submitted)) {
        if (s->heard < s->submitted && sim_done(s)) { /* done may also mean that the state has been fetched just now */
            hear(s);
            continue;
        }
        engine_flush(s->model->dev);
        int rc = s->model->dev->ops->poll(s->model->dev, 100, e);
        if (rc)
            return rc;
    }
    return sim_failure(s, e);
}

/* A longer list: a new arena with what must be kept, and a new epoch. The device does the work when its turn in the
 * lane has come. */
static int grow(struct sim *s, struct err *e)
{
    const struct dev_ops *ops = s->model->dev->ops;
    void *old = (void *)(uintptr_t)s->spans[SPAN_ARENA].start;
    s->model->program->caps_grow(&s->caps, &sim_heard(s)->ctl);
    int rc = new_arena(s, e);
    if (rc)
        err_prefix(e, "growing a pair list");
    if (rc) {
        sim_fail(s, e);
        return rc;
    }
    rc = ops->copy_async(s->model->dev, s->lane, s->d.ctl, old, s->kept_bytes, e);
    struct ctl *c = sim_edit_ctl(s);
    c->halt = HALT_NONE;
    memset(c->switching.at_row, 0, sizeof c->switching.at_row); /* of the evaluation that halted */
    ops->free(s->model->dev, DEV_MEMORY, old);
    sim_begin_epoch(s);
    if (rc)
        sim_fail(s, e);
    return rc;
}

int sim_outcome(struct sim *s, struct err *e)
{
    char names[CLAMPED_NAMES_MAX];
    int rc = sim_failure(s, e);
    if (rc == 0 && s->heard < s->submitted)
        hear(s);
    if (rc == 0 && sim_heard(s)->ctl.halt)
        while (s->heard < s->submitted) /* has halted too */
            sim_count_heard(s);
    const struct ctl *c = &sim_heard(s)->ctl;
    unsigned long long step = c->step;
    const struct atom *atoms = s->model->sys->atoms, *a, *b;
    if (rc == 0 && ((rc = gang_listen(s, e)) || (rc = tables_listen(s, e))))
        sim_fail(s, e);
    if (rc)
        return rc;
    switch ((enum halt)c->halt) {
    case HALT_NONE:
        return SIM_OK;
    case HALT_LIST:
        rc = grow(s, e);
        return rc ? rc : SIM_GROW;
    case HALT_NONFINITE:
        a = &atoms[c->where[0]];
        return err_set(e, ERR_NONFINITE,
                       "step %llu: atom %u (%s %s%d) is thrown out of the box: its coordinate of %g nm is not finite "
                       "or far outside",
                       step, c->where[0] + 1, a->name, a->resname, a->residue, c->value);
    case HALT_CONSTRAINT:
        a = &atoms[c->where[0]];
        b = &atoms[c->where[1]];
        return err_set(e, ERR_CONSTRAINT,
                       "step %llu: constraint between atoms %u (%s %s%d) and %u (%s %s%d) cannot be kept, relative "
                       "deviation %g",
                       step, c->where[0] + 1, a->name, a->resname, a->residue, c->where[1] + 1, b->name, b->resname,
                       b->residue, c->value);
    case HALT_OVERFLOW:
        return err_set(e, ERR_OVERFLOW, "step %llu: %.0f %s too large to be summed (%s)", step, c->value,
                       number_word(llrint(c->value), "contribution is", "contributions are"),
                       clamped_names(c->sum.clamped, names, sizeof names));
    }
    return err_set(e, ERR_INTERNAL, "step %llu: halt code %u", step, c->halt);
}

void sim_minimize_setup(struct sim *s, double force_tolerance)
{
    s->min_tolerance = force_tolerance;
}
