/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "engine/plot/figure.h"

enum { NAME_MOST = 16, LINE = 20, TOP = 8, BOTTOM = 48, RIGHT = 14 };

/* Axes for all rows, the names to the left of them. */
static bool fit(const struct plot_series *series, int n, struct plot_axis *x, struct plot_axis *y)
{
    size_t longest = 1;
    for (int i = 0; i < series[0].n; i++) {
        size_t len = strlen(series[0].points[i].name);
        longest = len > longest ? len : longest;
    }
    double left = 14 + PLOT_LETTER * fmin((double)longest, NAME_MOST + 1);
    *x = (struct plot_axis){INFINITY, -INFINITY, left, PLOT_WIDTH - RIGHT, false, false};
    *y = (struct plot_axis){0, series[0].n, TOP, TOP + LINE * series[0].n, true, false};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            const struct plot_point *p = &series[k].points[i];
            plot_hold(x, p->y);
            plot_hold(x, p->y - p->error);
            plot_hold(x, p->y + p->error);
        }
    plot_air(x);
    return x->a < x->b;
}

static void draw_row(struct buf *out, const struct plot_axis *x, const struct plot_point *p, int k, double at)
{
    if (!isfinite(p->y))
        return;
    if (isfinite(p->error))
        buf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"k k%d\"/>\n", plot_on(x, p->y - p->error), at,
                   plot_on(x, p->y + p->error), k);
    buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"k k%d\"><title>", plot_on(x, p->y), at, k);
    plot_text(out, p->name);
    buf_printf(out, ": %.2f</title></circle>\n", p->y);
}

static void name_row(struct buf *out, const struct plot_axis *x, const char *name, double at)
{
    char text[NAME_MOST + 4];
    plot_shorten(text, name, NAME_MOST);
    plot_label(out, x->from - 8, at + 4, "end", "", text);
}

void plot_forest(struct buf *out, const char *title, const char *note, const char *unit,
                 const struct plot_series *series, int n)
{
    struct plot_axis x, y;
    const char *names[2];
    int rows = series[0].n;
    if (!rows || !fit(series, n, &x, &y))
        return;
    for (int k = 0; k < n; k++)
        names[k] = series[k].name;
    plot_begin(out, title, note, names, n, y.to + BOTTOM);
    plot_ticks(out, &x, &(struct plot_axis){.from = y.to, .to = y.from}, false);
    for (int i = 0; i < rows; i++) {
        name_row(out, &x, series[0].points[i].name, plot_on(&y, i + 0.5));
        for (int k = n - 1; k >= 0; k--)
            draw_row(out, &x, &series[k].points[i], k, plot_on(&y, i + (k ? 0.62 : 0.4)));
    }
    plot_label(out, (x.from + x.to) / 2, y.to + BOTTOM - 8, "middle", "", unit);
    plot_end(out);
}
