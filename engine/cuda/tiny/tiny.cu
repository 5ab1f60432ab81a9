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
    const struct pair_table *t = h.t->pairs;
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
        h.q()[i] = fma(lambda, t->change[i], t->charge[i]);
        charged |= h.q()[i] != 0 || h.charge()[i] != 0;
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
    h.kick()[i] = kick_of(&s, root_inverse(mass_of(&s.masses, (int)i)));
    BLOCK_LOOP(i, body_count(s.m))
    {
        const struct body b = body_at(s.m, i);
        const bool quick = is_quick(s.m, i);
        if (quick && i >= s.m->nwaters)
            h.star()[i] = star(&s, i - s.m->nwaters);
        else
            h.star()[i].arms = NO_STAR;
        for (uint32_t k = 0; k < b.natoms; k++)
            h.slot()[b.atom[k]] = quick ? SLOT_ATOMS * i + k : NO_SLOT;
    }
}

/* Axis d of an atom, for a thread of its own. */
static __device__ __forceinline__ void begin_atom(const struct motion &s, uint32_t i, uint32_t d)
{
    const struct tiny_here &h = here();
    const uint32_t slot = h.slot()[i];
    const double x = h.x()[i][d], v = h.v()[i][d];
    h.x_old()[i][d] = x;
    h.v_old()[i][d] = v;
    if (slot != NO_SLOT)
        hold_along(&s, h.rule(), h.kick()[i], h.noise()[i][d], x, v, h.f()[i][d],
                   held_atom_of(&h.held()[slot / SLOT_ATOMS], slot % SLOT_ATOMS), d);
}

/* Out of line, so that its matrices have the registers to themselves; as many bodies as there are warps have one each,
 * so each number of arms has code of its own and does nothing for those that are not there. */
template <uint32_t ARMS> static __device__ __noinline__ void move_star(uint32_t i)
{
    const struct motion s = here().motion();
    advance(&s, here().rule(), star_of<ARMS>(here().star()[i], ARMS), &here().held()[i]);
}

static __device__ __noinline__ void move_lone(uint32_t i)
{
    const struct motion s = here().motion();
    advance(&s, here().rule(), star_of<1>(here().star()[i], 0), &here().held()[i]);
}

static __device__ __noinline__ void move_other(uint32_t i)
{
    const struct motion s = here().motion();
    if (i < s.m->nwaters && is_quick(s.m, i))
        advance(&s, here().rule(), water(&s, i), &here().held()[i]);
    else
        advance_slowly(&s, here().rule(), i);
}

static __device__ __forceinline__ void move_body(uint32_t i)
{
    switch (here().star()[i].arms) {
    case 0:
        return move_lone(i);
    case 1:
        return move_star<1>(i);
    case 2:
        return move_star<2>(i);
    case 3:
        return move_star<3>(i);
    case 4:
        return move_star<4>(i);
    default:
        return move_other(i);
    }
}

/* The same: it is written, and placed. */
static __device__ __forceinline__ void end_atom(const struct motion &s, uint32_t i, uint32_t d)
{
    const struct tiny_here &h = here();
    const uint32_t slot = h.slot()[i];
    const double *x = h.x()[i];
    if (slot != NO_SLOT) {
        const struct held_atom from = held_atom_of(&h.held()[slot / SLOT_ATOMS], slot % SLOT_ATOMS);
        x = from.x;
        if (thrown_out(&s, (int32_t)i, x))
            return;
        h.x()[i][d] = x[d];
        h.v()[i][d] = from.v[d];
    }
    h.f()[i][d] = 0;
    ((uint32_t *)&h.grid()[i])[d] = grid_along(x, &h.units, d);
}

/* False: a body could not be moved, and none has been. */
static __device__ __forceinline__ bool move()
{
    struct tiny_here &h = here();
    const struct motion s = h.motion();
    if (threadIdx.x == 0)
        h.taken = tiny_warps();
    BLOCK_LOOP(k, 3 * h.natoms)
    begin_atom(s, k / 3, k % 3);
    __syncthreads();
    /* Neighbours go to different warps: bodies of several kinds in one would be moved one kind after the other. */
    for (uint32_t i = threadIdx.x % WARP * tiny_warps() + threadIdx.x / WARP; i < body_count(s.m); i += blockDim.x)
        move_body(i);
    __syncthreads();
    BLOCK_LOOP(k, 3 * h.natoms)
    end_atom(s, k / 3, k % 3);
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
