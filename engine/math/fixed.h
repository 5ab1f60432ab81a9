/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed point: forces, energies, virials and dU/dlambda are summed as integers, so that the order of a sum does not
 * matter. A contribution is rounded to the scale below before it is added. A contribution beyond its limit is clamped,
 * and the caller counts it (accumulate.h): an error in dynamics, harmless in minimization and in foreign windows. Sums
 * of energies cannot wrap (struct fixed_sum); a force needs 2^13 clamped contributions to, so it never does without
 * being counted.
 */
#ifndef SHOAL_ENGINE_MATH_FIXED_H
#define SHOAL_ENGINE_MATH_FIXED_H

#include <stdint.h>
#include <string.h>

#include "engine/math/fn.h"

#define FIXED_SCALE 4294967296.0       /* 2^32 per kJ/mol/nm (forces) and per kJ/mol (energies, virials, dU/dlambda) */
#define FIXED_FORCE_LIMIT 262144.0     /* 2^18 kJ/mol/nm: the largest single contribution to a force component */
#define FIXED_ENERGY_LIMIT 1048576.0   /* 2^20 kJ/mol: the largest contribution of one pair or term */
#define FIXED_TOTAL_LIMIT 1073741824.0 /* 2^30 kJ/mol: the largest contribution of a whole sum (PME, self energies) */

/* Nearest multiple of the scale, clamped to +-limit; NaN (two atoms in one place) becomes limit. */
MATH_FN int64_t fixed_clamped(double value, double limit)
{
    return (int64_t)rint(fmax(fmin(value, limit), -limit) * FIXED_SCALE);
}

/* The nearest unit, |v| < 2^19, so of a force within its limit. In double: of a number in [2^52, 2^53) the last bits
 * are a whole one. */
MATH_FN int64_t fixed_within(double v)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    double sum = fma(v, FIXED_SCALE, magic);
    int64_t bits, zero;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&zero, &magic, sizeof zero);
    return bits - zero;
}

/* v rounded to a multiple of 2^-32 that stays a double, |v| < 2^19: for sums in registers, exact while below 2^21. */
MATH_FN double fixed_round(double v)
{
    const double magic = 1572864.0; /* 1.5 * 2^20, where the last bit of a double is 2^-32 */
    return (v + magic) - magic;
}

/* 1 when fixed_clamped() clamps (NaN too), else 0. */
MATH_FN uint32_t fixed_beyond(double value, double limit)
{
    return !(fabs(value) <= limit);
}

MATH_FN double fixed_value(int64_t sum)
{
    return (double)sum * (1.0 / FIXED_SCALE);
}

/* A sum of any number of contributions: low + 2^64 wraps, in units of the scale. */
struct fixed_sum {
    int64_t low, wraps;
};

/* How often low + v leaves the range of int64_t: 1 above, -1 below, else 0. */
MATH_FN int64_t fixed_wrap(int64_t low, int64_t v)
{
    int64_t sum = (int64_t)((uint64_t)low + (uint64_t)v);
    return ((low ^ sum) & (v ^ sum)) < 0 ? (v < 0 ? -1 : 1) : 0;
}

/* To a sum that this thread alone writes. */
MATH_FN void fixed_add(struct fixed_sum *s, int64_t v)
{
    s->wraps += fixed_wrap(s->low, v);
    s->low = (int64_t)((uint64_t)s->low + (uint64_t)v);
}

/* kJ/mol. Exact as long as a double can be. */
MATH_FN double fixed_total(struct fixed_sum s)
{
    return (double)s.wraps * 4294967296.0 + fixed_value(s.low);
}

/* The same of another sum. */
MATH_FN void fixed_merge(struct fixed_sum *s, struct fixed_sum v)
{
    fixed_add(s, v.low);
    s->wraps += v.wraps;
}

/* a - b */
MATH_FN struct fixed_sum fixed_minus(struct fixed_sum a, struct fixed_sum b)
{
    struct fixed_sum d = {(int64_t)((uint64_t)a.low - (uint64_t)b.low), a.wraps - b.wraps};
    if (((a.low ^ b.low) & (a.low ^ d.low)) < 0) /* the subtraction left the range */
        d.wraps += a.low < 0 ? -1 : 1;
    return d;
}

/* The same, kJ/mol, with no more rounding than the difference's own. */
MATH_FN double fixed_difference(struct fixed_sum a, struct fixed_sum b)
{
    return fixed_total(fixed_minus(a, b));
}

#endif
