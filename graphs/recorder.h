/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides for one tape of one replica whether to run it eagerly, build it into a graph, replay, or check it.
 *
 *   cold --run, run equal--> warm --build, readback equal--> live --every N steps--> check --equal--> live
 *     ^                                                        |                        |
 *     +------------------- recorder_epoch() -------------------+        drift: ERR_DRIFT, recorder stays failed
 *
 * Any failure is for ever: how much was submitted is unknown then, so the caller goes back to a checkpoint.
 * The caller gives an emit function; it is called when a fresh tape is needed (cold, warm, check), never to replay.
 */
#ifndef SHOAL_GRAPHS_RECORDER_H
#define SHOAL_GRAPHS_RECORDER_H

#include "graphs/check.h"
#include "graphs/dev.h"

struct recorder;

struct recorder_setup {
    struct dev *dev;
    struct lane *lane;
    void (*emit)(void *ctx, struct tape *t); /* appends one timestep's launches to an empty tape */
    void *ctx;
    uint64_t check_every;     /* steps between re-captures; 0: never */
    const struct span *spans; /* memory the launches may point into; borrowed, may change only at an epoch */
    uint32_t nspans;
};

int recorder_new(struct recorder **out, const struct recorder_setup *setup, struct err *e);
void recorder_free(struct recorder *r);
/* Submits `steps` executions of the tape, asynchronously. ERR_DRIFT names what changed; nothing after it is submitted.
 */
int recorder_submit(struct recorder *r, uint32_t steps, struct err *e);
/* Declares a new epoch: pointers, grids and sizes may change; the next submits start cold. */
void recorder_epoch(struct recorder *r);
/* Launches in the live tape: kernel nodes per step. 0 while there is none. */
uint32_t recorder_nodes(const struct recorder *r);

#endif
