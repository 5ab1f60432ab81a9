/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole timesteps of a tiny system in one thread block, see engine/cuda/tiny/tiny.h. What a step's threads wait for
 * each other for: forces but the mesh's, and the atoms' waves | their coefficients | the mesh's forces | atoms are
 * kicked | bodies have moved | atoms are placed. A step that fails leaves the state of the step before it.
 */
#define ACC_IN_SHARED /* forces and sums */
#define FORCES_ONLY
#include "engine/cuda/tiny/forces.cuh"

/* ---- the beginning and the end of a launch ---- */

static __device__ __forceinline__ void place_atom(const struct tiny_here &h, int32_t i)
{
    uint32_t g[3];
    grid_position(h.x()[i], &h.units, g);
    h.grid()[i] = make_uint4(g[0], g[1], g[2], 0);
}

/* Positions of which no fraction of the box can be told. */
static __device__ bool astray(const struct tiny_here &h, uint32_t i)
{
    for (int d = 0; d < 3; d++)
        if (!(fabs(h.x()[i][d]) < POSITION_MOST)) {
            halt_once(h.c(), HALT_NONFINITE, i, i, h.x()[i][d]);
            return true;
        }
    return false;
}

static __device__ void copy_words(void *to, const void *from, uint32_t bytes)
{
    BLOCK_LOOP(k, bytes / (uint32_t)sizeof(uint64_t))
    ((uint64_t *)to)[k] = ((const uint64_t *)from)[k];
}

/* False: no atom has a charge now. */
static __device__ bool load_replica(const struct tiny_row &a)
{
    const struct tiny_here &h = here();
    const struct mesh_table *m = h.t->mesh;
    const double lambda = ((const struct ctl *)a.ctl)->lambda[LAMBDA_COULOMB];
    const uint32_t n = h.natoms;
    bool charged = false;
    copy_words(h.c(), (const void *)a.ctl, sizeof *h.c());
    copy_words(h.x(), (const void *)a.x, n * (uint32_t)sizeof *h.x());
    copy_words(h.v(), (const void *)a.v, n * (uint32_t)sizeof *h.v());
    __syncthreads();
    BLOCK_LOOP(k, (uint32_t)(sizeof h.c()->sum / sizeof(uint64_t)))
    ((uint64_t *)&h.c()->sum)[k] = 0;
    BLOCK_LOOP(i, n)
    {
        for (int d = 0; d < 3; d++) {
            h.f()[i][d] = 0;
            h.x_old()[i][d] = h.x()[i][d];
        }
        h.charge()[i] = (float)charge_now(lambda, ((const float2 *)m->charge)[i]);
        charged |= h.charge()[i] != 0;
        if (!astray(h, i))
            place_atom(h, (int32_t)i);
    }
    BLOCK_LOOP(k, h.t->nchunks)
    h.chunk()[k] = h.t->chunk[k];
    if (threadIdx.x == 0)
        h.c()->pressure_correction = 0;
    return __syncthreads_or(charged);
}

static __device__ void store_replica(const struct tiny_row &a)
{
    const struct tiny_here &h = here();
    const uint32_t bytes = h.natoms * (uint32_t)sizeof *h.x();
    copy_words((void *)a.x, h.x(), bytes);
    copy_words((void *)a.v, h.v(), bytes);
    copy_words((void *)a.x_old, h.x_old(), bytes);
    copy_words((void *)a.ctl, h.c(), sizeof *h.c());
}

/* ---- one step ---- */

/* Forces at x. False: the step cannot be made. */
static __device__ __forceinline__ bool forces(uint64_t step)
{
    struct tiny_here &h = here();
    const uint32_t nchunks = h.t->nchunks;
    for (uint32_t k = threadIdx.x / WARP; k < nchunks;) { /* a warp that has done one chunk takes the next */
        tiny_chunk_do(h.chunk()[k], step);
        __syncwarp();
        k = threadIdx.x % WARP ? 0 : atomicAdd(&h.taken, 1);
        k = __shfl_sync(WARP_ALL, k, 0);
    }
    __syncthreads();
    if (h.ncolumns) {
        tiny_waves_there();
        __syncthreads();
        if (h.t->noctets) {
            tiny_octets();
            __syncthreads();
        }
        tiny_waves_back();
        __syncthreads();
    }
    return forces_good(h.c());
}

/* What of the bodies does not change in a launch. */
static __device__ void load_bodies()
{
    const struct tiny_here &h = here();
    const struct motion s = h.motion();
    BLOCK_LOOP(i, h.natoms)
    h.inverse_mass()[i] = inverse_mass32(s.masses, (int32_t)i);
    __syncthreads();
    BLOCK_LOOP(i, body_count(s.m))
    {
        const struct body b = body_at(s.m, i);
        const bool quick = is_quick(s.m, i);
        for (uint32_t k = 0; k < b.natoms; k++) {
            h.slot()[b.atom[k]] = quick ? SLOT_ATOMS * i + k : NO_SLOT;
            if (quick)
                h.held()[i].inverse_mass[k] = h.inverse_mass()[b.atom[k]];
        }
    }
}

/* The atom with this slot, between its threads. */
static __device__ __forceinline__ struct held32 *held_at(uint32_t slot)
{
    return &here().held()[slot / SLOT_ATOMS].atom[slot % SLOT_ATOMS];
}

/* Axis d of an atom, for a thread of its own. */
template <bool RULE> static __device__ __forceinline__ void begin_atom(uint32_t i, uint32_t d)
{
    const struct tiny_here &h = here();
    const uint32_t slot = h.slot()[i];
    const double x = h.x()[i][d], v = h.v()[i][d];
    h.x_old()[i][d] = x;
    h.v_old()[i][d] = v;
    if (slot != NO_SLOT)
        hold_along32<RULE>(h.rule32, h.rule32.kick * h.inverse_mass()[i], h.noise()[i][d], x, v, h.f()[i][d],
                           held_at(slot), (int)d);
}

