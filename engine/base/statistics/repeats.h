/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeats of one measurement: their mean's error, and whether they agree.
 */
#ifndef SHOAL_ENGINE_BASE_STATISTICS_REPEATS_H
#define SHOAL_ENGINE_BASE_STATISTICS_REPEATS_H

#include <stdbool.h>

/* Error of the mean of n values from their own errors and their spread. */
double repeats_error(const double *value, const double *error, int n);
/* Whether the values spread more than `deviates` normal deviates above what their own errors allow. Own errors below
 * `rounding` count as that. */
bool repeats_disagree(const double *value, const double *error, int n, double deviates, double rounding);
/* Root mean square of the own errors. */
double repeats_own_error(const double *error, int n);

#endif
