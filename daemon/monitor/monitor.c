/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/monitor/monitor.h"

#include <stdlib.h>
#include <sys/statvfs.h>

struct reporting {
    struct service *service;
    enum metrics_form form;
    monitor_fn *done;
    void *arg;
    double free_bytes; /* -1: not known */
};

/* In the thread pool: a file system may take its time. */
static void measure_space(void *arg)
{
    struct reporting *r = arg;
    struct statvfs at;
    r->free_bytes = statvfs(r->service->config.state, &at) ? -1 : (double)at.f_bavail * (double)at.f_frsize;
}

static void space_measured(void *arg)
{
    struct reporting *r = arg;
    struct metrics *m = r->service->config.metrics;
    struct buf text = {0};
    metrics_forget(m);
    monitor_set_gauges(r->service);
    if (r->free_bytes >= 0)
        metrics_set(m, METRICS_STATE_FREE, NULL, r->free_bytes);
    metrics_put(m, r->form, &text);
    r->done(r->arg, &text);
    buf_free(&text);
    free(r);
}

void monitor_report(struct service *sv, enum metrics_form form, monitor_fn *done, void *arg)
{
    struct reporting *r = xcalloc(1, sizeof *r);
    *r = (struct reporting){.service = sv, .form = form, .done = done, .arg = arg};
    service_offload(sv, measure_space, space_measured, r);
}
