/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed point. Forces and energies are rounded to whole multiples of 2^-32 before they are summed, so that the order of
 * the summands cannot change a sum. Sums in memory are int64. Sums in registers may be doubles that hold such multiples
 * (exact while below 2^21). A force component is clamped at +-FORCE_LIMIT first and the clamping is counted.
 */
#ifndef SHOAL_ENGINE_MATH_FIXED_H
#define SHOAL_ENGINE_MATH_FIXED_H

#include <stdint.h>

#ifdef __CUDACC__
#define MATH_FN static inline __host__ __device__
#else
#define MATH_FN static inline __attribute__((always_inline))
#endif

/* a * b + c: fused where the machine does it in one instruction. Code that must give the same bits in two places spells
 * it out, and is compiled with -ffp-contract=off. */
#if defined(__FMA__) || defined(__CUDACC__)
#define MATH_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define MATH_FMA(a, b, c) ((a) * (b) + (c))
#endif

#define FIXED_ONE 4294967296.0     /* 2^32: units of fixed point per kJ/mol or kJ/mol/nm */
#define FIXED_MAGIC 1572864.0      /* 1.5 * 2^20: adding and taking it away rounds to a multiple of 2^-32, |v| < 2^19 */
#define FORCE_LIMIT 262144.0       /* 2^18 kJ/mol/nm, for one pair or term */
#define ENERGY_LIMIT 67108864.0    /* 2^26 kJ/mol, for one pair or term */

/* v rounded to a multiple of 2^-32, as a double; |v| < 2^19. */
MATH_FN double fixed_round(double v)
{
    return (v + FIXED_MAGIC) - FIXED_MAGIC;
}

MATH_FN double math_clamp(double v, double limit)
{
    v = v > -limit ? v : -limit; /* also maps NaN to -limit: seen as clamped */
    return v < limit ? v : limit;
}

/* v in units of 2^-32, rounded to nearest; |v| < 2^31. */
MATH_FN int64_t fixed_from(double v)
{
    double s = v * FIXED_ONE;
    return (int64_t)(s + (s < 0 ? -0.5 : 0.5));
}

MATH_FN double fixed_to(int64_t v)
{
    return (double)v * (1.0 / FIXED_ONE);
}

#endif
