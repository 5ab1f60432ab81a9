/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of an ensemble's page.
 */
#ifndef SHOAL_CLIENT_REPORT_H
#define SHOAL_CLIENT_REPORT_H

#include "client/client.h"

/* report_figures.c: the answer, and what figures there are of the results. */
void report_answer(struct buf *out, const json_t *ensemble, const json_t *results);
void report_figures(struct buf *out, const json_t *results);
/* report_series.c: temperature, pressure, volume and energies of all windows over time, which are fetched. */
int report_series(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                  struct err *e);

/* A page into --output, else onto standard output; `name` is what it shows. */
int report_put(const struct client *c, const char *name, const struct buf *page, struct err *e);
/* A number, or NAN. */
double report_number(const json_t *v);
struct plot_series;
/* [2] forward and backward, in kcal/mol; points are for the caller to free. */
void report_convergence(const json_t *list, struct plot_series *series);

#endif
