/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of the Ewald sum's 1/r in real space. erf(z)/z is an entire function of s = z^2, so on a bounded range one
 * polynomial in s gives erf(beta r)/r and its derivative with no exponential and no division; engine/system/ewald.c fits it.
 */
#ifndef SHOAL_ENGINE_MATH_EWALD_H
#define SHOAL_ENGINE_MATH_EWALD_H

#include <math.h>

#include "engine/math/fn.h"

#define EWALD_TERMS                                                                                                    \
    21 /* the polynomial below is written for it. Degree 20: 1e-14 of beta for a tolerance of 1e-5, 1e-12 for 1e-7 */

/* Coefficients of t^k, t = r2 * scale - 1, valid for r2 <= r2_max. */
struct ewald_fit {
    double beta;           /* 1/nm */
    double scale, r2_max;  /* 1/nm^2, nm^2 */
    double v[EWALD_TERMS]; /* erf(beta r)/r, 1/nm */
    double f[EWALD_TERMS]; /* -(d/dr erf(beta r)/r)/r, 1/nm^3 */
};

/* In four interleaved chains, which do not wait for each other. */
MATH_FN double ewald_polynomial(const double *c, double t)
{
    double t2 = t * t, t4 = t2 * t2;
    double p0 = c[20], p1 = c[17], p2 = c[18], p3 = c[19];
#ifdef __GNUC__
#pragma GCC unroll 8
#endif
    for (int k = 16; k >= 0; k -= 4) {
        p0 = MATH_FMA(p0, t4, c[k]);
        if (k == 0)
            break;
        p1 = MATH_FMA(p1, t4, c[k - 3]);
        p2 = MATH_FMA(p2, t4, c[k - 2]);
        p3 = MATH_FMA(p3, t4, c[k - 1]);
    }
    return MATH_FMA(MATH_FMA(p3, t, p2), t2, MATH_FMA(p1, t, p0));
}

/* erf(beta r)/r for r2 <= r2_max. */
MATH_FN double ewald_long_v(const struct ewald_fit *fit, double r2)
{
    return ewald_polynomial(fit->v, MATH_FMA(r2, fit->scale, -1.0));
}

/* Force over r of erf(beta r)/r, that is -(1/r) d/dr, for r2 <= r2_max. */
MATH_FN double ewald_long_f(const struct ewald_fit *fit, double r2)
{
    return ewald_polynomial(fit->f, MATH_FMA(r2, fit->scale, -1.0));
}

/* Both at any distance, for pairs that no cut-off bounds. */
MATH_FN void ewald_long_any(const struct ewald_fit *fit, double r2, double *v, double *f)
{
    if (r2 <= fit->r2_max) {
        *v = ewald_long_v(fit, r2);
        *f = ewald_long_f(fit, r2);
    } else {
        double r = sqrt(r2), z = fit->beta * r;
        *v = erf(z) / r;
        *f = (*v - 2.0 * fit->beta / sqrt(M_PI) * exp(-z * z)) / r2;
    }
}

#endif
