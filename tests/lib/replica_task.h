/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica as a task of a runner that frees it when it has ended.
 */
#ifndef SHOAL_TESTS_LIB_REPLICA_TASK_H
#define SHOAL_TESTS_LIB_REPLICA_TASK_H

#include "daemon/worker/replica/replica.h"
#include "daemon/worker/threads/runner.h"

static inline void replica_task_ended(void *replica)
{
    replica_free(replica);
}

/* As runner_add. The replica is the runner's from now on. */
static inline int replica_task_add(struct runner *runner, struct replica *r, struct err *e)
{
    return runner_add(runner, replica_run, replica_ready, replica_task_ended, r, e);
}

#endif
