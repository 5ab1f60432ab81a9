/* SPDX-License-Identifier: Apache-2.0
 *
 * Hydrogen mass repartitioning: slower hydrogens, so that a longer timestep is as good. Configurational averages do not
 * change.
 */
#ifndef SHOAL_ENGINE_DERIVE_MASSES_H
#define SHOAL_ENGINE_DERIVE_MASSES_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

/* Changes the atoms' masses, which are the same in both states then. Dummies of a state get theirs without taking it
 * from an atom. ERR_TOPOLOGY: another light atom without one bonded atom that can give, one that would become too
 * light. */
int masses_repartition(struct system *sys, const struct mass_settings *set, struct err *e);

#endif
