/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/bench_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plot/plot.h"

/* Points of the first one's device, which are at the beginning. */
static struct plot_series series_of(const struct bench_point *points, int n)
{
    struct plot_series s = {.name = points->device, .joined = true, .named = true};
    s.points = xcalloc((size_t)n, sizeof *s.points);
    for (int i = 0; i < n && !strcmp(points[i].device, points->device); i++)
        s.points[s.n++] = (struct plot_point){points[i].x, points[i].y, NAN, *points[i].note ? points[i].note : NULL};
    return s;
}

int bench_plot(const char *path, const struct bench_picture *p, const struct bench_point *points, int n, struct err *e)
{
    struct plot_series *series = xcalloc((size_t)n, sizeof *series);
    struct plot_sheet to = {0};
    int devices = 0;
    for (int i = 0; i < n; i += series[devices++].n)
        series[devices] = series_of(points + i, n - i);
    plot_put(&to,
             &(struct plot){.title = p->title,
                            .note = "",
                            .x = p->below,
                            .y = p->beside,
                            .log_x = true,
                            .log_y = true,
                            .at_points = p->sizes,
                            .level = NAN,
                            .equal = NAN},
             series, devices);
    int rc = plot_write(&to, path, e);
    for (int k = 0; k < devices; k++)
        free(series[k].points);
    free(series);
    plot_sheet_close(&to);
    return rc;
}
