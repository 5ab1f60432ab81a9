/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a results.json.
 */
#ifndef SHOAL_CLIENT_RESULTS_RESULTS_H
#define SHOAL_CLIENT_RESULTS_RESULTS_H

#include <jansson.h>

#include "client/show/out.h"

/* The tables of a results.json. */
void results_put(const struct out *s, const json_t *results);

#endif
