/* SPDX-License-Identifier: Apache-2.0
 *
 * The pressure tensor of a state that was sampled, P = 2 (K - Xi) / V: K is half the sum of mass v x v, Xi the virial
 * with that of constraints, both of the sample. What dispersion adds that is cut off is the same along every edge.
 */
#ifndef SHOAL_ENGINE_KERNELS_PRESSURE_H
#define SHOAL_ENGINE_KERNELS_PRESSURE_H

#include "engine/base/units.h"
#include "engine/kernels/constraints.h"
#include "engine/kernels/observe.h"
#include "engine/math/bodies/center.h"

/* Row and column of what enum pressure_real counts. */
MATH_FN void pressure_place(int component, int at[2])
{
    at[0] = component < 3 ? component : component == PRESSURE_YZ;
    at[1] = component < 3 ? component : component == PRESSURE_XY ? 1 : 2;
}

/* Adds atom i's part to K, kJ/mol. v: at the time of the sample. */
MATH_FN void pressure_kinetic(const struct masses *masses, int i, const double v[3], double kinetic[PRESSURE_REALS])
{
    for (int k = 0; k < PRESSURE_REALS; k++) {
        int at[2];
        pressure_place(k, at);
        kinetic[k] += 0.5 * mass_of(masses, i) * v[at[0]] * v[at[1]];
    }
}

/* A frame's tensor to the block's sums, with the motion of the center of mass that was taken out. */
MATH_FN void pressure_keep(const struct ctl *c, const struct center_rule *center, const double kinetic[PRESSURE_REALS],
                           double *reals)
{
    const double missing = center_kinetic(center, c->step, c->kinetic) / 3;
    const double unit = 2 * UNIT_BAR / box_volume(c->box);
    for (int k = 0; k < PRESSURE_REALS; k++) {
        int at[2];
        pressure_place(k, at);
        const int one = 3 * at[0] + at[1], other = 3 * at[1] + at[0];
        const double virial = 0.5 * (fixed_total(c->sum.virial[one]) + fixed_total(c->sum.virial[other]) +
                                     c->constraint_virial[one] + c->constraint_virial[other]);
        reals[k] += unit * (kinetic[k] + (k < 3 ? missing : 0) - virial) + (k < 3 ? c->pressure_correction : 0);
    }
}

#endif
