/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the replicas of a worker's devices going: whichever ticket has arrived, or job is done, its coroutine is
 * resumed. Replicas of any number of ensembles run interleaved; each has its own lane, so their work overlaps on the
 * device.
 */
#ifndef SHOAL_DAEMON_WORKER_THREADS_RUNNER_H
#define SHOAL_DAEMON_WORKER_THREADS_RUNNER_H

#include <poll.h>

#include "daemon/worker/threads/co.h"
#include "daemon/worker/threads/jobs.h"
#include "graphs/dev.h"
#include "graphs/poll_pace.h"

enum { RUNNER_DEVICES = 16 };

struct task; /* a coroutine known to the runner */

/* Zeroed but for dev and jobs is valid and empty. */
struct runner {
    struct dev *dev[RUNNER_DEVICES + 1]; /* up to the first NULL */
    struct pace pace;                    /* of looks at several devices that have no descriptor */
    struct jobs *jobs;                   /* that its coroutines wait for; NULL: none do */
    struct task *first, **last;
    unsigned count; /* tasks that have not ended */
    /* NULL, or whether a device has work of a task: then `busy` is counted. */
    bool (*at_work)(const void *arg);
    unsigned width; /* with so many at work the devices are as busy as can be */
    double busy;    /* seconds, so far: those with fewer at work count in part */
    unsigned begun; /* tasks that ever began */
    unsigned seen;  /* at work at the last look, when the clock showed: */
    double looked;
};

/* A new coroutine, fn(arg), first resumed in the next turn. ready(arg) says whether it can go on after a yield;
 * ended(arg) is called from the runner's own stack after fn has returned. */
int runner_add(struct runner *r, void(CO_FN *fn)(void *arg), bool (*ready)(const void *arg), void (*ended)(void *arg),
               void *arg, struct err *e);

/* `busy` up to now. */
double runner_busy(struct runner *r);

/* Waits until a ticket may have arrived or a job is done, one of the caller's descriptors is ready (fds, their revents
 * set), or timeout_ms has passed (-1: no limit); then resumes every coroutine that can go on, once. ERR_DEVICE: a
 * device is lost: the process ends then, and what a replica has said of it is not passed on. */
int runner_turn(struct runner *r, struct pollfd *fds, unsigned nfds, int timeout_ms, struct err *e);

#endif
