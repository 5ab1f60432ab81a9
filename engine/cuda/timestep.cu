/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps on a GPU. A block has STEP_BODIES bodies, all waters or none: first LANES threads a body read its atoms, kick them
 * and draw their noise, then one thread a body moves it and puts it back onto its constraints, then its LANES threads write
 * it. A body that is neither a rigid water, nor an atom with some bound to it, is worked on in memory by one thread. What needs
 * all bodies (the end of the step, the center-of-mass motion) is done by the block that comes last.
 */
#include "engine/cuda/bodies.cuh"

#define LANES ((uint32_t)CUDA_BLOCK / STEP_BODIES)

/* ---- the end of a step ---- */

/* For whole blocks, once their bodies have moved. */
static __device__ void end_step(const struct motion *s, struct motion_tail *tail, uint32_t com_every, uint32_t pending)
{
    if (!last_block(&tail->arrived) || !block_goes_on(s->c))
        return;
    if (com_every && (s->c->step + 1) % com_every == 0)
        take_off_com<false>(s);
    __syncthreads();
    if (threadIdx.x == 0) {
        motion_end(s->c);
        s->c->pending = pending;
    }
}

/* Atoms of a body, one after the other for each of its LANES threads. */
#define LANE_LOOP(k, b) for (uint32_t k = threadIdx.x % LANES; k < (b)->natoms; k += LANES)

static __device__ __forceinline__ void load(const struct motion *s, const struct langevin_rule *rule,
                                            const struct body *b, struct held *h)
{
    LANE_LOOP(k, b)
    {
        double noise[3];
        if (rule)
            noise_of(s, rule, s->c->step, b->atom[k], noise);
        load_atom(s, rule, kick_of(s, rule, b->atom[k]), noise, b->atom[k], k, h);
    }
}

static __device__ __forceinline__ void store(const struct motion *s, const struct body *b, const struct held *h)
{
    LANE_LOOP(k, b)
    if (!store_atom(s, b->atom[k], k, h))
        return;
}

/* ---- the kernels ---- */

/* The bodies of a block: waters, or the others. */
struct rows {
    uint32_t first, count;
};

static __device__ inline struct rows rows_of(const struct motion_table *m)
{
    const uint32_t water_blocks = (m->nwaters + STEP_BODIES - 1) / STEP_BODIES;
    const bool water = blockIdx.x < water_blocks;
    const uint32_t first = water ? STEP_BODIES * blockIdx.x : m->nwaters + STEP_BODIES * (blockIdx.x - water_blocks);
    const uint32_t end = water ? m->nwaters : body_count(m);
    return {first, min(end - first, (uint32_t)STEP_BODIES)};
}

template <class A> static __device__ __forceinline__ void step(const A &a, const struct langevin_rule *rule)
{
    __shared__ struct held held[STEP_BODIES];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (!forces_good(c))
        return;
    const struct motion s = {c,
                             m,
                             masses_of(m, c),
                             (double(*)[3])a.x,
                             (double(*)[3])a.v,
                             (double(*)[3])a.x_old,
                             (const int64_t(*)[3])a.f,
                             a.timestep};
    const struct rows rows = rows_of(m);
    const uint32_t shared_body = threadIdx.x / LANES, own = rows.first + threadIdx.x;
    const bool lane = shared_body < rows.count && is_quick(m, rows.first + shared_body);
    struct body b = {NULL, 0};
    if (lane) {
        b = body_at(m, rows.first + shared_body);
        load(&s, rule, &b, &held[shared_body]);
    }
    __syncthreads();
    if (threadIdx.x < rows.count) {
        if (is_quick(m, own))
            advance_quickly(&s, rule, own, &held[threadIdx.x]);
        else
            advance_slowly(&s, rule, own);
    }
    __syncthreads();
    if (lane)
        store(&s, &b, &held[shared_body]);
    end_step(&s, (struct motion_tail *)a.tail, a.com_every, rule ? c->pending : 1);
}

KERNEL(langevin, a, __launch_bounds__(CUDA_BLOCK, 4))
{
    ECHO(a);
    const struct langevin_rule rule = langevin_rule_of(a.timestep, a.friction, a.kt);
    step(a, &rule);
}

/* The second half kick of a step comes with the forces of the next (ctl.pending), as on the CPU device. */
KERNEL(verlet, a, __launch_bounds__(CUDA_BLOCK, 4))
{
    ECHO(a);
    step(a, (const struct langevin_rule *)NULL);
}
