/* SPDX-License-Identifier: Apache-2.0
 *
 * How things look: tables, values with errors, durations, progress. Pure text into buffers; the callers print.
 */
#ifndef SHOAL_CLIENT_SHOW_H
#define SHOAL_CLIENT_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/base/buf.h"

enum { TABLE_COLUMNS = 12 };

/* Cells as text; columns are as wide as their widest cell. Zeroed is valid. */
struct table {
    int columns;
    bool right[TABLE_COLUMNS]; /* aligned right */
    char **cells;              /* [count], row after row, owned */
    int count;
};

/* The first row is the heading; "" leaves a cell empty. `aligned`: one 'l' or 'r' per column. */
void table_setup(struct table *t, const char *aligned);
/* The next cell, at most 511 bytes. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next cell, a state in its colour where stdout shows colours. */
void table_state(struct table *t, const char *state);
/* Appends the table and frees its cells. */
void table_put(struct table *t, struct buf *out);

/* "10.23 +- 0.12": the error with two significant digits, the value to the same place; "10.234" without an error (NAN).
 */
void show_value(struct buf *out, double value, double error);
/* "45 s", "3 min 20 s", "2 h 05 min", "3 d 04 h". */
void show_duration(struct buf *out, double seconds);
/* "[#####.....]  50 %  6/12 windows  2 failed  12 min left"; eta_s < 0: unknown. */
void show_progress(struct buf *out, int width, double fraction, int done, int windows, int failed, double eta_s);

/* Whether a stream is a terminal that moves its cursor: not with TERM=dumb. */
bool show_is_terminal(FILE *f);
/* Whether to colour a stream: such a terminal, and no NO_COLOR. */
bool show_has_colour(FILE *f);

#endif
