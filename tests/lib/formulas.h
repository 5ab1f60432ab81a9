/* SPDX-License-Identifier: Apache-2.0
 *
 * Formulas of one coordinate q and lambda against their definitions in long double, at FORMULA_POINTS points spread
 * over both: the value against the definition's, the slopes against differences of it.
 */
#ifndef SHOAL_TESTS_LIB_FORMULAS_H
#define SHOAL_TESTS_LIB_FORMULAS_H

#include <stdbool.h>

#include "engine/math/potentials/bonded.h"

enum { FORMULA_POINTS = 200 };

typedef long double definition_fn(const void *parameters, long double q, long double l);

struct formula {
    const char *name;
    double from, to; /* of q */
    const void *parameters;
    struct bonded_value (*value)(const void *parameters, double q, double l);
    definition_fn *definition;
    double tolerance; /* of a value that is fitted, relative; 0: rounding alone */
};

/* Fails the test at the first point where they differ. */
void formula_check(const struct formula *f);

/* Whether long double is longer than double, which it is not in valgrind. Else differences are too coarse for forces.
 */
bool formula_precise(void);

/* The k-th of a sequence that fills [0, 1) evenly; two of different `which` do so together. */
double formula_spread(int k, int which);

/* The k-th of numbers in [-size, size), of one of many elements. */
double formula_noise(int k, int element, double size);

/* df/dq or df/dl by differences; step: of that variable. */
long double formula_slope_q(definition_fn *f, const void *parameters, long double q, long double l, long double step);
long double formula_slope_l(definition_fn *f, const void *parameters, long double q, long double l, long double step);

#endif
