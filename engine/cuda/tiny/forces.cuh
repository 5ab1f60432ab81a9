/* SPDX-License-Identifier: Apache-2.0
 *
 * What a warp does of a tiny system's step before the coefficients of its waves are summed, see
 * engine/cuda/tiny/tiny.h.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_FORCES_CUH
#define SHOAL_ENGINE_CUDA_TINY_FORCES_CUH

#include "engine/cuda/terms/bonded.cuh"
#include "engine/cuda/terms/perturbed.cuh"
#include "engine/cuda/terms/unlisted.cuh"
#include "engine/cuda/tiny/waves.cuh"

/* Each kind out of line: no warp does two at a time, and so each has the registers to itself. */
#define TINY_TERMS static __device__ __noinline__ void

TINY_TERMS tiny_plain(uint32_t k)
{
    const struct tiny_here &h = here();
    const struct pair_table *t = h.t->pairs;
    const int32_t i = (int32_t)h.t->plain[k][0], j = (int32_t)h.t->plain[k][1];
    struct accumulate acc = {};
    double d[3], fr = 0, v;
    const double r2 = perturbed_separation(h.c(), t, h.grid()[i], h.grid()[j], d), ri = root_inverse(r2);
    if (r2 < t->coulomb_cutoff * t->coulomb_cutoff)
        fr = UNIT_COULOMB * t->charge[i] * t->charge[j] * (ri * ri * ri - ewald_long_f(&t->ewald, EWALD_TERMS, r2));
    if (r2 < t->vdw_cutoff * t->vdw_cutoff) {
        const struct lj *lj = &t->lj[(size_t)t->type[0][i] * (size_t)t->ntypes + (size_t)t->type[0][j]];
        fr += lj_pair((enum vdw_modifier)t->modifier, &t->lj_rule, lj->c6, lj->c12, r2, ri, &v);
    }
    if (fr != 0)
        add_pair(&acc, h.f(), i, j, d, fr, EVALUATE_STEP);
    finish_warp(&acc, &h.c()->sum, EVALUATE_STEP);
}

template <bool RARE> TINY_TERMS tiny_perturbed(uint32_t k)
{
    const struct tiny_here &h = here();
    const struct pair_table *t = h.t->pairs;
    const int32_t i = (int32_t)h.t->perturbed[k][0], j = (int32_t)h.t->perturbed[k][1];
    struct accumulate acc = {};
    double d[3];
    struct distance r;
    r.r2 = perturbed_separation(h.c(), t, h.grid()[i], h.grid()[j], d);
    if (!(r.r2 < t->cutoff * t->cutoff))
        return;
    r.in_coulomb = r.r2 < t->coulomb_cutoff * t->coulomb_cutoff;
    r.long_v = 0;
    r.long_f = r.in_coulomb ? ewald_long_f(&t->ewald, EWALD_TERMS, r.r2) : 0;
    const struct soft_pair s = states<RARE>(t, i, j);
    const struct both b = at_lambda<RARE>(t, &s, &r, h.c()->lambda);
    add_pair(&acc, h.f(), i, j, d, b.lj.fr + b.coulomb.fr, EVALUATE_STEP);
    finish_warp(&acc, &h.c()->sum, EVALUATE_STEP);
}

static __device__ __forceinline__ struct bonded_pass tiny_pass()
{
    const struct tiny_here &h = here();
    struct bonded_pass p = {};
    p.ctl = h.c();
    p.t = h.bonded;
    p.x = h.x();
    p.f = h.f();
    p.lambda = h.c()->lambda[LAMBDA_BONDED];
    p.soft = SOFT_BEUTLER;
    return p;
}

TINY_TERMS tiny_bonded(uint32_t i)
{
    struct bonded_pass p = tiny_pass();
    bonded_any<false>(&p, i);
    finish_warp(&p.sum, &here().c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_bonded_rare(uint32_t i)
{
    struct bonded_pass p = tiny_pass();
    p.soft = here().bonded->soft.function;
    bonded_any<false>(&p, i);
    finish_warp(&p.sum, &here().c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_rare(uint32_t i)
{
    struct bonded_pass p = tiny_pass();
    bonded_rare_any(&p, i);
    finish_warp(&p.sum, &here().c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_centers(uint32_t i, uint32_t lane)
{
    struct bonded_pass p = tiny_pass();
    bonded_centers(&p, i, lane);
    finish_warp(&p.sum, &here().c()->sum, EVALUATE_STEP);
}

/* What pairs outside the lists want. */
static __device__ __forceinline__ struct args_terms tiny_args()
{
    const struct tiny_here &h = here();
    struct args_terms a = {};
    a.ctl = h.c();
    a.x = h.x();
    a.f = h.f();
    a.table = (void *)h.t->pairs;
    return a;
}

/* As excluded_pair, with charges at lambda at hand. */
TINY_TERMS tiny_excluded(uint32_t i)
{
    const struct tiny_here &h = here();
    const struct nb_excluded *e = &h.t->excluded[i];
    struct accumulate acc = {};
    double d[3], r2 = unlisted_separation(h.c(), (const double *)h.x(), e->atom, e->whole, d);
    const double f = ewald_long_any_f(&h.t->pairs->ewald, r2);
    add_pair(&acc, h.f(), e->atom[0], e->atom[1], d, -UNIT_COULOMB * h.q()[e->atom[0]] * h.q()[e->atom[1]] * f,
             EVALUATE_STEP);
    finish_warp(&acc, &h.c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_always(uint32_t i)
{
    struct accumulate acc = {};
    always_pair(tiny_args(), EVALUATE_STEP, &acc, &here().t->always[i]);
    finish_warp(&acc, &here().c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_noise(uint32_t i, uint64_t step)
{
    const struct tiny_here &h = here();
    if (h.has_rule)
        noise32(h.c(), step, (int32_t)i, h.rule32.noise, sqrtf(h.inverse_mass()[i]), h.noise()[i]);
}

/* One chunk, for its whole warp. */
static __device__ inline void tiny_chunk_do(const struct tiny_chunk chunk, uint64_t step)
{
    const uint32_t lane = threadIdx.x % WARP, i = chunk.first + lane;
    if (lane >= chunk.count)
        return;
    switch ((enum tiny_kind)chunk.kind) {
    case TINY_BONDED:
        return here().bonded->soft.function == SOFT_BEUTLER ? tiny_bonded(i) : tiny_bonded_rare(i);
    case TINY_RARE:
        return tiny_rare(i);
    case TINY_CENTERS:
        return tiny_centers(chunk.first, lane);
    case TINY_WAVES:
        return here().ncolumns ? tiny_waves(i) : (void)0;
    case TINY_NOISE:
        return tiny_noise(i, step);
    case TINY_PERTURBED:
        return here().t->pairs->soft.function == SOFT_BEUTLER ? tiny_perturbed<false>(i) : tiny_perturbed<true>(i);
    case TINY_PLAIN:
        return tiny_plain(i);
    case TINY_EXCLUDED:
        return here().charged ? tiny_excluded(i) : (void)0;
    case TINY_ALWAYS:
        return tiny_always(i);
    }
}

#undef TINY_TERMS

#endif
