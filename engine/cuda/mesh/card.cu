/* SPDX-License-Identifier: Apache-2.0
 *
 * Between atoms and a mesh in global memory, see engine/cuda/mesh/mesh.h.
 */
#include "engine/cuda/mesh/atoms.cuh"

KERNEL(mesh_clear, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    GRID_LOOP(i, a.count)
    ((int32_t *)a.charges)[i] = 0;
}

/* All of the mesh. */
static __device__ inline struct mesh_shape dense(const struct mesh_table *t)
{
    uint32_t nz = (uint32_t)t->axis[2].size;
    return mesh_shape_of(t, (uint32_t)t->axis[1].size * nz, nz);
}

/* ---- bricks ---- */

/* The atoms that a block works on: a brick's, or as one of several blocks the strays, which have no points. */
struct brick {
    const uint32_t *atom;
    uint32_t from, step, natoms;
    bool strays;
    uint32_t points;
    struct mesh_shape shape; /* of the brick in shared memory */
};

/* natoms: find_natoms */
static __device__ inline struct brick brick_of(const struct mesh_table *t, const void *brick_atom)
{
    const struct mesh_bricks &all = t->bricks;
    const uint32_t b = min(blockIdx.x, all.all);
    struct brick o = {(const uint32_t *)brick_atom + (size_t)b * all.cap, threadIdx.x, blockDim.x, 0, b == all.all};
    if (o.strays) {
        o.from += (blockIdx.x - all.all) * blockDim.x;
        o.step *= gridDim.x - all.all;
        return o;
    }
    o.points = all.extent[0] * all.plane.by;
    o.shape = mesh_shape_of(t, all.plane.by, all.row.by);
    const uint32_t x = divided(b, all.sheet), rest = b - x * all.sheet.by, y = divided(rest, all.along[2]);
    const uint32_t at[3] = {x, y, rest - y * all.count[2]};
    for (int d = 0; d < 3; d++)
        o.shape.first[d] = divided(at[d] * o.shape.size[d], all.along[d]);
    return o;
}

static __device__ inline void find_natoms(const struct mesh_bricks &all, const void *bricks, struct brick *b)
{
    b->natoms = ((const uint32_t *)bricks)[min(blockIdx.x, all.all)];
    if (!b->strays)
        b->natoms = min(b->natoms, all.cap);
}

/* Where the i-th point of a brick is in all of the mesh. */
static __device__ inline uint32_t point_of(const struct mesh_table *t, const struct brick &b, uint32_t i)
{
    const struct mesh_shape &m = b.shape;
    const uint32_t x = divided(i, t->bricks.plane), rest = i - x * m.plane, y = divided(rest, t->bricks.row);
    return (wrapped(m.first[0] + x, m.size[0]) * m.size[1] + wrapped(m.first[1] + y, m.size[1])) * m.size[2] +
           wrapped(m.first[2] + rest - y * m.row, m.size[2]);
}

static __device__ inline uint32_t brick_along(const struct mesh_table *t, int d, uint32_t fraction)
{
    return (uint32_t)((uint64_t)fraction * t->bricks.count[d] >> 32);
}

/* The block's shared memory. */
static __device__ __forceinline__ void *shared_words(void)
{
    extern __shared__ float2 shared[];
    return shared;
}

/* An atom a thread. The atoms of a block meet in shared memory, so that it asks once for places in a brick: few
 * counters have all of the grid's requests. What order atoms are listed in does not matter. */
static __device__ void sort_atoms(const struct args_mesh_sort &a)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_bricks &all = t->bricks;
    const uint32_t atom = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t *count = (uint32_t *)a.bricks, *listed = (uint32_t *)a.brick_atom, *first = (uint32_t *)shared_words();
    uint32_t b = all.all, place = 0;
    let_next_begin();
    BLOCK_LOOP(k, all.all)
    first[k] = 0;
    wait_for_previous();
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (atom < (uint32_t)t->natoms) {
        const struct mesh_atom at = mesh_atom_at(t, a.grid, atom);
        const uint32_t x = brick_along(t, 0, at.grid.x), y = brick_along(t, 1, at.grid.y),
                       z = brick_along(t, 2, at.grid.z);
        if (at.charge.x != 0 || at.charge.y != 0)
            b = (x * all.count[1] + y) * all.count[2] + z;
    }
    if (b < all.all)
        place = atomicAdd(&first[b], 1u);
    __syncthreads();
    BLOCK_LOOP(k, all.all)
    if (first[k])
        first[k] = atomicAdd(&count[k], first[k]);
    __syncthreads();
    if (b >= all.all)
        return;
    place += first[b];
    if (place < all.cap)
        listed[(size_t)b * all.cap + place] = atom;
    else
        listed[(size_t)all.all * all.cap + atomicAdd(&count[all.all], 1u)] = atom;
}

