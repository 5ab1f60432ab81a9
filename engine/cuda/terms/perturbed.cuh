/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs with a perturbed atom: forces in single precision, energies and their slopes in double, at a sample and in a
 * switch also at other rows of lambda.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_PERTURBED_CUH
#define SHOAL_ENGINE_CUDA_TERMS_PERTURBED_CUH

#include "engine/base/units.h"
#include "engine/cuda/lists/images.cuh"
#include "engine/cuda/device/warp_sums.cuh"
#include "engine/cuda/lists/layout.h"
#include "engine/cuda/terms/softcore32.cuh"

/* Vector from atom j to atom i, nearest image, nm; returns its squared length. */
static __device__ double perturbed_separation(const struct ctl *c, const struct pair_table *t, uint4 i, uint4 j,
                                              double d[3])
{
    const double unit = 1.0 / 4294967296.0;
    const double u[3] = {(double)(int32_t)(i.x - j.x) * unit, (double)(int32_t)(i.y - j.y) * unit,
                         (double)(int32_t)(i.z - j.z) * unit};
    box_apply(c->box, u, d);
    if (t->box == ANY_IMAGE)
        shortest_of(c->box, u, d);
    return pair_distance2(d[0], d[1], d[2]);
}

/* One atom of a pair: its number, its place, what it is. */
struct pair_end {
    int32_t atom;
    uint4 at;
    struct atom_states states;
};

static __device__ __forceinline__ struct pair_end pair_end_of(const struct args_terms &a, const struct pair_table *t,
                                                              uint32_t atom)
{
    const uint4 states = ((const uint4 *)t->states)[atom];
    return {(int32_t)atom,
            ((const uint4 *)a.atom_grid)[atom],
            {{__uint_as_float(states.x), __uint_as_float(states.y)}, {(int32_t)states.z, (int32_t)states.w}}};
}

struct perturbed_pair {
    struct pair_end i, j;
};

/* What all pairs of a thread have in common. */
struct perturbed_now {
    struct cell32 cell;
    float vdw, coulomb; /* lambda */
};

static __device__ __forceinline__ struct perturbed_now perturbed_now_of(const struct ctl *c)
{
    return {cell32_of(c), (float)c->lambda[LAMBDA_VDW], (float)c->lambda[LAMBDA_COULOMB]};
}

/* Vector from atom j to atom i in single precision. */
static __device__ __forceinline__ struct vec32 perturbed_vector32(const struct cell32 *cell, const struct pair_table *t,
                                                                  uint4 i, uint4 j)
{
    const float x = (float)(int32_t)(i.x - j.x), y = (float)(int32_t)(i.y - j.y), z = (float)(int32_t)(i.z - j.z);
    if (t->box == ANY_IMAGE)
        return shortest32_of(cell, x, y, z).r;
    return cell32_vector<true>(cell, x, y, z, {0, 0, 0});
}

/* What of a pair depends on the distance alone. */
struct distance {
    double r2, long_v, long_f;
    bool in_coulomb;
};

/* RARE: soft cores of every kind; kernels with the usual one alone need fewer registers. */
template <bool RARE> static __device__ struct soft_rule soft_rule_in(const struct pair_table *t)
{
    struct soft_rule rule = t->soft;
    if (!RARE)
        rule.function = SOFT_BEUTLER;
    return rule;
}

/* Of Beutler's states those that are nothing are passed over: of a molecule that is decoupled that is half the work. */
template <bool RARE>
static __device__ struct soft_result lj_at(const struct pair_table *t, const struct soft_pair *s,
                                           const struct distance *r, double lambda)
{
    const struct soft_rule soft = soft_rule_in<RARE>(t);
    const enum vdw_modifier modifier = (enum vdw_modifier)t->modifier;
    struct soft_result out = {0, 0, 0};
    if (RARE)
        out = soft_lj(soft.function, modifier, &t->lj_rule, soft.power, s, lambda, r->r2);
    for (int k = 0; !RARE && k < 2; k++)
        if (!lj_is_nothing(s, k))
            beutler_lj_state(modifier, &t->lj_rule, soft.power, s, k, lambda, r->r2, &out);
    return out;
}

