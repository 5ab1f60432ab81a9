/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorders of a replica, one for each kind of work, and its place in a gang instead where that does its timesteps.
 * A tape of timesteps is a cycle of the mesh (mesh_cycle()).
 */
#include "engine/run/sim_parts.h"

/* Work of which one piece is asked for at a time: its tape ends with the report. Others, of which there may be many,
 * are followed by one. */
static bool ends_with_report(enum sim_work work)
{
    return work == SIM_SAMPLE || work == SIM_KICK || work == SIM_OBSERVE;
}

/* In cycles of the mesh. */
static bool is_timesteps(enum sim_work work)
{
    return work == SIM_STEP || work == SIM_SWITCH;
}

static uint32_t cycle_of(const struct sim *s)
{
    return mesh_cycle(&s->model->set->integrator);
}

static void emit_work(void *recorder, struct tape *t)
{
    const struct sim_recorder *r = recorder;
    const struct program *program = r->sim->model->program;
    t->work = sim_work_label(r->work);
    t->pieces = is_timesteps(r->work) ? cycle_of(r->sim) : 1;
    program->emit[r->work](r->sim, t);
    if (ends_with_report(r->work))
        program->emit[SIM_REPORT](r->sim, t);
}

/* Graphs of one cycle do what graphs of many leave over of a stride, or of a switch: the number of cycles that needs
 * fewest graphs. */
static uint32_t cycles_in_graph(const struct sim *s, enum sim_work work)
{
    const struct settings *set = s->model->set;
    const uint64_t stride = (work == SIM_SWITCH ? switch_steps(&set->switching) : set->stride) / cycle_of(s);
    const uint32_t most = RECORDER_REPEAT / cycle_of(s);
    uint32_t n = most;
    while (stride % n)
        n--;
    return stride / n < stride / most + stride % most ? n : most;
}

/* Whether the model has such work. */
static bool has_work(const struct sim *s, enum sim_work work)
{
    if ((work == SIM_INNER && cycle_of(s) == 1) || (work == SIM_SWITCH && !s->model->schedule.n))
        return false;
    if (work == SIM_KICK && !s->model->set->exchange)
        return false;
    return s->model->program->emit[work] && (work != SIM_WATERS || s->model->waters);
}

static int new_recorder(struct sim *s, struct sim_recorder *r, struct err *e)
{
    const struct recorder_setup setup = {.dev = s->model->dev,
                                         .lane = s->lane,
                                         .emit = emit_work,
                                         .ctx = r,
                                         .clock = &s->clock,
                                         .echo = s->echo,
                                         .repeat = is_timesteps(r->work) ? cycles_in_graph(s, r->work) : 0,
                                         .spans = s->spans,
                                         .nspans = SPAN_COUNT};
    int rc = recorder_new(&r->recorder, &setup, e);
    return rc ? rc : recorder_reserve(r->recorder, e);
}

int sim_new_recorders(struct sim *s, struct err *e)
{
    int rc = echo_new(&s->echo, s->model->dev, s->lane, e);
    if (rc)
        return err_prefix(e, "memory of a replica");
    s->clock.check_every = s->model->set->check_every;
    for (int w = 0; w < SIM_WORK_COUNT && !rc; w++) {
        s->tapes[w] = (struct sim_recorder){.sim = s, .work = (enum sim_work)w};
        if (w == SIM_STEP && model_in_gangs(s->model))
            rc = gang_join(s, e);
        else if (has_work(s, (enum sim_work)w))
            rc = new_recorder(s, &s->tapes[w], e);
    }
    return rc;
}

void sim_free_recorders(struct sim *s)
{
    gang_leave(s);
    for (int w = 0; w < SIM_WORK_COUNT; w++)
        recorder_free(s->tapes[w].recorder);
    echo_free(s->echo);
}

/* What is left of a cycle that was interrupted, then whole ones. */
static int submit_steps(struct sim *s, enum sim_work work, uint32_t n, struct err *e)
{
    const uint32_t cycle = cycle_of(s);
    const uint64_t first = s->step_after;
    const uint32_t inner = (uint32_t)((cycle - first % cycle) % cycle);
    if ((first + n) % cycle)
        return err_set(e, ERR_INTERNAL, "%u timesteps after step %llu: expected an end at a multiple of %u", n,
                       (unsigned long long)first, cycle);
    s->step_after += n;
    int rc = inner ? recorder_submit(s->tapes[SIM_INNER].recorder, inner, e) : 0;
    return rc ? rc : recorder_submit(s->tapes[work].recorder, (n - inner) / cycle, e);
}

int sim_submit_recorded(struct sim *s, enum sim_work work, uint32_t n, struct err *e)
{
    if (is_timesteps(work) && (work == SIM_SWITCH) != (s->held.data != NULL))
        return err_set(e, ERR_INTERNAL, "timesteps of a switch while none is under way, or of production within one");
    if (work == SIM_STEP && s->gang.gang) { /* whose launches report themselves */
        int rc = gang_want(s, n, e);
        s->clock.steps += n;
        return rc;
    }
    if (ends_with_report(work) && n != 1)
        return err_set(e, ERR_INTERNAL, "%u samples, frames or half kicks at once: expected one", n);
    int rc = 0;
    if (is_timesteps(work) && !sim_memory_is_ready(s) && s->tapes[SIM_PREPARE].recorder)
        rc = recorder_submit(s->tapes[SIM_PREPARE].recorder, 1, e);
    sim_memory_worked(s, is_timesteps(work) || (work == SIM_OBSERVE && sim_memory_is_ready(s)));
    if (rc == 0)
        rc = is_timesteps(work) ? submit_steps(s, work, n, e) : recorder_submit(s->tapes[work].recorder, n, e);
    return rc || ends_with_report(work) ? rc : recorder_submit(s->tapes[SIM_REPORT].recorder, 1, e);
}

int sim_check_recorders(struct sim *s, struct err *e)
{
    int rc = 0;
    for (int w = 0; w < SIM_WORK_COUNT && !rc; w++)
        if (s->tapes[w].recorder)
            rc = recorder_check_now(s->tapes[w].recorder, e);
    return rc ? rc : gang_check(s, e);
}

void sim_begin_epoch(struct sim *s)
{
    gang_epoch(s);
    for (int w = 0; w < SIM_WORK_COUNT; w++)
        if (s->tapes[w].recorder)
            recorder_epoch(s->tapes[w].recorder);
}
