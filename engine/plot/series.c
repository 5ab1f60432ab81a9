/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/plot.h"

#include <string.h>

#include "engine/plot/figure.h"

enum { HEIGHT_EQUAL = 460, NAME_MOST = 24, NAMED_MOST = 12 };
#define BAR 0.7   /* of the way from one to the next */
#define PALE 0.25 /* the first of series in an order */

static void draw_line(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                      const struct plot_series *s, const struct plot_ink *ink)
{
    char step = 'M';
    buf_printf(out, "<path d=\"");
    for (int i = 0; i < s->n; i++)
        if (plot_is_point(x, y, &s->points[i])) {
            buf_printf(out, "%c%.1f %.1f", step, plot_on(x, s->points[i].x), plot_on(y, fmin(s->points[i].y, y->b)));
            step = 'L';
        }
    buf_printf(out, "\" class=\"k k%d%s\"", ink->color, s->dashed ? " dashed" : "");
    if (ink->opacity < 1)
        buf_printf(out, " stroke-opacity=\"%.2f\"", ink->opacity);
    if (!s->name) {
        buf_printf(out, "/>\n");
        return;
    }
    buf_printf(out, "><title>");
    plot_text(out, s->name);
    buf_printf(out, "</title></path>\n");
}

/* One edge of the band, in the order of the points or back, cut off where the axis ends. */
static void draw_band_edge(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                           const struct plot_series *s, bool upper, bool first)
{
    for (int i = 0; i < s->n; i++) {
        const struct plot_point *p = &s->points[upper ? i : s->n - 1 - i];
        const double error = isfinite(p->error) ? p->error : 0, value = upper ? p->y + error : p->y - error;
        if (!plot_is_point(x, y, p))
            continue;
        buf_printf(out, "%c%.1f %.1f", first ? 'M' : 'L', plot_on(x, p->x), plot_on(y, fmin(fmax(value, y->a), y->b)));
        first = false;
    }
}

static bool has_errors(const struct plot_series *s)
{
    for (int i = 0; i < s->n; i++)
        if (isfinite(s->points[i].error))
            return true;
    return false;
}

static void draw_band(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                      const struct plot_series *s, int color)
{
    if (!has_errors(s))
        return;
    buf_printf(out, "<path d=\"");
    draw_band_edge(out, x, y, s, true, true);
    draw_band_edge(out, x, y, s, false, false);
    buf_printf(out, "Z\" class=\"area k%d\"/>\n", color);
}

/* A circle, or a bar that is upwards; with the name that it has. */
static void draw_mark(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot_point *p,
                      int color, bool bar)
{
    if (bar)
        buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"bar k%d\">",
                   plot_on(x, p->x - BAR / 2), plot_on(y, p->y), plot_on(x, BAR) - plot_on(x, 0),
                   plot_on(y, 0) - plot_on(y, p->y), color);
    else
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" class=\"k k%d\">", plot_on(x, p->x),
                   plot_on(y, p->y), color);
    if (p->name) {
        buf_printf(out, "<title>");
        plot_text(out, p->name);
        buf_printf(out, "</title>");
    }
    buf_printf(out, bar ? "</rect>\n" : "</circle>\n");
}

void plot_draw(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot_series *s,
               const struct plot_ink *ink)
{
    if (s->band && ink->opacity == 1)
        draw_band(out, x, y, s, ink->color);
    if (s->joined)
        draw_line(out, x, y, s, ink);
    for (int i = 0; ink->marks && !s->band && !s->dashed && i < s->n; i++) {
        const struct plot_point *p = &s->points[i];
        if (!plot_is_point(x, y, p))
            continue;
        if (isfinite(p->error))
            buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" class=\"k k%d\"/>\n", plot_on(x, p->x),
                       plot_on(y, fmax(p->y - p->error, y->a)), plot_on(y, p->y + p->error), ink->color);
        if (s->across && isfinite(s->across[i]))
            buf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"k k%d\"/>\n",
                       plot_on(x, fmax(p->x - s->across[i], x->a)), plot_on(y, p->y),
                       plot_on(x, fmin(p->x + s->across[i], x->b)), ink->color);
        draw_mark(out, x, y, p, ink->color, s->bars);
        if (s->named && p->name)
            plot_label(out, plot_on(x, p->x), plot_on(y, p->y) - 9, "middle", "halo", p->name);
    }
}

