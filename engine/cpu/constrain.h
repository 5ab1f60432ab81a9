/* SPDX-License-Identifier: Apache-2.0
 *
 * Constraints on the CPU device: SETTLE for rigid water, iteration for clusters of fixed distances (SHAKE: Ryckaert et al.
 * 1977; RATTLE: Andersen 1983). Host arrays; molecules whole. Units: nm, ps, u.
 */
#ifndef SHOAL_ENGINE_CPU_CONSTRAIN_H
#define SHOAL_ENGINE_CPU_CONSTRAIN_H

#include <stdbool.h>

#include "engine/run/ctl.h"
#include "engine/system/tables.h"

/* Masses at the replica's lambda, or all 1 (minimization, where displacements follow the forces). */
struct masses {
    const double (*mass)[2];
    double lambda;
    bool unit;
};

static inline struct masses masses_of(const struct motion_table *m, const struct ctl *c)
{
    return (struct masses){m->mass, c->lambda[LAMBDA_MASS], false};
}

static inline double mass_of(const struct masses *m, int i)
{
    return m->unit ? 1 : (1 - m->lambda) * m->mass[i][0] + m->lambda * m->mass[i][1];
}

/* Where it did not converge. */
struct constrain_failure {
    int atom[2];
    double deviation; /* relative */
};

/* What constraints did to x: sums over mass times displacement, u nm^2. */
struct reaction {
    double virial[9]; /* -1/2 sum r x (mass displacement) */
    double du_dl;     /* sum of mass times displacement along the bond times dr0/dlambda */
};

/* Puts x (moved from x_old, which gives the directions) onto the constraints, to 1e-10 relative. v (may be NULL) gets the
 * displacement times inv_dt; reaction (may be NULL) is added to. False and *bad: no solution. */
bool constrain_positions(const struct motion_table *m, const struct masses *masses, double bonded_lambda,
                         const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                         struct reaction *reaction, struct constrain_failure *bad);

/* Makes v obey r . (v_i - v_j) = 0 for every constraint, r from x, to `tolerance` in the unit of v. */
bool constrain_velocities(const struct motion_table *m, const struct masses *masses, const double (*x)[3],
                          double (*v)[3], double tolerance, struct constrain_failure *bad);

#endif
