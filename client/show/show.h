/* SPDX-License-Identifier: Apache-2.0
 *
 * How things look: tables, values with errors, durations, progress. Pure text into buffers; the callers print.
 */
#ifndef SHOAL_CLIENT_SHOW_SHOW_H
#define SHOAL_CLIENT_SHOW_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/base/buf.h"

enum { TABLE_COLUMNS = 16 };

/* Cells as text; columns are as wide as their widest cell. Zeroed is valid. */
struct table {
    int columns;
    bool right[TABLE_COLUMNS]; /* aligned right */
    enum {
        CUT_NEVER,
        CUT_END,
        CUT_MIDDLE,
        CUT_WRAP
    } cut[TABLE_COLUMNS];      /* may be shortened to fit, there; or wrapped */
    int weight[TABLE_COLUMNS]; /* of one that may be shortened: how many times 16 columns it keeps while others can
                                  leave */
    /* Too wide a table loses columns of nothing but "-" first, then those of the highest number; empty ones always. 0:
     * stays. */
    int leaves[TABLE_COLUMNS];
    char **cells; /* [count], row after row, owned */
    char **links; /* [count], where a page's cells lead to; NULL: nowhere; owned */
    int count;
};

/* The first row is the heading; "" leaves a cell empty, and a column whose cells are all empty is not shown. `layout`
 * has a word per column: l or r for its side, ~ where it may be shortened at the end, = in the middle (names, whose
 * ends tell them apart), + where the last column goes on below itself, said twice where others leave before it is
 * short, and a digit where it may leave a table that is too wide: "l l= r2 l~~3". No more than TABLE_COLUMNS words. */
void table_setup(struct table *t, const char *layout);
/* The next cell, at most 511 bytes; what is not printable is escaped. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next cell in a colour: a terminal's sequence, or "". */
void table_coloured(struct table *t, const char *colour, const char *text);
/* The last cell leads to a place in the page that the table is in: "#ID". */
void table_link(struct table *t, const char *place);
/* The next cell, a state in its colour where stdout shows colours. */
void table_state(struct table *t, const char *state);
/* Appends the table, made to fit `width` columns (0: as wide as it is), and frees its cells. */
void table_put(struct table *t, int width, struct buf *out);
/* There is nothing in the column below its heading. */
bool table_is_empty(const struct table *t, int column);
/* Its cells. */
void table_free(struct table *t);
/* Appends all cells but the headings, between tabs, and frees them. */
void table_put_plain(struct table *t, struct buf *out);

/* Appends all cells as CSV, the headings too, and frees them. */
void table_put_csv(struct table *t, struct buf *out);
/* Appends a cell of CSV: in quotes where it has what separates cells. */
void show_csv(struct buf *out, const char *text);

/* "45 s", "3 min 20 s", "2 h 05 min", "3 d 04 h". */
void show_duration(struct buf *out, double seconds);
/* "2026-11-20T10:00:00.000Z" without its fraction. */
void show_time(struct buf *out, const char *time);
/* "[#####.....]  50 %  6/12 windows  2 failed  12 min left  MORE" in at most `width` columns; eta_s < 0: unknown; "":
 * no more. */
void show_progress(struct buf *out, int width, double fraction, int done, int windows, int failed, double eta_s,
                   const char *more);

/* Whether a stream is a terminal that moves its cursor: not with TERM=dumb. */
bool show_is_terminal(FILE *f);
/* Its columns and rows: of the terminal, else COLUMNS and LINES, else 80 and 24. */
void show_size(FILE *f, int *columns, int *rows);

#endif
