/* SPDX-License-Identifier: Apache-2.0 */
#include "client/plot.h"

#include <math.h>
#include <string.h>

#include "client/plot_parts.h"

enum {
    HEIGHT = 320,
    HEIGHT_EQUAL = 460,
    LEFT = 68,
    RIGHT = 14,
    TOP = 12,
    BOTTOM = 48,
    TICKS = 6,
    COLORS = 6,
    NAME_MOST = 24
};
#define BAR 0.7 /* of the way from one to the next */

void plot_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (!strncmp(text, "+- ", 3)) {
            buf_printf(out, "\xc2\xb1");
            text++;
        } else if (strchr("&<>\"'", *text))
            buf_printf(out, "&#%d;", *text);
        else if ((unsigned char)*text < ' ' && *text != '\n')
            buf_printf(out, "?");
        else
            buf_add(out, text, 1);
    }
}

void plot_label(struct buf *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
    plot_text(out, text);
    buf_printf(out, "</text>\n");
}

void plot_shorten(char *text, const char *name, int most)
{
    bool cut = strlen(name) > (size_t)most;
    snprintf(text, (size_t)most + 4, "%.*s%s", most, name, cut ? "\xe2\x80\xa6" : "");
}

static void begin(struct buf *out, const char *class, const char *title, const char *note, const char *const *names,
                  int n, double width, double height)
{
    buf_printf(out, "<figure class=\"%s\"><figcaption><b>", class);
    plot_text(out, title);
    buf_printf(out, "</b> ");
    for (int k = 0; n > 1 && k < n; k++) {
        buf_printf(out, "<span class=\"key k%d\">", k % COLORS);
        plot_text(out, names[k]);
        buf_printf(out, "</span> ");
    }
    buf_printf(out, "<span>");
    plot_text(out, note);
    buf_printf(out,
               "</span></figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\">\n<title>",
               width, height);
    plot_text(out, title);
    buf_printf(out, "</title>\n");
}

void plot_begin(struct buf *out, const char *title, const char *note, const char *const *names, int n, double height)
{
    begin(out, "", title, note, names, n, PLOT_WIDTH, height);
}

void plot_begin_broad(struct buf *out, const char *title, const char *note, double width, double height)
{
    begin(out, "wide broad", title, note, NULL, 0, width, height);
}

void plot_end(struct buf *out)
{
    plot_end_saying(out, NULL);
}

void plot_end_saying(struct buf *out, const char *sentence)
{
    buf_printf(out, "</svg>");
    if (sentence) {
        buf_printf(out, "<p>");
        plot_text(out, sentence);
        buf_printf(out, "</p>");
    }
    buf_printf(out, "</figure>\n");
}

/* ---- axes ---- */

void plot_hold(struct plot_axis *axis, double value)
{
    if (!isfinite(value))
        return;
    axis->whole &= value == floor(value);
    axis->a = fmin(axis->a, value);
    axis->b = fmax(axis->b, value);
}

bool plot_is_point(const struct plot_point *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

/* At both ends; never no width at all. */
void plot_air(struct plot_axis *axis)
{
    double air = axis->b > axis->a ? 0.05 * (axis->b - axis->a) : 0.5 * fmax(1, fabs(axis->a));
    axis->a -= air;
    axis->b += air;
}

bool plot_fit(struct plot_axis *x, struct plot_axis *y, const struct plot_series *series, int n)
{
    *x = (struct plot_axis){INFINITY, -INFINITY, LEFT, PLOT_WIDTH - RIGHT, true};
    *y = (struct plot_axis){INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, false};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            const struct plot_point *p = &series[k].points[i];
            if (!plot_is_point(p))
                continue;
            plot_hold(x, p->x);
            plot_hold(y, p->y);
            plot_hold(y, p->y - p->error);
            plot_hold(y, p->y + p->error);
        }
    return x->a <= x->b;
}

/* 1, 2 or 5 times a power of ten. */
static double step_of(const struct plot_axis *axis)
{
    double rough = (axis->b - axis->a) / TICKS, power = pow(10, floor(log10(rough))), n = rough / power;
    double step = power * (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10);
    return axis->whole && step < 1 ? 1 : step;
}

