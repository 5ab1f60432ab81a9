/* SPDX-License-Identifier: Apache-2.0
 *
 * What was run, for the methods section of a paper: what results.json says of it, and what a service knows of the
 * ensemble. Pages of ensembles and of campaigns show it alike.
 */
#ifndef SHOAL_CLIENT_RESULTS_METHODS_H
#define SHOAL_CLIENT_RESULTS_METHODS_H

#include <jansson.h>

#include "engine/base/buf.h"

/* Production of a list of windows: the least and the most of one, and of all together, ns. Without windows `least` is
 * INFINITY. */
struct sampled {
    double least, most, all;
};
struct sampled results_sampled(const json_t *windows);

/* A block of a page, a line for each topic. `ensemble`: as the API has it. Nothing where the results have no methods.
 */
void methods_put(struct buf *page, const json_t *results, const json_t *ensemble);

#endif
