/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed point: forces, energies, virials and dU/dlambda are summed as 64-bit integers, so that the order of a sum does not
 * matter. A contribution is rounded to the scale below before it is added; sums are exact as long as they stay below 2^31
 * units. A contribution beyond its limit is clamped, and the caller counts it (ctl.overflow): an error in dynamics,
 * harmless in minimization and in foreign windows.
 */
#ifndef SHOAL_ENGINE_MATH_FIXED_H
#define SHOAL_ENGINE_MATH_FIXED_H

#include <math.h>
#include <stdint.h>

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

#endif
