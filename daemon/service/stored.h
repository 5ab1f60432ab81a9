/* SPDX-License-Identifier: Apache-2.0
 *
 * How many bytes each ensemble has on disk: measured on the thread pool, a few at a time; those that run or have just
 * ended again and again. What is found is charged to the owner, with the ensemble's rows in the database; the scheduler
 * hears who has more than they may, and who has not any more.
 */
#ifndef SHOAL_DAEMON_SERVICE_STORED_H
#define SHOAL_DAEMON_SERVICE_STORED_H

#include "daemon/service/service.h"

#define USAGE_AT_ONCE 32

/* What rows take in the database, indexes included, rounded up. */
#define USAGE_REPLICA 512
#define USAGE_EVENT 256

struct stored {
    struct service *service;
    uv_timer_t timer;
    int64_t began, ended; /* the round, and the last one; service_clock() */
    int64_t took;         /* the last one, ms */
    int64_t after;        /* ensembles up to this number have had their turn */
    bool measuring, stopped;
    int n;
    int64_t number[USAGE_AT_ONCE], bytes[USAGE_AT_ONCE];
    char *path[USAGE_AT_ONCE];
};

/* Bytes of the ensemble in the database, but for its input files. */
int64_t stored_rows(const struct ensemble *en);
/* Bytes of the ensemble's owner have changed. */
void stored_changed(struct service *sv, struct ensemble *en);
void stored_start(struct stored *u, struct service *sv);
/* Closes its handle. */
void stored_stop(struct stored *u);

#endif
