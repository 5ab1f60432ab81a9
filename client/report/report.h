/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of an ensemble, and its parts.
 */
#ifndef SHOAL_CLIENT_REPORT_REPORT_H
#define SHOAL_CLIENT_REPORT_REPORT_H

#include "client/command/client.h"

/* Appends the page of an ensemble without its end (page_end); *rc as the ensemble ended (results_exit). Where it fails
 * *out may have a part of the page. */
int report_put(struct buf *out, const struct client *c, const json_t *ensemble, int *rc, struct err *e);
/* The whole page, of the ensemble that `word` names, into --output, else onto standard output. The exit code. */
int report_ensemble(struct client *c, const char *word);

/* answer.c: what it comes to, and why it is to be believed or not. */
void report_answer(struct buf *out, const json_t *ensemble, const json_t *results);
/* figures.c: what figures there are of the results. */
void report_figures(struct buf *out, const json_t *ensemble, const json_t *results);
/* shares.c: of windows, time and error; nothing where the results do not say whose the error is. */
void report_shares(struct buf *out, const json_t *ensemble, const json_t *results);
/* profiles.c: free energies along coordinations, and each window's histogram; nothing where there are none. */
void report_profiles(struct buf *out, const json_t *results);
/* switching.c: distributions of works of switches; nothing where there are none. */
void report_switching(struct buf *out, const json_t *results);
/* fold.c: deviations of backbone and ligand from the start structure over time; nothing where there are none. */
void report_fold(struct buf *out, const json_t *results);
/* observed.c: the curves of observables, which are fetched; nothing where there are none. */
int report_observed(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                    struct err *e);
/* series.c: temperature, pressure, volume and energies of all windows over time, which are fetched. */
int report_series(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                  struct err *e);

#endif
