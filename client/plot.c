/* SPDX-License-Identifier: Apache-2.0 */
#include "client/plot.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 640,
    HEIGHT = 320,
    LEFT = 70,
    RIGHT = 20,
    TOP = 30,
    BOTTOM = 48,
    CELL_MOST = 28,
    LEGEND = 66,
    TICKS = 6
};

static const char *const colors[] = {"#0b6e4f", "#9a3412", "#1d4ed8", "#6b21a8", "#92400e", "#334155"};
enum { COLORS = sizeof colors / sizeof *colors };

void plot_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("&<>\"'", *text))
            buf_printf(out, "&#%d;", *text);
        else if ((unsigned char)*text < ' ' && *text != '\n')
            buf_printf(out, "?");
        else
            buf_add(out, text, 1);
    }
}

static void label(struct buf *out, double x, double y, const char *anchor, const char *color, const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, color);
    plot_text(out, text);
    buf_printf(out, "</text>\n");
}

static void begin(struct buf *out, const char *title, double width, double height)
{
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\">\n<title>",
               width, height, width, height);
    plot_text(out, title);
    buf_printf(out, "</title>\n");
    label(out, LEFT, 18, "start", "#000", title);
}

/* ---- points ---- */

/* Values from a to b, drawn from pixel `from` to `to`. */
struct axis {
    double a, b, from, to;
    bool whole; /* all of them are whole numbers */
};

static double on(const struct axis *axis, double value)
{
    return axis->from + (axis->to - axis->from) * (value - axis->a) / (axis->b - axis->a);
}

static void hold(struct axis *axis, double value)
{
    if (!isfinite(value))
        return;
    axis->whole &= value == floor(value);
    axis->a = fmin(axis->a, value);
    axis->b = fmax(axis->b, value);
}

static bool is_point(const struct plot_point *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

/* A little air at both ends; never no width at all. */
static void widen(struct axis *axis)
{
    double air = axis->b > axis->a ? 0.05 * (axis->b - axis->a) : 0.5 * fmax(1, fabs(axis->a));
    axis->a -= air;
    axis->b += air;
}

/* 1, 2 or 5 times a power of ten. */
static double step_of(const struct axis *axis)
{
    double rough = (axis->b - axis->a) / TICKS, power = pow(10, floor(log10(rough))), n = rough / power;
    double step = power * (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10);
    return axis->whole && step < 1 ? 1 : step;
}

static void ticks(struct buf *out, const struct axis *x, const struct axis *y, bool vertical)
{
    const struct axis *axis = vertical ? y : x;
    double step = step_of(axis);
    for (double k = ceil(axis->a / step); k * step <= axis->b; k++) {
        double at = on(axis, k * step);
        char number[32];
        snprintf(number, sizeof number, "%g", k * step + 0.0); /* no -0 */
        if (vertical)
            buf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", x->from, at, x->to);
        else
            buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#ddd\"/>\n", at, y->from, y->to);
        label(out, vertical ? x->from - 6 : at, vertical ? at + 4 : y->from + 16, vertical ? "end" : "middle", "#444",
              number);
    }
}

static void draw(struct buf *out, const struct axis *x, const struct axis *y, const struct plot_series *s,
                 const char *color)
{
    bool begun = false;
    buf_printf(out, "<path d=\"");
    for (int i = 0; s->joined && i < s->n; i++)
        if (is_point(&s->points[i])) {
            buf_printf(out, "%c%.1f %.1f", begun ? 'L' : 'M', on(x, s->points[i].x), on(y, s->points[i].y));
            begun = true;
        }
    buf_printf(out, "\" stroke=\"%s\" fill=\"none\"/>\n", color);
    for (int i = 0; i < s->n; i++) {
        const struct plot_point *p = &s->points[i];
        if (!is_point(p))
            continue;
        if (isfinite(p->error))
            buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>\n", on(x, p->x), on(y, p->y - p->error),
                       on(y, p->y + p->error), color);
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", on(x, p->x), on(y, p->y), color);
    }
}

void plot_series(struct buf *out, const char *title, const char *x, const char *y, const struct plot_series *series,
                 int n, bool zero)
{
    struct axis across = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, true},
                up = {INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, false};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            const struct plot_point *p = &series[k].points[i];
            if (!is_point(p))
                continue;
            hold(&across, p->x);
            hold(&up, p->y);
            hold(&up, p->y - p->error);
            hold(&up, p->y + p->error);
        }
    if (!(across.a <= across.b))
        return;
    if (zero)
        hold(&up, 0);
    widen(&across);
    widen(&up);
    begin(out, title, WIDTH, HEIGHT);
    ticks(out, &across, &up, false);
    ticks(out, &across, &up, true);
    for (int k = 0; k < n; k++) {
        draw(out, &across, &up, &series[k], colors[k % COLORS]);
        label(out, WIDTH - RIGHT - LEGEND * (n - 1 - k), 18, "end", colors[k % COLORS], series[k].name);
    }
    label(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", "#000", x);
    buf_printf(out, "<g transform=\"translate(14 %d) rotate(-90)\">", (TOP + HEIGHT - BOTTOM) / 2);
    label(out, 0, 0, "middle", "#000", y);
    buf_printf(out, "</g>\n</svg>\n");
}

