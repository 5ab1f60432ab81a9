/* SPDX-License-Identifier: Apache-2.0
 *
 * One pair in single precision: the formulas of engine/math/potentials/lj.h and engine/math/potentials/ewald.h, spelled
 * out operation by operation, so that the same pair gives the same bits in every kernel that meets it.
 */
#ifndef SHOAL_ENGINE_CUDA_PAIRS_FORMULA32_CUH
#define SHOAL_ENGINE_CUDA_PAIRS_FORMULA32_CUH

#include "engine/base/units.h"
#include "engine/cuda/device/vector32.cuh"
#include "engine/cuda/lists/layout.h"

#define NEAREST2 1e-12f /* nm^2: pairs are not taken closer than this */

/* Terms c[LAST] down to c[FIRST] of a polynomial in t; p: the terms above them, over t^(LAST + 1). */
template <int LAST, int FIRST> PAIR_FN float horner32(const float *c, float t, float p)
{
#pragma unroll
    for (int k = LAST; k >= FIRST; k--)
        p = __fmaf_rn(p, t, c[k]);
    return p;
}

/* The terms of a long Ewald polynomial from the 19th down to the 14th. */
template <class A> PAIR_FN float ewald32_high(const A &a, const float *c, float t)
{
    const float top = a.ewald_long > 1 ? horner32<17, 14>(c, t, c[18]) : c[14];
    return __fmaf_rn(top, t, c[13]);
}

/* The settings that models have are told from each other once, not with each pair, or the instructions of a loop would
 * be more than a multiprocessor keeps at hand. So loops are compiled for an enum vdw_modifier with forces of its own
 * and the usual polynomial, and for ANY_FORCE. */
enum { ANY_FORCE = -1 };

