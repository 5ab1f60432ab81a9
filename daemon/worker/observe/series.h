/* SPDX-License-Identifier: Apache-2.0
 *
 * A coordination from frame to frame, which its sums over frames do not keep.
 */
#ifndef SHOAL_DAEMON_WORKER_OBSERVE_SERIES_H
#define SHOAL_DAEMON_WORKER_OBSERVE_SERIES_H

#include "engine/observe/observe.h"

#define OBSERVE_SERIES_NAME "%s_time" /* of its file, of the observable's name */

/* Zeroed is valid and empty; observe_series_close frees. */
struct observe_series {
    double *time, *value; /* [n]; ps */
    int n, cap;
    double sum;     /* of all values */
    bool not_times; /* some frame has no time, or not a later one than that before it: rows are numbered */
};

bool observe_series_of(const struct observable *o);
/* ERR_SPEC: another observable has the name of a series' file. */
int observe_series_check(const struct system *sys, struct err *e);
/* The frame at hand, which was the last to be added to what has accumulated. */
void observe_series_add(struct observe_series *s, const struct observe_result *r, double time);
/* As observe_file and observe_json. */
void observe_series_file(const struct observe_series *s, const struct observe_result *r, struct buf *out);
void observe_series_json(const struct observe_series *s, struct writer *w);
void observe_series_close(struct observe_series *s);

#endif
