/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/bench_plot.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/buf.h"

enum { WIDTH = 720, HEIGHT = 440, LEFT = 76, RIGHT = 120, TOP = 44, BOTTOM = 56 };

static const char *const colors[] = {"#0b6e4f", "#9a3412", "#1d4ed8", "#6b21a8"};

/* A logarithmic axis from a to b, drawn from pixel `from` to `to`. */
struct axis {
    double a, b, from, to;
};

static double on(const struct axis *axis, double value)
{
    return axis->from + (axis->to - axis->from) * log(value / axis->a) / log(axis->b / axis->a);
}

static void text(struct buf *b, double x, double y, const char *anchor, const char *what)
{
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *what; what++)
        if (*what == '&' || *what == '<')
            buf_printf(b, "&#%d;", *what);
        else
            buf_add(b, what, 1);
    buf_printf(b, "</text>\n");
}

static void line(struct buf *b, double x0, double y0, double x1, double y1)
{
    buf_printf(b, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#ccc\"/>\n", x0, y0, x1, y1);
}

/* Lines and numbers at the powers of `base` inside. */
static void ticks(struct buf *b, const struct axis *x, const struct axis *y, bool vertical)
{
    const struct axis *axis = vertical ? y : x;
    const double base = vertical ? 10 : 2;
    for (double value = pow(base, ceil(log(axis->a) / log(base) - 1e-9)); value <= axis->b * (1 + 1e-9);
         value *= base) {
        char number[32];
        snprintf(number, sizeof number, "%g", value);
        if (vertical) {
            line(b, x->from, on(y, value), x->to, on(y, value));
            text(b, x->from - 8, on(y, value) + 4, "end", number);
        } else {
            line(b, on(x, value), y->from, on(x, value), y->to);
            text(b, on(x, value), y->from + 18, "middle", number);
        }
    }
}

static void series(struct buf *b, const struct axis *x, const struct axis *y, const struct bench_point *points, int n,
                   const char *color)
{
    buf_printf(b, "<path fill=\"none\" stroke-width=\"2\" stroke=\"%s\" d=\"", color);
    for (int i = 0; i < n; i++)
        buf_printf(b, "%c%.1f %.1f", i ? 'L' : 'M', on(x, points[i].replicas), on(y, points[i].us));
    buf_printf(b, "\"/>\n");
    for (int i = 0; i < n; i++)
        buf_printf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", on(x, points[i].replicas),
                   on(y, points[i].us), color);
    text(b, on(x, points[n - 1].replicas) + 10, on(y, points[n - 1].us) + 4, "start", points[0].device);
}

int bench_plot(const char *path, const char *title, const struct bench_point *points, int n, struct err *e)
{
    struct axis x = {1, 2, LEFT, WIDTH - RIGHT}, y = {INFINITY, 0, HEIGHT - BOTTOM, TOP};
    struct buf b = {0};
    for (int i = 0; i < n; i++) {
        x.b = fmax(x.b, points[i].replicas);
        y.a = fmin(y.a, pow(10, floor(log10(points[i].us))));
        y.b = fmax(y.b, pow(10, ceil(log10(points[i].us) + 1e-9)));
    }
    buf_printf(&b,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
               "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               WIDTH, HEIGHT);
    ticks(&b, &x, &y, false);
    ticks(&b, &x, &y, true);
    text(&b, LEFT, TOP - 18, "start", title);
    text(&b, 0.5 * (x.from + x.to), HEIGHT - 14, "middle", "replicas on the device");
    text(&b, 12, TOP - 2, "start", "us per replica-step");
    for (int i = 0, color = 0; i < n; color++) {
        int first = i;
        while (i < n && !strcmp(points[i].device, points[first].device))
            i++;
        series(&b, &x, &y, points + first, i - first, colors[color % 4]);
    }
    buf_printf(&b, "</svg>\n");
    int rc = buf_write_file(path, b.data, b.len, e);
    buf_free(&b);
    return rc;
}
