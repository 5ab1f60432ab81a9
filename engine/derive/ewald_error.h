/* SPDX-License-Identifier: Apache-2.0
 *
 * How far Coulomb forces are off with particle mesh Ewald, as far as formulas go: root mean square over the charged
 * atoms of what pairs beyond the cut-off and a mesh of finite spacing leave.
 * Direct space: J. Kolafa and J. W. Perram, Mol. Simul. 9, 351 (1992), doi 10.1080/08927029208049126.
 * Mesh: the sum over waves of R. W. Hockney and J. W. Eastwood (Computer Simulation Using Particles, 1988) with the
 * influence function of SPME (Essmann et al. 1995, doi 10.1063/1.470117) and forces that are derivatives of the
 * splines: M. Deserno and C. Holm, J. Chem. Phys. 109, 7694 (1998), doi 10.1063/1.477415; V. Ballenegger, J. J. Cerda
 * and C. Holm, J. Chem. Theory Comput. 8, 936 (2012), doi 10.1021/ct2001792.
 * Those formulas take charges for independent of each other. Charges of one molecule are not: a water has no net
 * charge, so waters far away are felt less. Here excluded pairs, which are near each other in the topology, screen each
 * other where they are, after H. Wang, F. Dommert and C. Holm, J. Chem. Phys. 133, 034117 (2010), doi
 * 10.1063/1.3446812.
 * An estimate is within EWALD_ERROR_FACTOR of the error (tests/physics/test_ewald_error.c). Direct space is estimated
 * within 15 %. What a mesh does to a liquid is estimated too large, for molecules of a liquid screen each other, too:
 * twice in water with order 4, less with higher orders.
 */
#ifndef SHOAL_ENGINE_DERIVE_EWALD_ERROR_H
#define SHOAL_ENGINE_DERIVE_EWALD_ERROR_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

#define EWALD_ERROR_FACTOR 2.5 /* by which an estimate may be larger or smaller than the error */

/* What errors depend on of a system. */
enum { EWALD_DISTANCES = 128 };

struct ewald_charges {
    double box[BOX_SIZE];             /* nm; of the start coordinates */
    int natoms, bare;                 /* with a charge or without; of these hydrogens of rigid waters */
    double square;                    /* sum of the squared charges, e^2 */
    double mean;                      /* of the squared charges of charged atoms, e^2 */
    double excluded[EWALD_DISTANCES]; /* sum over excluded pairs, in both orders, of the products of their charges, e^2,
                                        by distance: bins of EWALD_DISTANCE */
};

/* At the end of the ladder where charges are larger. Everything is 0 where no atom has a charge. */
void ewald_charges_of(struct ewald_charges *c, const struct system *sys, const struct alchemy_settings *al);

/* kJ/mol/nm */
struct ewald_error {
    double direct, mesh, total;
};
/* With the settings' cut-off, tolerance, order and mesh, for which mesh_sizes must find a size. */
struct ewald_error ewald_error_of(const struct ewald_charges *c, const struct nonbonded_settings *set);

#endif
