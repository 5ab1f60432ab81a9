/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as SVG inside a page: points with errors against a number, and a matrix. Everything appended to a buffer.
 */
#ifndef SHOAL_CLIENT_PLOT_H
#define SHOAL_CLIENT_PLOT_H

#include <stdbool.h>

#include "engine/base/buf.h"

/* error NAN: no bar. What is not finite is left out. */
struct plot_point {
    double x, y, error;
};

struct plot_series {
    const char *name;
    struct plot_point *points; /* owned by whoever made it */
    int n;
    bool joined; /* by a line, in their order */
};

/* Axes that hold all points and their errors, and 0 where `zero`. Nothing where no series has a point. */
void plot_series(struct buf *out, const char *title, const char *x, const char *y, const struct plot_series *series,
                 int n, bool zero);
/* [n * n], row after row, of 0 to 1: darker is more. What is not finite is left white. `below` says what rows and columns are. */
void plot_matrix(struct buf *out, const char *title, const char *below, const double *matrix, int n);
/* An edge of a network, from node i to j. strain: how badly the worst loop that it is in closes, in errors; NAN: it is in none. */
struct plot_edge {
    int i, j;
    double value, error, strain;
};
/* Nodes on a circle with their names; edges with their values, thick and red where loops do not close. */
void plot_network(struct buf *out, const char *title, const char *const *nodes, int n, const struct plot_edge *edges,
                  int nedges);
/* The beginning of a page, up to its body, and its end. */
void plot_page_begin(struct buf *out, const char *title);
void plot_page_end(struct buf *out);
/* Text: &, < and quotes as entities, bytes that no page may have as '?'. */
void plot_text(struct buf *out, const char *text);

#endif
