/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps on a GPU. A block has some waters, or STEP_BODIES other bodies: first a thread an atom reads it, kicks it
 * and draws its noise, then one thread a body moves it and puts it back onto its constraints, then a thread an atom
 * writes it. A body that is neither a rigid water, nor an atom with some bound to it, is worked on in memory by one
 * thread. The thread that writes an atom also converts it to fractions of the box for the lists of the next step. What
 * needs all bodies (the end of the step, the center-of-mass motion) is done by the last block to finish.
 */
#include "engine/cuda/motion/star32.cuh"
#include "engine/cuda/motion/water32.cuh"
#include "engine/cuda/lists/place.cuh"
#include "engine/run/switches.h"

/* ---- the end of a step ---- */

static __device__ bool com_is_due(uint64_t step, uint32_t every)
{
    if (!every)
        return false;
    return (step + 1 <= UINT32_MAX ? (uint32_t)(step + 1) % every : (step + 1) % every) == 0;
}

template <bool RULE> static __device__ inline void count_step(const struct motion *s)
{
    struct ctl *c = s->c;
    motion_end(c);
    switch_follow(&s->m->schedule, c);
    c->pending = motion_pending(RULE);
    clear_step_sums(c);
}

/* For whole blocks, once their bodies have moved. halted: one of the block's did. Of what other blocks wrote the last
 * one sees whether they halted, and where it needs them the velocities: else nobody waits for writes to arrive, and a
 * block is through when its first thread has said so. */
template <bool RULE>
static __device__ void end_step(const struct motion *s, struct motion_tail *tail, bool com, bool halted)
{
    if (com) {
        if (!last_block(&tail->arrived) || !block_goes_on(s->c))
            return;
        take_off_com<false>(s);
        __syncthreads();
        if (threadIdx.x == 0)
            count_step<RULE>(s);
        return;
    }
    if (threadIdx.x)
        return;
    if (halted)
        __threadfence();
    if (atomicInc(&tail->arrived, gridDim.x - 1) == gridDim.x - 1 &&
        *(volatile const uint32_t *)&s->c->halt == HALT_NONE)
        count_step<RULE>(s);
}

/* ---- atoms ---- */

/* The bodies of a block: waters, or the others; each has so many places for atoms. */
struct body_rows {
    uint32_t first, count;
    bool waters;
};

/* waters: of each of the first blocks */
static __device__ inline struct body_rows rows_of(const struct motion_table *m, uint32_t waters, uint32_t water_blocks)
{
    const bool water = blockIdx.x < water_blocks;
    const uint32_t first = water ? waters * blockIdx.x : m->nwaters + STEP_BODIES * (blockIdx.x - water_blocks);
    const uint32_t end = water ? m->nwaters : body_count(m);
    return {first, min(end - first, water ? waters : (uint32_t)STEP_BODIES), water};
}

/* The bodies of a block: waters, or the others. */
union room {
    struct held32 of_water[STEP_WATERS][water::ATOMS];
    struct held_star32 of_other[STEP_BODIES];
};

/* The k-th atom of a body of the block; -1: there is none in this place, or its body is worked on in memory. */
struct place_of_atom {
    int32_t atom;
    uint32_t body, k;
};

static __device__ __forceinline__ struct place_of_atom place_at(const struct motion_table *m,
                                                                const struct body_rows &rows, uint32_t place)
{
    const uint32_t body = rows.waters ? place / water::ATOMS : place / star::ATOMS;
    const uint32_t k = place - body * (rows.waters ? water::ATOMS : star::ATOMS), i = rows.first + body;
    if (body >= rows.count || !is_quick(m, i))
        return {-1, 0, 0};
    const struct body b = body_at(m, i);
    return {k < b.natoms ? b.atom[k] : -1, body, k};
}

/* What is read of an atom. */
struct arrived {
    struct place_of_atom at;
    float inverse_mass, inverse_root; /* 1/u, and the root of that */
    double x[3], v[3];
    int64_t f[3];
};

