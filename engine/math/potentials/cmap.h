/* SPDX-License-Identifier: Apache-2.0
 *
 * A correction map of two dihedral angles (CMAP; GROMACS manual, "Dihedral energy correction maps"): bicubic between
 * the points of a periodic grid, from values and slopes there.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_CMAP_H
#define SHOAL_ENGINE_MATH_POTENTIALS_CMAP_H

#include "engine/math/fn.h"

/* What a point of a grid has, kJ/mol: the value, its slopes along phi and psi and that along both, per distance of
 * points. */
enum { CMAP_VALUE, CMAP_PHI, CMAP_PSI, CMAP_BOTH, CMAP_NUMBERS };

struct cmap_value {
    double u, du_dphi, du_dpsi; /* per radian */
};

/* Hermite's cubics at t of [0, 1): weights of the value and the slope at 0, then at 1. */
MATH_FN void cmap_cubics(double t, double w[4], double slope[4])
{
    w[0] = 1 + t * t * (2 * t - 3);
    w[1] = t * (1 + t * (t - 2));
    w[2] = t * t * (3 - 2 * t);
    w[3] = t * t * (t - 1);
    slope[0] = 6 * t * (t - 1);
    slope[1] = 1 + t * (3 * t - 4);
    slope[2] = -slope[0];
    slope[3] = t * (3 * t - 2);
}

/* Which of `side` cells an angle of [-pi, pi] is in; *t: how far into it. */
MATH_FN int cmap_cell(double angle, int side, double *t)
{
    const double half = M_PI;
    double at = (angle + half) / (2 * half) * side, cell = floor(at);
    int i = (int)cell % side;
    *t = at - cell;
    return i < 0 ? i + side : i;
}

/* point: [side][side], phi by psi, from -pi on */
MATH_FN struct cmap_value cmap_at(const double (*point)[CMAP_NUMBERS], int side, double phi, double psi)
{
    double t, u, p[4], dp[4], q[4], dq[4], scale = side / (2 * M_PI);
    const int i = cmap_cell(phi, side, &t), j = cmap_cell(psi, side, &u);
    struct cmap_value v = {0, 0, 0};
    cmap_cubics(t, p, dp);
    cmap_cubics(u, q, dq);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const double *n = point[(i + a) % side * side + (j + b) % side];
            const double value = q[2 * b] * n[CMAP_VALUE] + q[2 * b + 1] * n[CMAP_PSI];
            const double along = q[2 * b] * n[CMAP_PHI] + q[2 * b + 1] * n[CMAP_BOTH];
            v.u += p[2 * a] * value + p[2 * a + 1] * along;
            v.du_dphi += scale * (dp[2 * a] * value + dp[2 * a + 1] * along);
            v.du_dpsi += scale * (dq[2 * b] * (p[2 * a] * n[CMAP_VALUE] + p[2 * a + 1] * n[CMAP_PHI]) +
                                  dq[2 * b + 1] * (p[2 * a] * n[CMAP_PSI] + p[2 * a + 1] * n[CMAP_BOTH]));
        }
    return v;
}

#endif
