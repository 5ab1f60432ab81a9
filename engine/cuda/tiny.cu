/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole timesteps of a tiny system in one thread block, see engine/cuda/tiny.h. What a step's threads wait for each other for: forces
 * but the mesh's, and the atoms' waves | their coefficients | the mesh's forces | atoms are kicked | bodies have moved | atoms are
 * placed. A step that fails leaves the state of the step before it.
 */
#define ACC_IN_SHARED /* forces and sums */
#define FORCES_ONLY
#include "engine/cuda/tiny_terms.cuh"

/* ---- the beginning and the end of a launch ---- */

static __device__ void place_atom(const struct tiny_here &h, int32_t i)
{
    uint32_t g[3];
    grid_position(h.x[i], h.inverse, g);
    h.grid[i] = make_uint4(g[0], g[1], g[2], 0);
}

/* Positions of which no fraction of the box can be told. */
static __device__ bool astray(const struct tiny_here &h, uint32_t i)
{
    for (int d = 0; d < 3; d++)
        if (!(fabs(h.x[i][d]) < 1e6 * h.c->box[d])) {
            halt_once(h.c, HALT_NONFINITE, i, i, h.x[i][d]);
            return true;
        }
    return false;
}

static __device__ void copy_words(uint64_t *to, const uint64_t *from, uint32_t bytes)
{
    BLOCK_LOOP(k, bytes / (uint32_t)sizeof *to)
    to[k] = from[k];
}

/* False: no atom has a charge now, and the mesh has no forces. */
static __device__ bool load_replica(const struct tiny_row &a, const struct tiny_here &h)
{
    bool charged = false;
    const struct mesh_table *m = h.t->mesh;
    const uint32_t n = h.natoms;
    copy_words((uint64_t *)h.c, (const uint64_t *)a.ctl, sizeof *h.c);
    copy_words((uint64_t *)h.x, (const uint64_t *)a.x, 3 * n * (uint32_t)sizeof(double));
    copy_words((uint64_t *)h.v, (const uint64_t *)a.v, 3 * n * (uint32_t)sizeof(double));
    __syncthreads();
    BLOCK_LOOP(k, (uint32_t)(sizeof h.c->sum / sizeof(uint64_t)))
    ((uint64_t *)&h.c->sum)[k] = 0;
    BLOCK_LOOP(i, n)
    {
        for (int d = 0; d < 3; d++) {
            h.f[i][d] = 0;
            h.x_old[i][d] = h.x[i][d];
        }
        h.charge[i] = (float)charge_now(h.c->lambda[LAMBDA_COULOMB], ((const float2 *)m->charge)[i]);
        charged |= h.charge[i] != 0;
        if (!astray(h, i))
            place_atom(h, (int32_t)i);
    }
    BLOCK_LOOP(k, h.t->nchunks)
    h.chunk[k] = h.t->chunk[k];
    if (threadIdx.x == 0)
        h.c->pressure_correction = 0;
    return __syncthreads_or(charged);
}

static __device__ void store_replica(const struct tiny_row &a, const struct tiny_here &h)
{
    const uint32_t bytes = 3 * h.natoms * (uint32_t)sizeof(double);
    copy_words((uint64_t *)a.x, (const uint64_t *)h.x, bytes);
    copy_words((uint64_t *)a.v, (const uint64_t *)h.v, bytes);
    copy_words((uint64_t *)a.x_old, (const uint64_t *)h.x_old, bytes);
    copy_words((uint64_t *)a.ctl, (const uint64_t *)h.c, sizeof *h.c);
}

/* ---- one step ---- */

/* Forces at x. False: the step cannot be made. */
static __device__ bool forces(const struct tiny_row &a, const struct tiny_here &h, const struct motion &s,
                              const struct langevin_rule *rule, uint64_t step)
{
    const uint32_t nchunks = h.t->nchunks, warp = threadIdx.x / 32;
    for (uint32_t first = 0, turn = 0; first < nchunks; first += TINY_WARPS, turn = !turn) {
        const uint32_t k = first + (turn ? TINY_WARPS - 1 - warp : warp); /* to and fro */
        if (k < nchunks)
            tiny_chunk_do(h, s, rule, step, (const struct bonded_table *)a.bonded, h.chunk[k]);
    }
    __syncthreads();
    if (h.ncolumns) {
        tiny_waves_there(h);
        __syncthreads();
        if (h.t->noctets) {
            tiny_octets(h);
            __syncthreads();
        }
        tiny_waves_back(h);
    }
    __syncthreads();
    return forces_good(h.c);
}

/* What of the bodies does not change in a launch. */
static __device__ void load_bodies(const struct tiny_here &h, const struct motion &s, const struct langevin_rule *rule)
{
    BLOCK_LOOP(i, h.natoms)
    h.kick[i] = kick_of(&s, rule, (int32_t)i);
    BLOCK_LOOP(i, body_count(s.m))
    {
        const struct body b = body_at(s.m, i);
        const bool quick = is_quick(s.m, i);
        if (quick && i >= s.m->nwaters)
            h.star[i] = star(&s, i - s.m->nwaters);
        else
            h.star[i].arms = NO_STAR;
        for (uint32_t k = 0; k < b.natoms; k++)
            h.slot[b.atom[k]] = quick ? SLOT_ATOMS * i + k : NO_SLOT;
    }
}

