/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program: what one timestep, one sample, one volume move, one batch of water moves and one descent step
 * launch. Nothing here depends on the step.
 */
#include "engine/base/units.h"
#include "engine/cuda/biases/tiles.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/nonbonded.h"
#include "engine/cuda/observe/observe.h"
#include "engine/kernels/motion.h"
#include "engine/math/digest.h"
#include "engine/run/sim_parts.h"

/* A kernel of many blocks, and one of a single block; after: launches of the tape that come before, a bit each. */
#define EMIT_BLOCKS(kernel, blocks, threads, after_, ...)                                                              \
    emit_##kernel(t, &(struct shape){.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .after = after_},               \
                  &(struct args_##kernel){__VA_ARGS__})
#define EMIT_ONE(kernel, ...) EMIT_BLOCKS(kernel, 1, CUDA_ONE_BLOCK, tape_sinks(t), __VA_ARGS__)

/* Threads: one for each bonded term, and a warp for each restraint between centers. */
static uint32_t bonded_threads(const struct model *m)
{
    return m->ncenters ? (m->nbonded + WARP - 1) / WARP * WARP + WARP * m->ncenters : m->nbonded;
}

/* pme: PME_AUTO in the timesteps between two that have the mesh, and where there is none. */
static struct nonbonded_arrays arrays_for(const struct sim *s, enum evaluate mode, enum pme_form pme)
{
    struct fixed_sum *rows = sim_foreign_energies(s, mode);
    return (struct nonbonded_arrays){
        s->d.ctl, (double *)s->d.x, (double *)s->d.v, (int64_t *)s->d.f,        rows,
        &s->caps, s->d.nonbonded,   s->model->bonded, bonded_threads(s->model), s->model->nrare + s->model->ncenters,
        pme};
}

static struct nonbonded_arrays arrays_of(const struct sim *s, enum pme_form pme)
{
    return arrays_for(s, EVALUATE_SAMPLE, pme);
}

static void *tail_of(const struct sim *s)
{
    struct nonbonded_arrays arrays = arrays_of(s, s->pme);
    return cuda_block_tail(s->model->nonbonded, &arrays);
}

static uint32_t site_blocks(const struct sim *s)
{
    return blocks_of((uint64_t)s->model->sys->nsites, CUDA_BLOCK);
}

static struct args_place place_args(const struct sim *s, enum pme_form pme)
{
    const struct nonbonded_arrays arrays = arrays_of(s, pme);
    return cuda_place_args(s->model->nonbonded, &arrays);
}

/* PLACE_FIELDS */
#define PLACING(p)                                                                                                     \
    .f = (p).f, .table = (p).table, .lists = (p).lists, .grid = (p).grid, .built = (p).built,                          \
    .atom_grid = (p).atom_grid, .first_x = (p).first_x, .first_y = (p).first_y, .first_z = (p).first_z

/* After whatever moves atoms. */
static void place_sites(const struct sim *s, struct tape *t)
{
    const struct args_place place = place_args(s, s->pme);
    if (s->model->sites)
        EMIT_BLOCKS(sites_place, site_blocks(s), CUDA_BLOCK, tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v,
                    .sites = s->model->sites, PLACING(place), .nsites = (uint32_t)s->model->sys->nsites);
}

static size_t bias_work(const struct model *m)
{
    size_t bytes = 0;
    for (int i = 0; i < m->sys->ncoordinations; i++)
        bytes += coordination_order_bytes(&m->sys->coordinations[i]);
    return bytes;
}

/* after: what moved the atoms; placed: what cleared forces and sums. */
static void bias_launches(const struct sim *s, enum evaluate mode, uint64_t after, uint64_t placed, struct tape *t)
{
    const struct system *sys = s->model->sys;
    const void *table = s->model->biases;
    const uint32_t atoms = (uint32_t)sys->ncoordination_atoms;
    uint32_t tiles = 0;
    if (bias_work(s->model))
        placed |= EMIT_BLOCKS(order_coordinations, (uint32_t)sys->ncoordinations, ORDER_THREADS, after, .ctl = s->d.ctl,
                              .x = s->d.x, .table = table, .work = s->d.bias_work);
    for (int i = 0; i < sys->ncoordinations; i++)
        tiles += coordination_tiles(&sys->coordinations[i]);
    const uint64_t summed = EMIT_BLOCKS(coordinations, blocks_of(WARP * tiles, CUDA_BLOCK), CUDA_BLOCK, placed,
                                        .ctl = s->d.ctl, .x = s->d.x, .table = table, .sums = s->d.bias_sums,
                                        .work = s->d.bias_work, .tiles = tiles, .mode = (uint32_t)mode);
    EMIT_BLOCKS(biases, blocks_of(atoms, CUDA_BLOCK), CUDA_BLOCK, summed, .ctl = s->d.ctl, .f = s->d.f, .table = table,
                .sums = s->d.bias_sums, .energy_at_window = sim_foreign_energies(s, mode), .atoms = atoms,
                .mode = (uint32_t)mode);
}

static void prepare(const struct sim *s, struct tape *t)
{
    const struct nonbonded_arrays arrays = arrays_of(s, s->pme);
    cuda_place_emit(s->model->nonbonded, &arrays, tape_sinks(t), t);
}

/* A timestep finds its atoms placed. */
static void evaluate_some(const struct sim *s, enum evaluate mode, enum pme_form pme, struct tape *t)
{
    const struct nonbonded_arrays arrays = arrays_for(s, mode, pme);
    const uint64_t after = tape_sinks(t);
    if (evaluates_energies(mode))
        prepare(s, t);
    const uint64_t placed = tape_sinks(t);
    cuda_nonbonded_emit(s->model->nonbonded, mode, &arrays, placed, t);
    if (s->model->biases)
        bias_launches(s, mode, after, placed, t);
    if (s->model->sites && evaluates_forces(mode))
        EMIT_BLOCKS(sites_take, site_blocks(s), CUDA_BLOCK, tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x, .f = s->d.f,
                    .sites = s->model->sites, .nsites = (uint32_t)s->model->sys->nsites, .mode = (uint32_t)mode);
}

static void evaluate(const struct sim *s, enum evaluate mode, struct tape *t)
{
    evaluate_some(s, mode, s->pme, t);
}

static void report(const struct sim *s, struct tape *t)
{
    EMIT_ONE(report, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .energy_at_window = s->d.energy_at_window,
             .report = s->report_device, .natoms = (uint32_t)s->model->sys->natoms,
             .nwindows = (uint32_t)s->model->windows.n);
}

static void emit_digests(const struct readonly *tables, void *digests, struct tape *t)
{
    const uint64_t words = readonly_words(tables);
    EMIT_BLOCKS(digest, (uint32_t)digest_chunks(words), CUDA_BLOCK, 0, .tables = tables->span.start, .digests = digests,
                .words = words);
}

static double kt(const struct sim *s)
{
    return UNIT_R * s->model->set->integrator.temperature;
}

/* Of a block: half as many unless all replicas have two blocks for each multiprocessor, as their threads then see to
 * fewer atoms. */
static uint32_t step_waters(const struct model *m)
{
    const uint64_t blocks = (uint64_t)m->set->replicas * blocks_of(m->nwaters, STEP_WATERS);
    return blocks >= 2 * m->dev->limits.processors ? STEP_WATERS : STEP_WATERS / 2;
}

static uint32_t step_water_blocks(const struct model *m)
{
    return blocks_of(m->nwaters, step_waters(m));
}

static uint32_t step_blocks(const struct model *m)
{
    return step_water_blocks(m) + blocks_of(m->nbodies - m->nwaters, STEP_BODIES);
}

static bool in_gangs(const struct nonbonded *nb)
{
    return cuda_nonbonded_tiny(nb) != NULL;
}

/* Further arguments of kernels, of integrators with such a thermostat. */
#define FRICTION_OF_NONE(s)
#define FRICTION_OF_FRICTION(s) , .keep = rule.keep, .noise = rule.noise

/* The mesh's charges are cleared by a timestep that has spread them. */
static void one_timestep(const struct sim *s, enum evaluate mode, enum pme_form pme, struct tape *t)
{
    const struct integrator_settings *in = &s->model->set->integrator;
    const struct args_place place = place_args(s, pme);
    const struct motion_rule rule = motion_rule_of(in->timestep, in->friction, kt(s));
    const void *motion = s->model->motion;
    evaluate_some(s, mode, pme, t);
    switch (in->kind) {
#define INTEGRATOR(name, word, kernel, thermostat, ...)                                                                \
    case INTEGRATOR_##name:                                                                                            \
        EMIT_BLOCKS(kernel, step_blocks(s->model), CUDA_BLOCK, tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x,            \
                    .v = s->d.v, .x_old = s->d.x_old, .motion = motion, .tail = tail_of(s), PLACING(place),            \
                    .charges = place.charges, .timestep = in->timestep FRICTION_OF_##thermostat(s),                    \
                    .com_every = s->model->center.every, .waters = step_waters(s->model),                              \
                    .water_blocks = step_water_blocks(s->model), .points = place.points);                              \
        break;
#include "engine/system/integrators.def"
    }
    place_sites(s, t);
}

static void inner_timestep(const struct sim *s, struct tape *t)
{
    one_timestep(s, EVALUATE_STEP, PME_AUTO, t);
}

/* The impulse of the mesh comes first: samples and all else find it due. Lambda changes in timesteps with the mesh. */
static void cycle(const struct sim *s, enum evaluate mode, struct tape *t)
{
    one_timestep(s, mode, s->pme, t);
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
    EMIT_BLOCKS(velocities, blocks_of((uint64_t)s->model->nbodies * reaction.ways, CUDA_BLOCK), CUDA_BLOCK,
                tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .f = s->d.f, .v_out = s->d.v_out,
                .x_ahead = s->d.x_old, .motion = s->model->motion, .tail = tail_of(s),
                .energy_at_window = s->d.energy_at_window, .timestep = reaction.timestep, .ways = reaction.ways);
}

/* By forces that have been evaluated. */
static void half_kick(const struct sim *s, struct tape *t)
{
    EMIT_ONE(half_kick, .ctl = s->d.ctl, .v = s->d.v, .f = s->d.f, .motion = s->model->motion,
             .timestep = s->model->set->integrator.timestep);
}

/* By the impulse that a timestep with the mesh has. */
static void halve_kick(const struct sim *s, struct tape *t)
{
    prepare(s, t);
    evaluate(s, EVALUATE_STEP, t);
    half_kick(s, t);
}

static struct box_room box_room(const struct model *m, const double box[BOX_SIZE])
{
    const struct box_limits least = cuda_box_limits(m->nonbonded);
    const double width = box_least_width(box), edge = 2 * box_cutoff_limit(box);
    if (least.edge * width > least.width * edge) /* less is left of it */
        return (struct box_room){.width = edge, .least = least.edge};
    return (struct box_room){.width = width, .least = least.width};
}

static void volume_move(const struct sim *s, struct tape *t)
{
    const void *motion = s->model->motion;
    const struct box_limits least = cuda_box_limits(s->model->nonbonded);
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT_ONE(volume_try, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .motion = motion, .min_width = least.width,
             .min_edge = least.edge, .coupling = s->model->set->barostat.coupling);
    place_sites(s, t);
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT_ONE(volume_decide, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .motion = motion,
             .pressure = s->model->set->barostat.pressure / UNIT_BAR, .kt = kt(s));
}

static void exchange_waters(const struct sim *s, struct tape *t)
{
    const struct settings *set = s->model->set;
    const void *table = s->model->waters;
    const uint32_t natoms = (uint32_t)s->model->sys->natoms, tries = set->waters.tries;
    evaluate(s, EVALUATE_ENERGY, t);
    half_kick(s, t);
    EMIT_BLOCKS(waters_weigh, blocks_of((uint64_t)s->model->nwaters * WARP, CUDA_BLOCK), CUDA_BLOCK, tape_sinks(t),
                .ctl = s->d.ctl, .x = s->d.x, .table = table, .states = s->d.w, .kt = kt(s));
    EMIT_BLOCKS(waters_try, 1, WATERS_BLOCK, tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old,
                .table = table, .states = s->d.w, .kt = kt(s), .natoms = natoms, .tries = tries);
    evaluate(s, EVALUATE_POTENTIAL, t);
    EMIT_BLOCKS(waters_decide, 1, WATERS_BLOCK, tape_sinks(t), .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old,
                .v = s->d.v, .table = table, .kt = kt(s), .natoms = natoms, .tries = tries);
}

static void descend(const struct sim *s, struct tape *t)
{
    const void *motion = s->model->motion;
    EMIT_ONE(descend, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .f_best = s->d.f_best, .motion = motion);
    place_sites(s, t);
    evaluate(s, EVALUATE_ENERGY, t);
    EMIT_ONE(descend_decide, .ctl = s->d.ctl, .x = s->d.x, .x_old = s->d.x_old, .f = s->d.f, .f_best = s->d.f_best,
             .motion = motion);
}

static void emit_new_velocities(const struct sim *s, struct tape *t)
{
    EMIT_ONE(thermalize, .ctl = s->d.ctl, .x = s->d.x, .v = s->d.v, .x_old = s->d.x_old, .motion = s->model->motion,
             .kt = kt(s), .remove_com = s->model->center.every > 0);
    place_sites(s, t);
    report(s, t);
}

const struct program cuda_program = {.device = "cuda",
                                     .kernels = &cuda_kernels,
                                     .observe_open = cuda_observe_open,
                                     .observe_close = cuda_observe_close,
                                     .observe_launches = cuda_observe_launches,
                                     .observe_work = cuda_observe_work,
                                     .bias_work = bias_work,
                                     .nonbonded_new = cuda_nonbonded_new,
                                     .nonbonded_free = cuda_nonbonded_free,
                                     .nonbonded_tables = cuda_nonbonded_tables,
                                     .pme_form = cuda_pme_form,
                                     .caps_guess = cuda_caps_guess,
                                     .caps_grow = cuda_caps_grow,
                                     .block_bytes = cuda_block_bytes,
                                     .emit = {[SIM_MINIMIZE] = descend,
                                              [SIM_STEP] = timesteps,
                                              [SIM_SAMPLE] = sample,
                                              [SIM_BAROSTAT] = volume_move,
                                              [SIM_WATERS] = exchange_waters,
                                              [SIM_KICK] = halve_kick,
                                              [SIM_OBSERVE] = cuda_observe,
                                              [SIM_PREPARE] = prepare,
                                              [SIM_REPORT] = report,
                                              [SIM_INNER] = inner_timestep,
                                              [SIM_SWITCH] = switch_timesteps},
                                     .gang = &tiny_gang,
                                     .in_gangs = in_gangs,
                                     .emit_new_velocities = emit_new_velocities,
                                     .emit_digests = emit_digests,
                                     .box_room = box_room};
