/* SPDX-License-Identifier: Apache-2.0
 *
 * The newest checkpoints of an ensemble's replicas.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_NEWEST_H
#define SHOAL_DAEMON_WORKER_CHILDREN_NEWEST_H

#include "daemon/worker/children/description.h"
#include "daemon/worker/files/checkpoint.h"

/* Adds the replica's folder below the ensemble's. */
void newest_folder(const struct estimate_ensemble *x, int replica, struct buf *folder);
/* The newest good one of a replica, for checkpoint_close; zeroed where there is none. */
void newest_own(const struct estimate_ensemble *x, int replica, struct checkpoint *c);
/* What they say of replicas: how moves went, and which rows count. One that runs writes rows that its next start may
 * write again: those up to its newest checkpoint count. */
void newest_counts(struct estimate_request *q);

#endif