static __device__ __forceinline__ struct arrived arrive(const struct motion *s, const struct body_rows &rows,
                                                        uint32_t place)
{
    struct arrived a = {place_at(s->m, rows, place)};
    if (a.at.atom < 0)
        return a;
    if (rows.waters) {
        const struct water_shape32 *shape = &water(s, rows.first + a.at.body).shape->single;
        a.inverse_mass = shape->inverse_mass[a.at.k > 0];
        a.inverse_root = shape->inverse_root[a.at.k > 0];
    } else {
        a.inverse_mass = inverse_mass32(s->masses, a.at.atom);
        a.inverse_root = sqrtf(a.inverse_mass);
    }
    for (int d = 0; d < 3; d++) {
        a.x[d] = s->x[a.at.atom][d];
        a.v[d] = s->v[a.at.atom][d];
        a.f[d] = s->f[a.at.atom][d];
    }
    return a;
}

/* Kicked. */
template <bool RULE>
static __device__ __forceinline__ void hold(const struct motion *s, const struct motion_rule32 &rule,
                                            const struct body_rows &rows, const struct arrived &a, union room *room)
{
    if (a.at.atom < 0)
        return;
    struct held32 *to = rows.waters ? &room->of_water[a.at.body][a.at.k] : &room->of_other[a.at.body].atom[a.at.k];
    const float kick = rule.kick * a.inverse_mass;
    float noise[3] = {0, 0, 0};
    if (RULE)
        noise32(s->c, s->c->step, a.at.atom, rule.noise, a.inverse_root, noise);
    if (!rows.waters)
        room->of_other[a.at.body].inverse_mass[a.at.k] = a.inverse_mass;
    for (int d = 0; d < 3; d++)
        hold_along32<RULE>(rule, kick, noise[d], a.x[d], a.v[d], a.f[d], to, d);
}

/* False, and *bad: its constraints have no solution. */
template <bool RULE>
static __device__ __forceinline__ bool advance32(const struct motion *s, const struct motion_rule32 &rule,
                                                 const struct body_rows &rows, uint32_t k, union room *room,
                                                 struct constrain_failure *bad)
{
    const struct body b = body_at(s->m, rows.first + k);
    if (!rows.waters)
        return star32_advance<RULE>(s, rule, rows.first + k - s->m->nwaters, b, &room->of_other[k], bad);
    return water32_advance<RULE>(water(s, rows.first + k).shape->single, rule, room->of_water[k]) ||
           fail(bad, b.atom[0], b.atom[1], INFINITY);
}

/* The k-th body of the block. False: it cannot be moved. */
template <bool RULE>
static __device__ __forceinline__ bool move(const struct motion *s, const struct motion_rule *rule,
                                            const struct motion_rule32 &rule32, const struct placing *placing,
                                            const struct body_rows &rows, uint32_t k, union room *room)
{
    const uint32_t i = rows.first + k;
    struct constrain_failure bad;
    if (is_quick(s->m, i)) {
        const bool good = advance32<RULE>(s, rule32, rows, k, room, &bad);
        if (!good)
            halt_constraint(s->c, &bad);
        return good;
    }
    const bool good = advance_slowly(s, rule, i);
    const struct body b = body_at(s->m, i);
    for (uint32_t n = 0; n < b.natoms; n++)
        place_atom(placing, read_slot(placing, b.atom[n]), b.atom[n], s->x[b.atom[n]]);
    return good;
}

/* What is read of an atom whose body has moved. */
struct leaving {
    struct place_of_atom at;
    struct slot_read slot;
};

static __device__ __forceinline__ struct leaving leave(const struct motion_table *m, const struct placing *placing,
                                                       const struct body_rows &rows, uint32_t place)
{
    struct leaving l = {place_at(m, rows, place)};
    if (l.at.atom >= 0)
        l.slot = read_slot(placing, l.at.atom);
    return l;
}

/* An atom to where it is kept; x: where. False: it has been thrown out, and nothing but x_old is written. */
static __device__ __forceinline__ bool store_atom32(const struct motion *s, float farthest, int32_t i,
                                                    const struct held32 &from, double x[3])
{
    bool good = true;
    for (int d = 0; d < 3; d++) {
        const double old = s->x[i][d];
        s->x_old[i][d] = old;
        x[d] = moved32(old, from.push[d]);
        good = good && fabsf(from.push[d]) < farthest;
    }
    if (!good) {
        halt_once(s->c, HALT_NONFINITE, (uint32_t)i, (uint32_t)i, s->x[i][0] + from.push[0]);
        return false;
    }
    for (int d = 0; d < 3; d++) {
        s->x[i][d] = x[d];
        s->v[i][d] = from.v[d];
    }
    return true;
}

