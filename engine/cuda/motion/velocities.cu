/* SPDX-License-Identifier: Apache-2.0
 *
 * Velocities on a GPU: new ones, and half a kick, by one block; and those at the time of x, a thread a body and free
 * step.
 */
#include "engine/cuda/motion/body_registers.cuh"
#include "engine/cuda/motion/held32.cuh"

KERNEL(thermalize, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (c->halt)
        return;
    struct motion s = {c,    m, masses_in_global(m, c), (double(*)[3])a.x, (double(*)[3])a.v, (double(*)[3])a.x_old,
                       NULL, 0};
    double momentum[3] = {0, 0, 0}, total = 0;
    BLOCK_LOOP(i, body_count(m))
    {
        struct body b = body_at(m, i);
        keep_old(&s, &b);
        constrain(&s, i, s.x_old, s.x, NULL, 0, NULL);
        for (uint32_t k = 0; k < b.natoms; k++) {
            const int32_t atom = b.atom[k];
            double noise[3];
            philox_noise(c->seed, c->replica, c->step, STREAM_THERMALIZE, (uint32_t)atom, noise);
            for (int d = 0; d < 3; d++)
                s.v[atom][d] = sqrt(a.kt / mass_of(&s.masses, atom)) * noise[d];
        }
        project(&s, i, s.x, s.v);
        for (uint32_t k = 0; k < b.natoms; k++) {
            vec_add(momentum, mass_of(&s.masses, b.atom[k]), s.v[b.atom[k]]);
            total += mass_of(&s.masses, b.atom[k]);
        }
    }
    total = block_sum(total);
    for (int d = 0; d < 3; d++)
        momentum[d] = block_sum(momentum[d]);
    if (!block_goes_on(c))
        return;
    if (a.remove_com)
        BLOCK_LOOP(i, m->natoms)
    vec_add(s.v[i], -1 / total, momentum);
    if (threadIdx.x == 0) {
        c->pending = PENDING_USUAL;
        c->min_steps = 0;
    }
}

