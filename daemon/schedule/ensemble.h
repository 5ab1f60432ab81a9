/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service knows of an ensemble and its replicas. The loop thread owns these structs: sched.c moves their states,
 * store.c saves and loads them, api*.c shows them. Times are milliseconds since 1970, UTC.
 *
 *   ensemble:  queued <-> running --> finishing --> done | failed          (retry: failed, cancelled -> queued)
 *                 \\      //  ^             ^
 *                  paused ---/ (resume)    / (its last window ended)        cancel: from any but done, failed
 *
 *   replica:   queued --> running --> done | failed | queued (retry, worker crash)
 *                 ^          |
 *                 |          v
 *                 +------ stopping --> paused | cancelled | queued          (retry: failed, cancelled -> queued)
 */
#ifndef SHOAL_DAEMON_SCHEDULE_ENSEMBLE_H
#define SHOAL_DAEMON_SCHEDULE_ENSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/sm.h"

enum ensemble_state {
#define ENSEMBLE_STATE(name, number, text) ENSEMBLE_##name = number,
#include "schemas/states.def"
#undef ENSEMBLE_STATE
};
enum replica_state {
#define REPLICA_STATE(name, number, text) REPLICA_##name = number,
#include "schemas/states.def"
#undef REPLICA_STATE
};

extern const struct sm_kind ensemble_states, replica_states;

struct replica {
    int64_t number; /* its name in frames and in the database */
    struct ensemble *ensemble;
    int window;
    struct sm sm;       /* enum replica_state */
    int failures;       /* counted against the ensemble's retries */
    int crashes;        /* worker crashes in a row, without a checkpoint between */
    int64_t not_before; /* earliest next start */
    int worker;         /* index of the worker that runs it, -1: none */
    int stage;          /* progress, as the worker last told it */
    int64_t step;
    double time_ps;
    int64_t saved_step;   /* at the last checkpoint */
    int code;             /* enum err_code of the last failure */
    char *reason;         /* of the last failure, NULL: none */
    char *device, *model; /* where it ran last, NULL: nowhere yet */
};

struct ensemble {
    int64_t number; /* submission order */
    char id[16];    /* what users see */
    uint32_t owner; /* uid */
    char *key;      /* the owner's own name for the submission, NULL: none */
    char hash[65];  /* SHA-256 of everything submitted, hex */
    char *name;
    char *spec_name;
    int64_t atoms, steps; /* steps of one replica over all stages */
    int stages, retries;
    struct sm sm; /* enum ensemble_state */
    char *reason; /* why it failed or waits, NULL: none */
    int64_t created, changed;
    int64_t seq; /* of its newest event */
    int nreplicas;
    struct replica *replicas; /* one a window, in their order */
    bool prepared;            /* its folder holds the input files */
    bool preparing;           /* they are being written */
    int64_t prepare_after;    /* earliest next attempt to write them */
    bool estimating;          /* results.json is being written */
};

/* A queued ensemble with `nreplicas` queued replicas, numbered from `first_replica`. */
struct ensemble *ensemble_new(int nreplicas, int64_t first_replica);
void ensemble_free(struct ensemble *e);
/* Whether nothing more happens to it by itself. */
bool ensemble_ended(const struct ensemble *e);
int ensemble_count(const struct ensemble *e, enum replica_state state);
/* Replaces an owned string; `value` may be NULL. */
void ensemble_string(char **slot, const char *value);

#endif
