/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs outside the lists: excluded ones, from which the mesh's share -qq erf(beta r)/r is taken, and those that
 * interact by plain LJ + 1/r at every distance and lambda. Their energies belong to LJ and Coulomb (short range). A
 * thread each, in double precision.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_UNLISTED_CUH
#define SHOAL_ENGINE_CUDA_TERMS_UNLISTED_CUH

#include "engine/base/units.h"
#include "engine/cuda/lists/layout.h"
#include "engine/cuda/device/warp_sums.cuh"

/* Vector from atom 1 to atom 0; returns its squared length. Molecules are whole in x. */
static __device__ double unlisted_separation(const struct ctl *c, const double *x, const int32_t atom[2], int32_t whole,
                                             double d[3])
{
    vec_sub(x + 3 * (size_t)atom[0], x + 3 * (size_t)atom[1], d);
    if (!whole)
        box_shortest(c->box, d);
    return pair_distance2(d[0], d[1], d[2]);
}

/* An excluded pair; charges at lambda. Returns its energy per product of charges, taken off. */
static __device__ __forceinline__ double excluded_pair(const struct args_terms &a, uint32_t mode,
                                                       struct accumulate *acc, const struct nb_excluded *e)
{
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    const int32_t i = e->atom[0], j = e->atom[1];
    double d[3], v, f, l = c->lambda[LAMBDA_COULOMB], di = t->change[i], dj = t->change[j];
    double r2 = unlisted_separation(c, (const double *)a.x, e->atom, e->whole, d);
    double q = fma(l, di, t->charge[i]), o = fma(l, dj, t->charge[j]);
    ewald_long_any(&t->ewald, r2, &v, &f);
    add_pair(acc, (int64_t(*)[3])a.f, i, j, d, -UNIT_COULOMB * q * o * f, mode);
    if (evaluates_energies(mode)) {
        acc_energy(acc, TERM_COULOMB, -UNIT_COULOMB * q * o * v);
        acc_dvdl(acc, LAMBDA_COULOMB, -UNIT_COULOMB * (di * o + q * dj) * v);
    }
    return v;
}

static __device__ __forceinline__ void always_pair(const struct args_terms &a, uint32_t mode, struct accumulate *acc,
                                                   const struct nb_always *e)
{
    const struct lj_rule none = {}; /* a plain cut-off uses nothing of the rule */
    double d[3], v, r2 = unlisted_separation((const struct ctl *)a.ctl, (const double *)a.x, e->atom, e->whole, d);
    double ri = root_inverse(r2), fr = lj_pair(VDW_CUTOFF, &none, e->c6, e->c12, r2, ri, &v);
    add_pair(acc, (int64_t(*)[3])a.f, e->atom[0], e->atom[1], d, fr + e->qq * ri * ri * ri, mode);
    if (evaluates_energies(mode)) {
        acc_energy(acc, TERM_LJ, v);
        acc_energy(acc, TERM_COULOMB, e->qq * ri);
    }
}

/* U at Coulomb lambda l of an excluded pair whose charges change. */
static __device__ int64_t excluded_energy_at(const struct pair_table *t, const struct nb_excluded *e, double v,
                                             double l)
{
    double q = fma(l, t->change[e->atom[0]], t->charge[e->atom[0]]),
           o = fma(l, t->change[e->atom[1]], t->charge[e->atom[1]]);
    return fixed_clamped(-UNIT_COULOMB * q * o * v, FIXED_ENERGY_LIMIT);
}

/* Excluded pairs of constant charge, then those whose charges change, then the others, then, if they are asked for,
 * those of rigid waters; by the warp-th warp of them. */
static __device__ __forceinline__ void unlisted_warp(const struct args_terms &a, uint32_t mode, uint32_t warp)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    const uint32_t k = warp * WARP + threadIdx.x % WARP, constant = (uint32_t)t->nexcluded,
                   excluded = constant + (uint32_t)t->nexcluded_perturbed, rigid = excluded + (uint32_t)t->nalways;
    struct accumulate acc = {};
    const struct nb_excluded *changing = NULL;
    double v = 0;
    if (k < constant) {
        excluded_pair(a, mode, &acc, &t->excluded[k]);
    } else if (k < excluded) {
        changing = &t->excluded_perturbed[k - constant];
        v = excluded_pair(a, mode, &acc, changing);
    } else if (k < rigid) {
        always_pair(a, mode, &acc, &t->always[k - excluded]);
    } else if (k < a.unlisted) {
        excluded_pair(a, mode, &acc, &t->excluded[constant + (k - rigid)]);
    }
    const struct foreign_rows rows = foreign_rows_of(mode, c, t->window, (uint32_t)t->nwindows);
    for (uint32_t w = 0; t->nexcluded_perturbed && w < rows.n; w++)
        add_warp(&((struct fixed_sum *)a.energy_at_window)[w],
                 changing ? excluded_energy_at(t, changing, v, rows.lambda[w][LAMBDA_COULOMB]) : 0);
    finish_warp(&acc, &c->sum, mode);
}

#endif
