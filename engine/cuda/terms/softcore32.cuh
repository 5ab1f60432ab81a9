/* SPDX-License-Identifier: Apache-2.0
 *
 * The force of a pair with a perturbed atom in single precision: the formulas of engine/math/potentials/softcore.h,
 * spelled out operation by operation, so that the same pair gives the same bits in every kernel that meets it. Energies
 * and their slopes are in double precision (perturbed.cuh): free energies are small differences of them.
 */
#ifndef SHOAL_ENGINE_CUDA_TERMS_SOFTCORE32_CUH
#define SHOAL_ENGINE_CUDA_TERMS_SOFTCORE32_CUH

#include "engine/cuda/pairs/formula32.cuh"

/* nm^2: atoms in one place are taken to be so far apart. What is computed of it stays finite, and forces of soft cores
 * are nothing there. */
#define LEAST_DISTANCE2_32 2.5e-5f

/* struct soft_pair; c6 and c12 times 6 and 12. */
struct soft_pair32 {
    struct lj32 lj[2];
    float reach[2], reach_coulomb[2], qq[2], cross[2];
};

PAIR_FN float cube32(float a)
{
    return __fmul_rn(__fmul_rn(a, a), a);
}

/* One step of the series in engine/math/roots.h. */
PAIR_FN float sixth_step32(float a, float y)
{
    const float e = __fmaf_rn(-a, cube32(__fmul_rn(y, y)), 1.0f);
    const float series = __fmaf_rn(e, __fmaf_rn(e, 91.0f / 1296, 7.0f / 72), 1.0f / 6);
    return __fmaf_rn(__fmul_rn(y, e), series, y);
}

/* a^(-1/6), a normal and positive, but for its last bits. */
PAIR_FN float root_inverse_sixth32(float a)
{
    const uint32_t sixth_of_bits = (uint32_t)((uint64_t)__float_as_uint(a) * 0x2aaaaaabu >> 32);
    const float start = __uint_as_float(1242468437u - sixth_of_bits); /* good to a few percent */
    return sixth_step32(a, sixth_step32(a, start));
}

template <bool RARE> PAIR_FN float soft_reach32(const struct soft_rule32 &rule, struct lj32 lj)
{
    const float own = lj.c6 > 0 && lj.c12 > 0 ? __fmul_rn(0.5f, __fdividef(lj.c12, lj.c6)) : rule.sigma6;
    const bool least = !(RARE && rule.function == SOFT_GAPSYS) && rule.coulomb && own < rule.sigma6;
    return __fmul_rn(rule.reach, least ? rule.sigma6 : own);
}

template <bool RARE> PAIR_FN float soft_reach_coulomb32(const struct soft_rule32 &rule, float reach, float qq)
{
    if (!(RARE && rule.function == SOFT_GAPSYS))
        return rule.coulomb ? reach : 0;
    const float point =
        __fmaf_rn(__fmul_rn(rule.alpha_coulomb, 1 / (float)UNIT_COULOMB), fabsf(qq), rule.alpha_coulomb);
    return cube32(__fmul_rn(point, point));
}

template <bool RARE>
PAIR_FN struct soft_pair32 soft_pair32_of(const struct pair_table *t, const struct atom_states *i,
                                          const struct atom_states *j)
{
    const struct soft_rule32 &rule = t->soft32;
    const float q[2] = {__fmul_rn((float)UNIT_COULOMB, i->charge[0]), __fmul_rn((float)UNIT_COULOMB, i->charge[1])},
                *p = j->charge;
    struct soft_pair32 s;
#pragma unroll
    for (int k = 0; k < 2; k++)
        s.lj[k] = t->lj32[(size_t)i->type[k] * (size_t)t->ntypes + (size_t)j->type[k]];
    const bool soft = !(s.lj[0].c12 > 0 && s.lj[1].c12 > 0);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        s.reach[k] = soft ? soft_reach32<RARE>(rule, s.lj[k]) : 0;
        s.qq[k] = __fmul_rn(q[k], p[k]);
        s.reach_coulomb[k] = soft ? soft_reach_coulomb32<RARE>(rule, s.reach[k], s.qq[k]) : 0;
    }
    const float dq = __fmul_rn(fabsf(__fsub_rn(q[1], q[0])), 1 / (float)UNIT_COULOMB),
                dp = fabsf(__fsub_rn(p[1], p[0]));
    const float all = __fadd_rn(dq, dp), share = all > 0 ? __fdividef(dq, all) : 0.5f, rest = __fsub_rn(1.0f, share);
    const float first = __fmul_rn(q[0], p[1]), second = __fmul_rn(q[1], p[0]);
    const bool other_ends = s.qq[0] == 0 && s.qq[1] == 0;
    s.cross[0] = other_ends ? 0 : __fmaf_rn(share, first, __fmul_rn(rest, second));
    s.cross[1] = other_ends ? 0 : __fmaf_rn(share, second, __fmul_rn(rest, first));
    return s;
}

