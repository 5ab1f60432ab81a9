/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H
#define SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H

#include "engine/estimate/result/result.h"

struct writer;

/* results_json.c: results.json. */
void report_write(struct report *r, struct buf *json);
/* Its part about exchanges, in walks_json.c. */
void report_exchanges(struct writer *w, const struct report *r);
/* What the estimate means and lacks, in advice_json.c; total NULL: there is none. */
void report_meaning(struct writer *w, const struct report *r, const struct range *total);

/* hand_out.c: targets of r->production; false: nothing is known of what windows need. */
bool report_allocate(struct report *r);

/* The estimator of the estimate: MBAR, or TI where a constraint's length changes. */
enum estimator report_headline(const struct report *r);

#endif