template <bool RARE>
static __device__ struct soft_result coulomb_at(const struct pair_table *t, const struct soft_pair *s,
                                                const struct distance *r, double lambda)
{
    const struct soft_rule soft = soft_rule_in<RARE>(t);
    struct soft_result out = {0, 0, 0};
    if (!r->in_coulomb)
        return out;
    if (RARE)
        out = soft_coulomb(soft.function, &soft, s, t->coulomb_shift, lambda, r->r2, r->long_v, r->long_f);
    for (int k = 0; !RARE && k < 2; k++)
        if (!coulomb_is_nothing(s, k))
            beutler_coulomb_state(&soft, s, t->coulomb_shift, k, lambda, r->r2, r->long_v, r->long_f, &out);
    return out;
}

template <bool RARE> static __device__ struct soft_pair states(const struct pair_table *t, int32_t i, int32_t j)
{
    const struct soft_rule soft = soft_rule_in<RARE>(t);
    double c6[2], c12[2], q[2], o[2];
    for (int k = 0; k < 2; k++) {
        const struct lj *lj = &t->lj[(size_t)t->type[k][i] * (size_t)t->ntypes + (size_t)t->type[k][j]];
        c6[k] = lj->c6;
        c12[k] = lj->c12;
        q[k] = t->charge[i] + (k ? t->change[i] : 0);
        o[k] = t->charge[j] + (k ? t->change[j] : 0);
    }
    return soft_pair_make(&soft, c6, c12, q, o, UNIT_COULOMB);
}

/* The force on atom i; zero beyond the cut-off. */
template <bool RARE>
static __device__ __forceinline__ struct vec32
perturbed_force(const struct pair_table *t, const struct perturbed_now *now, const struct perturbed_pair *p)
{
    const struct vec32 v = perturbed_vector32(&now->cell, t, p->i.at, p->j.at);
    const float r2 = square32(v);
    if (!(r2 < t->soft32.cutoff2))
        return {0, 0, 0};
    const float fr = soft_force32<RARE>(t, &p->i.states, &p->j.states, now->vdw, now->coulomb, r2);
    return {__fmul_rn(fr, v.x), __fmul_rn(fr, v.y), __fmul_rn(fr, v.z)};
}

/* The force on atom i of a lane's pairs, which is added once the next pair has another atom there. */
struct held_force {
    int32_t atom;
    int64_t fixed[3];
};

/* Lanes next to each other often have the same atom, which gets their sum. For whole warps. */
static __device__ __forceinline__ void add_held(const struct args_terms &a, const struct held_force *held)
{
    int64_t(*f)[3] = (int64_t(*)[3])a.f;
    const struct lane_run run = lane_run_of(held->atom);
    for (int d = 0; d < 3; d++) {
        const int64_t sum = run_sum(run, held->fixed[d]);
        if (run.first && sum)
            acc_add(&f[held->atom][d], sum);
    }
}

/* A force to atom i, the opposite to atom j. For whole warps. */
static __device__ __forceinline__ void add_perturbed(const struct args_terms &a, struct accumulate *acc,
                                                     struct held_force *held, int32_t i, int32_t j,
                                                     const double force[3])
{
    int64_t(*f)[3] = (int64_t(*)[3])a.f;
    if (__any_sync(WARP_ALL, held->atom != i)) {
        add_held(a, held);
        *held = {i, {0, 0, 0}};
    }
    if (force_within(force)) {
        for (int d = 0; d < 3; d++) {
            const int64_t fixed = fixed_within(force[d]);
            held->fixed[d] = (int64_t)((uint64_t)held->fixed[d] + (uint64_t)fixed);
            if (fixed)
                acc_add(&f[j][d], -fixed);
        }
    } else {
        add_pair(acc, f, i, j, force);
    }
}

/* Virial of a force, and the distance: d gets the vector from j to i, r what depends on its length. The answer is
 * whether that is within the cut-off. */
static __device__ __forceinline__ bool perturbed_distance(const struct args_terms &a, uint32_t mode,
                                                          const struct perturbed_pair *p, const double force[3],
                                                          struct accumulate *acc, struct distance *r)
{
    const struct pair_table *t = (const struct pair_table *)a.table;
    double d[3];
    r->r2 = perturbed_separation((const struct ctl *)a.ctl, t, p->i.at, p->j.at, d);
    if (evaluates_slopes(mode))
        acc_virial(acc, d, force);
    r->in_coulomb = r->r2 < t->coulomb_cutoff * t->coulomb_cutoff;
    r->long_v = r->in_coulomb ? ewald_long_v(&t->ewald, EWALD_TERMS, r->r2) : 0;
    r->long_f = r->in_coulomb ? ewald_long_f(&t->ewald, EWALD_TERMS, r->r2) : 0;
    return r->r2 < t->cutoff * t->cutoff;
}

