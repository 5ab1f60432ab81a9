/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that waits for disks or takes long (checkpoints, outputs, reading input files, making models), on threads of its
 * own, so that the thread that feeds the device never does. A coroutine hands a job over, yields, and goes on when it
 * is done.
 *
 * 1. What a job touches belongs to it until it is done: the coroutine that waits for it is the only other owner.
 * 2. A job never yields or starts another job. What it wants of the device it asks of its coroutine's thread (job_ask).
 * 3. Jobs run in any order: a coroutine that wants one after another waits for the first.
 */
#ifndef SHOAL_DAEMON_WORKER_THREADS_JOBS_H
#define SHOAL_DAEMON_WORKER_THREADS_JOBS_H

#include "daemon/worker/threads/co.h"

/* Disks are waited for apart from long reading, so that a large topology holds up no checkpoint. */
enum job_kind { JOB_DISK, JOB_READ, JOB_KINDS };

struct jobs;
struct job_errand;

/* Holds one at a time; zeroed: none. Lives where its coroutine's runner can look at it. */
struct job {
    int (*fn)(void *arg, struct err *e);
    void *arg;
    int rc;
    struct err err;
    bool pending;              /* atomic */
    struct job_errand *errand; /* atomic: asked of the coroutine's thread, which has not begun with it; NULL: none */
    struct jobs *jobs;
    struct job *next;
};

/* Starts the threads. ERR_MEMORY. */
int jobs_new(struct jobs **out, struct err *e);
/* Ends them; nothing may be pending. NULL is fine. */
void jobs_free(struct jobs *j);
/* Becomes readable when a job is done. Take the signal with jobs_heard before looking at job_pending. */
int jobs_fd(const struct jobs *j);
void jobs_heard(struct jobs *j);

/* Hands fn(arg, e) to a thread; job_finish is due. */
void job_start(struct jobs *j, struct job *job, enum job_kind kind, int (*fn)(void *arg, struct err *e), void *arg);
/* Yields until it is done. Returns what fn returned. */
int CO_FN job_finish(struct job *job, struct err *e);
/* Both. */
int CO_FN job_run(struct jobs *j, struct job *job, enum job_kind kind, int (*fn)(void *arg, struct err *e), void *arg,
                  struct err *e);
/* Called by a job: the thread of its coroutine calls fn(arg, e) in the next turn, while the job waits. Returns what fn
 * returned. */
int job_ask(struct job *job, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
/* True while job_finish can only wait: the job is not done and asks for nothing. */
bool job_pending(const struct job *job);

#endif