KERNEL(half_kick, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    const struct masses masses = masses_in_global(m, c);
    double(*v)[3] = (double(*)[3])a.v;
    if (threadIdx.x == 0 && c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    if (!block_goes_on(c) || c->pending == PENDING_HALF)
        return;
    BLOCK_LOOP(i, m->natoms)
    if (mass_of(&masses, (int)i) > 0)
        motion_kick(&masses, (int)i, ((const int64_t(*)[3])a.f)[i], v[i], 0.5 * a.timestep);
    __syncthreads(); /* all have seen what was pending */
    if (threadIdx.x == 0)
        c->pending = PENDING_HALF;
}

/* ---- velocities at the time of x ---- */

/* Sums over bodies: how a sample's energies and virial begin. */
struct moments {
    struct reaction reaction;
    double kinetic;
};
static_assert(sizeof(struct moments) == MOTION_SUMS * sizeof(double), "as many sums");

static __device__ __forceinline__ void add_kinetic(const struct motion *s, int32_t atom, const double v[3],
                                                   struct moments *sum)
{
    sum->kinetic += 0.5 * mass_of(&s->masses, atom) * vec_dot(v, v);
}

/* How the k-th arm's length goes with lambda, nm. */
static __device__ __forceinline__ double stretch(const struct motion *s, const struct water &, uint32_t, uint32_t)
{
    return 0;
}

static __device__ __forceinline__ double stretch(const struct motion *s, const star &, uint32_t i, uint32_t k)
{
    const double *r0 = s->m->distances[s->m->clusters[i - s->m->nwaters].first + k].r0;
    return r0[1] - r0[0];
}

/* Constraint forces times dt^2, as on the CPU device. Displacements times masses add to zero. */
template <class BODY>
static __device__ __forceinline__ void react_quickly(const struct motion *s, const BODY &body, uint32_t i,
                                                     const struct body *b, typename BODY::before &old, struct held64 *h,
                                                     const struct motion_way &way, struct reaction *reaction)
{
    double arm[BODY::ATOMS][3], free_x[BODY::ATOMS][3];
    struct constrain_failure bad;
#pragma unroll
    for (uint32_t k = 0; k < BODY::ATOMS; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            arm[k][d] = h->x[k][d] - h->x[0][d];
#pragma unroll
    for (uint32_t k = 0; k < BODY::ATOMS; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            free_x[k][d] = h->x[k][d] += s->timestep * (way.velocity * h->v[k][d] + way.force * h->push[k][d]);
    if (!body.constrain(old, h, 0, &bad))
        halt_constraint(s->c, &bad);
#pragma unroll
    for (uint32_t k = 1; k < BODY::ATOMS; k++) {
        if (k >= b->natoms)
            continue;
        double impulse[3];
        vec_sub(h->x[k], free_x[k], impulse);
        for (int d = 0; d < 3; d++)
            impulse[d] *= way.weight * mass_of(&s->masses, b->atom[k]);
        for (int e = 0; e < 3; e++)
            for (int d = 0; d < 3; d++)
                reaction->virial[3 * e + d] -= 0.5 * arm[k][e] * impulse[d];
        const double longer = stretch(s, body, i, k - 1);
        if (longer != 0)
            reaction->du_dl += longer * vec_dot(impulse, arm[k]) / sqrt(vec_dot(arm[k], arm[k]));
    }
}

/* Timesteps do not know of atoms that they have no room for between them, which only coordinates of a start can have.
 */
template <class BODY>
static __device__ __forceinline__ void check_room(const struct motion *s, const struct body *b, const struct held64 *h)
{
#pragma unroll
    for (uint32_t k = 1; k < BODY::ATOMS; k++)
        for (int d = 0; d < 3; d++)
            if (k < b->natoms && !(fabs(h->x[k][d] - h->x[0][d]) < ROOM32)) {
                const struct constrain_failure bad = {{b->atom[0], b->atom[k]}, INFINITY};
                halt_constraint(s->c, &bad);
            }
}

/* A free step of struct motion_reaction; each has a thread, and that of the first sees to all else. */
template <class BODY>
static __device__ __forceinline__ void measure_quickly(const struct motion *s, const BODY &body, uint32_t i,
                                                       const double (*v_in)[3], uint32_t step,
                                                       const struct motion_way &way, struct moments *sum)
{
    const struct body b = body_at(s->m, i);
    struct held64 h = {};
    typename BODY::before old;
#pragma unroll
    for (uint32_t k = 0; k < BODY::ATOMS; k++) {
        if (k >= b.natoms)
            continue;
        const int32_t atom = b.atom[k];
        const double half_kick = 0.5 * s->timestep / (FIXED_SCALE * mass_of(&s->masses, atom));
        for (int d = 0; d < 3; d++) {
            h.push[k][d] = half_kick * (double)s->f[atom][d];
            h.x[k][d] = s->x[atom][d];
            h.v[k][d] = v_in[atom][d] + (s->c->pending == PENDING_SECOND ? h.push[k][d] : 0);
        }
    }
    check_room<BODY>(s, &b, &h);
    body.project(&h, &old);
#pragma unroll
    for (uint32_t k = 0; k < BODY::ATOMS; k++) {
        if (k >= b.natoms || step)
            continue;
        for (int d = 0; d < 3; d++)
            s->v[b.atom[k]][d] = h.v[k][d];
        add_kinetic(s, b.atom[k], h.v[k], sum);
    }
    if (s->c->moving)
        react_quickly(s, body, i, &b, old, &h, way, &sum->reaction);
}

/* Any other body, in memory. */
static __device__ void measure_slowly(const struct motion *s, uint32_t i, const double (*v_in)[3], double (*ahead)[3],
                                      uint32_t ways, struct moments *sum)
{
    const struct body b = body_at(s->m, i);
    for (uint32_t k = 0; k < b.natoms; k++)
        for (int d = 0; d < 3; d++)
            s->v[b.atom[k]][d] = v_in[b.atom[k]][d];
    if (s->c->pending == PENDING_SECOND)
        kick(s, &b, s->v, 0.5 * s->timestep);
    project(s, i, s->x, s->v);
    for (uint32_t k = 0; k < b.natoms; k++)
        add_kinetic(s, b.atom[k], s->v[b.atom[k]], sum);
    for (uint32_t step = 0; step < ways && s->c->moving; step++) {
        const struct motion_way way = motion_way_of(step, ways);
        struct reaction part = {};
        for (uint32_t k = 0; k < b.natoms; k++) {
            const int32_t atom = b.atom[k];
            double v[3] = {0, 0, 0};
            motion_kick(&s->masses, atom, s->f[atom], v, 0.5 * way.force * s->timestep);
            vec_add(v, way.velocity, s->v[atom]);
            for (int d = 0; d < 3; d++)
                ahead[atom][d] = s->x[atom][d] + s->timestep * v[d];
        }
        constrain(s, i, s->x, ahead, NULL, 0, &part);
        for (int e = 0; e < 9; e++)
            sum->reaction.virial[e] += way.weight * part.virial[e];
        sum->reaction.du_dl += way.weight * part.du_dl;
    }
}

/* What the threads of a block have, added up to `out`, always in the same order. For the whole block. */
static __device__ void sum_of_block(const struct moments &own, double *out)
{
    __shared__ double part[CUDA_BLOCK / WARP][MOTION_SUMS];
    const double *sum = (const double *)&own;
#pragma unroll
    for (uint32_t k = 0; k < MOTION_SUMS; k++) {
        const double of_warp = warp_sum(sum[k]);
        if (threadIdx.x % WARP == 0)
            part[threadIdx.x / WARP][k] = of_warp;
    }
    __syncthreads();
    BLOCK_LOOP(k, MOTION_SUMS)
    {
        double all = 0;
        for (uint32_t w = 0; w < CUDA_BLOCK / WARP; w++)
            all += part[w][k];
        out[k] = all;
    }
}

/* The same of all blocks, which the last of them does. */
static __device__ void sum_of_blocks(const double (*of_block)[MOTION_SUMS], double *out)
{
    for (uint32_t k = threadIdx.x / WARP; k < MOTION_SUMS; k += CUDA_BLOCK / WARP) {
        double all = 0;
        for (uint32_t b = threadIdx.x % WARP; b < gridDim.x; b += WARP)
            all += __ldcg(&of_block[b][k]);
        all = warp_sum(all);
        if (threadIdx.x % WARP == 0)
            out[k] = all;
    }
    __syncthreads();
}

/* For a whole block, once. */
static __device__ void finish(const struct args_velocities &a, const struct moments &sum)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    const double dt2 = a.timestep * a.timestep, du_dl = sum.reaction.du_dl / dt2;
    BLOCK_LOOP(k, 9)
    c->constraint_virial[k] = sum.reaction.virial[k] / dt2;
    BLOCK_LOOP(w, m->nwindows)
    acc_window(&((struct fixed_sum *)a.energy_at_window)[w],
               du_dl * (m->lambda[w][LAMBDA_BONDED] - c->lambda[LAMBDA_BONDED]), FIXED_TOTAL_LIMIT);
    if (threadIdx.x)
        return;
    c->done++;
    c->kinetic = sum.kinetic;
    struct accumulate total = {0};
    acc_dvdl_within(&total, LAMBDA_BONDED, du_dl, FIXED_TOTAL_LIMIT);
    acc_finish(&total, &c->sum);
}

KERNEL(velocities, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    __shared__ struct moments all;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    struct motion_tail *tail = (struct motion_tail *)a.tail;
    double(*of_block)[MOTION_SUMS] = (double(*)[MOTION_SUMS])(tail + 1);
    const double(*v_in)[3] = (const double(*)[3])a.v;
    if (!block_goes_on(c)) /* another block may halt meanwhile */
        return;
    const struct motion s = {
        c,         m, masses_in_global(m, c), (double(*)[3])a.x, (double(*)[3])a.v_out, NULL, (const int64_t(*)[3])a.f,
        a.timestep};
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / a.ways, step = thread % a.ways;
    const struct motion_way way = motion_way_of(step, a.ways);
    struct moments own = {};
    if (i < body_count(m)) {
        const bool quick = is_quick(m, i);
        if (quick && i < m->nwaters)
            measure_quickly(&s, water(&s, i), i, v_in, step, way, &own);
        else if (quick)
            measure_quickly(&s, star(&s, i - m->nwaters), i, v_in, step, way, &own);
        else if (step == 0)
            measure_slowly(&s, i, v_in, (double(*)[3])a.x_ahead, a.ways, &own);
    }
    sum_of_block(own, of_block[blockIdx.x]);
    if (!last_block(&tail->arrived) || !block_goes_on(c))
        return;
    sum_of_blocks(of_block, (double *)&all);
    finish(a, all);
}
