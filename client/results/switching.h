/* SPDX-License-Identifier: Apache-2.0
 *
 * Works of non-equilibrium switches, as `switching` of results.json has them.
 */
#ifndef SHOAL_CLIENT_RESULTS_SWITCHING_H
#define SHOAL_CLIENT_RESULTS_SWITCHING_H

#include <jansson.h>

#include "client/show/out.h"

/* Nothing where the results are not of switches. */
void switching_put(const json_t *results, const struct out *s);

#endif
