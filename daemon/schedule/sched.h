/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler: events in, decisions out. No I/O, no clock, no globals: time comes with the event, and the caller carries
 * out the decisions in their order (service.c). It owns the ensembles handed to it.
 *
 * 1. A worker never has more replicas than slots; a slot that becomes free is offered at once. A set of replicas gets all the
 *    slots that it needs or none; it starts, stops, yields and is blamed as a whole.
 * 2. Slots go to the owner with the fewest running replicas, then to that owner's ensemble with the fewest, then to the older
 *    submission, then to the lower replica (pack.c).
 * 3. A worker crash blames every set it had running. One that was blamed SCHED_SUSPECT times without a checkpoint between
 *    is run alone; when that goes on to crash workers for its retries more, it fails, and nobody else is hurt.
 * 4. A set that fails is tried again from its last checkpoint, `retries` times; then it is failed and its ensemble goes on.
 * 5. An ensemble whose replicas have all ended is finishing until its results are written, whatever happened to them.
 */
#ifndef SHOAL_DAEMON_SCHEDULE_SCHED_H
#define SHOAL_DAEMON_SCHEDULE_SCHED_H

#include "daemon/schedule/ensemble.h"
#include "engine/base/err.h"

#define SCHED_SUSPECT 2 /* crashes in a row that make a set suspect */

enum sched_kind {
    SCHED_ADD,       /* ensemble: submitted just now, or loaded from the database */
    SCHED_PREPARED,  /* ensemble: its folder is ready, ok; or not: message */
    SCHED_ESTIMATED, /* ensemble: results written, ok; or not: message */
    SCHED_PAUSE,     /* ensemble; also RESUME, CANCEL, RETRY: what its owner asks for */
    SCHED_RESUME,
    SCHED_CANCEL,
    SCHED_RETRY,
    SCHED_WORKER_UP,   /* worker: said hello; slots, device, model */
    SCHED_WORKER_DOWN, /* worker: ended; ok: in order, else a crash */
    SCHED_PROGRESS,    /* worker, replica, stage, step, time_ps */
    SCHED_SEGMENT,     /* worker, replica, stage, step */
    SCHED_DONE,        /* worker, replica */
    SCHED_STOPPED,     /* worker, replica */
    SCHED_FAILED,      /* worker, replica, code, message */
    SCHED_DRAIN,       /* the service stops */
    SCHED_TICK,        /* time has passed */
};

struct sched_event {
    enum sched_kind kind;
    int64_t now; /* ms */
    struct ensemble *ensemble;
    int worker, slots;
    const char *device, *model, *message;
    bool ok;
    int64_t replica; /* number */
    int stage, code;
    int64_t step;
    double time_ps;
};

enum decision_kind {
    DECIDE_PREPARE,  /* write the ensemble's input folder, then SCHED_PREPARED */
    DECIDE_START,    /* send start of the set's open replicas to `worker` */
    DECIDE_STOP,     /* send stop of the set to `worker` */
    DECIDE_DRAIN,    /* send drain to `worker` */
    DECIDE_ESTIMATE, /* write results.json, then SCHED_ESTIMATED */
    DECIDE_REPLICA,  /* the replica moved to `state`: save it, tell the watchers */
    DECIDE_ENSEMBLE, /* the ensemble moved to `state`: likewise */
};

struct decision {
    enum decision_kind kind;
    struct ensemble *ensemble;
    struct sched_replica *replica;
    struct sched_set *set;
    int worker;
    uint32_t state;
};

struct decisions {
    struct decision *item;
    int n, cap;
};

struct sched_worker {
    bool up;             /* said hello and has not ended */
    bool heard;          /* ever said hello: its model is known */
    int slots, nrunning; /* replicas, one a slot */
    int nsets;
    struct sched_set **sets; /* [slots], those that run here */
    char *device, *model;
};

struct sched {
    int nworkers;
    struct sched_worker *workers;
    int nensembles, cap;
    struct ensemble **ensembles; /* in submission order */
    bool draining;
};

void sched_init(struct sched *s, int nworkers);
void sched_close(struct sched *s);
/* 0, or ERR_CONFLICT for a wish that the ensemble's state does not allow, or ERR_PROTOCOL for a worker that speaks of a
 * replica it does not have; then nothing was changed. Appends to *out. */
int sched_step(struct sched *s, const struct sched_event *ev, struct decisions *out, struct err *e);
/* When SCHED_TICK should come next, ms; INT64_MAX: nothing waits for time to pass. */
int64_t sched_wake(const struct sched *s, int64_t now);

#endif
