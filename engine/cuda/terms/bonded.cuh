/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms on a GPU: a thread for each.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_BONDED_CUH
#define SHOAL_ENGINE_CUDA_TERMS_BONDED_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/kernels/rare_terms.h"
#include "engine/run/program.h"

/* Carries out term i of the lists that few systems have, one behind the other. */
static __device__ __forceinline__ void bonded_rare_any(struct bonded_pass *p, uint32_t i)
{
    if (i < p->t->nrare.count)
        bonded_rare(p, i);
    else if (i - p->t->nrare.count < p->t->ncmaps.count)
        bonded_cmap(p, i - p->t->nrare.count);
}

/* Carries out term i of all the lists one behind the other. RARE: there are some of the last two, or another soft core
 * than the usual one; a kernel without them needs fewer registers. */
template <bool RARE> static __device__ __forceinline__ void bonded_any(struct bonded_pass *p, uint32_t i)
{
    const struct bonded_table *t = p->t;
#define IN_LIST(list, term)                                                                                            \
    if (i < t->list.count) {                                                                                           \
        term(p, i);                                                                                                    \
        return;                                                                                                        \
    }                                                                                                                  \
    i -= t->list.count
    IN_LIST(nbonds, bonded_bond);
    IN_LIST(nangles, bonded_angle_term);
    IN_LIST(ndihedrals, bonded_dihedral_term);
    IN_LIST(nrb_dihedrals, bonded_rb_term);
    IN_LIST(nimpropers, bonded_improper_term);
    IN_LIST(npairs14, bonded_pair14);
    IN_LIST(nposition_restraints, bonded_position_restraint);
#undef IN_LIST
    if (RARE)
        bonded_rare_any(p, i);
}

/* A restraint between centers, for a whole warp. */
static __device__ __forceinline__ void bonded_centers(struct bonded_pass *p, uint32_t i, uint32_t lane)
{
    double sum[2][3] = {};
    centers_part(p, i, lane, WARP, sum);
    for (int g = 0; g < 2; g++)
        for (int d = 0; d < 3; d++)
            for (int step = WARP / 2; step > 0; step >>= 1)
                sum[g][d] += __shfl_xor_sync(WARP_ALL, sum[g][d], step);
    centers_pull(p, i, lane, WARP, sum);
}

/* By the warp-th warp of them; behind all that have a thread each, restraints between centers have a warp each. mode:
 * enum evaluate */
template <bool RARE>
static __device__ __forceinline__ void bonded_warp(const struct args_terms &a, uint32_t mode, uint32_t warp)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const uint32_t i = warp * WARP + threadIdx.x % WARP;
    if (i >= a.bonded)
        return;
    struct bonded_pass p = {};
    p.ctl = c;
    p.t = (const struct bonded_table *)a.bonded_terms;
    p.x = (const double(*)[3])a.x;
    p.f = (int64_t(*)[3])a.f;
    p.energy_at_window = (struct fixed_sum *)a.energy_at_window;
    p.lambda = c->lambda[LAMBDA_BONDED];
    p.mode = mode;
    p.soft = RARE ? p.t->soft.function : SOFT_BEUTLER;
    const uint32_t centers = RARE ? a.bonded - WARP * p.t->ncenters.count : 0;
    if (!RARE || i < centers)
        bonded_any<RARE>(&p, i);
    else
        bonded_centers(&p, (i - centers) / WARP, threadIdx.x % WARP);
    acc_finish(&p.sum, &c->sum);
}

#endif