/* Each kind out of line, so that it has the registers to itself. */
template <bool RULE> static __device__ __noinline__ void move_star(uint32_t i)
{
    const struct motion s = here().motion();
    struct constrain_failure bad;
    if (!star32_advance<RULE>(&s, here().rule32, i - s.m->nwaters, body_at(s.m, i), &here().held()[i], &bad))
        halt_constraint(s.c, &bad);
}

template <bool RULE> static __device__ __noinline__ void move_water(uint32_t i)
{
    const struct motion s = here().motion();
    const struct water w(&s, i);
    struct constrain_failure bad;
    if (!water32_advance<RULE>(w.shape->single, here().rule32, here().held()[i].atom)) {
        fail(&bad, w.atom[0], w.atom[1], INFINITY);
        halt_constraint(s.c, &bad);
    }
}

static __device__ __noinline__ void move_slowly(uint32_t i)
{
    const struct motion s = here().motion();
    advance_slowly(&s, here().rule(), i);
}

template <bool RULE> static __device__ __forceinline__ void move_body(const struct motion_table *m, uint32_t i)
{
    if (!is_quick(m, i))
        move_slowly(i);
    else if (i < m->nwaters)
        move_water<RULE>(i);
    else
        move_star<RULE>(i);
}

/* The same: it is written, and placed. */
static __device__ __forceinline__ void end_atom(uint32_t i, uint32_t d)
{
    const struct tiny_here &h = here();
    const uint32_t slot = h.slot()[i];
    double x[3]; /* other threads write the other axes */
    for (int k = 0; k < 3; k++)
        x[k] = slot == NO_SLOT ? h.x()[i][k] : moved32(h.x_old()[i][k], held_at(slot)->push[k]);
    if (slot != NO_SLOT) {
        const float push = held_at(slot)->push[d];
        if (!(fabsf(push) < h.farthest)) {
            halt_once(h.c(), HALT_NONFINITE, i, i, x[d]);
            return;
        }
        h.x()[i][d] = x[d];
        h.v()[i][d] = held_at(slot)->v[d];
    }
    h.f()[i][d] = 0;
    ((uint32_t *)&h.grid()[i])[d] = grid_along(x, &h.units, d);
}

template <bool RULE> static __device__ __forceinline__ void move_bodies(const struct motion_table *m)
{
    struct tiny_here &h = here();
    BLOCK_LOOP(k, 3 * h.natoms)
    begin_atom<RULE>(k / 3, k % 3);
    __syncthreads();
    /* Neighbours go to different warps: bodies of several kinds in one would be moved one kind after the other. */
    for (uint32_t i = threadIdx.x % WARP * tiny_warps() + threadIdx.x / WARP; i < body_count(m); i += blockDim.x)
        move_body<RULE>(m, i);
    __syncthreads();
}

/* False: a body could not be moved, and none has been. */
static __device__ __forceinline__ bool move()
{
    struct tiny_here &h = here();
    if (threadIdx.x == 0)
        h.taken = tiny_warps();
    if (h.has_rule)
        move_bodies<true>(h.motion_table);
    else
        move_bodies<false>(h.motion_table);
    BLOCK_LOOP(k, 3 * h.natoms)
    end_atom(k / 3, k % 3);
    if (block_goes_on(h.c()))
        return true;
    BLOCK_LOOP(i, h.natoms)
    for (int d = 0; d < 3; d++) {
        h.x()[i][d] = h.x_old()[i][d];
        h.v()[i][d] = h.v_old()[i][d];
    }
    return false;
}

static __device__ void steps(const struct tiny_row &a)
{
    struct tiny_here &h = here();
    if (threadIdx.x == 0)
        tiny_begin(a);
    __syncthreads();
    uint64_t step = ((const struct ctl *)a.ctl)->step;
    uint32_t until_com = a.com_every ? a.com_every - (uint32_t)(step % a.com_every) : UINT32_MAX;
    const bool charged = load_replica(a);
    if (threadIdx.x == 0) {
        h.charged = charged;
        h.ncolumns = charged ? h.ncolumns : 0;
        h.taken = tiny_warps();
    }
    __syncthreads();
    if (h.ncolumns)
        tiny_prepare_waves();
    load_bodies();
    bool good = block_goes_on(h.c());
    for (uint32_t n = 0; n < a.steps && good; n++) {
        good = forces(step) && move();
        if (!good)
            break;
        if (--until_com == 0) {
            const struct motion s = h.motion();
            take_off_com<true>(&s);
            until_com = a.com_every;
        }
        step++;
        if (threadIdx.x == 0) { /* nobody reads these before the next barrier */
            motion_end(h.c());
            h.c()->pending = motion_pending(h.has_rule);
            h.rule32.due = (float)motion_kick_due(h.has_rule, h.c()->pending);
        }
    }
    __syncthreads();
    store_replica(a);
}

KERNEL(tiny, a, __launch_bounds__(WARP *TINY_WARPS))
{
    ECHO(a);
    __shared__ struct tiny_row row;
    const uint32_t words = (uint32_t)(sizeof row / sizeof(uint64_t)), at = blockIdx.x * words;
    BLOCK_LOOP(k, words)
    ((uint64_t *)a.heard)[at + k] = ((uint64_t *)&row)[k] = ((const volatile uint64_t *)a.rows)[at + k];
    __syncthreads();
    struct ctl *c = (struct ctl *)row.ctl;
    if (!c->halt)
        steps(row);
    publish(c, report_at(row.report, row.report_bytes, c->tickets + 1));
}
