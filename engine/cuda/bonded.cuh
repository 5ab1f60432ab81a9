/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms on a GPU: a thread for each.
 */
#ifndef SHOAL_ENGINE_CUDA_BONDED_CUH
#define SHOAL_ENGINE_CUDA_BONDED_CUH

#include "engine/cuda/device.cuh"
#include "engine/kernels/rare_terms.h"
#include "engine/run/program.h"

/* Carries out term i of the lists that few systems have, one behind the other. */
static __device__ __forceinline__ void bonded_rare_any(struct bonded_pass *p, uint32_t i)
{
    const uint32_t cmaps = p->t->nrare.count, centers = cmaps + p->t->ncmaps.count;
    if (i < cmaps)
        bonded_rare(p, i);
    else if (i < centers)
        bonded_cmap(p, i - cmaps);
    else
        bonded_centers(p, i - centers);
}

/* Carries out term i of all the lists one behind the other. RARE: there are some of the last three, or another soft core than
 * the usual one; a kernel without them needs fewer registers. */
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

/* The block-th block of them. mode: enum evaluate */
template <bool RARE>
static __device__ __forceinline__ void bonded_block(const struct args_terms &a, uint32_t mode, uint32_t block)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const uint32_t i = block * blockDim.x + threadIdx.x;
    if (i >= a.bonded)
        return;
    struct bonded_pass p = {};
    p.ctl = c;
    p.t = (const struct bonded_table *)a.bonded_terms;
    p.x = (const double(*)[3])a.x;
    p.f = (int64_t(*)[3])a.f;
    p.energy_at_window = (struct fixed_sum *)a.energy_at_window;
    p.lambda = c->lambda[LAMBDA_BONDED];
    p.energies = mode != EVALUATE_STEP;
    p.sample = mode == EVALUATE_SAMPLE;
    p.soft = RARE ? p.t->soft.function : SOFT_BEUTLER;
    bonded_any<RARE>(&p, i);
    acc_finish(&p.sum, &c->sum);
}

#endif
