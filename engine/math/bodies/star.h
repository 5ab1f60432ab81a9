/* SPDX-License-Identifier: Apache-2.0
 *
 * An atom and up to STAR_ARMS others at fixed distances from it. All distances are put right together: SHAKE's
 * equations as a matrix (Kraeutler, van Gunsteren, Huenenberger 2001,
 * doi 10.1002/1096-987X(20010415)22:5<501::AID-JCC1021>3.0.CO;2-V); those for velocities are linear (RATTLE: Andersen
 * 1983). Arms that are not there are zero vectors; lengths in nm, masses in u.
 */
#ifndef SHOAL_ENGINE_MATH_BODIES_STAR_H
#define SHOAL_ENGINE_MATH_BODIES_STAR_H

#include <stdint.h>

#include "engine/math/roots.h"
#include "engine/math/vec.h"

#define STAR_ARMS 4

/* a = 1/a. Without a search for pivots: a is symmetric and positive definite, or nearly so. */
MATH_FN void star_invert(double a[STAR_ARMS][STAR_ARMS])
{
#pragma GCC unroll 4
    for (uint32_t p = 0; p < STAR_ARMS; p++) {
        double pivot = root_reciprocal(a[p][p]);
        a[p][p] = 1;
#pragma GCC unroll 4
        for (uint32_t j = 0; j < STAR_ARMS; j++)
            a[p][j] *= pivot;
#pragma GCC unroll 4
        for (uint32_t i = 0; i < STAR_ARMS; i++) {
            double factor = i == p ? 0 : a[i][p];
            a[i][p] = i == p ? a[i][p] : 0;
#pragma GCC unroll 4
            for (uint32_t j = 0; j < STAR_ARMS; j++)
                a[i][j] -= factor * a[p][j];
        }
    }
}

/* Inverse of what pulls along `arm` do to the arms r, as they are projected on r: r_k . arm_l/m_0, and r_k . arm_k/m_k
 * more on the diagonal. inverse_mass: of the center, then of each arm's atom. */
MATH_FN void star_couplings(uint32_t arms, double r[STAR_ARMS][3], double arm[STAR_ARMS][3], const double *inverse_mass,
                            double inverse[STAR_ARMS][STAR_ARMS])
{
#pragma GCC unroll 4
    for (uint32_t k = 0; k < STAR_ARMS; k++) {
#pragma GCC unroll 4
        for (uint32_t l = 0; l < STAR_ARMS; l++) {
            double both = vec_dot(r[k], arm[l]);
            inverse[k][l] = both * inverse_mass[0] + (k == l ? both * inverse_mass[k + 1] : 0);
        }
        inverse[k][k] = k < arms ? inverse[k][k] : 1;
    }
    star_invert(inverse);
}

/* The pulls that change the projections by `off`, scaled. */
MATH_FN void star_pulls(double inverse[STAR_ARMS][STAR_ARMS], const double off[STAR_ARMS], double scale,
                        double pull[STAR_ARMS])
{
#pragma GCC unroll 4
    for (uint32_t k = 0; k < STAR_ARMS; k++) {
        pull[k] = 0;
#pragma GCC unroll 4
        for (uint32_t l = 0; l < STAR_ARMS; l++)
            pull[k] += scale * inverse[k][l] * off[l];
    }
}

#endif