/* Both axes from the least to the most of either; the line where they are equal, and the band beside it. */
static void draw_equal(struct buf *out, struct plot_axis *x, struct plot_axis *y, double band)
{
    double a = x->a, b = x->b, from = x->from, to = x->to, up = y->from, down = y->to;
    double high = fmin(a + band, b), low = fmax(b - band, a);
    buf_printf(out,
               "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fH%.1fL%.1f %.1fL%.1f %.1fH%.1fZ\" class=\"band\"/>\n"
               "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"mark\"/>\n",
               from, up, from, plot_on(y, high), plot_on(x, low), down, to, to, plot_on(y, low), plot_on(x, high), up,
               from, from, up, to, down);
}

static void draw_level(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot *p)
{
    if (p->widens)
        plot_funnel(out, x, y, p->level, p->spread);
    else if (isfinite(p->level) && isfinite(p->spread))
        buf_printf(out, "<path d=\"M%.1f %.1fH%.1fV%.1fH%.1fZ\" class=\"band\"/>\n", x->from,
                   plot_on(y, p->level - p->spread), x->to, plot_on(y, p->level + p->spread), x->from);
}

/* On an edge of the funnel: sign 1 above the level, -1 below, no further than the axis goes. */
static double edge(const struct plot_axis *y, double level, double spread, double part, int sign)
{
    return plot_on(y, fmin(fmax(level + sign * spread / sqrt(part), y->a), y->b));
}

void plot_funnel(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, double level, double spread)
{
    enum { STEPS = 40 };
    const double least = fmax(x->a, 0.01 * x->b);
    if (!isfinite(level) || !isfinite(spread))
        return;
    for (int k = 0; k <= 2 * STEPS + 1; k++) {
        const int step = k <= STEPS ? k : 2 * STEPS + 1 - k;
        const double part = least + (x->b - least) * step / STEPS;
        buf_printf(out, "%s%.1f %.1f", k ? "L" : "<path d=\"M", plot_on(x, part),
                   edge(y, level, spread, part, k <= STEPS ? 1 : -1));
    }
    buf_printf(out, "Z\" class=\"band\"/>\n");
}

/* Names of points outside the band, of all where they are few, beside them where there is room. */
static void name_points(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                        const struct plot_series *s, double band)
{
    struct plot_taken taken = {0};
    for (int i = 0; i < s->n; i++)
        if (plot_is_point(x, y, &s->points[i]))
            plot_take(&taken, (struct plot_place){plot_on(x, s->points[i].x), plot_on(y, s->points[i].y)}, 8);
    for (int i = 0; i < s->n; i++) {
        const struct plot_point *p = &s->points[i];
        if (!plot_is_point(x, y, p) || !p->name || (s->n > NAMED_MOST && fabs(p->y - p->x) <= band))
            continue;
        char text[NAME_MOST + 4];
        plot_shorten(text, p->name, NAME_MOST);
        double width = PLOT_LETTER * (double)strlen(text), px = plot_on(x, p->x);
        for (int side = 1; side >= -1; side -= 2) {
            struct plot_place at = {px + side * (10 + width / 2), plot_on(y, p->y)};
            if (at.x - width / 2 < x->from || at.x + width / 2 > x->to || !plot_is_free(&taken, at, width))
                continue;
            plot_label(out, px + side * 9, at.y + 4, side > 0 ? "start" : "end", "halo", text);
            plot_take(&taken, at, width);
            break;
        }
    }
    plot_taken_free(&taken);
}

/* Axes and a height. */
struct drawing {
    struct plot_axis x, y;
    int height;
};

