/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimators on the rows of one repeat, and what reports of an ensemble begin with.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ANALYSIS_H
#define SHOAL_ENGINE_ESTIMATE_ANALYSIS_H

#include "engine/estimate/estimate.h"
#include "engine/estimate/result/result.h"

void result_analyse(struct result *r, struct sampling *s);
/* What is to be said of an ensemble, but for its repeats. */
struct report report_of_ensemble(const struct estimate_ensemble *q, const struct ladder *l);

#endif
