/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_CLIENT_RESULTS_OBSERVED_H
#define SHOAL_CLIENT_RESULTS_OBSERVED_H

#include <jansson.h>

#include "client/show/out.h"

/* Those of a results.json; where it has none nothing. */
void observed_put(const json_t *results, const struct out *s);

#endif
