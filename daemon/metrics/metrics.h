/* SPDX-License-Identifier: Apache-2.0
 *
 * What a monitoring system is told: families of numbers with labels, which families.def declares. Counters and
 * histograms are counted where things happen and only grow; gauges are set before each report (daemon/monitor/).
 *
 * One thread only.
 */
#ifndef SHOAL_DAEMON_METRICS_METRICS_H
#define SHOAL_DAEMON_METRICS_METRICS_H

#include "engine/base/buf.h"

enum metrics_family {
#define FAMILY(symbol, kind, name, labels, help) METRICS_##symbol,
#define HISTOGRAM(symbol, name, help, ...) METRICS_##symbol,
#include "daemon/metrics/families.def"
#undef FAMILY
#undef HISTOGRAM
    METRICS_FAMILIES
};

enum metrics_form {
    METRICS_OPEN, /* OpenMetrics 1.0 */
    METRICS_TEXT, /* the older text format of Prometheus, which the node exporter and promtool read */
};

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
/* Adds to a counter, which is there from its first call on, also where that adds 0. `value`: of its label. */
void metrics_add(struct metrics *m, enum metrics_family f, const char *value, double more);
/* Puts a number into a histogram without labels. */
void metrics_observe(struct metrics *m, enum metrics_family f, double x);
/* Sets a gauge or an info; `values`: of its labels, as many as it has. */
void metrics_set(struct metrics *m, enum metrics_family f, const char *const *values, double x);
/* Forgets all gauges and infos: what is set no more is not there. */
void metrics_forget(struct metrics *m);
/* Appends all families. */
void metrics_put(const struct metrics *m, enum metrics_form form, struct buf *out);

#endif