/* One of them for each thread of a warp that has one. */
template <bool RARE>
static __device__ __forceinline__ void perturbed_pairs(const struct args_terms &a, uint32_t mode, bool real,
                                                       const struct perturbed_now *now, const struct perturbed_pair *p,
                                                       struct held_force *held)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    const struct foreign_rows rows = foreign_rows_of(mode, c, t->window, (uint32_t)t->nwindows);
    struct accumulate acc = {};
    struct soft_pair s;
    struct distance r;
    const struct vec32 v = real && evaluates_forces(mode) ? perturbed_force<RARE>(t, now, p) : (struct vec32){0, 0, 0};
    const double force[3] = {v.x, v.y, v.z};
    if (evaluates_forces(mode))
        add_perturbed(a, &acc, held, p->i.atom, p->j.atom, force);
    if (evaluates_forces(mode) && evaluates_energies(mode)) /* the only pair */
        add_held(a, held);
    const bool energies = evaluates_energies(mode) || rows.n,
               in = energies && real && perturbed_distance(a, mode, p, force, &acc, &r);
    if (in)
        s = states<RARE>(t, p->i.atom, p->j.atom);
    if (in && evaluates_energies(mode)) {
        const struct soft_result lj = lj_at<RARE>(t, &s, &r, c->lambda[LAMBDA_VDW]),
                                 coulomb = coulomb_at<RARE>(t, &s, &r, c->lambda[LAMBDA_COULOMB]);
        acc_energy(&acc, TERM_LJ, lj.v);
        acc_energy(&acc, TERM_COULOMB, coulomb.v);
        if (evaluates_slopes(mode)) {
            acc_dvdl(&acc, LAMBDA_VDW, lj.dv);
            acc_dvdl(&acc, LAMBDA_COULOMB, coulomb.dv);
        }
    }
    double lj = 0, coulomb = 0; /* from row to row of a ladder one of the two mostly stays */
    for (uint32_t w = 0; w < rows.n; w++) {
        const double *row = rows.lambda[w], *above = w ? rows.lambda[w - 1] : NULL;
        if (in && !(above && row[LAMBDA_VDW] == above[LAMBDA_VDW]))
            lj = lj_at<RARE>(t, &s, &r, row[LAMBDA_VDW]).v;
        if (in && !(above && row[LAMBDA_COULOMB] == above[LAMBDA_COULOMB]))
            coulomb = coulomb_at<RARE>(t, &s, &r, row[LAMBDA_COULOMB]).v;
        add_warp(&((struct fixed_sum *)a.energy_at_window)[w],
                 in ? fixed_clamped(lj + coulomb, FIXED_ENERGY_LIMIT) : 0);
    }
    finish_warp(&acc, &c->sum, mode);
}

/* By the warp-th warp of them: where energies are asked for one for each thread, else its part of all, as many for each
 * thread. Memory is slow: atoms are asked for one pair ahead, and which they are two pairs ahead. */
template <bool RARE>
static __device__ __forceinline__ void perturbed_warp(const struct args_terms &a, uint32_t mode, uint32_t warp)
{
    const struct pair_table *t = (const struct pair_table *)a.table;
    const uint2 *pairs = (const uint2 *)a.pairs;
    const uint32_t count = ((const struct pair_lists *)a.lists)->pairs, warps = a.perturbed_warps,
                   each = evaluates_energies(mode) ? 1 : (count + warps * WARP - 1) / (warps * WARP),
                   first = warp * each * WARP, end = min(first + each * WARP, count), last = count - 1;
    if (first >= end)
        return;
    const struct perturbed_now now = perturbed_now_of((const struct ctl *)a.ctl);
    uint32_t k = first + threadIdx.x % WARP;
    uint2 atoms = pairs[min(k, last)];
    struct perturbed_pair next = {pair_end_of(a, t, atoms.x), pair_end_of(a, t, atoms.y)};
    struct held_force held = {next.i.atom, {0, 0, 0}};
    atoms = pairs[min(k + WARP, last)];
    for (; k - threadIdx.x % WARP < end; k += WARP) {
        const struct perturbed_pair p = next;
        next = {pair_end_of(a, t, atoms.x), pair_end_of(a, t, atoms.y)};
        atoms = pairs[min(k + 2 * WARP, last)];
        perturbed_pairs<RARE>(a, mode, k < end, &now, &p, &held);
    }
    if (!evaluates_energies(mode))
        add_held(a, &held);
}

#endif
