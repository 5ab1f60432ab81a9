/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded energies of a mixture (tests/lib/mixture.h) by a double loop over its atoms, without the reciprocal half
 * of an Ewald sum.
 */
#ifndef SHOAL_TESTS_LIB_PAIR_SUMS_H
#define SHOAL_TESTS_LIB_PAIR_SUMS_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

struct pair_sums {
    double lj, coulomb; /* kJ/mol */
};

struct pair_sums pair_sums_of(const struct system *sys, const struct settings *set, int window);

/* Of the Ewald sum, 1/nm. */
double pair_beta(const struct nonbonded_settings *nb);

#endif
