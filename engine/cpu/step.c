/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU device's program: what one timestep, one sample, one frame of observables, one volume move, one batch
 * of water moves and one descent step launch. Nothing here depends on the step.
 */
#include "engine/base/units.h"
#include "engine/cpu/biases/cells.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/observe/observe.h"
#include "engine/cpu/nonbonded.h"
#include "engine/kernels/motion.h"
#include "engine/run/sim_parts.h"

#define EMIT(kernel, ...) emit_##kernel(t, &SHAPE_CHAIN, &(struct args_##kernel){__VA_ARGS__})

/* After whatever moves atoms. */
static void place_sites(const struct sim *s, struct tape *t)
{
    if (s->model->sites)
        EMIT(sites_place, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .sites = s->model->sites);
}

/* mesh: false in the timesteps between two that have it. */
static void evaluate_some(const struct sim *s, enum evaluate mode, bool mesh, struct tape *t)
{
    const struct model *m = s->model;
    struct fixed_sum *rows = sim_foreign_energies(s, mode);
    struct cpu_nonbonded_arrays arrays = {s->d.ctl, (double *)s->d.x, (int64_t *)s->d.f, rows};
    EMIT(clear, .ctl = s->d.ctl, .f = s->d.f, .energy_at_window = s->d.energy_at_window,
         .natoms = (uint32_t)m->sys->natoms, .nwindows = (uint32_t)m->windows.n);
    nonbonded_emit(m->nonbonded, mode, mesh, &arrays, &s->caps, s->d.nonbonded, t);
    EMIT(bonded, .ctl = s->d.ctl, .x = s->d.x, .f = s->d.f, .terms = m->bonded, .energy_at_window = rows,
         .mode = (uint32_t)mode);
    if (m->biases)
        EMIT(biases, .ctl = s->d.ctl, .x = s->d.x, .f = s->d.f, .table = m->biases, .sums = s->d.bias_sums,
             .work = s->d.bias_work, .energy_at_window = rows, .mode = (uint32_t)mode);
    if (m->sites)
        EMIT(sites_take, .ctl = s->d.ctl, .x = s->d.x, .f = s->d.f, .sites = m->sites, .mode = (uint32_t)mode);
}

static void evaluate(const struct sim *s, enum evaluate mode, struct tape *t)
{
    evaluate_some(s, mode, true, t);
}

static void report(const struct sim *s, struct tape *t)
{
    EMIT(report, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .energy_at_window = s->d.energy_at_window,
         .report = s->report_device, .natoms = (uint32_t)s->model->sys->natoms,
         .nwindows = (uint32_t)s->model->windows.n);
}

static void emit_digests(const struct readonly *tables, void *digests, struct tape *t)
{
    EMIT(digest, .tables = tables->span.start, .digests = digests, .words = readonly_words(tables));
}

static double kt(const struct sim *s)
{
    return UNIT_R * s->model->set->integrator.temperature;
}

static void one_timestep(const struct sim *s, enum evaluate mode, bool mesh, struct tape *t)
{
    const struct integrator_settings *in = &s->model->set->integrator;
    const void *motion = s->model->motion;
    evaluate_some(s, mode, mesh, t);
    switch (in->kind) {
#define INTEGRATOR(name, word, kernel, ...)                                                                            \
    case INTEGRATOR_##name:                                                                                            \
        EMIT(kernel, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .f = s->d.f, .x_old = s->d.x_old, .w = s->d.w,         \
             .motion = motion, .timestep = in->timestep, .friction = in->friction, .kt = kt(s));                       \
        break;
#include "engine/system/integrators.def"
    }
    place_sites(s, t);
    if (s->model->center.every)
        EMIT(remove_com, .ctl = s->d.ctl, .v = s->d.v, .motion = motion, .every = s->model->center.every);
}

static void inner_timestep(const struct sim *s, struct tape *t)
{
    one_timestep(s, EVALUATE_STEP, false, t);
}

/* The impulse of the mesh comes first: samples and all else find it due. Lambda changes in timesteps with the mesh. */
static void cycle(const struct sim *s, enum evaluate mode, struct tape *t)
{
    one_timestep(s, mode, true, t);
    for (uint32_t k = 1; k < mesh_cycle(&s->model->set->integrator); k++)
        inner_timestep(s, t);
}

static void timesteps(const struct sim *s, struct tape *t)
{
    cycle(s, EVALUATE_STEP, t);
}

static void switch_timesteps(const struct sim *s, struct tape *t)
{
    cycle(s, EVALUATE_SWITCH, t);
}

