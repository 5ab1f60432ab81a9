/* SPDX-License-Identifier: Apache-2.0
 *
 * Inverse roots without branches or library calls, so that loops vectorise. In double: a start that scales the exponent
 * (in the bits of the number) is good to a few percent; each step of the binomial series of (1 - e)^(-1/n), e = 1 - a
 * y^n, raises the error to its fourth power. A GPU has starts that are good to 20 bits. In float the machine's own.
 */
#ifndef SHOAL_ENGINE_MATH_ROOTS_H
#define SHOAL_ENGINE_MATH_ROOTS_H

#include <stdint.h>
#include <string.h>

#include "engine/math/fn.h"

MATH_FN double root_step2(double a, double y)
{
    double e = MATH_FMA(-a, y * y, 1);
    return MATH_FMA(y * e, MATH_FMA(e, MATH_FMA(e, 0.3125, 0.375), 0.5), y);
}

MATH_FN double root_step6(double a, double y)
{
    double y2 = y * y, e = MATH_FMA(-a, y2 * y2 * y2, 1);
    return MATH_FMA(y * e, MATH_FMA(e, MATH_FMA(e, 91.0 / 1296.0, 7.0 / 72.0), 1.0 / 6.0), y);
}

/* 1/sqrt(a), a normal and positive: all but the last bit. */
MATH_FN double root_inverse(double a)
{
#ifdef MATH_ROOT_START
    return root_step2(a, MATH_ROOT_START(a));
#else
    uint64_t bits;
    double y;
    memcpy(&bits, &a, 8);
    bits = 0x5fe6eb50c7b537a9u - (bits >> 1);
    memcpy(&y, &bits, 8);
    return root_step2(a, root_step2(a, y));
#endif
}

/* 1/a, a normal: the same. */
MATH_FN double root_reciprocal(double a)
{
#ifdef MATH_RECIPROCAL_START
    const double y = MATH_RECIPROCAL_START(a), e = MATH_FMA(-a, y, 1);
    return MATH_FMA(y, MATH_FMA(e, e, e), y);
#else
    return 1 / a;
#endif
}

/* a^(-1/6), a normal and positive. */
MATH_FN double root_inverse_sixth(double a)
{
    uint64_t bits;
    double y;
    memcpy(&bits, &a, 8);
    bits = (1251420000u - ((bits >> 32) * 0x2aaaaaabu >> 32)) << 32; /* division by 6 of the upper half */
    memcpy(&y, &bits, 8);
    return root_step6(a, root_step6(a, root_step6(a, y)));
}

#endif
