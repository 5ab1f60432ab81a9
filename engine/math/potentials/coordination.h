/* SPDX-License-Identifier: Apache-2.0
 *
 * The coordination of atoms with atoms, a sum over pairs of a function of their distance that goes from 1 to 0, as
 * PLUMED's COORDINATION with SWITCH={RATIONAL ..} (Tribello et al., Comput. Phys. Commun. 185, 604, 2014,
 * doi 10.1016/j.cpc.2013.09.018; the manual of PLUMED 2 for what is left out of an input: MM is 2 NN, and a D_MAX
 * stretches):
 *
 *   s(r) = (1 - x^n) / (1 - x^m), x = (r - d0) / r0; 1 where x <= 0
 *
 * With a farthest distance d_max it is 0 beyond, and stretched, (s(r) - s(d_max)) / (s(0) - s(d_max)), or cut.
 * Distances in nm.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_COORDINATION_H
#define SHOAL_ENGINE_MATH_POTENTIALS_COORDINATION_H

#include <stdint.h>

#include "engine/math/box.h"

struct rational {
    double r0, d0;
    double farthest2;    /* nm^2, of d_max; infinite: none */
    double scale, shift; /* of the stretch: scale s + shift */
    double most;         /* x beyond is taken for this, or powers overflow: s is next to nothing */
    uint32_t n, m;       /* 0 < n < m */
};

struct rational_value {
    double s, ds_dr;
};

MATH_FN double rational_power(double x, uint32_t n)
{
    double power = 1;
    for (; n; n >>= 1, x *= x)
        power *= n & 1 ? x : 1;
    return power;
}

/* 1 + y + .. + y^(n-1) and its slope. */
MATH_FN void rational_progression(double y, uint32_t n, double *sum, double *slope)
{
    *sum = 1;
    *slope = 0;
    for (uint32_t k = 1; k < n; k++) {
        *slope = *slope * y + *sum;
        *sum = *sum * y + 1;
    }
}

/* m = 2 n: s = 1 / (1 + x^n) and its slope, from 0 on. */
MATH_FN struct rational_value rational_half(double x, uint32_t n)
{
    const double less = rational_power(x, n - 1), s = 1 / (1 + less * x);
    struct rational_value v = {s, -(double)n * less * s * s};
    return v;
}

/* (1 - y^n) / (1 - y^m) and its slope, 0 <= y <= 1. Both vanish at 1: near it 1 - y is divided out of both, which
 * leaves no 0/0. */
MATH_FN struct rational_value rational_below(double y, uint32_t n, uint32_t m)
{
    struct rational_value v;
    if (y < 0.9) {
        const double p = rational_power(y, n - 1), q = rational_power(y, m - 1), over = 1 / (1 - q * y);
        v.s = (1 - p * y) * over;
        v.ds_dr = ((double)m * q * v.s - (double)n * p) * over;
    } else {
        double p, dp, q, dq;
        rational_progression(y, n, &p, &dp);
        rational_progression(y, m, &q, &dq);
        v.s = p / q;
        v.ds_dr = (dp - v.s * dq) / q;
    }
    return v;
}

/* Neither stretched nor cut. Beyond x = 1 in powers of y = 1/x, which do not overflow: s = y^(m - n) (1 - y^n) / (1 -
 * y^m). */
MATH_FN struct rational_value rational_plain(const struct rational *f, double r)
{
    const double x = (r - f->d0) / f->r0;
    struct rational_value v = {1, 0};
    if (f->m == 2 * f->n) {
        v = rational_half(fmin(fmax(x, 0.0), f->most), f->n);
        v.ds_dr = x > 0 ? v.ds_dr / f->r0 : 0;
    } else if (x > 1) {
        const uint32_t k = f->m - f->n;
        const double y = 1 / x, less = rational_power(y, k - 1);
        v = rational_below(y, f->n, f->m);
        v.ds_dr = -y * y * less * ((double)k * v.s + y * v.ds_dr) / f->r0;
        v.s *= less * y;
    } else if (x > 0) {
        v = rational_below(x, f->n, f->m);
        v.ds_dr /= f->r0;
    }
    return v;
}

/* At an r whose square is below farthest2; it is 0 beyond. */
MATH_FN struct rational_value rational_at(const struct rational *f, double r)
{
    struct rational_value v = rational_plain(f, r);
    v.s = f->scale * v.s + f->shift;
    v.ds_dr *= f->scale;
    return v;
}

/* A function as the parameters of PLUMED's input say. m: 0 is 2 n; d_max: INFINITY is none. */
static inline struct rational rational_make(double r0, double d0, uint32_t n, uint32_t m, double d_max, int stretch)
{
    struct rational f = {r0, d0, d_max * d_max, 1, 0, pow(1e150, 1.0 / n), n, m ? m : 2 * n};
    if (stretch && isfinite(d_max)) {
        const double at = rational_plain(&f, d_max).s, top = rational_plain(&f, 0).s;
        f.scale = 1 / (top - at);
        f.shift = -at * f.scale;
    }
    return f;
}

/* The d_max that PLUMED's short form (NN= R_0= .. without SWITCH) has without saying so: where s is about 1e-5. */
static inline double rational_short_form(double r0, double d0, uint32_t n, uint32_t m)
{
    return d0 + r0 * pow(1e-5, -1.0 / (double)((m ? m : 2 * n) - n));
}

#endif
