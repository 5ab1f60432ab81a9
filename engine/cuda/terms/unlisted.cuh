/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs outside the lists: excluded ones, from which the mesh's share -qq erf(beta r)/r is taken, and those that
 * interact by plain LJ + 1/r at every distance and lambda. Their energies belong to LJ and Coulomb (short range). A
 * thread each; forces in single precision, energies in double.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_UNLISTED_CUH
#define SHOAL_ENGINE_CUDA_TERMS_UNLISTED_CUH

#include "engine/base/units.h"
#include "engine/cuda/lists/layout.h"
#include "engine/cuda/device/warp_sums.cuh"
#include "engine/cuda/terms/softcore32.cuh"

/* Vector from atom 1 to atom 0; returns its squared length. Molecules are whole in x. */
static __device__ double unlisted_separation(const struct ctl *c, const double *x, const int32_t atom[2], int32_t whole,
                                             double d[3])
{
    vec_sub(x + 3 * (size_t)atom[0], x + 3 * (size_t)atom[1], d);
    if (!whole)
        box_shortest(c->box, d);
    return pair_distance2(d[0], d[1], d[2]);
}

/* Force over r, kJ/mol/nm^2, of the mesh's share of charges whose product is 1 kJ nm/mol. */
static __device__ __forceinline__ float excluded_force32(const struct pair_table *t, double r2)
{
    if (!(r2 <= t->ewald.r2_max))
        return (float)ewald_long_far(&t->ewald, r2).f;
    return ewald32_force<ANY_FORCE>(t->soft32, (float)r2);
}

/* The same of a pair that interacts at every distance, however small: what falls onto each other is to be seen. */
static __device__ __forceinline__ float always_force32(const struct nb_always *e, double r2)
{
    const float square = (float)r2, ri = refine_root32(square, rsqrt_approx(square));
    const float ri2 = __fmul_rn(ri, ri), ri6 = cube32(ri2);
    const bool none = e->c12 == 0 && e->c6 == 0; /* times infinity is no number */
    const float lj = none ? 0 : __fmul_rn(__fmaf_rn(12 * (float)e->c12, ri6, -6 * (float)e->c6), ri6);
    return __fmul_rn(__fmaf_rn((float)e->qq, ri, lj), ri2);
}

/* A force over r on the pair; d: from atom 1 to atom 0. */
static __device__ __forceinline__ void add_unlisted(struct accumulate *acc, int64_t (*f)[3], const int32_t atom[2],
                                                    const double d[3], float fr, uint32_t mode)
{
    double force[3];
    if (!evaluates_forces(mode))
        return;
    for (int k = 0; k < 3; k++)
        force[k] = (double)__fmul_rn(fr, (float)d[k]);
    add_pair(acc, f, atom[0], atom[1], force);
    if (evaluates_slopes(mode))
        acc_virial(acc, d, force);
}

/* e, at lambda. */
static __device__ __forceinline__ float charge32_of(const struct pair_table *t, int32_t atom, float lambda)
{
    const float *charge = in_global(t->states)[atom].charge;
    return __fmaf_rn(lambda, __fsub_rn(charge[1], charge[0]), charge[0]);
}

/* An excluded pair; charges at lambda. Returns its energy per product of charges, taken off, where energies are asked
 * for. */
static __device__ __forceinline__ double excluded_pair(const struct args_terms &a, uint32_t mode,
                                                       struct accumulate *acc, const struct nb_excluded *e)
{
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    const int32_t i = e->atom[0], j = e->atom[1];
    const double l = c->lambda[LAMBDA_COULOMB];
    double d[3], v, f, r2 = unlisted_separation(c, (const double *)a.x, e->atom, e->whole, d);
    const float qq = __fmul_rn(-(float)UNIT_COULOMB * charge32_of(t, i, (float)l), charge32_of(t, j, (float)l));
    add_unlisted(acc, (int64_t(*)[3])a.f, e->atom, d, __fmul_rn(qq, excluded_force32(t, r2)), mode);
    if (mode == EVALUATE_STEP)
        return 0;
    ewald_long_any(&t->ewald, r2, &v, &f);
    if (evaluates_energies(mode)) {
        const double di = t->change[i], dj = t->change[j], q = fma(l, di, t->charge[i]), o = fma(l, dj, t->charge[j]);
        acc_energy(acc, TERM_COULOMB, -UNIT_COULOMB * q * o * v);
        if (evaluates_slopes(mode))
            acc_dvdl(acc, LAMBDA_COULOMB, -UNIT_COULOMB * (di * o + q * dj) * v);
    }
    return v;
}

static __device__ __forceinline__ void always_pair(const struct args_terms &a, uint32_t mode, struct accumulate *acc,
                                                   const struct nb_always *e)
{
    const struct lj_rule none = {}; /* a plain cut-off uses nothing of the rule */
    double d[3], v, r2 = unlisted_separation((const struct ctl *)a.ctl, (const double *)a.x, e->atom, e->whole, d);
    add_unlisted(acc, (int64_t(*)[3])a.f, e->atom, d, always_force32(e, r2), mode);
    if (evaluates_energies(mode)) {
        const double ri = root_inverse(r2);
        lj_pair(VDW_CUTOFF, &none, e->c6, e->c12, r2, ri, &v);
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
