/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters on a GPU. A chain of moves is one block: each of its warps computes one of the moves that come
 * next, all from the state at hand, and the first of them that is accepted is carried out. Those behind it are computed
 * again, so the chain is the one that goes move by move.
 */
#include "engine/cuda/motion/body_memory.cuh"
#include "engine/kernels/waters.h"

enum { WARPS = WATERS_BLOCK / WARP };

/* A warp for each water. */
KERNEL(waters_weigh, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct water_table *t = (const struct water_table *)a.table;
    const struct water_states s = waters_states(a.states, t->nwaters);
    const double(*x)[3] = (const double(*)[3])a.x;
    const uint32_t water = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (c->halt || water >= t->nwaters)
        return;
    struct water_box box;
    waters_box(c->box, &box);
    const struct water_place place = waters_place(t, x, water);
    const double energy = warp_sum(waters_energy(t, &box, c, x, water, &place, threadIdx.x % WARP, WARP));
    if (threadIdx.x % WARP)
        return;
    double center[3];
    waters_center(t, x, c->box, center);
    s.energy[water] = energy;
    s.weight[water] = waters_weight(energy, a.kt);
    s.inside[water] = waters_inside(t, place.site[0], center, c->box);
}

/* Of the weights outside and inside. For the whole block. */
static __device__ void sum_weights(const struct water_states *s, uint32_t n, double sums[2])
{
    double own[2] = {0, 0};
    BLOCK_LOOP(w, n)
    own[s->inside[w]] += s->weight[w];
    sums[0] = block_sum(own[0]);
    sums[1] = block_sum(own[1]);
}

static __device__ uint32_t count_inside(const struct water_states *s, uint32_t n)
{
    uint32_t own = 0;
    BLOCK_LOOP(w, n)
    own += s->inside[w];
    return block_sum(own);
}

/* Of 32 waters that lanes have, each with its weight or -1: where the sum comes to the mark, and the last of them that
 * has a weight otherwise. For whole warps. */
static __device__ bool pick_here(double weight, uint32_t base, double *sum, double mark, uint32_t *water, bool *found)
{
    for (uint32_t lane = 0; lane < WARP && *sum < mark; lane++) {
        const double of = __shfl_sync(WARP_ALL, weight, (int)lane);
        if (of < 0)
            continue;
        *found = true;
        *water = base + lane;
        *sum += of;
    }
    return *sum >= mark;
}

/* The water of a side where the sum of weights comes to the mark. False: there is none. For whole warps. */
static __device__ bool pick(const struct water_states *s, uint32_t n, uint32_t side, double mark, uint32_t *water)
{
    const uint32_t lane = threadIdx.x % WARP;
    bool found = false;
    double sum = 0;
    for (uint32_t base = 0; base < n; base += WARP) {
        const uint32_t w = base + lane;
        const double weight = w < n && s->inside[w] == side ? s->weight[w] : -1;
        const double more = warp_sum(fmax(weight, 0.0));
        const bool near = sum + more >= mark || base + WARP >= n || !found;
        if (near && pick_here(weight, base, &sum, mark, water, &found))
            return found;
        sum += near ? 0 : more;
    }
    return found;
}

/* What a warp has found of its move. */
struct found {
    struct water_trial trial;
    double energy;
    bool accepted;
};

