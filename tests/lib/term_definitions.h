/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms, restraints and biases of one distance or angle, in long double, as the GROMACS manual defines them
 * ("Bonded interactions", "Restraints"): definitions for formulas.h whose parameters are a struct potential.
 */
#ifndef SHOAL_TESTS_LIB_TERM_DEFINITIONS_H
#define SHOAL_TESTS_LIB_TERM_DEFINITIONS_H

#include "engine/math/terms.h"
#include "tests/lib/formulas.h"

/* kind: an enum rare_kind or bias_kind; c: numbers in states A and B, in the order of the engine's formula */
struct potential {
    int kind;
    double c[2][6];
};

definition_fn define_harmonic;          /* q0, k */
definition_fn define_harmonic_periodic; /* q0, k */
definition_fn define_periodic;          /* phi0, k, multiplicity */
definition_fn define_rb;                /* six coefficients */
definition_fn define_bias;              /* at, k */

/* NULL: it is of several coordinates. */
definition_fn *define_rare(enum rare_kind kind);

#endif