template <class A> PAIR_FN int force_kind_of(const A &a)
{
    if (a.ewald_long)
        return ANY_FORCE;
#define VDW(name, word, start, force, ...)                                                                             \
    if (VDW_##force != VDW_CUTOFF && a.modifier == VDW_##name)                                                         \
        return VDW_##force;
#include "engine/math/vdw_modifiers.def"
    return VDW_CUTOFF;
}

/* ewald_long_f(), 1/nm^3. */
template <int OF, class A> PAIR_FN float ewald32_force(const A &a, float r2)
{
    float t = __fmaf_rn(r2, a.ewald_scale, -1.0f), top = a.ewald_f[12];
    if (OF == ANY_FORCE && a.ewald_long)
        top = __fmaf_rn(ewald32_high(a, a.ewald_f, t), t, top);
    return horner32<11, 0>(a.ewald_f, t, top);
}

/* Force over r, kJ/mol/nm^2, of charges with product qq (kJ nm/mol); ri = 1/r, ri2 = ri ri. */
template <int OF, class A> PAIR_FN float coulomb32_force(const A &a, float qq, float r2, float ri, float ri2)
{
    return __fmul_rn(qq, __fmaf_rn(ri, ri2, -ewald32_force<OF>(a, r2)));
}

/* 1/r^2 with the last bits that ri2 lacks: the twelfth power needs them. */
PAIR_FN float refine32(float r2, float ri2)
{
    return __fmaf_rn(ri2, __fmaf_rn(-r2, ri2, 1.0f), ri2);
}

#define LJ_MOST 1e37f /* nm^-12: no constant of zero is multiplied by infinity */

struct lj32_powers {
    float ri2, ri6;
    float d; /* r minus where switching begins, at least 0, nm */
};

template <class A> PAIR_FN struct lj32_powers lj32_powers_of(const A &a, float r2, float ri, float ri2)
{
    struct lj32_powers p;
    p.ri2 = refine32(r2, ri2);
    p.ri6 = __fmul_rn(__fmul_rn(p.ri2, p.ri2), p.ri2);
    p.d = fmaxf(__fmaf_rn(r2, ri, -a.start), 0.0f);
    return p;
}

/* V, kJ/mol, without a modifier. */
PAIR_FN float lj32_plain(struct lj32 lj, float ri6)
{
    return __fmul_rn(__fmaf_rn(__fmul_rn(lj.c12, 1.0f / 12), ri6, -__fmul_rn(lj.c6, 1.0f / 6)), ri6);
}

/* Factor of potential-switch. */
template <class A> PAIR_FN float lj32_factor(const A &a, float x)
{
    float x2 = __fmul_rn(x, x);
    return __fmaf_rn(__fmul_rn(x2, x), __fmaf_rn(x, __fmaf_rn(x, -6.0f, 15.0f), -10.0f), 1.0f);
}

template <int OF, class A> PAIR_FN float lj32_force(const A &a, struct lj32 lj, float r2, float ri, float ri2)
{
    struct lj32_powers p = lj32_powers_of(a, r2, ri, ri2);
    float fr = __fmul_rn(__fmul_rn(__fmaf_rn(lj.c12, p.ri6, -lj.c6), p.ri6), p.ri2);
    if (OF == VDW_POTENTIAL_SWITCH || (OF == ANY_FORCE && a.modifier == VDW_POTENTIAL_SWITCH)) {
        float x = __fmul_rn(p.d, a.inverse_width), x2 = __fmul_rn(x, x);
        float slope = __fmul_rn(__fmul_rn(x2, __fmaf_rn(x, __fmaf_rn(x, -30.0f, 60.0f), -30.0f)), a.inverse_width);
        fr = __fmaf_rn(fr, lj32_factor(a, x), -__fmul_rn(__fmul_rn(lj32_plain(lj, p.ri6), slope), ri));
    }
    if (OF == VDW_FORCE_SWITCH || (OF == ANY_FORCE && a.modifier == VDW_FORCE_SWITCH)) {
        float d2 = __fmul_rn(p.d, p.d);
        float f6 = __fmul_rn(d2, __fmaf_rn(a.b6, p.d, a.a6)), f12 = __fmul_rn(d2, __fmaf_rn(a.b12, p.d, a.a12));
        float add = __fmaf_rn(__fmul_rn(lj.c12, 1.0f / 12), f12, -__fmul_rn(__fmul_rn(lj.c6, 1.0f / 6), f6));
        fr = __fmaf_rn(add, ri, fr);
    }
    return fr;
}

/* 1/r to the nearest float or the next: sums of energies are what is left of much larger ones (charges of a neutral
 * system, the two powers of Lennard-Jones), so errors that all pairs of two kinds share, as that of rsqrt.approx, would
 * be 3e-5 of them. */
PAIR_FN float refine_root32(float r2, float ri)
{
    float r = __fmul_rn(r2, ri), rest = __fmaf_rn(r2, ri, -r);
    float off = __fmaf_rn(-rest, ri, __fmaf_rn(-r, ri, 1.0f));
    return __fmaf_rn(__fmul_rn(0.5f, ri), off, ri);
}

/* Energy over the product of the charges, 1/nm: high and low together. What is the same for all pairs or nearly so has
 * low parts of its own (the first terms of the polynomial, and the shift of the potential in them): in single precision
 * it would be rounded alike for all of them. */
struct energy32 {
    float high, low;
};

template <class A> PAIR_FN struct energy32 coulomb32_energy(const A &a, float r2, float ri)
{
    float t = __fmaf_rn(r2, a.ewald_scale, -1.0f);
    float v = horner32<12, 0>(a.ewald_v, t, ewald32_high(a, a.ewald_v, t));
    return {__fsub_rn(refine_root32(r2, ri), v), -horner32<2, 0>(a.ewald_w, t, a.ewald_w[3])};
}

PAIR_FN double whole32(struct energy32 e)
{
    return (double)e.high + (double)e.low;
}

/* The same of the pairs of a water with one atom, which have two products of charges. */
struct water_energies {
    struct energy32 oxygen, hydrogens;
};

PAIR_FN void add_energy32(struct energy32 *sum, struct energy32 e, bool within)
{
    sum->high = __fadd_rn(sum->high, within ? e.high : 0.0f);
    sum->low = __fadd_rn(sum->low, within ? e.low : 0.0f);
}

/* Of charges, kJ nm/mol: exact, as its rounding would be common to all pairs of two kinds, and to the nearest float. */
struct charge_product {
    double exact;
    float near;
};

/* kJ/mol */
PAIR_FN double coulomb_of_water(const struct water_energies &e, struct charge_product oxygen,
                                struct charge_product hydrogen)
{
    const float low = __fmaf_rn(oxygen.near, e.oxygen.low, __fmul_rn(hydrogen.near, e.hydrogens.low));
    return fma(oxygen.exact, (double)e.oxygen.high, fma(hydrogen.exact, (double)e.hydrogens.high, (double)low));
}

/* Energies of one entry, kJ/mol. */
struct entry_energies {
    double coulomb, lj;
};

/* Lennard-Jones, kJ/mol: powers of the distance in single precision; what is common to all pairs of two kinds, in
 * double. */
template <class A> PAIR_FN double lj32_energy(const A &a, struct lj lj, float r2, float ri)
{
    const struct lj32_powers p = lj32_powers_of(a, r2, ri, __fmul_rn(ri, ri));
    float p6 = p.ri6, p12 = fminf(__fmul_rn(p.ri6, p.ri6), LJ_MOST);
    if (a.modifier == VDW_POTENTIAL_SWITCH) {
        const float factor = lj32_factor(a, __fmul_rn(p.d, a.inverse_width));
        p6 = __fmul_rn(p6, factor), p12 = __fmul_rn(p12, factor);
    }
    if (a.modifier == VDW_FORCE_SWITCH) {
        const float d3 = __fmul_rn(__fmul_rn(p.d, p.d), p.d);
        p6 = __fmaf_rn(-d3, __fmaf_rn(__fmul_rn(a.b6, 0.25f), p.d, __fmul_rn(a.a6, 1.0f / 3)), p6);
        p12 = __fmaf_rn(-d3, __fmaf_rn(__fmul_rn(a.b12, 0.25f), p.d, __fmul_rn(a.a12, 1.0f / 3)), p12);
    }
    return fma(lj.c12, (double)p12 - a.shift12, -lj.c6 * ((double)p6 - a.shift6));
}

#endif
