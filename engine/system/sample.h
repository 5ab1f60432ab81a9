/* SPDX-License-Identifier: Apache-2.0
 *
 * The energies of one replica at one time, and the names of their terms.
 */
#ifndef SHOAL_ENGINE_SYSTEM_SAMPLE_H
#define SHOAL_ENGINE_SYSTEM_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/math/terms.h"
#include "engine/system/biases.h"

extern const char *const term_names[TERM_COUNT]; /* as in the JSON of `shoal energy` */

/* Names of what a mask of enum clamped speaks of, with commas between them; returns out. */
const char *clamped_names(uint32_t clamped, char *out, size_t size);
#define CLAMPED_NAMES_MAX 192 /* bytes that hold them all */

/* One row of energies of one replica at one time. Owned by the caller; delta_u points to nwindows doubles it provides.
 */
struct sample {
    uint64_t step;
    double time;                 /* ps, of the outputs; the engine does not know it */
    double energy[TERM_COUNT];   /* kJ/mol, split as gmx energy splits them */
    double potential;            /* kJ/mol */
    double kinetic;              /* kJ/mol, of the velocities sim_get gives: velocity Verlet at the time of x;
                                    Langevin-middle after the step, whose distribution is exact for harmonic forces */
    double temperature;          /* K */
    double dvdl[LAMBDA_COUNT];   /* kJ/mol; mass: 0, for kinetic energies are in no free energy */
    double *delta_u;             /* kJ/mol: U at each window minus U here; of first order in constraints' lengths */
    double virial[9];            /* kJ/mol, Xi = -1/2 sum r x f, without constraint forces */
    double constraint_virial[9]; /* kJ/mol, now; zero before the replica's first timestep */
    /* bar, from the kinetic energy of all motion (engine/math/bodies/center.h) and both virials, with dispersion
     * correction */
    double pressure;
    double density;       /* kg/m^3, of the masses of state A */
    double box[BOX_SIZE]; /* nm */
    double coordination[COORDINATIONS_MOST];
    int walker;         /* window in which the replica began; the engine leaves it alone */
    uint64_t exchanges; /* attempts to exchange since then; the engine leaves it alone */
    uint32_t clamped;   /* enum clamped: what had contributions too large to be summed as they are; 0: nothing */
};

#endif
