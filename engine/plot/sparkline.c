/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "engine/plot/figure.h"

enum { SMALL_WIDTH = 200, SMALL_HEIGHT = 50 };

static void begin_sparkline(struct buf *out, const char *title)
{
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
               "role=\"img\" class=\"k0\"><title>",
               SMALL_WIDTH, SMALL_HEIGHT);
    plot_text(out, title);
    buf_printf(out, "</title>");
}

/* What lies outside is drawn at the edge. */
static double within(const struct plot_axis *axis, double value)
{
    return plot_on(axis, fmax(axis->a, fmin(axis->b, value)));
}

void plot_small(struct buf *out, const char *title, const struct plot_small *s, const struct plot_bin *bins, int n)
{
    struct plot_axis x = {s->a, s->b, 0, SMALL_WIDTH, false, false},
                     y = {s->low, s->high, SMALL_HEIGHT, 0, false, false};
    plot_air(&y);
    if (!(x.b > x.a))
        x.b = x.a + 1;
    begin_sparkline(out, title);
    if (s->a < 0)
        buf_printf(out, "<path d=\"M0 0H%.1fV%dH0Z\" class=\"early\"/>", within(&x, 0), SMALL_HEIGHT);
    if (isfinite(s->target))
        buf_printf(out, "<path d=\"M0 %.1fH%d\" class=\"mark\"/>", within(&y, s->target), SMALL_WIDTH);
    buf_printf(out, "<path d=\"");
    for (int i = 0; i < n; i++)
        buf_printf(out, "%c%.1f %.1fH%.1f", i ? 'L' : 'M', within(&x, bins[i].from), within(&y, bins[i].most),
                   within(&x, bins[i].to));
    for (int i = n - 1; i >= 0; i--)
        buf_printf(out, "L%.1f %.1fH%.1f", within(&x, bins[i].to), within(&y, bins[i].least), within(&x, bins[i].from));
    buf_printf(out, "Z\" class=\"band\"/><path d=\"");
    for (int i = 0; i < n; i++)
        buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', within(&x, (bins[i].from + bins[i].to) / 2),
                   within(&y, bins[i].mean));
    buf_printf(out, "\" class=\"k\"/></svg>");
}

void plot_small_curves(struct buf *out, const char *title, const struct plot_series *series, int n, double level,
                       double spread)
{
    struct plot_axis x = {0}, y = {0};
    if (!plot_fit(&x, &y, series, n))
        return;
    plot_hold(&y, level - spread);
    plot_hold(&y, level + spread);
    plot_air(&y);
    plot_air(&x);
    x.from = 0, x.to = SMALL_WIDTH, y.from = SMALL_HEIGHT, y.to = 0;
    begin_sparkline(out, title);
    plot_funnel(out, &x, &y, level, spread);
    for (int k = 0; k < n; k++)
        plot_draw(out, &x, &y, &series[k], &(struct plot_ink){k, 1, false});
    buf_printf(out, "</svg>");
}
