/* SPDX-License-Identifier: Apache-2.0
 *
 * From the files of a replica to the rows that estimators take, and what else the rows of energy.xvg say.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ROWS_ROWS_H
#define SHOAL_ENGINE_ESTIMATE_ROWS_ROWS_H

#include "engine/estimate/result/result.h"

/* window.c: reads one replica's files below `directory` ("lambda_03" in `folder`), tests them for drift, appends
 * its rows to `s` (s->start[index + 1] is set). What goes wrong is in the window's status and reason, and then it adds
 * no rows. */
void window_read(struct result *r, const char *directory, const char *folder, int index,
                 const struct estimate_replica *replica, struct sampling *s);
/* The same from a file that has been read; `name` for messages. */
void window_take(struct result *r, const char *name, const struct dhdl *d, int index, struct sampling *s);
/* one_run.c: the rows of a run in which the state changes, each to the window of its state. */
void run_take(struct result *r, const char *name, const struct dhdl *d, struct sampling *s);
/* The first n of the rows used are gone from `s` and do not count any more. */
void window_drop(struct window_result *w, size_t n, const struct sampling *s, int k);

/* Of windows that exchange replicas, whose rows of other times than all have are gone from `s`. */
void window_align(struct window_result *w, const struct sampling *s, int k);

/* changed_ladder.c: of a replica with an origin, what is known of its rows `d`, of which those that come too densely
 * after frames go. Its part of results.json. Errors as of dhdl_read_file. */
struct writer;
int frames_take(struct frame_rows *f, const struct ladder *l, struct dhdl *d, const char *directory,
                const struct estimate_replica *replica, struct err *e);
void frames_write(struct writer *w, const struct frame_rows *f);

/* fluctuations.c: heat capacity and, where the volume moves, compressibility and thermal expansion, from the rows of
 * energy.xvg from `first` on; none where production does not hold a temperature. */
void fluctuations_find(struct window_result *w, const struct ladder *l, const struct bath *bath, const struct xvg *x,
                       size_t first);

/* walks.c: visits of one window from its energy.xvg; whether a column is about them alone; of all windows of a repeat,
 * once they have been read, what became of replicas; how often a pair of neighbours could have been exchanged (0: not
 * known by scheme). alone: exchanges at the beginning that none took part in. */
void walks_take(struct window_result *w, const struct xvg *x);
bool walks_column(const char *legend);
void walks_count(struct result *r, enum exchange_scheme scheme, size_t alone);
/* walks.xvg: a line for each interval between exchanges, with its time and the window of every replica. Nothing where
 * none exchanged. */
void walks_write(const struct result *r, struct buf *out);
size_t walks_attempts(const struct walks *w, int pair);

#endif
