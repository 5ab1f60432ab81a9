/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/mesh/fft_plan.h"
#include "engine/prepare/ewald.h"

enum {
    BRICK_EDGE = 20,     /* points along an edge of a brick, at most: its neighbours have order - 1 of them too */
    BRICK_EDGE_FEW = 10, /* points of a brick's edge with few replicas, which need many bricks to fill the device */
    BRICK_COPIES = 6,    /* of its points that a thread copies, if there are threads enough */
};

static struct divisor divisor_of(uint32_t by)
{
    return (struct divisor){by, by > 1 ? UINT32_MAX / by + 1 : 0};
}

static int factorize(struct mesh_axis *a)
{
    uint32_t rest = (uint32_t)a->size, done = 1;
    for (a->npasses = 0; rest > 1; a->npasses++) {
        if (a->npasses == MESH_PASSES)
            return -1;
        uint32_t radix = (uint32_t)next_radix((int)rest);
        rest /= radix;
        a->pass[a->npasses] = (struct mesh_pass){radix, rest, divisor_of(done), divisor_of(rest * done)};
        done *= radix;
    }
    return 0;
}

/* Points of the largest plane. A block has two (passes go from one to the other). */
static size_t plane_points(const struct mesh *m)
{
    const struct mesh_axis *a = m->host.axis;
    uint32_t yz = mesh_plane_points(a[1].points.by, a[2].points.by),
             xz = mesh_plane_points(a[0].points.by, a[2].points.by);
    return yz > xz ? yz : xz;
}

/* Points beside those of the planes: twiddles and modes. */
static size_t beside_planes(const struct mesh *m)
{
    const struct mesh_axis *a = m->host.axis;
    return 2 * ((a[0].points.by > a[1].points.by ? a[0] : a[1]).points.by + (size_t)a[2].points.by);
}

/* Planes that have no room in shared memory are transformed in global memory, slowly. */
static bool planes_fit(const struct mesh *m)
{
    return (2 * plane_points(m) + beside_planes(m)) * 2 * sizeof(float) <= m->shared_most;
}

static uint32_t shared_bytes(const struct mesh *m)
{
    size_t points = beside_planes(m) + (planes_fit(m) ? 2 * plane_points(m) : 0);
    return (uint32_t)(points * 2 * sizeof(float));
}

/* Shared memory of a whole mesh; 0: of such lengths no block does it. */
static size_t block_bytes(const struct mesh *m)
{
    const struct mesh_axis *a = m->host.axis;
    uint32_t order = (uint32_t)m->host.order, size[3];
    for (int d = 0; d < 3; d++) {
        size[d] = (uint32_t)a[d].size;
        switch (a[d].size) {
#define LENGTH(n) case n:
            MESH_BLOCK_LENGTHS(LENGTH)
#undef LENGTH
            break;
        default:
            return 0;
        }
    }
    size_t points = (size_t)size[0] * mesh_block_plane(size[1], size[2], order) + size[0] + size[1] + size[2];
    return points * 2 * sizeof(float);
}

static int no_block(const struct mesh *m, size_t bytes, struct err *e)
{
    const struct mesh_axis *a = m->host.axis;
    if (!bytes)
        return err_set(e, ERR_UNSUPPORTED, "nonbonded: coulomb: grid: %d x %d x %d: one block cannot do it", a[0].size,
                       a[1].size, a[2].size);
    return err_set(e, ERR_UNSUPPORTED,
                   "nonbonded: coulomb: grid: %d x %d x %d: one block cannot do it: it takes %zu bytes of shared "
                   "memory, of which a block has %u on this GPU",
                   a[0].size, a[1].size, a[2].size, bytes, m->shared_most);
}

/* Bits do not depend on it: where a block of the device has no room, the card does the mesh. */
static int choose_forms(struct mesh *m, const struct settings *set, struct err *e)
{
    const size_t bytes = block_bytes(m);
    const bool fits = bytes && bytes <= m->shared_most;
    if (set->nonbonded.pme_form == PME_BLOCK && !fits)
        return no_block(m, bytes, e);
    m->block = m->meshed && fits && set->nonbonded.pme_form != PME_CARD;
    m->card = m->meshed && (!fits || set->nonbonded.pme_form != PME_BLOCK);
    return 0;
}

enum pme_form mesh_form(const struct mesh *m, int in_flight)
{
    if (m->block && (!m->card || in_flight >= MESH_MANY))
        return PME_BLOCK;
    return m->card ? PME_CARD : PME_AUTO;
}

