/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_CLIENT_RESULTS_WATERS_H
#define SHOAL_CLIENT_RESULTS_WATERS_H

#include <jansson.h>

#include "client/show/out.h"

/* Exchange of waters between bulk and a sphere, of the windows of a results.json that have it; without any nothing. */
void waters_put(const json_t *results, const struct out *s);

#endif