/* A state whose part is nothing is passed over: of a molecule that is decoupled that is most of the work. */
PAIR_FN bool is_nothing32(struct lj32 lj)
{
    return lj.c6 == 0 && lj.c12 == 0;
}

/* Lambda of a state, and how far from it the pair is. */
struct weights32 {
    float near, away;
};

PAIR_FN struct weights32 weights32_of(float l, int k)
{
    return k ? (struct weights32){l, __fsub_rn(1.0f, l)} : (struct weights32){__fsub_rn(1.0f, l), l};
}

/* What a state's charges count for. */
PAIR_FN float part32(const struct soft_pair32 *s, int k, struct weights32 w)
{
    return __fmul_rn(w.near, __fmaf_rn(w.near, s->qq[k], __fmul_rn(w.away, s->cross[k])));
}

/* ---- Beutler's; forces over r ---- */

/* The softened distance to the sixth power. */
PAIR_FN float soft_sixth32(const struct soft_rule32 &rule, float reach, float away, float r2)
{
    return __fmaf_rn(reach, rule.power == 2 ? __fmul_rn(away, away) : away, cube32(r2));
}

PAIR_FN float beutler_lj32(const struct soft_rule32 &rule, const struct soft_pair32 *s, float l, float r2)
{
    float fr = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const struct weights32 w = weights32_of(l, k);
        if (w.near == 0 || is_nothing32(s->lj[k]))
            continue;
        const float sixth = soft_sixth32(rule, s->reach[k], w.away, r2), ri = root_inverse_sixth32(sixth);
        const float ri2 = __fmul_rn(ri, ri), ri4 = __fmul_rn(ri2, ri2), rr = __fmul_rn(sixth, ri4);
        const float f = rr < rule.vdw_cutoff2 ? lj32_force<ANY_FORCE>(rule, s->lj[k], rr, ri, ri2) : 0;
        fr = __fmaf_rn(__fmul_rn(w.near, f), __fmul_rn(ri4, __fmul_rn(r2, r2)), fr);
    }
    return fr;
}

/* FIELD: a reaction field, which is softened too. */
template <bool FIELD>
PAIR_FN float beutler_coulomb32(const struct soft_rule32 &rule, const struct soft_pair32 *s, float l, float r2)
{
    const float part[2] = {part32(s, 0, weights32_of(l, 0)), part32(s, 1, weights32_of(l, 1))};
    if (part[0] == 0 && part[1] == 0)
        return 0;
    const float r4 = __fmul_rn(r2, r2), long_f = FIELD ? 0 : ewald32_force<ANY_FORCE>(rule, r2);
    float fr = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const struct weights32 w = weights32_of(l, k);
        if (part[k] == 0)
            continue;
        const float sixth = soft_sixth32(rule, s->reach_coulomb[k], w.away, r2), ri = root_inverse_sixth32(sixth);
        const float ri2 = __fmul_rn(ri, ri), ri3 = __fmul_rn(ri2, ri);
        const float bare = FIELD ? __fmaf_rn(-2.0f, rule.field, ri3) : ri3;
        const float f = __fmaf_rn(__fmul_rn(__fmul_rn(ri2, ri2), r4), bare, -long_f);
        fr = !FIELD || sixth < rule.farthest6 ? __fmaf_rn(part[k], f, fr) : fr;
    }
    return fr;
}

/* ---- Gapsys' ---- */

/* struct soft_point, without what lambda moves. */
struct soft_point32 {
    float ri, r, d;
};

