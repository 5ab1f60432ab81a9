/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/figure.h"

enum { TICKS = 6, DECADES = 8 /* numbers on a logarithmic axis, at most */ };
#define ROOM 40.0  /* of a number across */
#define AIR 0.05   /* of the whole, at either end */
#define NARROW 5.0 /* a logarithmic axis from a to so many times that has numbers like any other */
#define FEW 2.5    /* decades that have 1, 2 and 5 of each */

void plot_hold(struct plot_axis *axis, double value)
{
    if (!isfinite(value) || (axis->log && value <= 0))
        return;
    axis->whole &= value == floor(value);
    axis->a = fmin(axis->a, value);
    axis->b = fmax(axis->b, value);
}

bool plot_is_point(const struct plot_axis *x, const struct plot_axis *y, const struct plot_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && (!x->log || p->x > 0) && (!y->log || p->y > 0);
}

/* At both ends; never no width at all. */
void plot_air(struct plot_axis *axis)
{
    double air = axis->b > axis->a ? AIR * (axis->b - axis->a) : 0.5 * fmax(1, fabs(axis->a));
    double factor = axis->b > axis->a ? pow(axis->b / axis->a, AIR) : 2;
    axis->a = axis->log ? axis->a / factor : axis->a - air;
    axis->b = axis->log ? axis->b * factor : axis->b + air;
}

bool plot_fit(struct plot_axis *x, struct plot_axis *y, const struct plot_series *series, int n)
{
    *x = (struct plot_axis){INFINITY, -INFINITY, PLOT_LEFT, PLOT_WIDTH - PLOT_RIGHT, true, x->log};
    *y = (struct plot_axis){INFINITY, -INFINITY, PLOT_HEIGHT - PLOT_BOTTOM, PLOT_TOP, false, y->log};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            const struct plot_point *p = &series[k].points[i];
            if (!plot_is_point(x, y, p))
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

/* The number and its line. */
static void tick(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, bool vertical, double value)
{
    const double at = plot_on(vertical ? y : x, value);
    char number[32];
    snprintf(number, sizeof number, "%g", value + 0.0); /* no -0 */
    if (vertical)
        buf_printf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"grid\"/>\n", x->from, at, x->to);
    else
        buf_printf(out, "<path d=\"M%.1f %.1fV%.1f\" class=\"grid\"/>\n", at, y->from, y->to);
    plot_label(out, vertical ? x->from - 6 : at, vertical ? at + 4 : y->from + 18, vertical ? "end" : "middle",
               vertical ? "soft up" : "soft along", number);
}

/* Powers of ten, of few decades 2 and 5 times them too. */
static void log_ticks(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, bool vertical)
{
    static const double times[] = {1, 2, 5};
    const struct plot_axis *axis = vertical ? y : x;
    const double decades = log10(axis->b / axis->a), every = ceil(decades / DECADES);
    for (double k = floor(log10(axis->a)); k <= log10(axis->b); k++)
        for (int i = 0; i < (decades < FEW ? 3 : 1); i++) {
            const double value = times[i] * pow(10, k);
            if (fmod(k, every) == 0 && value >= axis->a && value <= axis->b)
                tick(out, x, y, vertical, value);
        }
}

void plot_ticks(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, bool vertical)
{
    const struct plot_axis *axis = vertical ? y : x;
    const double step = step_of(axis);
    if (axis->log && axis->b > NARROW * axis->a) {
        log_ticks(out, x, y, vertical);
        return;
    }
    for (double k = ceil(axis->a / step); k * step <= axis->b; k++)
        tick(out, x, y, vertical, k * step);
}

void plot_ticks_at(struct buf *out, const struct plot_axis *x, const struct plot_axis *y, const struct plot_series *s)
{
    double free_from = -INFINITY;
    for (int i = 0; i < s->n; i++) {
        if (!plot_is_point(x, y, &s->points[i]) || plot_on(x, s->points[i].x) < free_from)
            continue;
        tick(out, x, y, false, s->points[i].x);
        free_from = plot_on(x, s->points[i].x) + ROOM;
    }
}
