/* SPDX-License-Identifier: Apache-2.0
 *
 * Forecasts of MBAR's error, for who decides what to sample next.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_FORECAST_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_FORECAST_H

#include "engine/estimate/estimators/longrun.h"
#include "engine/estimate/estimators/sampling.h"

struct forecast;

/* From samples, MBAR's free energies g (kT) of them, and what each window brings to the variance of g(to) - g(from).
 * The caller frees it; it borrows nothing. */
struct forecast *forecast_new(const struct sampling *s, const double *g, const struct longrun *part, int from, int to);
/* The variance of g(to) - g(from), kT^2, if window k had times[k] as many rows; INFINITY: it has none. */
double forecast_variance(const struct forecast *f, const double *times);
void forecast_free(struct forecast *f);

#endif
