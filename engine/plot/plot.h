/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as SVG: inside a page that has their style sheet (style.css), appended to a buffer; or as a picture in a file
 * of its own.
 */
#ifndef SHOAL_ENGINE_PLOT_PLOT_H
#define SHOAL_ENGINE_PLOT_PLOT_H

#include <stdbool.h>

#include "engine/base/buf.h"

/* error NAN: no bar. What is not finite is left out. */
struct plot_point {
    double x, y, error;
    const char *name; /* NULL: it has none */
};

enum { PLOT_KEYS = 6 }; /* series that have a colour each */

struct plot_series {
    const char *name;
    struct plot_point *points; /* owned by the caller */
    int n;
    bool joined; /* by a line, in their order */
    bool bars;   /* upwards from 0, one at each whole x, in place of marks; of the first series alone */
    bool named;  /* names of points are written above their marks */
    bool band;   /* of the errors, in place of marks with bars */
    bool dashed; /* a line in the colour of series `like`, without a mark or a name: behind all series that have one */
    int like;
    double *across; /* [n] errors of x, NAN: no bar; NULL: none of any; owned as points are */
};

struct plot {
    const char *title, *note; /* note "": the title says all */
    const char *below;        /* a sentence under the figure; NULL: none */
    const char *x, *y;        /* what the axes are, with units */
    bool zero;                /* the axis upwards has 0 on it */
    bool log_x, log_y;        /* points that are not above 0 are left out */
    bool at_points;           /* numbers across are those of the first series' points, where they have room */
    bool cut;                 /* the axis upwards ends at `most`, and so do lines and bands that go beyond */
    double most;
    bool ordered;         /* series are: more than there are colours go from pale to dark, without bands */
    double level, spread; /* a band across, level +- spread; NAN: none */
    bool widens;          /* x is a part of the samples, and the band is level +- spread / sqrt(x) */
    double equal; /* NAN, or both axes are alike, with a line where they are equal, a band of so much beside it, and
                     names of points of the first series outside of it */
};

/* Axes that hold all points and their errors. Nothing where no series has a point. */
void plot_series(struct buf *out, const struct plot *p, const struct plot_series *series, int n);

/* Where figures go: into a page, or, page NULL, one below the other into a picture. */
struct plot_sheet {
    struct buf *page;
    struct buf picture;
    double height; /* of the picture so far */
};
void plot_put(struct plot_sheet *to, const struct plot *p, const struct plot_series *series, int n);
/* Whether a file of this name is a picture of ours: it ends in .svg. */
bool plot_is_picture(const char *path);
/* ERR_USAGE: it names a picture of another kind, which is not drawn; with `folder` any other name is one of a folder,
 * else it is no picture either. */
int plot_check_name(const char *path, bool folder, struct err *e);
/* Into an .svg file that needs no other, with plain colours, as programs without a browser read it. ERR_IO. */
int plot_write(const struct plot_sheet *picture, const char *path, struct err *e);
void plot_sheet_close(struct plot_sheet *s);

/* A row for each point of the first series, with its name; y is its value, x is not looked at. `n` series, 2 at most,
 * have the same rows. Nothing where no value is finite. */
void plot_forest(struct buf *out, const char *title, const char *note, const char *unit,
                 const struct plot_series *series, int n);
/* [n * n], row after row, of 0 to 1: darker is more. What is not finite is left white; neighbours with less than
 * `least` have a red frame. `note` says what rows and columns are. */
void plot_matrix(struct buf *out, const char *title, const char *note, const double *matrix, int n, double least);
/* An edge of a network, from node i to j. value NAN: it has none; so_far: it may change yet; strain: how badly the
 * worst loop that it is in closes, in errors; NAN: it is in none. */
struct plot_edge {
    int i, j;
    double value, error, strain;
    bool so_far;
};
/* Nodes on a circle with their names; edges as arrows, with their values and errors where there is room, thick and red
 * where loops do not close, dashed without a value. */
void plot_network(struct buf *out, const char *title, const char *const *nodes, int n, const struct plot_edge *edges,
                  int nedges);

/* What a row of pixels of a small figure shows: rows of a series from one time to another. */
struct plot_bin {
    double from, to, least, most, mean;
};
/* A small figure without words of its own: least to most as a band, means as a line, from time a to b and from low to
 * high. What came before time 0 is shaded. target NAN: none. */
struct plot_small {
    double a, b, low, high, target;
};
void plot_small(struct buf *out, const char *title, const struct plot_small *s, const struct plot_bin *bins, int n);
/* Curves on the same axes as another small figure, over parts of the samples; the band is level +- spread / sqrt(part),
 * NAN: none. */
void plot_small_curves(struct buf *out, const char *title, const struct plot_series *series, int n, double level,
                       double spread);

/* Text: &, < and quotes as entities, "+-" as the sign for it, bytes that no page may have as '?'. */
void plot_text(struct buf *out, const char *text);

#endif
