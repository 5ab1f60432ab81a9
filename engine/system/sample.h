/* SPDX-License-Identifier: Apache-2.0
 *
 * The energies of one replica at one time, and the names of their terms.
 */
#ifndef SHOAL_ENGINE_SYSTEM_SAMPLE_H
#define SHOAL_ENGINE_SYSTEM_SAMPLE_H

#include "engine/system/settings.h"

enum term {
    TERM_BOND,
    TERM_ANGLE,
    TERM_UREY_BRADLEY,
    TERM_PROPER_DIHEDRAL,
    TERM_IMPROPER_DIHEDRAL,
    TERM_LJ_14,
    TERM_COULOMB_14,
    TERM_LJ,
    TERM_DISPERSION_CORRECTION,
    TERM_COULOMB,
    TERM_COULOMB_RECIPROCAL,
    TERM_RESTRAINT,
    TERM_COUNT
};
extern const char *const term_names[TERM_COUNT]; /* as in the JSON of `shoal energy` */

/* One row of energies of one replica at one time. Owned by the caller; delta_u points to nwindows doubles it provides. */
struct sample {
    uint64_t step;
    double time;                 /* ps, of the current stage's clock (sim_set_clock) */
    double energy[TERM_COUNT];   /* kJ/mol, split as gmx energy splits them */
    double potential;            /* kJ/mol */
    double kinetic;              /* kJ/mol, of the velocities sim_get gives: velocity Verlet at the time of x;
                                    Langevin-middle after the step, whose distribution is exact for harmonic forces */
    double temperature;          /* K */
    double dvdl[LAMBDA_COUNT];   /* kJ/mol; mass: at fixed momenta, -sum (mB - mA) v^2/2 (GROMACS
                                    writes it with the other sign) */
    double *delta_u;             /* kJ/mol: U at each window minus U here (potential; kinetic part with mass lambdas) */
    double virial[9];            /* kJ/mol, Xi = -1/2 sum r x f, without constraint forces */
    double constraint_virial[9]; /* kJ/mol, now; zero before the replica's first timestep */
    double pressure;             /* bar, from kinetic energy and both virials, dispersion correction included */
    double box[3];               /* nm */
};

#endif
