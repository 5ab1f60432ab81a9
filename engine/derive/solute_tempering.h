/* SPDX-License-Identifier: Apache-2.0
 *
 * B states in which a solute is hot: its interactions are weakened as if it alone were at a higher temperature (L.
 * Wang, R. A. Friesner and B. J. Berne, J. Phys. Chem. B 115, 9431 (2011), doi 10.1021/jp204407d, known as REST2).
 */
#ifndef SHOAL_ENGINE_DERIVE_SOLUTE_TEMPERING_H
#define SHOAL_ENGINE_DERIVE_SOLUTE_TEMPERING_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

/* What the solute has that stays as it is in state B: the formulas of these terms have no lambda. */
struct temper_left {
    int dihedrals, pairs; /* dihedrals: functions 10 and 11; pairs: of function 2, and [ pairs_nb ] */
};

struct temper_left temper_left_of(const struct system *sys, const struct tempered *set);

/* Makes the B states of a system that has none, with s = temperature / set->to: charges times the root of s,
 * Lennard-Jones within the solute and 1-4 pairs times s, with other molecules times the root, proper and improper
 * dihedrals and CMAP times s. Bonds, angles and restraints stay. ERR_UNSUPPORTED: too many atom types. */
int temper_make(struct system *sys, const struct tempered *set, double temperature, struct err *e);

#endif
