/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H
#define SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H

#include "engine/estimate/result/result.h"

struct writer;
struct switching;

/* results_json.c: results.json. */
void report_write(struct report *r, struct buf *json);
/* Its part about exchanges, in walks_json.c. */
void report_exchanges(struct writer *w, const struct report *r);
/* What the estimate means and lacks, in advice_json.c; total NULL: there is none. */
void report_meaning(struct writer *w, const struct report *r, const struct range *total);

/* switches_json.c: results.json of works of switches; whether it has a free energy. */
bool switches_write(const struct switching *s, struct buf *json);
/* Parts of results_json.c that it shares: an energy in kT or null, a verdict, where the samples come from. */
void report_energy(struct writer *w, const char *key, double beta, const struct range *x);
void report_verdict(struct writer *w, const struct verdict *v);
void report_about(struct writer *w, const struct estimate_about *a);

/* hand_out.c: targets of r->production; false: nothing is known of what windows need. */
bool report_allocate(struct report *r);

/* The estimator of the estimate: MBAR, or TI where a constraint's length changes. */
enum estimator report_headline(const struct report *r);

#endif
