/* SPDX-License-Identifier: Apache-2.0
 *
 * What a simulation says of the work whose outcome was asked for last, and how long work takes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/math/fixed.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"

uint32_t sim_steps_done(const struct sim *s)
{
    return (uint32_t)(sim_heard(s)->ctl.done - s->done_before);
}

bool sim_minimized(const struct sim *s, double *max_force, double *potential)
{
    const struct ctl *c = &sim_heard(s)->ctl;
    *max_force = c->min_max_force;
    *potential = c->min_energy;
    return c->min_steps && c->min_converged;
}

struct volume_moves sim_volume_moves(const struct sim *s)
{
    return sim_heard(s)->ctl.counted;
}

struct water_moves sim_water_moves(const struct sim *s)
{
    return sim_heard(s)->ctl.waters;
}

struct box_room sim_box_room(const struct sim *s)
{
    return s->model->program->box_room(s->model, sim_heard(s)->ctl.box);
}

void sim_sample(const struct sim *s, struct sample *out)
{
    const struct model *m = s->model;
    const struct ctl *c = &sim_heard(s)->ctl;
    const struct fixed_sum *u = report_energies(sim_heard(s));
    out->step = c->step;
    for (int i = 0; i < TERM_COUNT; i++)
        out->energy[i] = fixed_total(c->sum.energy[i]);
    out->potential = ctl_potential(c);
    out->kinetic = c->kinetic;
    const double freedom = m->center.freedom - center_missing(&m->center, c->step);
    out->temperature = freedom > 0 ? 2 * c->kinetic / (freedom * UNIT_R) : 0;
    memset(out->dvdl, 0, sizeof out->dvdl);
    for (int i = 0; i < LAMBDA_COUNT; i++)
        out->dvdl[alchemy_ladder(&m->set->alchemy, (enum lambda)i)] += fixed_total(c->sum.dvdl[i]);
    for (int w = 0; w < m->windows.n; w++)
        out->delta_u[w] = fixed_difference(u[w], u[c->window]);
    double trace = 0;
    for (int i = 0; i < 9; i++) {
        out->virial[i] = fixed_total(c->sum.virial[i]);
        out->constraint_virial[i] = c->constraint_virial[i];
        if (i % 4 == 0)
            trace += out->virial[i] + out->constraint_virial[i];
    }
    for (int i = 0; i < m->sys->ncoordinations; i++)
        out->coordination[i] = coordination_value(c, (uint32_t)i);
    double volume = box_volume(c->box);
    /* before a timestep nothing was taken out of velocities that the coordinates brought */
    const double kinetic = c->kinetic + (c->moving ? center_kinetic(&m->center, c->step, c->kinetic) : 0);
    out->pressure = 2 * (kinetic - trace) / (3 * volume) * UNIT_BAR + c->pressure_correction;
    out->density = m->mass / volume * UNIT_DENSITY;
    memcpy(out->box, c->box, sizeof out->box);
    out->clamped = c->sum.clamped;
}

int sim_forces(struct sim *s, double (*f)[3], struct err *e)
{
    size_t n = (size_t)s->model->sys->natoms;
    int64_t(*sum)[3] = xcalloc(n, sizeof *sum);
    int rc = s->model->dev->ops->copy(s->model->dev, s->lane, sum, s->d.f, n * sizeof *sum, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        for (int d = 0; d < 3; d++)
            f[i][d] = fixed_value(sum[i][d]);
    free(sum);
    return rc;
}

uint64_t sim_step_number(const struct sim *s)
{
    return sim_heard(s)->ctl.step;
}

uint32_t sim_nodes_per_step(const struct sim *s)
{
    const uint32_t cycle = mesh_cycle(&s->model->set->integrator);
    return s->gang.gang ? 1 : (recorder_nodes(s->tapes[SIM_STEP].recorder) + cycle - 1) / cycle;
}

size_t sim_device_bytes(const struct sim *s)
{
    struct dev_usage use;
    s->model->dev->ops->usage(s->model->dev, s->lane, &use);
    return use.lane + s->mapped_bytes;
}

/* ---- how long it takes ---- */

/* Adds up over the repetitions; the first one does not count. */
struct launch_sums {
    struct dev_clock clock;
    bool begun;
    double seconds[TAPE_LAUNCHES_MAX];
};

static void ran(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times)
{
    struct launch_sums *of = (struct launch_sums *)clock;
    for (uint32_t i = 0; of->begun && i < t->count; i++)
        of->seconds[i] += times[i].seconds;
    of->begun = true;
}

int sim_launch_times(struct sim *s, enum sim_work work, uint32_t repeats,
                     void (*each)(void *ctx, const char *kernel, double seconds), void *ctx, struct err *e)
{
    struct dev *dev = s->model->dev;
    struct launch_sums sums = {.clock.ran = ran};
    struct tape t = {0};
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    s->model->program->emit[work](s, &t);
    dev->clock = &sums.clock;
    for (uint32_t i = 0; i <= repeats && !rc; i++)
        rc = dev->ops->run(dev, s->lane, &t, e);
    dev->clock = NULL;
    for (uint32_t i = 0; i < t.count && !rc; i++)
        each(ctx, s->model->program->kernels->kernels[t.launches[i].kernel].name, sums.seconds[i] / repeats);
    tape_free(&t);
    return rc;
}
