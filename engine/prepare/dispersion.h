/* SPDX-License-Identifier: Apache-2.0
 *
 * Long-range dispersion correction: what the cut-off leaves out of the mean attraction (and, for DISPERSION_ALL, of the
 * repulsion), for a fluid that is uniform beyond the point where the potential is changed. As GROMACS defines it: means
 * over all pairs that are not excluded, end states mixed linearly in the vdw lambda.
 */
#ifndef SHOAL_ENGINE_PREPARE_DISPERSION_H
#define SHOAL_ENGINE_PREPARE_DISPERSION_H

#include "engine/prepare/alchemy.h"

void lj_rule_make(struct lj_rule *rule, const struct nonbonded_settings *set);
void dispersion_make(struct nb_dispersion *d, const struct alchemy_plan *p, const struct nonbonded_settings *set);

#endif
