/* SPDX-License-Identifier: Apache-2.0
 *
 * One replica from its start, or from its checkpoint, to its end: a coroutine that reports what it does to a listener.
 */
#ifndef SHOAL_DAEMON_WORKER_REPLICA_REPLICA_H
#define SHOAL_DAEMON_WORKER_REPLICA_REPLICA_H

#include "daemon/worker/device/load.h"
#include "daemon/worker/device/models.h"
#include "daemon/worker/files/outputs.h"
#include "daemon/worker/threads/co.h"
#include "daemon/worker/threads/jobs.h"

struct replica;
struct exchange;

enum report_kind {
    REPORT_PROGRESS, /* when it begins to work, then about once a second */
    REPORT_SEGMENT,  /* a checkpoint is durable */
    REPORT_EVENT,
    REPORT_DONE, /* and these three are the last */
    REPORT_STOPPED,
    REPORT_FAILED,
};

/* Valid during the call only. */
struct replica_report {
    enum report_kind kind;
    uint64_t stage, step, steps; /* step of steps over all stages */
    double time;                 /* ps of dynamics since the start */
    uint64_t switched;           /* timesteps of switches done, beside these */
    uint64_t index;              /* segment: the checkpoint's */
    const uint64_t *bytes;       /* segment: [OUTPUT_COUNT] */
    const char *event;           /* event: its kind */
    const struct err *why;       /* failed; event: its message */
};

struct replica_setup {
    struct models *models; /* of the device that its simulations begin on */
    struct jobs *jobs;     /* for whatever waits for a disk */
    const char *directory; /* of the ensemble; copied */
    uint64_t ensemble;     /* checkpoint_ensemble; 0: it has no id */
    int window;
    uint32_t replica;   /* keys the random streams */
    const char *folder; /* in the directory, copied; NULL: lambda_NN, NN = replica */
    /* Of its window's samples before the ensemble had other windows, in the directory, copied; NULL: there are none.
     * Where it has no checkpoint of its own it goes on from that one's, and begins its files with their frames'
     * energies (origin.c). */
    const char *origin;
    int ladder;     /* revision of the ensemble that made its windows what they are */
    uint64_t steps; /* its target over all stages (spec_retarget); 0: what the spec says */
    /* Of its noise, 0: none. When the newest checkpoint has a smaller one, it leads into a failure that would come
     * again bit for bit: the replica goes on from the checkpoint before, or the beginning, with this salt, and reports
     * an event. */
    uint32_t salt;
    int doublings;             /* how often its switches behind the first are twice as long (struct lengthen_rule) */
    struct exchange *exchange; /* of its set, which it joins; NULL: it stays in its window, whatever the spec says */
    struct load *load;         /* what it does is added here; NULL: nowhere */
    void (*report)(void *ctx, const struct replica *r, const struct replica_report *what); /* must not yield */
    void *ctx;
    /* NULL, or asked at the start of each stage: while false the replica waits. For benches. */
    bool (*gate)(void *ctx, const struct replica *r, uint64_t stage);
};

struct replica *replica_new(const struct replica_setup *setup);
void replica_free(struct replica *r); /* after its coroutine ended or before it began */
/* The coroutine's function; `replica` is a struct replica. Reports how it ended, always. */
void CO_FN replica_run(void *replica);
/* True when replica_run, having yielded, can go on: its ticket has arrived, its job is done. */
bool replica_ready(const void *replica);
/* Whether the device has work of it. */
bool replica_at_work(const void *replica);
/* Asks it to checkpoint at its next sync point and to end. */
void replica_stop(struct replica *r);

/* Of its ensemble, as it was given. */
const char *replica_directory(const struct replica *r);
/* Where its simulation is now, or is to begin. */
const struct dev *replica_device(const struct replica *r);
/* NULL before its first sim_new and after its end. */
const struct sim *replica_sim(const struct replica *r);
/* Timesteps that its simulation has done as far as it has said, those of switches too; it has one. */
uint64_t replica_timesteps(const struct replica *r);

#endif
