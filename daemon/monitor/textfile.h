/* SPDX-License-Identifier: Apache-2.0
 *
 * A file with metrics for the textfile collector of Prometheus' node exporter: whole at every moment, readable to all,
 * gone when the service has stopped in order.
 */
#ifndef SHOAL_DAEMON_MONITOR_TEXTFILE_H
#define SHOAL_DAEMON_MONITOR_TEXTFILE_H

#include "daemon/monitor/monitor.h"

struct textfile {
    struct service *service;
    const char *path; /* NULL: none is written */
    int every;        /* seconds from one to the next; may be set at any time */
    bool failing;     /* the last could not be written, which the log says */
    uv_timer_t timer;
};

/* `path` must outlive it; NULL: none is written. */
void textfile_open(struct textfile *t, struct service *sv, const char *path, int every);
/* The loop must then run once. */
void textfile_close(struct textfile *t);

#endif
