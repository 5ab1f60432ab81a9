/* SPDX-License-Identifier: Apache-2.0
 *
 * What a warp does of a tiny system's step before the coefficients of its waves are summed, see engine/cuda/tiny.h.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_TERMS_CUH
#define SHOAL_ENGINE_CUDA_TINY_TERMS_CUH

#include "engine/cuda/bonded.cuh"
#include "engine/cuda/pairs_perturbed.cuh"
#include "engine/cuda/pairs_unlisted.cuh"
#include "engine/cuda/tiny_waves.cuh"

static __device__ inline void tiny_plain(const struct tiny_here &h, const uint32_t pair[2], struct accumulate *acc)
{
    const struct pair_table *t = h.t->pairs;
    const int32_t i = (int32_t)pair[0], j = (int32_t)pair[1];
    double d[3], fr = 0, v;
    const double r2 = perturbed_separation(h.c, h.grid[i], h.grid[j], d), ri = root_inverse(r2);
    if (r2 < t->coulomb_cutoff * t->coulomb_cutoff)
        fr = UNIT_COULOMB * t->charge[i] * t->charge[j] * (ri * ri * ri - ewald_long_f(&t->ewald, EWALD_TERMS, r2));
    if (r2 < t->vdw_cutoff * t->vdw_cutoff) {
        const struct lj *lj = &t->lj[(size_t)t->type[0][i] * (size_t)t->ntypes + (size_t)t->type[0][j]];
        fr += lj_pair((enum vdw_modifier)t->modifier, &t->lj_rule, lj->c6, lj->c12, r2, ri, &v);
    }
    if (fr != 0)
        add_pair(acc, h.f, i, j, d, fr, EVALUATE_STEP);
}

template <bool RARE>
static __device__ inline void tiny_perturbed(const struct tiny_here &h, const uint32_t pair[2], struct accumulate *acc)
{
    const struct pair_table *t = h.t->pairs;
    const int32_t i = (int32_t)pair[0], j = (int32_t)pair[1];
    double d[3];
    struct distance r;
    r.r2 = perturbed_separation(h.c, h.grid[i], h.grid[j], d);
    if (!(r.r2 < t->cutoff * t->cutoff))
        return;
    r.in_coulomb = r.r2 < t->coulomb_cutoff * t->coulomb_cutoff;
    r.long_v = 0;
    r.long_f = r.in_coulomb ? ewald_long_f(&t->ewald, EWALD_TERMS, r.r2) : 0;
    const struct soft_pair s = states<RARE>(t, i, j);
    const struct both b = at_lambda<RARE>(t, &s, &r, h.c->lambda);
    add_pair(acc, h.f, i, j, d, b.lj.fr + b.coulomb.fr, EVALUATE_STEP);
}

static __device__ inline struct bonded_pass tiny_pass(struct ctl *c, const double (*x)[3], int64_t (*f)[3],
                                                      const struct bonded_table *bonded)
{
    struct bonded_pass p = {};
    p.ctl = c;
    p.t = bonded;
    p.x = x;
    p.f = f;
    p.lambda = c->lambda[LAMBDA_BONDED];
    p.soft = SOFT_BEUTLER;
    return p;
}

static __device__ inline void tiny_bonded(const struct tiny_here &h, const struct bonded_table *bonded, uint32_t i)
{
    struct bonded_pass p = tiny_pass(h.c, h.x, h.f, bonded);
    bonded_any<false>(&p, i);
    finish_warp(&p.sum, &h.c->sum, EVALUATE_STEP);
}

/* These four out of line, so that what most systems do has the registers to itself. */
static __device__ __noinline__ void tiny_perturbed_rare(struct ctl *c, const struct tiny_table *t, uint4 *grid,
                                                        int64_t (*f)[3], const uint32_t *pair)
{
    struct tiny_here h = {};
    struct accumulate acc = {};
    h.c = c;
    h.t = t;
    h.grid = grid;
    h.f = f;
    tiny_perturbed<true>(h, pair, &acc);
    finish_warp(&acc, &c->sum, EVALUATE_STEP);
}

static __device__ __noinline__ void tiny_bonded_rare(struct ctl *c, const double (*x)[3], int64_t (*f)[3],
                                                     const struct bonded_table *bonded, uint32_t i)
{
    struct bonded_pass p = tiny_pass(c, x, f, bonded);
    p.soft = bonded->soft.function;
    bonded_any<false>(&p, i);
    finish_warp(&p.sum, &c->sum, EVALUATE_STEP);
}

static __device__ __noinline__ void tiny_rare(struct ctl *c, const double (*x)[3], int64_t (*f)[3],
                                              const struct bonded_table *bonded, uint32_t i)
{
    struct bonded_pass p = tiny_pass(c, x, f, bonded);
    bonded_rare_any(&p, i);
    finish_warp(&p.sum, &c->sum, EVALUATE_STEP);
}

static __device__ __noinline__ void tiny_centers(struct ctl *c, const double (*x)[3], int64_t (*f)[3],
                                                 const struct bonded_table *bonded, uint32_t i, uint32_t lane)
{
    struct bonded_pass p = tiny_pass(c, x, f, bonded);
    bonded_centers(&p, i, lane);
    finish_warp(&p.sum, &c->sum, EVALUATE_STEP);
}

/* One chunk, for its whole warp. rule: NULL for velocity Verlet */
static __device__ inline void tiny_chunk_do(const struct tiny_here &h, const struct motion &s,
                                            const struct langevin_rule *rule, uint64_t step,
                                            const struct bonded_table *bonded, const struct tiny_chunk &chunk)
{
    const uint32_t lane = threadIdx.x % 32, i = chunk.first + lane;
    struct args_terms a = {}; /* what pairs outside the lists want */
    struct accumulate acc = {};
    a.ctl = h.c;
    a.x = h.x;
    a.f = h.f;
    a.table = (void *)h.t->pairs;
    if (lane >= chunk.count)
        return;
    switch ((enum tiny_kind)chunk.kind) {
    case TINY_BONDED:
        if (bonded->soft.function == SOFT_BEUTLER)
            tiny_bonded(h, bonded, i);
        else
            tiny_bonded_rare(h.c, h.x, h.f, bonded, i);
        break;
    case TINY_RARE:
        tiny_rare(h.c, h.x, h.f, bonded, i);
        break;
    case TINY_CENTERS:
        tiny_centers(h.c, h.x, h.f, bonded, chunk.first, lane);
        break;
    case TINY_WAVES:
        if (h.ncolumns)
            tiny_waves(h, i);
        break;
    case TINY_NOISE:
        if (rule)
            noise_of(&s, rule, step, (int32_t)i, h.noise[i]);
        break;
    case TINY_PERTURBED:
        if (h.t->pairs->soft.function == SOFT_BEUTLER)
            tiny_perturbed<false>(h, h.t->perturbed[i], &acc);
        else
            tiny_perturbed_rare(h.c, h.t, h.grid, h.f, h.t->perturbed[i]);
        break;
    case TINY_PLAIN:
        tiny_plain(h, h.t->plain[i], &acc);
        break;
    case TINY_EXCLUDED:
        excluded_pair(a, EVALUATE_STEP, &acc, &h.t->excluded[i]);
        break;
    case TINY_ALWAYS:
        always_pair(a, EVALUATE_STEP, &acc, &h.t->always[i]);
        break;
    }
    finish_warp(&acc, &h.c->sum, EVALUATE_STEP);
}

#endif
