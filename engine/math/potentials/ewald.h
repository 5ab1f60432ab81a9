/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of the Ewald sum's 1/r in real space. erf(z)/z is an entire function of s = z^2, so on a bounded range
 * one polynomial in s gives erf(beta r)/r and its derivative with no exponential and no division;
 * engine/prepare/ewald.c fits it.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_EWALD_H
#define SHOAL_ENGINE_MATH_POTENTIALS_EWALD_H

#include "engine/math/fn.h"

#define EWALD_TERMS 29       /* degree 28: 1e-12 of beta^3 (forces) for the smallest tolerance, 1e-12 */
#define EWALD_TERMS_USUAL 21 /* degree 20: 3e-11 of it for about 1e-8 and above */

/* Coefficients of t^k, t = r2 * scale - 1, valid for r2 <= r2_max; zero from `terms` on. */
struct ewald_fit {
    double beta;           /* 1/nm; 0: another function, r2_max has no end */
    double scale, r2_max;  /* 1/nm^2, nm^2 */
    double v[EWALD_TERMS]; /* erf(beta r)/r, 1/nm */
    double f[EWALD_TERMS]; /* -(d/dr erf(beta r)/r)/r, 1/nm^3 */
    int terms;             /* EWALD_TERMS_USUAL or EWALD_TERMS */
};

/* sum of c[k] t^k, k < terms, in four interleaved chains, which do not wait for each other. `terms` must be a constant
 * where it is inlined, 4 n + 1. Terms whose coefficients are zero change no bit. */
MATH_FN double ewald_polynomial(const double *c, const int terms, double t)
{
    double t2 = t * t, t4 = t2 * t2;
    double p0 = c[terms - 1], p1 = c[terms - 4], p2 = c[terms - 3], p3 = c[terms - 2];
#ifdef __GNUC__
#pragma GCC unroll 8
#endif
    for (int k = terms - 5; k >= 0; k -= 4) {
        p0 = MATH_FMA(p0, t4, c[k]);
        if (k == 0)
            break;
        p1 = MATH_FMA(p1, t4, c[k - 3]);
        p2 = MATH_FMA(p2, t4, c[k - 2]);
        p3 = MATH_FMA(p3, t4, c[k - 1]);
    }
    return MATH_FMA(MATH_FMA(p3, t, p2), t2, MATH_FMA(p1, t, p0));
}

/* erf(beta r)/r for r2 <= r2_max; terms >= fit->terms. */
MATH_FN double ewald_long_v(const struct ewald_fit *fit, const int terms, double r2)
{
    return ewald_polynomial(fit->v, terms, MATH_FMA(r2, fit->scale, -1));
}

/* Force over r of erf(beta r)/r, that is -(1/r) d/dr, for r2 <= r2_max; terms >= fit->terms. */
MATH_FN double ewald_long_f(const struct ewald_fit *fit, const int terms, double r2)
{
    return ewald_polynomial(fit->f, terms, MATH_FMA(r2, fit->scale, -1));
}

/* Both, at a distance of which the polynomials know nothing. */
struct ewald_long {
    double v, f;
};

MATH_FN_APART struct ewald_long ewald_long_far(const struct ewald_fit *fit, double r2)
{
    double r = sqrt(r2), z = fit->beta * r, v = erf(z) / r;
    struct ewald_long far = {v, (v - M_2_SQRTPI * fit->beta * exp(-z * z)) / r2};
    return far;
}

/* Both at any distance, for pairs that no cut-off bounds. */
MATH_FN void ewald_long_any(const struct ewald_fit *fit, double r2, double *v, double *f)
{
    if (r2 <= fit->r2_max) {
        *v = ewald_long_v(fit, EWALD_TERMS, r2);
        *f = ewald_long_f(fit, EWALD_TERMS, r2);
    } else {
        struct ewald_long far = ewald_long_far(fit, r2);
        *v = far.v;
        *f = far.f;
    }
}

#endif
