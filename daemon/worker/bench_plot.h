/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a sweep: cost of a replica's step against the number of replicas, both logarithmic, a line for each device.
 */
#ifndef SHOAL_DAEMON_WORKER_BENCH_PLOT_H
#define SHOAL_DAEMON_WORKER_BENCH_PLOT_H

#include "engine/base/err.h"

struct bench_point {
    const char *device;
    unsigned replicas;
    double us; /* a replica-step */
};

/* Writes path as SVG. Points of one device stand together, by rising replicas. ERR_IO. */
int bench_plot(const char *path, const char *title, const struct bench_point *points, int n, struct err *e);

#endif
