/* SPDX-License-Identifier: Apache-2.0
 *
 * Visits and drift.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_VISITS_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_VISITS_H

#include <stddef.h>

/* Chance, on a series of shorter memory, that the mean over one 32nd, 64th or 128th of it lies so far off the
 * others: the test of F. E. Grubbs, Technometrics 11, 1 (1969), doi 10.1080/00401706.1969.10490657, on ranks. 1 for
 * fewer than 256 members. */
double stats_visit(const double *x, size_t n);
/* How many members at the start lie significantly off the rest: 0 unless a test of the whole says so, which a
 * stationary series passes but for a chance of `level`. */
size_t stats_drift(const double *x, size_t n, double level);

#endif
