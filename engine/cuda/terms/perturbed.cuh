/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs with a perturbed atom, in double precision; at a sample and in a switch also at other rows of lambda.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_PERTURBED_CUH
#define SHOAL_ENGINE_CUDA_TERMS_PERTURBED_CUH

#include "engine/base/units.h"
#include "engine/cuda/lists/images.cuh"
#include "engine/cuda/device/warp_sums.cuh"
#include "engine/cuda/lists/layout.h"

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

struct both {
    struct soft_result lj, coulomb;
};

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

template <bool RARE>
static __device__ struct both at_lambda(const struct pair_table *t, const struct soft_pair *s, const struct distance *r,
                                        const double lambda[LAMBDA_COUNT])
{
    const struct soft_rule soft = soft_rule_in<RARE>(t);
    struct both b;
    b.lj =
        soft_lj(soft.function, (enum vdw_modifier)t->modifier, &t->lj_rule, soft.power, s, lambda[LAMBDA_VDW], r->r2);
    b.coulomb.v = b.coulomb.dv = b.coulomb.fr = 0;
    if (r->in_coulomb)
        b.coulomb = soft_coulomb(soft.function, &soft, s, t->coulomb_shift, lambda[LAMBDA_COULOMB], r->r2, r->long_v,
                                 r->long_f);
    return b;
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

/* One of them for each thread of a warp that has one. */
template <bool RARE>
static __device__ __forceinline__ void perturbed_pairs(const struct args_terms &a, uint32_t mode, bool real,
                                                       uint2 atoms)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    const uint4 *grid = (const uint4 *)a.atom_grid;
    int64_t(*f)[3] = (int64_t(*)[3])a.f;
    struct accumulate acc = {};
    struct soft_pair s;
    struct distance r;
    double d[3];
    bool in = false;
    if (real) {
        const int32_t i = (int32_t)atoms.x, j = (int32_t)atoms.y;
        r.r2 = perturbed_separation(c, t, grid[i], grid[j], d);
        in = r.r2 < t->cutoff * t->cutoff;
        if (in) {
            r.in_coulomb = r.r2 < t->coulomb_cutoff * t->coulomb_cutoff;
            r.long_v = r.in_coulomb ? ewald_long_v(&t->ewald, EWALD_TERMS, r.r2) : 0;
            r.long_f = r.in_coulomb ? ewald_long_f(&t->ewald, EWALD_TERMS, r.r2) : 0;
            s = states<RARE>(t, i, j);
            struct both b = at_lambda<RARE>(t, &s, &r, c->lambda);
            add_pair(&acc, f, i, j, d, b.lj.fr + b.coulomb.fr, mode);
            if (evaluates_energies(mode)) {
                acc_energy(&acc, TERM_LJ, b.lj.v);
                acc_energy(&acc, TERM_COULOMB, b.coulomb.v);
                acc_dvdl(&acc, LAMBDA_VDW, b.lj.dv);
                acc_dvdl(&acc, LAMBDA_COULOMB, b.coulomb.dv);
            }
        }
    }
    const struct foreign_rows rows = foreign_rows_of(mode, c, t->window, (uint32_t)t->nwindows);
    for (uint32_t w = 0; w < rows.n; w++) {
        int64_t u = 0;
        if (in) {
            struct both b = at_lambda<RARE>(t, &s, &r, rows.lambda[w]);
            u = fixed_clamped(b.lj.v + b.coulomb.v, FIXED_ENERGY_LIMIT);
        }
        add_warp(&((struct fixed_sum *)a.energy_at_window)[w], u);
    }
    finish_warp(&acc, &c->sum, mode);
}

/* By the warp-th warp of them: in steps every so many-th pair, else one for each thread. */
template <bool RARE>
static __device__ __forceinline__ void perturbed_warp(const struct args_terms &a, uint32_t mode, uint32_t warp)
{
    const uint32_t count = ((const struct pair_lists *)a.lists)->pairs;
    for (uint32_t first = warp * WARP; first < count; first += a.perturbed_warps * WARP) {
        const uint32_t k = first + threadIdx.x % WARP;
        perturbed_pairs<RARE>(a, mode, k < count, ((const uint2 *)a.pairs)[min(k, count - 1)]);
        if (evaluates_energies(mode))
            return;
    }
}

#endif
