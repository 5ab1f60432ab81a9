/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimators on the rows of one repeat.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ANALYSIS_H
#define SHOAL_ENGINE_ESTIMATE_ANALYSIS_H

#include "engine/estimate/result/result.h"

void result_analyse(struct result *r, struct sampling *s);

#endif
