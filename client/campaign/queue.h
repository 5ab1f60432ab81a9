/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue of Slurm, asked by its own commands: sbatch, squeue, scancel.
 */
#ifndef SHOAL_CLIENT_CAMPAIGN_QUEUE_H
#define SHOAL_CLIENT_CAMPAIGN_QUEUE_H

#include "client/command/client.h"

/* The caller's tasks of a script in the queue: {share: "JOB_TASK"}, those that run have "" in place of it. A new
 * reference; NULL: ERR_UNREACHABLE, squeue has said why. */
json_t *queue_tasks(const char *script, struct err *e);
/* Submits a script. Appends the number of the job; ERR_UNREACHABLE: sbatch has said why not. */
int queue_submit(const char *script, struct buf *job, struct err *e);
/* Takes a task out of the queue. ERR_UNREACHABLE: scancel has said why not. */
int queue_cancel(const char *task, struct err *e);

#endif
