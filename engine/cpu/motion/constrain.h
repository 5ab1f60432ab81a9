/* SPDX-License-Identifier: Apache-2.0
 *
 * All constraints of a replica on the CPU device.
 */
#ifndef SHOAL_ENGINE_CPU_MOTION_CONSTRAIN_H
#define SHOAL_ENGINE_CPU_MOTION_CONSTRAIN_H

#include "engine/kernels/constraints.h"

/* Puts x (moved from x_old, which gives the directions) onto the constraints, to 1e-10 relative. v (may be NULL) gets
 * the displacement times inv_dt; reaction (may be NULL) is added to. False and *bad: no solution. */
bool constrain_positions(const struct motion_table *m, const struct masses *masses, double bonded_lambda,
                         const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                         struct reaction *reaction, struct constrain_failure *bad);

/* Makes v obey r . (v_i - v_j) = 0 for every constraint, r from x, to `tolerance` in the unit of v. */
bool constrain_velocities(const struct motion_table *m, const struct masses *masses, const double (*x)[3],
                          double (*v)[3], double tolerance, struct constrain_failure *bad);

#endif
