/* SPDX-License-Identifier: Apache-2.0
 *
 * The split of Coulomb between pairs and mesh: cut-off, tolerance, grid and order that take the least time at an error
 * of forces (engine/derive/ewald_error.h) that is no larger than that of the settings asked for.
 * It depends on system and settings alone, not on a device, and is made once, when a spec is accepted
 * (daemon/spec/split.c): a replica that goes on elsewhere has the same forces.
 */
#ifndef SHOAL_ENGINE_DERIVE_SPLIT_H
#define SHOAL_ENGINE_DERIVE_SPLIT_H

#include "engine/derive/ewald_error.h"

/* Tolerance at most, unless the settings asked for have a looser one. It bounds what free energies are off by:
 * dU/dlambda of a monovalent ion's charge in water by 0.01 kJ/mol with 1e-4 and by 0.1 with 1e-3, at 0.9 nm. */
#define SPLIT_LOOSEST 1e-4
#define SPLIT_SHORTEST 0.6 /* nm, cut-off */
#define SPLIT_CUTOFFS 20   /* that are looked at, in a nm */

/* Cut-off, tolerance, grid and order of PME become those chosen. The cut-off is never longer than the longer of the two
 * asked for. Where nothing is faster, or no atom has a charge, they stay as they are, and the grid is the one that its
 * spacing gives. Where no mesh fits the box, nothing changes. */
void split_choose(struct nonbonded_settings *set, const struct ewald_charges *c);
/* Time of a step on a GPU that depends on the split, us of one multiprocessor. */
double split_cost(const struct nonbonded_settings *set, const struct ewald_charges *c);

#endif
