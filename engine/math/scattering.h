/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering from densities on a grid: B-splines, form factors, and the transform of a cell.
 */
#ifndef SHOAL_ENGINE_MATH_SCATTERING_H
#define SHOAL_ENGINE_MATH_SCATTERING_H

#include "engine/math/fn.h"

#define SCATTER_ORDER_MAX 8
#define SCATTER_ORDERS(F) F(2) F(3) F(4) F(5) F(6) F(7) F(8)

/* f(s) = sum of a_k exp(-b_k s^2) + c, s = q / 4 pi in 1/nm: electrons. */
struct form_factor {
    double a[4], b[4], c; /* electrons; nm^2 */
};

MATH_FN double form_factor(const struct form_factor *f, double q2)
{
    double s2 = q2 / (16 * M_PI * M_PI), sum = f->c;
    for (int k = 0; k < 4; k++)
        sum += f->a[k] * exp(-f->b[k] * s2);
    return sum;
}

/* w[k], k < order: the cardinal B-spline of that order (2 or more) at t + order - 1 - k, 0 <= t < 1, by its recursion;
 * they add up to 1. */
MATH_FN void spline_weights(const int order, double t, double *w)
{
    w[0] = 1 - t;
    w[1] = t;
    for (int n = 3; n <= order; n++) {
        const double inverse = 1 / (double)(n - 1);
        w[n - 1] = inverse * t * w[n - 2];
        for (int k = n - 2; k > 0; k--)
            w[k] = inverse * ((t + (double)(n - 1 - k)) * w[k - 1] + ((double)(1 + k) - t) * w[k]);
        w[0] = inverse * (1 - t) * w[0];
    }
}

/* integral of exp(-2 pi i m x) over x from 0 to `part`, over `part`: of an edge of a cell in a larger one. */
MATH_FN void edge_wave(int m, double part, double out[2])
{
    const double angle = M_PI * (double)m * part, size = m ? sin(angle) / angle : 1;
    out[0] = size * cos(angle);
    out[1] = -size * sin(angle);
}

#endif
