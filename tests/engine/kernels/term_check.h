/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels add of an energy that is a function of the places of a few atoms, against the definition in long double
 * and differences of it.
 */
#ifndef SHOAL_TESTS_ENGINE_KERNELS_TERM_CHECK_H
#define SHOAL_TESTS_ENGINE_KERNELS_TERM_CHECK_H

#include "engine/math/box.h"
#include "tests/lib/formulas.h"

enum { TERM_ATOMS = 6, TERM_WINDOWS = 3 };

/* kJ/mol, nm. A box that is slanted, and the lambda of each window. */
extern const double term_box[BOX_SIZE];
extern const double term_lambda[TERM_WINDOWS];

/* Atoms as molecules go, and as they are given, each in an image of its own. */
struct term_places {
    long double whole[TERM_ATOMS][3];
    double given[TERM_ATOMS][3];
    double lambda;
};

struct term_sums {
    double energy, slope, windows[TERM_WINDOWS], f[TERM_ATOMS][3], virial[9];
};

/* The k-th places: `base`, each coordinate up to `size` away. Every other one is a mirror image. */
struct term_places term_places(int k, const double (*base)[3], double size);

typedef long double term_energy(const void *of, const long double (*x)[3], long double l);

/* changes: the energy depends on lambda. Else slope and energies at windows are 0. */
struct term_sums term_expected(term_energy *energy, const void *of, const struct term_places *at, bool changes);

struct term_check {
    const char *name;
    int place;
    double resolution; /* of sums in fixed point; relative to numbers above 1 */
    bool diagonal;     /* of the virial: the rest is not looked at */
};

void term_compare(const struct term_check *c, const struct term_sums *got, const struct term_sums *expected);

#endif