/* One move, from the state at hand. For whole warps. */
static __device__ void look(const struct args_waters_try *a, const struct water_states *s, const double center[3],
                            const double sums[2], uint32_t move, struct found *out)
{
    const struct ctl *c = (const struct ctl *)a->ctl;
    const struct water_table *t = (const struct water_table *)a->table;
    const double(*x)[3] = (const double(*)[3])a->x;
    const uint32_t lane = threadIdx.x % WARP;
    double p[3], m[3][3];
    struct water_trial trial;
    struct water_box box;
    waters_propose(t, c, center, move, p, m, &trial);
    const uint32_t side = 1 - trial.into;
    trial.valid = trial.valid && pick(s, t->nwaters, side, waters_mark(c, move, sums[side]), &trial.water);
    if (lane == 0)
        out->accepted = false;
    if (!trial.valid)
        return;
    waters_lead(t, x, p, (const double(*)[3])m, &trial);
    waters_box(c->box, &box);
    struct water_change change = waters_change(t, &box, c, x, s, &trial, a->kt, lane, WARP);
    change.energy = warp_sum(change.energy);
    change.weights = warp_sum(change.weights);
    if (lane)
        return;
    out->trial = trial;
    out->energy = change.energy;
    out->accepted = waters_trial_accepted(&trial, s, &change, sums, a->kt);
}

/* The first of the moves that is accepted; WARPS: none is. */
static __device__ uint32_t first_accepted(const struct found *found)
{
    uint32_t first = 0;
    while (first < WARPS && !found[first].accepted)
        first++;
    return first;
}

/* Carries out a move that was accepted. For the whole block. */
static __device__ void carry_out(const struct args_waters_try *a, const struct water_states *s,
                                 const struct found *move)
{
    struct ctl *c = (struct ctl *)a->ctl;
    const struct water_table *t = (const struct water_table *)a->table;
    double(*x)[3] = (double(*)[3])a->x;
    struct water_box box;
    waters_box(c->box, &box);
    const double rise = move->energy - s->energy[move->trial.water];
    __syncthreads();
    waters_follow(t, &box, (const double(*)[3])x, s, &move->trial, move->energy, a->kt, threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0)
        waters_carry_out(t, c, s, &move->trial, rise, x);
    __syncthreads();
}

KERNEL(waters_try, a, __launch_bounds__(WATERS_BLOCK))
{
    ECHO(a);
    __shared__ struct found found[WARPS];
    __shared__ double center[3];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct water_table *t = (const struct water_table *)a.table;
    const struct water_states s = waters_states(a.states, t->nwaters);
    const double *x = (const double *)a.x;
    double *x_old = (double *)a.x_old, sums[2];
    if (!block_goes_on(c))
        return;
    BLOCK_LOOP(i, 3 * a.natoms)
    x_old[i] = x[i];
    const uint32_t inside = count_inside(&s, t->nwaters);
    if (threadIdx.x == 0) {
        waters_center(t, (const double(*)[3])a.x, c->box, center);
        waters_begin(c, inside);
    }
    sum_weights(&s, t->nwaters, sums);
    for (uint32_t move = 0; move < a.tries && waters_fit(t, c->box);) {
        const uint32_t warp = threadIdx.x / WARP, own = move + warp;
        __syncthreads();
        if (own < a.tries)
            look(&a, &s, center, sums, own, &found[warp]);
        else if (threadIdx.x % WARP == 0)
            found[warp].accepted = false;
        __syncthreads();
        const uint32_t first = first_accepted(found);
        move += first + 1;
        if (first == WARPS) {
            move--;
            continue;
        }
        carry_out(&a, &s, &found[first]);
        sum_weights(&s, t->nwaters, sums);
    }
}

KERNEL(waters_decide, a, __launch_bounds__(WATERS_BLOCK))
{
    ECHO(a);
    __shared__ bool yes;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct water_table *t = (const struct water_table *)a.table;
    double *x = (double *)a.x;
    const double *x_old = (const double *)a.x_old;
    if (c->halt)
        return;
    if (threadIdx.x == 0)
        yes = waters_accepted(c, a.tries, a.kt);
    __syncthreads();
    if (!yes)
        BLOCK_LOOP(i, 3 * a.natoms)
    x[i] = x_old[i];
    if (yes)
        BLOCK_LOOP(w, t->nwaters)
    waters_turn_velocities(t->waters[w], (const double(*)[3])a.x_old, (const double(*)[3])a.x, (double(*)[3])a.v);
    if (threadIdx.x == 0)
        waters_end(c, a.tries, yes);
}