void plot_ticks(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, bool vertical)
{
    const struct plot_axis *axis = vertical ? y : x;
    double step = step_of(axis);
    for (double k = ceil(axis->a / step); k * step <= axis->b; k++) {
        double at = plot_on(axis, k * step);
        char number[32];
        snprintf(number, sizeof number, "%g", k * step + 0.0); /* no -0 */
        if (vertical)
            buf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"grid\"/>\n", x->from, at, x->to);
        else
            buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" class=\"grid\"/>\n", at, y->from, y->to);
        plot_label(out, vertical ? x->from - 6 : at, vertical ? at + 4 : y->from + 18, vertical ? "end" : "middle",
                   vertical ? "soft up" : "soft along", number);
    }
}

/* ---- series ---- */

static void draw_line(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                      const struct plot_series *s, int k)
{
    char step = 'M';
    buf_printf(out, "<path d=\"");
    for (int i = 0; i < s->n; i++)
        if (plot_is_point(&s->points[i])) {
            buf_printf(out, "%c%.1f %.1f", step, plot_on(x, s->points[i].x), plot_on(y, s->points[i].y));
            step = 'L';
        }
    buf_printf(out, "\" class=\"k k%d\"/>\n", k % COLORS);
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
               int k, bool marks)
{
    if (s->joined)
        draw_line(out, x, y, s, k);
    for (int i = 0; marks && i < s->n; i++) {
        const struct plot_point *p = &s->points[i];
        if (!plot_is_point(p))
            continue;
        if (isfinite(p->error))
            buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" class=\"k k%d\"/>\n", plot_on(x, p->x),
                       plot_on(y, p->y - p->error), plot_on(y, p->y + p->error), k % COLORS);
        draw_mark(out, x, y, p, k % COLORS, s->bars);
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
    if (isfinite(p->level) && isfinite(p->spread))
        buf_printf(out, "<path d=\"M%.1f %.1fH%.1fV%.1fH%.1fZ\" class=\"band\"/>\n", x->from,
                   plot_on(y, p->level - p->spread), x->to, plot_on(y, p->level + p->spread), x->from);
}

/* Names of points outside the band, beside them where there is room. */
static void name_outliers(struct buf *out, const struct plot_axis *x, const struct plot_axis *y,
                          const struct plot_series *s, double band)
{
    struct plot_taken taken = {0};
    for (int i = 0; i < s->n; i++)
        if (plot_is_point(&s->points[i]))
            plot_take(&taken, (struct plot_place){plot_on(x, s->points[i].x), plot_on(y, s->points[i].y)}, 8);
    for (int i = 0; i < s->n; i++) {
        const struct plot_point *p = &s->points[i];
        if (!plot_is_point(p) || !p->name || fabs(p->y - p->x) <= band)
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

void plot_series(struct buf *out, const struct plot *p, const struct plot_series *series, int n)
{
    struct plot_axis x, y;
    const char *names[COLORS];
    int height = HEIGHT;
    if (!plot_fit(&x, &y, series, n))
        return;
    plot_hold(&y, p->level - p->spread);
    plot_hold(&y, p->level + p->spread);
    if (p->zero)
        plot_hold(&y, 0);
    if (isfinite(p->equal)) {
        x.whole = false;
        x.a = y.a = fmin(x.a, y.a);
        x.b = y.b = fmax(x.b, y.b);
        height = HEIGHT_EQUAL;
        y.from = height - BOTTOM;
    }
    if (series[0].bars) {
        x.a -= BAR / 2;
        x.b += BAR / 2;
    }
    plot_air(&x);
    plot_air(&y);
    for (int k = 0; k < n && k < COLORS; k++)
        names[k] = series[k].name;
    plot_begin(out, p->title, p->note, names, n < COLORS ? n : COLORS, height);
    if (isfinite(p->equal))
        draw_equal(out, &x, &y, p->equal);
    draw_level(out, &x, &y, p);
    plot_ticks(out, &x, &y, false);
    plot_ticks(out, &x, &y, true);
    for (int k = 0; k < n; k++)
        plot_draw(out, &x, &y, &series[k], k, true);
    if (isfinite(p->equal))
        name_outliers(out, &x, &y, &series[0], p->equal);
    plot_label(out, (x.from + x.to) / 2, height - 8, "middle", "", p->x);
    buf_printf(out, "<g transform=\"translate(15 %d) rotate(-90)\">", (TOP + height - BOTTOM) / 2);
    plot_label(out, 0, 0, "middle", "", p->y);
    buf_printf(out, "</g>\n");
    plot_end_saying(out, p->below);
}