KERNEL(mesh_sort, a, __launch_bounds__(MESH_SORT))
{
    ECHO(a);
    sort_atoms(a);
}

/* ---- an atom a thread ---- */

/* What is read of one of a brick's atoms. */
struct brick_atom {
    uint32_t atom;
    struct mesh_atom at;
};

static __device__ inline struct brick_atom brick_atom_at(const struct mesh_table *t, const struct brick &b,
                                                         const void *grid, uint32_t i)
{
    const uint32_t atom = b.atom[i];
    return {atom, mesh_atom_at(t, grid, atom)};
}

/* The first of the thread, if it has one: under way while a brick is made ready. */
static __device__ inline struct brick_atom first_atom(const struct mesh_table *t, const struct brick &b,
                                                      const void *grid)
{
    return b.from < b.natoms ? brick_atom_at(t, b, grid, b.from) : brick_atom{};
}

/* ---- charges to the mesh ---- */

template <int order, enum mesh_lies lies>
static __device__ inline void spread_all(const struct args_mesh_spread &a, const struct brick &b, struct brick_atom now,
                                         const struct mesh_shape &m, int32_t *charges)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const double lambda = ((const struct ctl *)a.ctl)->lambda[LAMBDA_COULOMB];
    for (uint32_t i = b.from; i < b.natoms; i += b.step) {
        if (i != b.from)
            now = brick_atom_at(t, b, a.grid, i);
        const float q = a.change ? now.at.charge.y : (float)charge_now(lambda, now.at.charge);
        if (q != 0)
            spread_atom<order, lies>(m, charges, now.at.grid, q);
    }
}

/* A brick's charges meet in shared memory before they go to the mesh. */
template <int order>
static __device__ void spread_brick(const struct args_mesh_spread &a, const struct brick &b,
                                    const struct brick_atom &first)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    int32_t *mesh = (int32_t *)a.charges, *part = (int32_t *)shared_words();
    if (b.strays) {
        spread_all<order, MESH_WRAPS>(a, b, first, dense(t), mesh);
        return;
    }
    spread_all<order, MESH_PART>(a, b, first, b.shape, part);
    __syncthreads();
    BLOCK_LOOP(i, b.points)
    if (part[i])
        atomicAdd(&mesh[point_of(t, b, i)], part[i]);
}

KERNEL(mesh_spread, a, __launch_bounds__(MESH_BRICK))
{
    ECHO(a);
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    struct brick b = brick_of(t, a.brick_atom);
    const int order = t->order;
    let_next_begin();
    BLOCK_LOOP(i, b.points)
    ((int32_t *)shared_words())[i] = 0;
    wait_for_previous();
    find_natoms(t->bricks, a.bricks, &b);
    const struct brick_atom first = first_atom(t, b, a.grid);
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (order == 4)
        spread_brick<4>(a, b, first);
    else if (order == 5)
        spread_brick<5>(a, b, first);
    else
        spread_brick<6>(a, b, first);
}

/* ---- forces from the mesh ---- */

template <int order, enum mesh_lies lies>
static __device__ inline void gather_all(const struct args_mesh_gather &a, const struct brick &b, struct brick_atom now,
                                         const struct mesh_shape &m, const float *potential, const struct mesh_sums &to)
{
    for (uint32_t i = b.from; i < b.natoms; i += b.step) {
        if (i != b.from)
            now = brick_atom_at(to.table, b, a.grid, i);
        gather_atom<order, lies>(m, potential, now.at, now.atom, to);
    }
}

template <int order>
static __device__ void gather_brick(const struct args_mesh_gather &a, const struct brick &b,
                                    const struct brick_atom &first, const float *part, const struct mesh_sums &to)
{
    if (b.strays)
        gather_all<order, MESH_WRAPS>(a, b, first, dense(to.table), (const float *)a.potential, to);
    else
        gather_all<order, MESH_PART>(a, b, first, b.shape, part, to);
}

KERNEL(mesh_gather, a, __launch_bounds__(MESH_BRICK))
{
    ECHO(a);
    __shared__ struct mesh_sums to;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    struct brick b = brick_of(t, a.brick_atom);
    const int order = t->order;
    float *part = (float *)shared_words();
    let_next_begin();
    if (threadIdx.x == blockDim.x - 1)
        to = mesh_sums_of(a.ctl, t, a.f, a.energy_at_window, a.mode);
    wait_for_previous();
    BLOCK_LOOP(i, b.points)
    copy_begin(&part[i], (const float *)a.potential + point_of(t, b, i));
    find_natoms(t->bricks, a.bricks, &b);
    const struct brick_atom first = first_atom(t, b, a.grid);
    copies_end();
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (order == 4)
        gather_brick<4>(a, b, first, part, to);
    else if (order == 5)
        gather_brick<5>(a, b, first, part, to);
    else
        gather_brick<6>(a, b, first, part, to);
}