/* ---- a matrix ---- */

void plot_matrix(struct buf *out, const char *title, const char *below, const double *matrix, int n)
{
    double cell = fmin(CELL_MOST, (double)(WIDTH - LEFT - RIGHT) / n);
    begin(out, title, WIDTH, TOP + cell * n + 24);
    for (int i = 0; i < n * n; i++) {
        double x = LEFT + cell * (i % n), y = TOP + cell * (double)(i / n), value = fmax(0, fmin(1, matrix[i]));
        if (!isfinite(matrix[i]))
            continue;
        buf_printf(out,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#0b6e4f\" fill-opacity=\"%.3f\" "
                   "stroke=\"#eee\">",
                   x, y, cell, cell, value);
        buf_printf(out, "<title>%d, %d: %.3f</title></rect>\n", i / n, i % n, matrix[i]);
        if (cell >= 22 && matrix[i] >= 0.005) {
            buf_printf(out,
                       "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"9\" fill=\"%s\">%.2f</text>\n",
                       x + cell / 2, y + cell / 2 + 3, value > 0.5 ? "#fff" : "#000", matrix[i]);
        }
    }
    label(out, LEFT, TOP + cell * n + 16, "start", "#444", below);
    buf_printf(out, "</svg>\n");
}

/* ---- a network ---- */

struct place {
    double x, y;
};

static struct place place_of(int i, int n, double radius, double middle)
{
    double turn = 2 * M_PI * i / n - M_PI / 2;
    return (struct place){WIDTH / 2.0 + radius * cos(turn), middle + radius * sin(turn)};
}

static const char *strain_color(double strain)
{
    return isnan(strain) ? "#94a3b8" : strain < 1 ? "#0b6e4f" : strain < 2 ? "#b45309" : "#b91c1c";
}

static void draw_edge(struct buf *out, const struct plot_edge *e, const char *const *nodes, struct place a,
                      struct place b)
{
    buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%g\"><title>", a.x, a.y, b.x, b.y,
               strain_color(e->strain), e->strain >= 2 ? 3.0 : 1.5);
    plot_text(out, nodes[e->i]);
    buf_printf(out, " to ");
    plot_text(out, nodes[e->j]);
    buf_printf(out, ": %.2f +- %.2f</title></path>\n", e->value, e->error);
}

/* Its value, on white where it lies on lines. */
static void label_edge(struct buf *out, double value, struct place a, struct place b)
{
    buf_printf(
        out,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"9\" paint-order=\"stroke\" stroke=\"#fff\" "
        "stroke-width=\"3\">%.2f</text>\n",
        (a.x + b.x) / 2, (a.y + b.y) / 2 + 3, value);
}

void plot_network(struct buf *out, const char *title, const char *const *nodes, int n, const struct plot_edge *edges,
                  int nedges)
{
    enum { LABELLED = 60 };
    double radius = WIDTH / 2.0 - 110, middle = TOP + 30 + radius;
    begin(out, title, WIDTH, 2 * middle);
    for (int k = 0; k < nedges; k++)
        draw_edge(out, &edges[k], nodes, place_of(edges[k].i, n, radius, middle),
                  place_of(edges[k].j, n, radius, middle));
    for (int k = 0; k < nedges && nedges <= LABELLED; k++)
        label_edge(out, edges[k].value, place_of(edges[k].i, n, radius, middle),
                   place_of(edges[k].j, n, radius, middle));
    for (int i = 0; i < n; i++) {
        struct place p = place_of(i, n, radius, middle), outside = place_of(i, n, radius + 10, middle);
        const char *anchor = outside.x > p.x + 3 ? "start" : outside.x < p.x - 3 ? "end" : "middle";
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1e293b\"/>\n", p.x, p.y);
        label(out, outside.x, outside.y + 4, anchor, "#000", nodes[i]);
    }
    label(out, LEFT, 2 * middle - 8, "start", "#444",
          "green: loops close within their error; amber: within two; red: not; grey: in no loop");
    buf_printf(out, "</svg>\n");
}

/* ---- pages ---- */

void plot_page_begin(struct buf *out, const char *title)
{
    buf_printf(out,
               "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
               "charset=\"utf-8\"/>\n"
               "<style>body{font:14px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}pre{overflow-x:auto}"
               "svg{display:block;margin:1.5em 0;max-width:100%%;height:auto;font:11px sans-serif}</style>\n<title>");
    plot_text(out, title);
    buf_printf(out, "</title>\n</head>\n<body>\n<h1>");
    plot_text(out, title);
    buf_printf(out, "</h1>\n");
}

void plot_page_end(struct buf *out)
{
    buf_printf(out, "</body>\n</html>\n");
}
