/* SPDX-License-Identifier: Apache-2.0
 *
 * How a free energy settles as samples are added.
 */
#ifndef SHOAL_CLIENT_RESULTS_CONVERGENCE_H
#define SHOAL_CLIENT_RESULTS_CONVERGENCE_H

#include <jansson.h>

struct plot_series;

/* [2] forward and backward, in kcal/mol; points are for the caller to free. */
void results_convergence(const json_t *list, struct plot_series *series);

#endif