static bool lay_out_axes(struct drawing *d, const struct plot *p, const struct plot_series *series, int n)
{
    struct plot_axis *x = &d->x, *y = &d->y;
    *d = (struct drawing){.x.log = p->log_x, .y.log = p->log_y, .height = PLOT_HEIGHT};
    if (!plot_fit(x, y, series, n))
        return false;
    if (p->cut)
        y->b = fmin(y->b, p->most);
    plot_hold(y, p->level - p->spread);
    plot_hold(y, p->level + p->spread);
    if (p->zero)
        plot_hold(y, 0);
    if (isfinite(p->equal)) {
        x->whole = false;
        x->a = y->a = fmin(x->a, y->a);
        x->b = y->b = fmax(x->b, y->b);
        d->height = HEIGHT_EQUAL;
        y->from = d->height - PLOT_BOTTOM;
    }
    if (series[0].bars) {
        x->a -= BAR / 2;
        x->b += BAR / 2;
    }
    plot_air(x);
    plot_air(y);
    return true;
}

/* Series that have a name of their own. */
static int named(const struct plot_series *series, int n)
{
    int count = 0;
    while (count < n && !series[count].dashed)
        count++;
    return count;
}

/* Series in an order that has more of them than there are colours go from pale to dark in one. */
static struct plot_ink ink_of(const struct plot *p, const struct plot_series *series, int n, int k)
{
    const int all = named(series, n), of = series[k].dashed ? series[k].like : k;
    if (!p->ordered || all <= PLOT_COLORS)
        return (struct plot_ink){of % PLOT_COLORS, 1, true};
    return (struct plot_ink){0, PALE + (0.99 - PALE) * of / (all - 1), true};
}

/* Names to write above the drawing, [PLOT_COLORS]. Returns how many. */
static int keys_of(const struct plot *p, const struct plot_series *series, int n, const char **names)
{
    const int all = named(series, n);
    for (int k = 0; k < all && k < PLOT_COLORS; k++)
        names[k] = series[k].name;
    return all <= PLOT_COLORS ? all : p->ordered ? 0 : PLOT_COLORS;
}

static void draw(struct buf *out, const struct plot *p, const struct plot_series *series, int n, struct drawing *d)
{
    struct plot_axis *x = &d->x, *y = &d->y;
    if (isfinite(p->equal))
        draw_equal(out, x, y, p->equal);
    draw_level(out, x, y, p);
    if (p->at_points)
        plot_ticks_at(out, x, y, &series[0]);
    else
        plot_ticks(out, x, y, false);
    plot_ticks(out, x, y, true);
    for (int k = 0; k < n; k++) {
        const struct plot_ink ink = ink_of(p, series, n, k);
        plot_draw(out, x, y, &series[k], &ink);
    }
    if (isfinite(p->equal))
        name_points(out, x, y, &series[0], p->equal);
    plot_label(out, (x->from + x->to) / 2, d->height - 8, "middle", "", p->x);
    buf_printf(out, "<g transform=\"translate(13 %d) rotate(-90)\">", (PLOT_TOP + d->height - PLOT_BOTTOM) / 2);
    plot_label(out, 0, 0, "middle", "", p->y);
    buf_printf(out, "</g>\n");
}

void plot_series(struct buf *out, const struct plot *p, const struct plot_series *series, int n)
{
    struct drawing d;
    const char *names[PLOT_COLORS];
    if (!lay_out_axes(&d, p, series, n))
        return;
    const int keys = keys_of(p, series, n, names);
    plot_begin(out, p->title, p->note, names, keys, d.height);
    draw(out, p, series, n, &d);
    plot_end_saying(out, p->below);
}

void plot_put(struct plot_sheet *to, const struct plot *p, const struct plot_series *series, int n)
{
    struct drawing d;
    const char *names[PLOT_COLORS];
    if (to->page) {
        plot_series(to->page, p, series, n);
        return;
    }
    if (!lay_out_axes(&d, p, series, n))
        return;
    const int keys = keys_of(p, series, n, names);
    plot_heading(to, p->title, p->note, names, keys);
    buf_printf(&to->picture, "<g transform=\"translate(0 %.0f)\">\n", to->height);
    draw(&to->picture, p, series, n, &d);
    buf_printf(&to->picture, "</g>\n");
    to->height += d.height;
}
