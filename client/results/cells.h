/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells that tables of results share.
 */
#ifndef SHOAL_CLIENT_RESULTS_CELLS_H
#define SHOAL_CLIENT_RESULTS_CELLS_H

#include <jansson.h>
#include <stdbool.h>

#include "client/show/show.h"

/* The next cell, which window an object of results is of: "3", of several repeats "1.3". */
void results_window(struct table *t, const json_t *object, bool repeats);

#endif
