/* SPDX-License-Identifier: Apache-2.0
 *
 * A pair of atoms as engine/math/potentials/lj.h and softcore.h define it, in long double.
 */
#ifndef SHOAL_TESTS_LIB_PAIR_DEFINITIONS_H
#define SHOAL_TESTS_LIB_PAIR_DEFINITIONS_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

/* c, q, p: Lennard-Jones and the charges of the two atoms, in states A and B. */
struct pair_defined {
    const struct nonbonded_settings *nb;
    const struct soft_core *core;
    double beta;    /* of the Ewald sum, 1/nm */
    bool perturbed; /* else no soft core acts */
    struct lj c[2];
    double q[2], p[2];
};

/* kJ/mol; 0 from the cut-off on. l: of LAMBDA_VDW, of LAMBDA_COULOMB */
long double pair_lj(const void *pair, long double r, long double l);
long double pair_coulomb(const void *pair, long double r, long double l);

/* Charged in A alone, and in B alone: no Coulomb energy. */
bool pair_of_other_ends(const struct pair_defined *pair);

/* What is taken off 1/r in real space, 1/nm, and in a reaction field; excluded: of a pair that has nothing else. */
long double pair_besides(const struct pair_defined *pair, long double r, bool excluded);

/* k and c of a reaction field: 1/r + k r^2 - c. */
long double pair_field_k(const struct nonbonded_settings *nb);
long double pair_field_c(const struct nonbonded_settings *nb);

#endif
