/* SPDX-License-Identifier: Apache-2.0
 *
 * Worker processes: one per device, started over a socket pair (the worker's end is descriptor 3), started again with a
 * growing pause when they end, killed when they break the protocol or never speak. A worker never outlives the service:
 * it gets SIGKILL when the thread that started it dies (PR_SET_PDEATHSIG).
 *
 * A worker is down once its process has been reaped *and* its last frames have been read: what it said before it died
 * counts.
 */
#ifndef SHOAL_DAEMON_PROCESSES_SUPERVISOR_H
#define SHOAL_DAEMON_PROCESSES_SUPERVISOR_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "engine/base/err.h"
#include "engine/base/sm.h"

struct supervisor;

/* The states of a worker process; supervisor.c draws them. */
extern const struct sm_kind supervisor_process_states;

/* What the owner does with a worker's life; all on the loop thread. */
struct supervisor_ops {
    /* One frame. A failure (a protocol error) ends the worker. */
    int (*frame)(void *arg, int worker, const json_t *message, struct err *e);
    /* It ended. in_order: it was drained or had nothing to do; otherwise `how` says how it ended. */
    void (*down)(void *arg, int worker, bool in_order, const char *how);
};

struct supervisor_config {
    const char *program; /* of the worker */
    int ndevices;
    const char *const *devices; /* strings live as long as the supervisor */
    int slots;                  /* 0: the worker's choice */
    uint64_t hello_ms;          /* a worker that has said nothing for so long is killed */
};

struct supervisor *supervisor_new(uv_loop_t *loop, const struct supervisor_config *c, const struct supervisor_ops *ops,
                                  void *arg);
/* Starts every worker. */
void supervisor_start(struct supervisor *s);
/* Sends one frame; borrows it. Nothing happens when the worker is gone: its end is on the way. */
void supervisor_send(struct supervisor *s, int worker, const json_t *message);
/* No worker is started again. Those that have not said hello are killed. */
void supervisor_drain(struct supervisor *s);
void supervisor_kill(struct supervisor *s);
/* Kills one worker; it is started again. */
void supervisor_end(struct supervisor *s, int worker, const char *why);
/* Worker processes that have not ended. */
int supervisor_alive(const struct supervisor *s);
const char *supervisor_device(const struct supervisor *s, int worker);
/* Kills what lives, closes every handle; the memory goes with the last close callback. NULL is fine. */
void supervisor_close(struct supervisor *s);

#endif
