/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/bench_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"

/* Points of the device of the first one, which stand at the beginning. */
static struct plot_series series_of(const struct bench_point *points, int n)
{
    struct plot_series s = {.name = points->device, .joined = true};
    s.points = xcalloc((size_t)n, sizeof *s.points);
    for (int i = 0; i < n && !strcmp(points[i].device, points->device); i++)
        s.points[s.n++] = (struct plot_point){points[i].replicas, points[i].us, NAN, NULL};
    return s;
}

int bench_plot(const char *path, const char *title, const struct bench_point *points, int n, struct err *e)
{
    struct plot_series *series = xcalloc((size_t)n, sizeof *series);
    struct plot_sheet to = {0};
    int devices = 0;
    for (int i = 0; i < n; i += series[devices++].n)
        series[devices] = series_of(points + i, n - i);
    plot_put(&to,
             &(struct plot){.title = title,
                            .note = "",
                            .x = "replicas on the device",
                            .y = "us per replica-step",
                            .log_x = true,
                            .log_y = true,
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
