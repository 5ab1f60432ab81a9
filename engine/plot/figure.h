/* SPDX-License-Identifier: Apache-2.0
 *
 * What figures are made of; for the files of plot.h alone. Units of their drawings become about so many pixels of a
 * screen.
 */
#ifndef SHOAL_ENGINE_PLOT_FIGURE_H
#define SHOAL_ENGINE_PLOT_FIGURE_H

#include <math.h>

#include "engine/plot/plot.h"

enum {
    PLOT_WIDTH = 500,
    PLOT_LETTER = 10 /* the width that a letter takes at most, about */,
    PLOT_LINE = 16,
    PLOT_COLORS = PLOT_KEYS
};
enum {
    PLOT_LEFT = 76,
    PLOT_RIGHT = 14,
    PLOT_TOP = 12,
    PLOT_BOTTOM = 48,
    PLOT_HEIGHT = 320
}; /* of a drawing with axes */

/* Text at a place, of a class of the style sheet ("": none). */
void plot_label(struct buf *out, double x, double y, const char *anchor, const char *class, const char *text);
/* A figure with its heading: up to the drawing, which is to follow, and behind it. names: those of `n` series in their
 * colours. */
void plot_begin(struct buf *out, const char *title, const char *note, const char *const *names, int n, double height);
/* The same without names, of another width: broader than a column of the page. */
void plot_begin_broad(struct buf *out, const char *title, const char *note, double width, double height);
void plot_end(struct buf *out);
/* The same with a sentence below the drawing; NULL: none. */
void plot_end_saying(struct buf *out, const char *sentence);

/* The same words in a picture of its own, below what it has. */
void plot_heading(struct plot_sheet *to, const char *title, const char *note, const char *const *names, int n);

/* Rectangles that are taken by text: their middles and widths; PLOT_LINE high. Zeroed is valid. */
struct plot_place {
    double x, y;
};
struct plot_taken {
    struct plot_place *middle;
    double *width;
    int n;
};
bool plot_is_free(const struct plot_taken *t, struct plot_place p, double width);
void plot_take(struct plot_taken *t, struct plot_place p, double width);
void plot_taken_free(struct plot_taken *t);

/* Values from a to b, drawn from `from` to `to`. */
struct plot_axis {
    double a, b, from, to;
    bool whole; /* all of them are whole numbers */
    bool log;   /* it has only what is above 0 */
};
static inline double plot_on(const struct plot_axis *axis, double value)
{
    const double part =
        axis->log ? log(value / axis->a) / log(axis->b / axis->a) : (value - axis->a) / (axis->b - axis->a);
    return axis->from + (axis->to - axis->from) * part;
}
/* A band about a level: level +- spread at 1, as wide as the error of a part of the samples is at that part, spread /
 * sqrt(part). */
void plot_funnel(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, double level, double spread);
/* Numbers and lines of the axis across, else of the one upwards. */
void plot_ticks(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, bool vertical);
/* The numbers across at a series' points, in their order, but for those that the one before leaves no room. */
void plot_ticks_at(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot_series *s);
/* At most `most` bytes of a name and a sign that there is more: into [most + 4]. */
void plot_shorten(char *text, const char *name, int most);
/* Widens the axis to have the value on it. */
void plot_hold(struct plot_axis *axis, double value);
bool plot_is_point(const struct plot_axis *x, const struct plot_axis *y, const struct plot_point *p);
/* Axes, logarithmic where they say so, that hold all points and their errors. False: there are none. */
bool plot_fit(struct plot_axis *x, struct plot_axis *y, const struct plot_series *series, int n);
void plot_air(struct plot_axis *axis);
/* Of a series: its colour, how much of it, and whether points have marks. */
struct plot_ink {
    int color;
    double opacity;
    bool marks;
};
/* A line through its points; marks with bars of their errors, or a band. */
void plot_draw(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot_series *s,
               const struct plot_ink *ink);

#endif