static __device__ void begin_atom(const struct tiny_here &h, const struct motion &s, const struct langevin_rule *rule,
                                  uint32_t i)
{
    const uint32_t slot = h.slot[i];
    for (int d = 0; d < 3; d++) {
        h.x_old[i][d] = h.x[i][d];
        h.v_old[i][d] = h.v[i][d];
    }
    if (slot != NO_SLOT)
        load_atom(&s, rule, h.kick[i], h.noise[i], (int32_t)i,
                  held_atom_of(&h.held[slot / SLOT_ATOMS], slot % SLOT_ATOMS));
}

/* Out of line, so that its matrices have the registers to themselves. */
static __device__ __noinline__ void move_star(const struct motion s, const struct langevin_rule *rule,
                                              const struct star *star, struct held *held)
{
    advance(&s, rule, *star, held);
}

static __device__ void move_body(const struct tiny_here &h, const struct motion &s, const struct langevin_rule *rule,
                                 uint32_t i)
{
    if (h.star[i].arms != NO_STAR)
        move_star(s, rule, &h.star[i], &h.held[i]);
    else if (i < s.m->nwaters)
        advance(&s, rule, water(&s, i), &h.held[i]);
    else
        advance_slowly(&s, rule, i);
}

static __device__ void end_atom(const struct tiny_here &h, const struct motion &s, uint32_t i)
{
    const uint32_t slot = h.slot[i];
    if (slot != NO_SLOT && !store_atom(&s, (int32_t)i, held_atom_of(&h.held[slot / SLOT_ATOMS], slot % SLOT_ATOMS)))
        return;
    for (int d = 0; d < 3; d++)
        h.f[i][d] = 0;
    place_atom(h, (int32_t)i);
}

/* False: a body could not be moved, and none has been. */
static __device__ bool move(const struct tiny_here &h, const struct motion &s, const struct langevin_rule *rule)
{
    BLOCK_LOOP(i, h.natoms)
    begin_atom(h, s, rule, i);
    __syncthreads();
    /* Neighbours go to different warps: bodies of several kinds in one would be moved one kind after the other. */
    for (uint32_t i = threadIdx.x % 32 * TINY_WARPS + threadIdx.x / 32; i < body_count(s.m); i += TINY_BLOCK)
        move_body(h, s, rule, i);
    __syncthreads();
    BLOCK_LOOP(i, h.natoms)
    end_atom(h, s, i);
    if (block_goes_on(h.c))
        return true;
    BLOCK_LOOP(i, h.natoms)
    for (int d = 0; d < 3; d++) {
        h.x[i][d] = h.x_old[i][d];
        h.v[i][d] = h.v_old[i][d];
    }
    return false;
}

static __device__ void steps(const struct tiny_row &a, float2 *shared)
{
    const struct motion_table *m = (const struct motion_table *)a.motion;
    struct tiny_here h = tiny_here_of((const struct tiny_table *)a.table, shared, ((const struct ctl *)a.ctl)->box);
    const bool langevin = a.integrator == INTEGRATOR_LANGEVIN_MIDDLE;
    const struct langevin_rule its = langevin_rule_of(a.timestep, a.friction, a.kt), *rule = langevin ? &its : NULL;
    uint64_t step = ((const struct ctl *)a.ctl)->step;
    if (!load_replica(a, h))
        h.ncolumns = 0;
    if (h.ncolumns)
        tiny_prepare_waves(h);
    const struct motion s = {h.c, m, masses_of(m, h.c), h.x, h.v, h.x_old, h.f, a.timestep};
    uint32_t until_com = a.com_every ? a.com_every - (uint32_t)(step % a.com_every) : UINT32_MAX;
    load_bodies(h, s, rule);
    bool good = block_goes_on(h.c);
    for (uint32_t n = 0; n < a.steps && good; n++) {
        good = forces(a, h, s, rule, step) && move(h, s, rule);
        if (!good)
            break;
        if (--until_com == 0) {
            take_off_com<true>(&s);
            until_com = a.com_every;
        }
        step++;
        if (threadIdx.x == 0) { /* nobody reads these before the next barrier */
            motion_end(h.c);
            h.c->pending = langevin ? h.c->pending : 1;
        }
    }
    __syncthreads();
    store_replica(a, h);
}

KERNEL(tiny, a, __launch_bounds__(TINY_BLOCK))
{
    ECHO(a);
    extern __shared__ __align__(16) float2 shared[];
    __shared__ struct tiny_row row;
    const uint32_t words = (uint32_t)(sizeof row / sizeof(uint64_t)), at = blockIdx.x * words;
    BLOCK_LOOP(k, words)
    ((uint64_t *)a.heard)[at + k] = ((uint64_t *)&row)[k] = ((const volatile uint64_t *)a.rows)[at + k];
    __syncthreads();
    struct ctl *c = (struct ctl *)row.ctl;
    if (!c->halt)
        steps(row, shared);
    publish(c, report_at(row.report, row.report_bytes, c->tickets + 1));
}
