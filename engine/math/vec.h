/* SPDX-License-Identifier: Apache-2.0
 *
 * Three-vectors as double[3], in nm unless said otherwise.
 */
#ifndef SHOAL_ENGINE_MATH_VEC_H
#define SHOAL_ENGINE_MATH_VEC_H

#include "engine/math/fn.h"

MATH_FN double vec_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

MATH_FN void vec_cross(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

MATH_FN void vec_sub(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

/* out += s a */
MATH_FN void vec_add(double out[3], double s, const double a[3])
{
    out[0] += s * a[0];
    out[1] += s * a[1];
    out[2] += s * a[2];
}

#endif
