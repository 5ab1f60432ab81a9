/* SPDX-License-Identifier: Apache-2.0
 *
 * Three-vectors as real[3], in nm unless said otherwise.
 */
#ifndef SHOAL_ENGINE_MATH_VEC_H
#define SHOAL_ENGINE_MATH_VEC_H

#include "engine/math/fn.h"

MATH_FN real vec_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

MATH_FN void vec_cross(const real a[3], const real b[3], real out[3])
{
    real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

MATH_FN void vec_sub(const real a[3], const real b[3], real out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

/* out += s a */
MATH_FN void vec_add(real out[3], real s, const real a[3])
{
    out[0] += s * a[0];
    out[1] += s * a[1];
    out[2] += s * a[2];
}

#endif
