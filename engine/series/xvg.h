/* SPDX-License-Identifier: Apache-2.0
 *
 * A table as Grace and GROMACS write it.
 */
#ifndef SHOAL_ENGINE_SERIES_XVG_H
#define SHOAL_ENGINE_SERIES_XVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/err.h"

/* How a line of dhdl.xvg begins that names a constraint whose length differs between windows: energy differences are of
 * first order. */
#define XVG_STRETCHED "# constraint that changes its length: "

struct xvg {
    char *title, *x_label, *y_label; /* NULL where there is none, as */
    char *subtitle;                  /* .. this */
    int subtitle_line;               /* for messages */
    char *stretched;                 /* what follows XVG_STRETCHED; NULL */
    int nlegends;
    char **legend; /* of columns 1.. ; column 0 is the time */
    int *legend_line;
    size_t seen;   /* rows in the file */
    size_t stride; /* every how many of them are kept */
    size_t nrows;
    double *v;      /* [nrows][1 + nlegends] */
    bool cut_short; /* the last line was not whole and was left out */
};

/* `name` is only for messages. ERR_IO: "name:line: what was read, what was expected"; rows of a wrong width and times
 * that do not increase are errors, a last line that is short or has no newline is left out. */
int xvg_read(struct xvg *x, const char *name, const char *text, size_t len, struct err *e);
/* The same from a file, which may be gzipped, a piece at a time; only its first `bytes` (unzipped) count. A table of
 * more than `most` numbers is thinned evenly while it grows, by powers of two. ERR_BUSY, too: the disk or its server
 * gave an error that may pass. */
#define XVG_ALL UINT64_MAX
int xvg_read_file(struct xvg *x, const char *name, const char *path, uint64_t bytes, size_t most, struct err *e);
void xvg_close(struct xvg *x);
/* The column with a legend; 0, which is the time's: there is none. */
size_t xvg_column(const struct xvg *x, const char *legend);

/* ---- xvg_write.c */

/* The first lines of a file of that name: a table over time. */
void xvg_begin(struct buf *out, const char *file, const char *title, const char *yaxis);
/* The lines before the legends. */
void xvg_legends_begin(struct buf *out);

/* ---- xvg_text.c: what others read */

/* Labels and legends without Grace's marks: "nm\\S2\\N" is nm^2, "\\xl\\f{}" lambda. Appended. */
void xvg_plain(struct buf *out, const char *text);
/* The table as comma-separated values: a line with the label across and the legends, plain and in double quotes, then a
 * line of numbers for each whole line of them. Appended. */
void xvg_csv(struct buf *out, const char *text, size_t len);

#endif
