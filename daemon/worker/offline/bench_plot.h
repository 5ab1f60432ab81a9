/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of what was measured: both axes logarithmic, a line for each device.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_BENCH_PLOT_H
#define SHOAL_DAEMON_WORKER_OFFLINE_BENCH_PLOT_H

#include <stdbool.h>

#include "engine/base/err.h"

struct bench_point {
    const char *device;
    double x, y;
    char note[16]; /* above it; "": none */
};

struct bench_picture {
    const char *title;
    const char *below, *beside; /* what x and y are */
    bool sizes;                 /* x is marked at the points, not at round numbers */
};

/* Writes path as SVG. Points of one device are in one block, by rising x. ERR_IO. */
int bench_plot(const char *path, const struct bench_picture *p, const struct bench_point *points, int n, struct err *e);

#endif
