/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_CLIENT_RESULTS_TORSIONS_H
#define SHOAL_CLIENT_RESULTS_TORSIONS_H

#include <jansson.h>

#include "client/show/out.h"

/* Those of a results.json with the fewest transitions, and what follows for torsions without any. Without torsions
 * nothing. */
void torsions_put(const json_t *results, const struct out *s);

#endif