PAIR_FN struct soft_point32 soft_point32_of(float reach, float away, float farthest6, float r2, float r)
{
    const float r6 = cube32(r2), point6 = fminf(__fmul_rn(reach, away), farthest6), sixth = fmaxf(point6, r6);
    const float ri = root_inverse_sixth32(sixth), ri2 = __fmul_rn(ri, ri);
    const float at = point6 > r6 ? __fmul_rn(sixth, __fmul_rn(__fmul_rn(ri2, ri2), ri)) : r;
    return {ri, at, __fsub_rn(r, at)};
}

PAIR_FN float gapsys_lj32(const struct soft_rule32 &rule, const struct soft_pair32 *s, float l, float r2, float ri)
{
    const float r = __fmul_rn(r2, ri);
    float fr = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const struct weights32 w = weights32_of(l, k);
        if (w.near == 0 || is_nothing32(s->lj[k]))
            continue;
        const struct soft_point32 at = soft_point32_of(s->reach[k], w.away, rule.start6, r2, r);
        const float ri2 = __fmul_rn(at.ri, at.ri), ri6 = cube32(ri2);
        const float f = lj32_force<ANY_FORCE>(rule, s->lj[k], __fmul_rn(at.r, at.r), at.ri, ri2);
        const float bend = __fmul_rn(__fmul_rn(ri2, ri6), /* second derivative of the energy */
                                     __fmaf_rn(__fmul_rn(13.0f, s->lj[k].c12), ri6, __fmul_rn(-7.0f, s->lj[k].c6)));
        fr = __fmaf_rn(__fmul_rn(w.near, ri), __fmaf_rn(f, at.r, __fmul_rn(-bend, at.d)), fr);
    }
    return r2 < rule.vdw_cutoff2 ? fr : 0;
}

PAIR_FN float gapsys_coulomb32(const struct soft_rule32 &rule, const struct soft_pair32 *s, float l, float r2, float ri)
{
    const float part[2] = {part32(s, 0, weights32_of(l, 0)), part32(s, 1, weights32_of(l, 1))};
    if (part[0] == 0 && part[1] == 0)
        return 0;
    const float r = __fmul_rn(r2, ri), long_f = ewald32_force<ANY_FORCE>(rule, r2);
    float fr = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const struct weights32 w = weights32_of(l, k);
        if (part[k] == 0)
            continue;
        const struct soft_point32 at = soft_point32_of(s->reach_coulomb[k], w.away, rule.farthest6, r2, r);
        const float ri2 = __fmul_rn(at.ri, at.ri);
        const float line = __fmaf_rn(__fmul_rn(__fmul_rn(-2.0f, ri2), at.ri), at.d, ri2);
        fr = __fmaf_rn(part[k], __fmaf_rn(line, ri, -long_f), fr);
    }
    return fr;
}

/* Force over r, kJ/mol/nm^2, of a pair within the cut-off at these lambda; r2: the square of its distance, nm^2. RARE:
 * soft cores of every kind, else Beutler's. */
template <bool RARE>
PAIR_FN float soft_force32(const struct pair_table *t, const struct atom_states *i, const struct atom_states *j,
                           float vdw, float coulomb, float r2)
{
    const struct soft_rule32 &rule = t->soft32;
    const struct soft_pair32 s = soft_pair32_of<RARE>(t, i, j);
    const bool charged = r2 < rule.coulomb_cutoff2;
    r2 = fmaxf(r2, LEAST_DISTANCE2_32);
    if (RARE && rule.function == SOFT_GAPSYS) {
        const float ri = refine_root32(r2, rsqrt_approx(r2));
        return __fadd_rn(gapsys_lj32(rule, &s, vdw, r2, ri), charged ? gapsys_coulomb32(rule, &s, coulomb, r2, ri) : 0);
    }
    const float lj = beutler_lj32(rule, &s, vdw, r2);
    if (!charged)
        return lj;
    if (RARE && rule.function == SOFT_BEUTLER_FIELD)
        return __fadd_rn(lj, beutler_coulomb32<true>(rule, &s, coulomb, r2));
    return __fadd_rn(lj, beutler_coulomb32<false>(rule, &s, coulomb, r2));
}

#endif
