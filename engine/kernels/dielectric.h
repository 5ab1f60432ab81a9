/* SPDX-License-Identifier: Apache-2.0
 *
 * Dipoles of molecules, for the dielectric constant: what is done to one of them, and to what all of a frame come to.
 */
#ifndef SHOAL_ENGINE_KERNELS_DIELECTRIC_H
#define SHOAL_ENGINE_KERNELS_DIELECTRIC_H

#include "engine/kernels/observe.h"

/* The dipole of a molecule without charge, e nm, with its charges at this lambda; returns its absolute value. */
MATH_FN double dielectric_dipole(const struct observe_table *t, const struct dielectric_table *own, const struct ctl *c,
                                 const double (*x)[3], uint32_t molecule, double dipole[3])
{
    const double l = c->lambda[LAMBDA_COULOMB];
    const double *before = x[t->atom[0][own->first[molecule]]];
    double at[3] = {0, 0, 0}, step[3];
    for (int d = 0; d < 3; d++)
        dipole[d] = 0;
    for (int32_t i = own->first[molecule]; i < own->first[molecule + 1]; i++) {
        const double *here = x[t->atom[0][i]];
        box_image(here, before, c->box, step);
        vec_add(at, 1, step);
        vec_add(dipole, (1 - l) * own->charge[i][0] + l * own->charge[i][1], at);
        before = here;
    }
    return sqrt(vec_dot(dipole, dipole));
}

/* A frame to the block's sums: the dipole of all, and the sum of the absolute values of each one's. */
MATH_FN void dielectric_keep(const struct dielectric_table *own, const struct ctl *c, const double dipole[3],
                             double absolute, double *reals)
{
    for (int d = 0; d < 3; d++)
        reals[DIPOLE_X + d] += dipole[d];
    reals[DIPOLE_SQUARE] += vec_dot(dipole, dipole);
    reals[DIPOLE_MOLECULE] += absolute / own->molecules;
    reals[DIPOLE_VOLUME] += box_volume(c->box);
}

#endif
