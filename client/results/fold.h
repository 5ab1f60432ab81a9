/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_CLIENT_RESULTS_FOLD_H
#define SHOAL_CLIENT_RESULTS_FOLD_H

#include <jansson.h>

#include "client/show/out.h"

/* How far backbone and ligand of a results.json are from the start structure. Without a protein nothing. */
void fold_put(const json_t *results, const struct out *s);

#endif
