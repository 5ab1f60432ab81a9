/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of an ensemble's page.
 */
#ifndef SHOAL_CLIENT_REPORT_REPORT_H
#define SHOAL_CLIENT_REPORT_REPORT_H

#include "client/client.h"

/* answer.c: what it comes to, and why it is to be believed or not. */
void report_answer(struct buf *out, const json_t *ensemble, const json_t *results);
/* figures.c: what figures there are of the results. */
void report_figures(struct buf *out, const json_t *ensemble, const json_t *results);
/* shares.c: of windows, time and error; nothing where the results do not say whose the error is. */
void report_shares(struct buf *out, const json_t *ensemble, const json_t *results);
/* profiles.c: free energies along coordinations, and each window's histogram; nothing where there are none. */
void report_profiles(struct buf *out, const json_t *results);
/* fold.c: deviations of backbone and ligand from the start structure over time; nothing where there are none. */
void report_fold(struct buf *out, const json_t *results);
/* observed.c: the curves of observables, which are fetched; nothing where there are none. */
int report_observed(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                    struct err *e);
/* series.c: temperature, pressure, volume and energies of all windows over time, which are fetched. */
int report_series(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                  struct err *e);

/* Whether a word is the file of a campaign, not an ensemble. */
bool report_is_campaign(const char *word);
/* A page into --output, else onto standard output; `name` is what it shows. */
int report_put(const struct client *c, const char *name, const struct buf *page, struct err *e);
/* A number, or NAN; that of a quantity with a unit. */
double report_number(const json_t *v);
double report_magnitude(const json_t *quantity);
struct plot_series;
/* [2] forward and backward, in kcal/mol; points are for the caller to free. */
void report_convergence(const json_t *list, struct plot_series *series);

#endif