static void sample(const struct sim *s, struct tape *t)
{
    const struct integrator_settings *in = &s->model->set->integrator;
    const struct motion_reaction reaction = motion_reaction_of(in->kind, in->timestep);
    evaluate(s, EVALUATE_SAMPLE, t);
    EMIT(velocities, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .f = s->d.f, .v_out = s->d.v_out, .x_ahead = s->d.x_old,
         .w = s->d.w, .motion = s->model->motion, .energy_at_window = s->d.energy_at_window,
         .timestep = reaction.timestep, .ways = reaction.ways);
}

/* By forces that have been evaluated. */
static void half_kick(const struct sim *s, struct tape *t)
{
    EMIT(half_kick, .ctl = s->d.ctl, .v = s->d.v, .f = s->d.f, .motion = s->model->motion,
         .timestep = s->model->set->integrator.timestep);
}

/* By the impulse that a timestep with the mesh has. */
static void halve_kick(const struct sim *s, struct tape *t)
{
    evaluate(s, EVALUATE_STEP, t);
    half_kick(s, t);
}

static double min_edge(const struct model *m)
{
    const struct nonbonded_settings *nb = &m->set->nonbonded;
    return 2 * (nb->vdw_cutoff > nb->coulomb_cutoff ? nb->vdw_cutoff : nb->coulomb_cutoff);
}

static struct box_room box_room(const struct model *m, const double box[BOX_SIZE])
{
    return (struct box_room){.width = 2 * box_cutoff_limit(box), .least = min_edge(m)};
}

static void volume_move(const struct sim *s, struct tape *t)
{
    const void *motion = s->model->motion;
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT(volume_try, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .motion = motion,
         .min_edge = min_edge(s->model), .coupling = s->model->set->barostat.coupling);
    place_sites(s, t);
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT(volume_decide, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .motion = motion,
         .pressure = s->model->set->barostat.pressure / UNIT_BAR, .kt = kt(s));
}

static void exchange_waters(const struct sim *s, struct tape *t)
{
    const struct model *m = s->model;
    const uint32_t natoms = (uint32_t)m->sys->natoms, tries = m->set->waters.tries;
    evaluate(s, EVALUATE_ENERGY, t);
    half_kick(s, t);
    EMIT(waters_weigh, .ctl = s->d.ctl, .x = s->d.x, .table = m->waters, .states = s->d.w, .kt = kt(s));
    EMIT(waters_try, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .table = m->waters, .states = s->d.w,
         .kt = kt(s), .natoms = natoms, .tries = tries);
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT(waters_decide, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .v = s->d.v, .table = m->waters, .kt = kt(s),
         .natoms = natoms, .tries = tries);
}

static void descend(const struct sim *s, struct tape *t)
{
    const void *motion = s->model->motion;
    EMIT(descend, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .f_best = s->d.f_best, .motion = motion);
    place_sites(s, t);
    evaluate(s, EVALUATE_ENERGY, t);
    EMIT(descend_decide, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .f = s->d.f, .f_best = s->d.f_best,
         .motion = motion);
}

static size_t bias_work(const struct model *m)
{
    size_t most = 0;
    for (int i = 0; i < m->sys->ncoordinations; i++) {
        const size_t bytes = cells_bytes(&m->sys->coordinations[i]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void emit_new_velocities(const struct sim *s, struct tape *t)
{
    EMIT(thermalize, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .x_old = s->d.x_old, .w = s->d.w,
         .motion = s->model->motion, .kt = kt(s), .remove_com = s->model->center.every > 0);
    place_sites(s, t);
    report(s, t);
}

const struct program cpu_program = {.device = "cpu",
                                    .host_memory = true,
                                    .kernels = &cpu_kernels,
                                    .observe_launches = cpu_observe_launches,
                                    .observe_work = cpu_observe_work,
                                    .bias_work = bias_work,
                                    .nonbonded_new = nonbonded_new,
                                    .nonbonded_free = nonbonded_free,
                                    .nonbonded_tables = nonbonded_tables,
                                    .caps_guess = nonbonded_caps_guess,
                                    .caps_grow = nonbonded_caps_grow,
                                    .block_bytes = nonbonded_bytes,
                                    .emit = {[SIM_MINIMIZE] = descend,
                                             [SIM_STEP] = timesteps,
                                             [SIM_SAMPLE] = sample,
                                             [SIM_BAROSTAT] = volume_move,
                                             [SIM_WATERS] = exchange_waters,
                                             [SIM_KICK] = halve_kick,
                                             [SIM_OBSERVE] = cpu_observe,
                                             [SIM_REPORT] = report,
                                             [SIM_INNER] = inner_timestep,
                                             [SIM_SWITCH] = switch_timesteps},
                                    .emit_new_velocities = emit_new_velocities,
                                    .emit_digests = emit_digests,
                                    .box_room = box_room};
