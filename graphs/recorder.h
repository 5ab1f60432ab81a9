/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides for one tape of one replica whether to run it eagerly, build it into graphs, replay, or check it.
 *
 *   cold --run, run equal--> warm --build, readback equal--> live --every N steps--> check --equal--> live
 *     ^                                                        |                        |
 *     +------------------- recorder_epoch() -------------------+        drift: ERR_DRIFT, recorder stays failed
 *
 * On an eager device it stays cold: every tape is run as it is emitted, after comparison with the first.
 *
 * A check emits the tape afresh and compares it with the live one; compares what the graphs hold with the live tape;
 * and asks the next replay of each graph for an echo, to compare what the device ran.
 *
 * Any failure is for ever: how much was submitted is unknown then, so the caller goes back to a checkpoint.
 * The caller gives an emit function; it is called when a fresh tape is needed (reserve, cold, warm, check), never to
 * replay.
 */
#ifndef SHOAL_GRAPHS_RECORDER_H
#define SHOAL_GRAPHS_RECORDER_H

#include "graphs/check.h"
#include "graphs/dev.h"
#include "graphs/echo.h"

struct recorder;

/* The steps of a replica, over all its tapes: each of its recorders checks its own when so many have passed. */
struct recorder_clock {
    uint64_t check_every; /* replica steps between checks of a tape; 0: only when asked */
    uint64_t steps;       /* submitted by all recorders so far */
};

enum { RECORDER_REPEAT = 25 };

struct recorder_setup {
    struct dev *dev;
    struct lane *lane;
    void (*emit)(void *ctx, struct tape *t); /* appends the launches of a step to an empty tape */
    void *ctx;
    struct recorder_clock *clock; /* borrowed: the replica's */
    struct echo *echo;            /* borrowed: the lane's; NULL: nothing is heard of what the device ran */
    uint32_t repeat;              /* tapes in a graph; 0: RECORDER_REPEAT. Graphs of one do what is left over */
    const struct span *spans;     /* memory the launches may point into; borrowed, may change only at an epoch */
    uint32_t nspans;
};

int recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e);
/* Emits once, for memory that holds the tape and its echo: no later call needs to ask for any. While it is new. */
int recorder_reserve(struct recorder *r, struct err *e);
void recorder_free(struct recorder *r);
/* Submits exactly `times` executions of the tape, asynchronously. ERR_DRIFT names what changed; nothing after it is
 * submitted. A check that is due waits for the end of a graph, not for the end of the call. */
int recorder_submit(struct recorder *r, uint32_t times, struct err *e);
/* Checks now, at checkpoints and at the end: a live tape, and what was heard since. */
int recorder_check_now(struct recorder *r, struct err *e);
/* Declares a new epoch: pointers, grids and sizes may change; the next submits start cold. */
void recorder_epoch(struct recorder *r);
/* Graph nodes of the live tape. 0 while there is none. */
uint32_t recorder_nodes(const struct recorder *r);

#endif