void mesh_settle(struct mesh *m, int in_flight)
{
    const enum pme_form form = mesh_form(m, in_flight);
    m->block = form == PME_BLOCK;
    m->card = form == PME_CARD;
}

static int set_axis(struct mesh_axis *a, int32_t size, struct err *e)
{
    a->size = size;
    a->points = divisor_of((uint32_t)size);
    a->half = divisor_of((uint32_t)size / 2 + 1);
    a->pairs = divisor_of(((uint32_t)size + 1) / 2);
    if (factorize(a))
        return err_set(e, ERR_UNSUPPORTED, "nonbonded: coulomb: grid: %d points: more than %d factors", a->size,
                       MESH_PASSES);
    return 0;
}

/* Points that the atoms of one of `count` bricks along an axis of n points touch, at most. */
static uint32_t brick_extent(uint32_t n, uint32_t count, uint32_t order)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < count; b++) {
        uint32_t points = ((b + 1) * n + count - 1) / count - b * n / count;
        most = points > most ? points : most;
    }
    return most + order - 1;
}

/* As few points as possible for all bricks together, but for edges up to the largest. */
static void choose_bricks(struct mesh *m)
{
    const struct mesh_table *t = &m->host;
    struct mesh_bricks *b = &m->host.bricks;
    const uint32_t order = (uint32_t)t->order, edge = m->few ? BRICK_EDGE_FEW : BRICK_EDGE;
    b->all = 1;
    for (int d = 0; d < 3; d++) {
        const uint32_t n = (uint32_t)t->axis[d].size;
        b->count[d] = n;
        for (uint32_t count = 1; count <= n; count++) {
            uint32_t extent = brick_extent(n, count, order);
            if (extent < edge + order && count * extent < b->count[d] * brick_extent(n, b->count[d], order))
                b->count[d] = count;
        }
        b->along[d] = divisor_of(b->count[d]);
        b->extent[d] = brick_extent(n, b->count[d], order);
        b->all *= b->count[d];
    }
    b->sheet = divisor_of(b->count[1] * b->count[2]);
    b->row = divisor_of(b->extent[2]);
    b->plane = divisor_of(b->extent[1] * b->extent[2]);
    b->cap = 4 * ((uint32_t)t->natoms / b->all) + 64;
}

int mesh_make(struct mesh *m, const struct dev_limits *limits, const struct system *sys, const struct settings *set,
              const struct alchemy_plan *plan, struct err *e)
{
    const struct nonbonded_settings *nb = &set->nonbonded;
    *m = (struct mesh){.host = {.order = nb->pme_order, .natoms = sys->natoms, .impulse = mesh_cycle(&set->integrator)},
                       .shared_most = limits->block_shared - CUDA_STATIC_SHARED};
    m->host.beta = (float)ewald_beta(nb->coulomb_cutoff, nb->ewald_tolerance);
    m->host.triclinic = box_triclinic(sys->box);
    for (int i = 0; i < plan->natoms; i++) {
        m->meshed |= nb->coulomb_method == COULOMB_PME && (plan->charge[i] != 0 || plan->change[i] != 0);
        m->host.perturbed |= plan->change[i] != 0;
    }
    int32_t size[3];
    int rc = mesh_sizes(size, sys->box, nb, e);
    for (int d = 0; d < 3 && !rc; d++)
        rc = set_axis(&m->host.axis[d], size[d], e);
    if (rc)
        return rc;
    m->few = set->replicas < MESH_MANY;
    choose_bricks(m);
    return choose_forms(m, set, e);
}

static void put_axis(struct mesh_axis *axis, int order, struct arena *a)
{
    size_t n = (size_t)axis->size;
    double *modulus = xcalloc(n, sizeof *modulus);
    float *single = xcalloc(n, sizeof *single), (*twiddle)[2] = xcalloc(n, sizeof *twiddle);
    mesh_modulus(modulus, axis->size, order);
    for (size_t k = 0; k < n; k++) {
        single[k] = (float)modulus[k];
        twiddle[k][0] = (float)cos_turn((long)k, axis->size);
        twiddle[k][1] = (float)-sin_turn((long)k, axis->size);
    }
    axis->modulus = arena_put(a, single, n * sizeof *single);
    axis->twiddle = arena_put(a, twiddle, n * sizeof *twiddle);
    free(modulus);
    free(single);
    free(twiddle);
}

