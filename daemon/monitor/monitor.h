/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of the service for a monitoring system. Totals over all users, without names.
 */
#ifndef SHOAL_DAEMON_MONITOR_MONITOR_H
#define SHOAL_DAEMON_MONITOR_MONITOR_H

#include "daemon/metrics/metrics.h"
#include "daemon/service/service.h"

/* Makes a report, then calls `done` on the loop thread; the text is the caller's until it returns. */
typedef void monitor_fn(void *arg, const struct buf *text);
void monitor_report(struct service *sv, enum metrics_form form, monitor_fn *done, void *arg);

/* gauges.c: sets all gauges but the space on the disk. */
void monitor_set_gauges(const struct service *sv);

#endif
