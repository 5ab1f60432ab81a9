/* SPDX-License-Identifier: Apache-2.0
 *
 * Cardinal B-splines by their recursion (Essmann et al. 1995, doi 10.1063/1.470117, eq. 4.1): how a point is shared out
 * among the points of a grid around it.
 */
#ifndef SHOAL_ENGINE_MATH_SPLINE_H
#define SHOAL_ENGINE_MATH_SPLINE_H

#include "engine/math/fn.h"

#define SPLINE_ORDER_MAX 8
#define SPLINE_ORDERS(F) F(2) F(3) F(4) F(5) F(6) F(7) F(8)

/* Weights of order n, 3 or more, from those of order n - 1. */
MATH_FN void spline_raise(const int n, double t, double *w)
{
    const double inverse = 1 / (double)(n - 1);
    w[n - 1] = inverse * t * w[n - 2];
    for (int k = n - 2; k > 0; k--)
        w[k] = inverse * ((t + (double)(n - 1 - k)) * w[k - 1] + ((double)(1 + k) - t) * w[k]);
    w[0] = inverse * (1 - t) * w[0];
}

/* w[k], k < order: the spline of that order (2 or more) at t + order - 1 - k, 0 <= t < 1. They add up to 1. */
MATH_FN void spline_weights(const int order, double t, double *w)
{
    w[0] = 1 - t;
    w[1] = t;
    for (int n = 3; n <= order; n++)
        spline_raise(n, t, w);
}

/* The same with slopes dw[k] = dw/dt, for an order of 3 or more. */
MATH_FN void spline_weights_and_slopes(const int order, double t, double *w, double *dw)
{
    spline_weights(order - 1, t, w);
    dw[0] = -w[0];
    for (int k = 1; k < order - 1; k++)
        dw[k] = w[k - 1] - w[k];
    dw[order - 1] = w[order - 2];
    spline_raise(order, t, w);
}

#endif