void mesh_lay_out(struct mesh *m, const struct alchemy_plan *plan, const struct lambda_rows *windows, struct arena *a)
{
    size_t n = (size_t)plan->natoms;
    float(*charge)[2] = xcalloc(n, sizeof *charge);
    for (size_t i = 0; i < n; i++) {
        charge[i][0] = (float)plan->charge[i];
        charge[i][1] = (float)plan->change[i];
    }
    m->host.charge = arena_put(a, charge, n * sizeof *charge);
    m->host.window = windows->lambda;
    m->host.nwindows = windows->n;
    free(charge);
    for (int d = 0; d < 3; d++)
        put_axis(&m->host.axis[d], m->host.order, a);
    m->table = arena_put(a, &m->host, sizeof m->host);
}

static uint32_t all_points(const struct mesh *m)
{
    const struct mesh_axis *a = m->host.axis;
    return (uint32_t)a[0].size * (uint32_t)a[1].size * (uint32_t)a[2].size;
}

uint32_t mesh_points(const struct mesh *m, enum pme_form form)
{
    return form == PME_CARD ? all_points(m) + m->host.bricks.all + 1 : 0;
}

void mesh_lay_out_block(const struct mesh *m, struct arena *a, struct mesh_arrays *out)
{
    const struct mesh_axis *s = m->host.axis;
    const struct mesh_bricks *b = &m->host.bricks;
    size_t half = (size_t)s[0].size * (size_t)s[1].size * (size_t)(s[2].size / 2 + 1);
    *out = (struct mesh_arrays){0};
    if (!m->card)
        return;
    out->charges = arena_take(a, (all_points(m) + b->all + 1) * sizeof *out->charges);
    out->brick_atom = arena_take(a, ((size_t)b->all * b->cap + (size_t)m->host.natoms) * sizeof *out->brick_atom);
    out->spectrum = arena_take(a, half * sizeof *out->spectrum);
    out->potential = arena_take(a, all_points(m) * sizeof *out->potential);
    if (!planes_fit(m))
        out->work =
            arena_take(a, 2 * plane_points(m) * (size_t)(s[0].size > s[1].size ? s[0] : s[1]).size * sizeof *out->work);
}