/* The same, and to the grid. */
static __device__ __forceinline__ bool settle(const struct motion *s, const struct placing *placing,
                                              const struct body_rows &rows, const struct leaving &l, union room *room)
{
    double x[3];
    if (l.at.atom < 0)
        return true;
    const struct held32 &from =
        rows.waters ? room->of_water[l.at.body][l.at.k] : room->of_other[l.at.body].atom[l.at.k];
    if (!store_atom32(s, placing->farthest, l.at.atom, from, x))
        return false;
    place_atom(placing, l.slot, l.at.atom, x);
    return true;
}

/* ---- the kernels ---- */

/* RULE: friction and noise, by the_rule. */
template <bool RULE, class A>
static __device__ __forceinline__ void step(const A &a, const struct motion_rule &the_rule)
{
    __shared__ union room room;
    __shared__ struct placing placing;
    __shared__ bool com;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    const struct motion s = {c,
                             m,
                             masses_in_global(m, c),
                             (double(*)[3])a.x,
                             (double(*)[3])a.v,
                             (double(*)[3])a.x_old,
                             (const int64_t(*)[3])a.f,
                             a.timestep};
    const struct body_rows rows = rows_of(m, a.waters, a.water_blocks);
    const uint32_t places = rows.count * (rows.waters ? water::ATOMS : star::ATOMS);
    struct arrived next = arrive(&s, rows, threadIdx.x); /* loads are under way during the lines below */
    const struct motion_rule *rule = RULE ? &the_rule : NULL;
    const struct motion_rule32 rule32 = motion_rule32_of(rule, a.timestep, motion_kick_due(RULE, c->pending));
    bool good = true;
    if (threadIdx.x == CUDA_BLOCK - 1) {
        com = com_is_due(c->step, a.com_every);
        placing = placing_of(a);
        if (c->switching.under_way)
            placing.lambda = (float)c->switching.ahead[LAMBDA_COULOMB];
    }
    if (!forces_good(c))
        return;
    clear_charges(a.charges, a.points);
    for (uint32_t place = threadIdx.x; place < places; place += CUDA_BLOCK) {
        const struct arrived now = next;
        next = arrive(&s, rows, place + CUDA_BLOCK);
        hold<RULE>(&s, rule32, rows, now, &room);
    }
    __syncthreads();
    if (threadIdx.x < rows.count)
        good = move<RULE>(&s, rule, rule32, &placing, rows, threadIdx.x, &room);
    struct leaving ahead = leave(m, &placing, rows, threadIdx.x); /* under way while others are moved */
    __syncthreads();
    for (uint32_t place = threadIdx.x; place < places; place += CUDA_BLOCK) {
        const struct leaving now = ahead;
        ahead = leave(m, &placing, rows, place + CUDA_BLOCK);
        good = settle(&s, &placing, rows, now, &room) && good;
    }
    end_step<RULE>(&s, (struct motion_tail *)a.tail, com, __syncthreads_or(!good));
}

/* The rule among the arguments, of integrators with such a thermostat. */
#define FRICTION_OF_NONE(a)                                                                                            \
    {                                                                                                                  \
    }
#define FRICTION_OF_FRICTION(a)                                                                                        \
    {                                                                                                                  \
        (a).keep, (a).noise, 0.5 * (a).timestep                                                                        \
    }
#define INTEGRATOR(name, word, kernel, thermostat, ...)                                                                \
    KERNEL(kernel, a, __launch_bounds__(CUDA_BLOCK, 4))                                                                \
    {                                                                                                                  \
        ECHO(a);                                                                                                       \
        const struct motion_rule rule = FRICTION_OF_##thermostat(a);                                                   \
        step<THERMOSTAT_##thermostat == THERMOSTAT_FRICTION>(a, rule);                                                 \
    }
#include "engine/system/integrators.def"
