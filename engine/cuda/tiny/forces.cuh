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

/* A force over r; v: from atom j to atom i. */
static __device__ __forceinline__ void tiny_add(int32_t i, int32_t j, struct vec32 v, float fr)
{
    const double force[3] = {__fmul_rn(fr, v.x), __fmul_rn(fr, v.y), __fmul_rn(fr, v.z)};
    struct accumulate acc = {};
    add_pair(&acc, here().f(), i, j, force);
    finish_warp(&acc, &here().c()->sum, EVALUATE_STEP);
}

TINY_TERMS tiny_plain(uint32_t k)
{
    const struct tiny_here &h = here();
    const struct pair_table *t = h.t->pairs;
    const struct soft_rule32 &rule = t->soft32;
    const int32_t i = (int32_t)h.t->plain[k][0], j = (int32_t)h.t->plain[k][1];
    const struct vec32 v = perturbed_vector32(&h.now.cell, t, h.grid()[i], h.grid()[j]);
    const float r2 = fmaxf(square32(v), NEAREST2), ri = refine_root32(r2, rsqrt_approx(r2)), ri2 = __fmul_rn(ri, ri);
    const struct atom_states *p = &t->states[i], *o = &t->states[j];
    float fr = 0;
    if (r2 < rule.coulomb_cutoff2)
        fr = coulomb32_force<ANY_FORCE>(rule, __fmul_rn((float)UNIT_COULOMB * p->charge[0], o->charge[0]), r2, ri, ri2);
    if (r2 < rule.vdw_cutoff2)
        fr =
            __fadd_rn(fr, lj32_force<ANY_FORCE>(
                              rule, t->lj32[(size_t)p->type[0] * (size_t)t->ntypes + (size_t)o->type[0]], r2, ri, ri2));
    if (fr != 0)
        tiny_add(i, j, v, fr);
}

template <bool RARE> TINY_TERMS tiny_perturbed(uint32_t k)
{
    const struct tiny_here &h = here();
    const struct pair_table *t = h.t->pairs;
    const int32_t i = (int32_t)h.t->perturbed[k][0], j = (int32_t)h.t->perturbed[k][1];
    const struct vec32 v = perturbed_vector32(&h.now.cell, t, h.grid()[i], h.grid()[j]);
    const float r2 = square32(v);
    if (r2 < t->soft32.cutoff2)
        tiny_add(i, j, v, soft_force32<RARE>(t, &t->states[i], &t->states[j], h.now.vdw, h.now.coulomb, r2));
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
    const float qq = __fmul_rn(-(float)UNIT_COULOMB * h.charge()[e->atom[0]], h.charge()[e->atom[1]]);
    add_unlisted(&acc, h.f(), e->atom, d, __fmul_rn(qq, excluded_force32(h.t->pairs, r2)), EVALUATE_STEP);
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