#define EMIT(kernel, blocks, threads, shared, after_, ...)                                                             \
    emit_##kernel(                                                                                                     \
        t, &(struct shape){.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared, .after = after_}, \
        &(struct args_##kernel){__VA_ARGS__})

static void emit_one_block(const struct mesh *m, enum evaluate mode, const struct mesh_replica *r, uint64_t after,
                           struct tape *t)
{
    const struct shape shape = {
        .grid = {1, 1, 1}, .block = {MESH_BLOCK, 1, 1}, .shared_bytes = (uint32_t)block_bytes(m), .after = after};
    const struct args_mesh_block args = {.ctl = r->ctl,
                                         .f = r->f,
                                         .table = m->table,
                                         .grid = r->grid,
                                         .energy_at_window = r->energy_at_window,
                                         .mode = mode};
    if (m->host.triclinic)
        emit_mesh_block_triclinic(t, &shape, &args);
    else
        emit_mesh_block(t, &shape, &args);
}

static uint32_t whole_warps(uint32_t threads, uint32_t least, uint32_t most)
{
    threads = (threads + WARP - 1) / WARP * WARP;
    return threads < least ? least : threads > most ? most : threads;
}

/* Threads that do `lines` lines of an axis in one go, pass by pass. */
static uint32_t threads_of(const struct mesh *m, const struct mesh_axis *a, uint32_t lines)
{
    uint32_t most = 0;
    for (int p = 0; p < a->npasses; p++) {
        uint32_t part = (uint32_t)a->size / a->pass[p].radix;
        most = part > most ? part : most;
    }
    return whole_warps(lines * most, 64, m->few ? MESH_PLANE : MESH_PLANE_MANY);
}

/* Shapes of the launches. */
struct card {
    uint32_t x, y;                       /* planes of one x, of one y */
    uint32_t along_x, along_y;           /* threads for planes that lines along x, or y and z, lie in */
    uint32_t plane_bytes;                /* shared memory of a plane */
    uint32_t bricks, brick, brick_bytes; /* blocks, threads, shared memory */
};

static struct card card_of(const struct mesh *m)
{
    const struct mesh_axis *a = m->host.axis;
    const struct mesh_bricks *b = &m->host.bricks;
    const uint32_t z = threads_of(m, &a[2], a[1].pairs.by), y = threads_of(m, &a[1], a[2].half.by);
    const uint32_t mean = (uint32_t)m->host.natoms / b->all, points = b->extent[0] * b->plane.by;
    const uint32_t atoms = mean + mean / 8, copies = points / BRICK_COPIES;
    return (struct card){.x = a[0].points.by,
                         .y = a[1].points.by,
                         .along_x = threads_of(m, &a[0], a[2].half.by),
                         .along_y = y > z ? y : z,
                         .plane_bytes = shared_bytes(m),
                         .bricks = b->all + MESH_STRAYS,
                         .brick = whole_warps(atoms > copies ? atoms : copies, 64, MESH_BRICK),
                         .brick_bytes = points * (uint32_t)sizeof(float)};
}

/* Few replicas leave room for blocks that wait for those before them: then a launch begins `early`. */
#define EMIT_SOON(kernel, blocks, threads, shared, after_, ...)                                                        \
    emit_##kernel(t,                                                                                                   \
                  &(struct shape){.grid = {blocks, 1, 1},                                                              \
                                  .block = {threads, 1, 1},                                                            \
                                  .shared_bytes = shared,                                                              \
                                  .flags = early,                                                                      \
                                  .after = after_},                                                                    \
                  &(struct args_##kernel){__VA_ARGS__})

/* At samples the change of charge goes through the mesh too: the energy is quadratic in the Coulomb lambda. */
static void emit_card(const struct mesh *m, enum evaluate mode, const struct mesh_replica *r, uint64_t after,
                      struct tape *t)
{
    const struct card card = card_of(m);
    const void *table = m->table;
    void *bricks = r->arrays.charges + all_points(m);
    uint32_t points = all_points(m), passes = mode == EVALUATE_SAMPLE && m->host.perturbed ? 2 : 1;
    uint32_t early = m->few ? LAUNCH_EARLY : 0;
    after = EMIT_SOON(mesh_sort, blocks_of((uint64_t)m->host.natoms, MESH_SORT), MESH_SORT,
                      m->host.bricks.all * (uint32_t)sizeof(uint32_t), after, .ctl = r->ctl, .table = table,
                      .grid = r->grid, .bricks = bricks, .brick_atom = r->arrays.brick_atom);
    for (uint32_t change = 0; change < passes; change++) {
        if (change)
            after = EMIT(mesh_clear, blocks_of(points, 4 * CUDA_BLOCK), CUDA_BLOCK, 0, after, .ctl = r->ctl,
                         .charges = r->arrays.charges, .count = points);
        after = EMIT_SOON(mesh_spread, card.bricks, card.brick, card.brick_bytes, after, .ctl = r->ctl, .table = table,
                          .grid = r->grid, .bricks = bricks, .brick_atom = r->arrays.brick_atom,
                          .charges = r->arrays.charges, .change = change);
        after = EMIT_SOON(mesh_forward, card.x, card.along_y, card.plane_bytes, after, .ctl = r->ctl, .table = table,
                          .charges = r->arrays.charges, .spectrum = r->arrays.spectrum, .work = r->arrays.work);
        after =
            EMIT_SOON(mesh_solve, card.y, card.along_x, card.plane_bytes, after, .ctl = r->ctl, .table = table,
                      .spectrum = r->arrays.spectrum, .work = r->arrays.work, .energy_at_window = r->energy_at_window,
                      .change = change, .mode = (uint32_t)evaluate_unperturbed(mode));
        if (change || !evaluates_forces(mode))
            break;
        after = EMIT_SOON(mesh_backward, card.x, card.along_y, card.plane_bytes, after, .ctl = r->ctl, .table = table,
                          .spectrum = r->arrays.spectrum, .work = r->arrays.work, .potential = r->arrays.potential);
        if (mode == EVALUATE_SWITCH) /* the next reads lambda at its begin, which the timestep before has written */
            early = 0;
        after = EMIT_SOON(mesh_gather, card.bricks, card.brick, card.brick_bytes, after, .ctl = r->ctl, .f = r->f,
                          .table = table, .grid = r->grid, .bricks = bricks, .brick_atom = r->arrays.brick_atom,
                          .potential = r->arrays.potential, .energy_at_window = r->energy_at_window, .mode = mode);
    }
}

void mesh_emit(const struct mesh *m, enum evaluate mode, const struct mesh_replica *r, uint64_t after, struct tape *t)
{
    switch (r->form) {
    case PME_AUTO: /* no mesh */
        return;
    case PME_BLOCK:
        emit_one_block(m, mode, r, after, t);
        return;
    case PME_CARD:
        emit_card(m, mode, r, after, t);
        return;
    }
}
