/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service knows of an ensemble and its replicas. The loop thread owns these structs: sched.c moves their
 * states, the store saves and loads them, the API shows them. Times are milliseconds since 1970, UTC, where they are
 * shown.
 *
 * A window has one replica for each repeat. Replicas are run in sets: a set gets its slots, starts, stops, yields and
 * is blamed as a whole. Replicas that never meet are sets of one; those that exchange windows are one set.
 *
 *   ensemble:  queued <-> running --> finishing --> done | failed          (retry: failed, cancelled -> queued)
 *                 \\      //  ^             ^                                 (extend: done, failed -> queued)
 *                  paused ---/ (resume)    / (its last replica ended)       cancel: from any but done, failed
 *                                                                           (reestimate: done, failed -> finishing)
 *
 *   replica:   queued --> running --> done | failed | queued (retry, worker crash)
 *                 ^          |
 *                 |          v
 *                 +------ stopping --> paused | cancelled | queued          (retry: failed, cancelled -> queued)
 *                                                                           (extend: done -> queued)
 *           queued -> failed: no device will ever have memory for it
 *
 * An ensemble has revisions. The first is what was submitted; each extension gives its replicas later targets and makes
 * the next. A done replica has reached its target: one that has a later one is not done any more. A revision may also
 * have more windows (add_windows.c), or those that the first placed as a pilot (finishing.c).
 */
#ifndef SHOAL_DAEMON_SCHEDULE_ENSEMBLE_H
#define SHOAL_DAEMON_SCHEDULE_ENSEMBLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/quota/quota.h"
#include "daemon/schedule/memory/device_sizes.h"
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

/* What clients are shown: only what is committed. daemon/service/events.c keeps it. */
struct replica_view {
    uint32_t state; /* enum replica_state */
    int failures;
    char *reason;
};
struct ensemble_view {
    uint32_t state; /* enum ensemble_state */
    char *reason;
    int64_t changed;
    int revision;
    int64_t seq; /* of its newest event; 0: not committed yet */
};

struct sched_replica {
    int64_t number; /* its name in frames and in the database */
    struct ensemble *ensemble;
    struct sched_set *set;
    int window, repeat;
    int stream; /* of the random numbers of its repeat: its window when that was new. No other window ever has the same
                 */
    int origin; /* its window before the ensemble's last ladder, whose samples it takes up; -1: it has none */
    int64_t steps; /* its target, over all stages */
    int64_t told;  /* the target that its worker was told */
    struct sm sm;  /* enum replica_state */
    bool held;     /* a worker has it; it has not told yet how it ended */
    int64_t moved; /* scheduler's clock, ms: it last got on, or was last told something */
    int stage;     /* progress, as the worker last told it */
    int64_t step;
    double time_ps;
    int64_t saved_step;               /* at the last checkpoint */
    int64_t switched, saved_switched; /* of a walker, timesteps of switches: as step and saved_step, but not stored */
    int64_t used_step;                /* what was taken as used goes up to here (sched_take_use), */
    double used_ps;                   /* and to this time */
    int64_t used_saved;               /* of used_step what the database has */
    int code;                         /* enum err_code of the last failure */
    int64_t failed_step;              /* where that was */
    bool failed_alike;                /* the failure before that was the same, from the same checkpoint */
    int64_t failed_from;              /* the checkpoint that it went wrong from, -1: not known */
    char *reason;                     /* of the last failure, NULL: none */
    struct replica_view shown;
};

/* Replicas that run together, in the ensemble's order. */
struct sched_set {
    int64_t number; /* its name in frames and in the database: that of its first replica */
    struct ensemble *ensemble;
    int nreplicas;
    int nqueued; /* of its replicas */
    struct sched_replica *replicas;
    int worker;             /* index of the worker that runs it, -1: none */
    int failures;           /* counted against the ensemble's retries, since it last got beyond where it failed */
    int excused;            /* failures in a row that were not its own */
    int crashes;            /* worker crashes in a row, without a checkpoint between */
    uint64_t crashed;       /* on which workers that was (bit per worker) */
    uint64_t alone;         /* on which of those nothing else ran */
    int salt;               /* of its noise, 0: none */
    bool failing;           /* a replica of it failed, the others are being stopped */
    bool stuck;             /* it made no step for too long, and its worker is killed for it */
    bool yielding;          /* told to make room at the end of its slice */
    int fruitless;          /* slices in a row that ended without a new checkpoint: the next is longer */
    int64_t began;          /* its slice; the scheduler's clock, ms */
    int64_t began_step;     /* steps of its checkpoints then, summed */
    int64_t began_switched; /* the same of saved_switched */
    int64_t start_ms;       /* its last start took so long, until it told of a step; 0: it has not told of one yet */
    bool turning;           /* it has produced since turn_began: its turn among the sets of its ensemble */
    int64_t turn_began;     /* the scheduler's clock, ms */
    double turn_from;       /* the share of its production that it had made then */
    int64_t not_before;     /* earliest next start; the scheduler's clock, ms */
    char *device, *model;   /* where it ran last, NULL: nowhere yet */
    double device_ms;       /* its part of the time of its worker's cards that was not taken as used yet */
    double unmetered_ms;    /* and of the worker's since the energy of its device was read last */
};

/* The owner's own words for an ensemble. */
struct ensemble_label {
    char *key, *value;
};

enum { PRIORITY_HIGH = 1, PRIORITY_URGENT };

/* When it may end before its time: the spec's stop-when. */
struct stop_rule {
    double error;   /* kJ/mol; 0: never */
    bool converged; /* that must be the verdict, too */
    int64_t after;  /* steps of each replica, over all stages, before which it is not asked */
};

/* How production is shared among windows: the spec's allocate (allocation.c). All in steps. Or, of walkers whose
 * switches may become longer, that there is production which waits for how long they are to be. */
struct allocation {
    int64_t share;  /* of production, what even sampling gives each replica; 0: all of it is handed out alike */
    int64_t before; /* of the stages that do not produce; an ensemble of an older database may have 0 here */
    int64_t every;  /* between two samples: what is handed out is a multiple of it */
};

/* What its samples say so far. */
struct ensemble_estimate {
    int64_t made;        /* 0: there is none yet */
    int revision;        /* that the samples are of */
    bool number;         /* the two below; else the samples carry none */
    double value, error; /* kcal/mol */
    char verdict[16];
};

struct ensemble {
    int64_t number; /* submission order */
    char id[16];    /* what users see */
    uint32_t owner; /* uid */
    char *key;      /* the owner's own name for the submission, NULL: none */
    char hash[65];  /* SHA-256 of everything submitted, hex */
    char *name;
    char *spec_name;
    struct device_sizes sizes; /* what devices would have to hold of it */
    int nlabels;
    struct ensemble_label *labels;
    struct quota_charge counted, peopled, stored; /* of its owner: one ensemble, its replicas, its bytes */
    int holders;                                  /* beside the scheduler: it outlives its removal until they let go */
    int exports;                                  /* that are being written: meanwhile it stays as it is */
    int64_t atoms;
    int windows, repeats;
    int walkers;      /* of each end, which are its windows: those of end A come first. 0: windows are windows */
    double switching; /* timesteps of switches that come with each of production, of those as long as the first */
    int doublings;    /* how often switches are twice as long as the first of every walker (allocation.c) */
    int stages, retries;
    int priority; /* among its owner's: -1 low, 0, 1 high; PRIORITY_URGENT: before those of all users */
    int revision; /* from 1 */
    int ladder;   /* the one that made its windows what they are; files of those before are in revision_N, N one less */
    struct stop_rule stop;
    char *stopped;        /* why it has ended before its time, or is about to; NULL: it has not */
    int stopped_revision; /* the one that did; an extension goes on from there and is not asked again */
    int stop_held;        /* live estimates in a row that were good enough */
    struct allocation allocation;
    bool looking;    /* until it is known how its next steps are shared, or which windows a pilot places */
    bool pilot;      /* its windows are those of a pilot, which places others (finishing.c) */
    char *placed;    /* the windows that one placed, as JSON: name of the ladder to its values; NULL: none did */
    struct sm sm;    /* enum ensemble_state */
    char *reason;    /* why it failed or waits, NULL: none */
    char *paused_by; /* the administrator who paused it last, and nobody has had it go on since; NULL: none */
    char *moved_to;  /* the device that it was moved to; NULL: it runs on any */
    int home;        /* index of that device's worker, -1: any; the service may not have the device any more */
    int64_t created, changed;
    int64_t seq;                /* of its newest event */
    int64_t nevents, row_bytes; /* that are stored: events; bytes of the spec, labels and all names */
    int64_t ran_ms;             /* any of its replicas had a slot, by events that are not kept any more */
    bool untold;                /* when it was loaded: its end is still to be told (monitor/on_end.h) */
    bool trimming;              /* the oldest of its events are being removed */
    struct ensemble_view shown;
    const struct sched *sched; /* that has it */
    /* Who waits for its events, and the one of them that reads for all (api/events.c); NULL: nobody. */
    struct watcher *watchers, *reader;
    char *listed; /* what lists say of it, as long as these stay; NULL: not made */
    int64_t listed_seq, listed_measured, listed_at;
    char *told; /* the progress that its watchers were told last, and when; NULL: none */
    int64_t told_at;
    int64_t measured; /* when its bytes were */
    int nreplicas, nsets;
    struct sched_replica *replicas; /* repeat 0 first, each in the order of the windows */
    struct sched_set *sets;
    int user;                          /* index of its owner in the scheduler */
    int nrunning;                      /* replicas in slots */
    int nwaiting;                      /* sets that wait for slots */
    int64_t delayed;                   /* no set of it has a not_before that is later; the scheduler's clock, ms */
    bool crashed;                      /* a set of it may be suspect */
    double device_ms;                  /* its part of the time of all devices, as far as that is known */
    int64_t usage;                     /* slots x ms: what its turn is measured by, among its owner's */
    int owner_acts;                    /* acts of its owner on it since it was loaded */
    int estimated;                     /* results.json is of so many acts, -1: it may be of fewer */
    struct ensemble_estimate estimate; /* the newest live one; service/estimates_so_far.c keeps these three */
    int64_t live_steps;                /* of its checkpoints, summed, when that was begun */
    int64_t live_after;                /* earliest next one; the scheduler's clock, ms */
    uint64_t modelled;                 /* workers that have its model on their devices (bit per worker) */
    bool prepared;                     /* its folder holds the input files */
    bool preparing;                    /* they are being written */
    int64_t prepare_after;             /* earliest next attempt to write them; the scheduler's clock, ms */
    bool estimating;                   /* results.json is being written */
    bool again;                        /* it had ended, and is finishing because its results are computed again */
    int64_t finish_after;              /* 0, or when what the machine failed is done again; INT64_MAX: with space */
    int finish_failures;  /* estimates in a row that the machine failed, not counting those without space */
    int64_t finish_since; /* the first of them; the scheduler's clock, ms */
    bool wants_space;     /* its reason says so */
    bool removed;         /* for good: who still holds it must not move it */
};

/* A queued ensemble with `nreplicas` queued replicas that are in no set yet. */
struct ensemble *ensemble_new(int nreplicas);
/* The next `nreplicas` replicas become a set; call until every replica is in one. */
struct sched_set *ensemble_add_set(struct ensemble *e, int nreplicas);
/* An ensemble of windows x repeats replicas, numbered from `first`, of so many steps: each a set of its own or, where
 * they exchange windows, one set for each repeat. */
struct ensemble *ensemble_of_windows(int windows, int repeats, bool exchange, int64_t first, int64_t steps);
/* The same of what a spec says of it (daemon/spec/facts.h), and with all that the scheduler goes by. */
struct ensemble *ensemble_of_facts(const json_t *facts, int64_t first);
/* Windows, replicas and what follows from the spec come from `from`, which gets those of `e` in exchange. The replicas
 * wait in this state; none of either may have a worker. */
void ensemble_take_windows(struct ensemble *e, struct ensemble *from, enum replica_state state);
/* The end of a walker, 'A' or 'B', and which walker of that end it is; of an ensemble that has walkers. */
char replica_end(const struct sched_replica *r);
int replica_walker(const struct sched_replica *r);
/* Gives up the scheduler's hold, or one of ensemble_hold; the last frees it. NULL is fine. */
void ensemble_free(struct ensemble *e);
/* add_windows.c: gives it windows, of which origin[windows] says which they were (-1: new), for all repeats. Replicas
 * that were there keep their numbers and states, new ones are numbered from `first`; none may have a worker. All go on
 * from no checkpoint in their folders: what they sampled is in others. */
void ensemble_add_windows(struct ensemble *e, int windows, const int *origin, int64_t first);
/* Whether it wants slots for those of its replicas that have not ended. */
bool ensemble_wants(const struct ensemble *e);
/* Whether its free energy is good enough: its replicas end where they are. */
bool ensemble_stopping(const struct ensemble *e);
/* "low", "normal", "high" or "urgent". */
const char *ensemble_priority(const struct ensemble *e);
bool ensemble_is_urgent(const struct ensemble *e);
/* False: there is no priority of this name. */
bool ensemble_find_priority(const char *name, int *out);
struct ensemble *ensemble_hold(struct ensemble *e);
void ensemble_add_label(struct ensemble *e, const char *key, const char *value);
/* NULL: it has none of that key. */
const char *ensemble_label(const struct ensemble *e, const char *key);
/* Counts what waits anew, after replicas were made or loaded. */
void ensemble_count_waiting(struct ensemble *e);
/* Whether nothing more happens to it by itself. */
bool ensemble_ended(const struct ensemble *e);
int ensemble_count(const struct ensemble *e, enum replica_state state);
/* The same of what is shown. */
int ensemble_shown_count(const struct ensemble *e, enum replica_state state);
bool ensemble_shown_ended(const struct ensemble *e);
/* That the disk is full is shown at once: it cannot be committed. */
const char *ensemble_shown_reason(const struct ensemble *e);
/* All that there is is committed, as after loading. */
void ensemble_show_all(struct ensemble *e);
/* Replaces an owned string; `value` may be NULL. */
void ensemble_string(char **slot, const char *value);

/* A replica's folder in its ensemble's: lambda_KK, of several repeats repeat_RR/lambda_KK; two digits or more. */
void replica_folder(const struct sched_replica *r, char out[64]);
/* The folder that its samples of before the ensemble's last ladder are in; "": there are none. */
void replica_origin_folder(const struct sched_replica *r, char out[96]);
/* The key of its random streams, beside the spec's seed. */
uint32_t replica_key(const struct sched_replica *r);
/* Replicas of a set that have not ended: the slots that it takes. */
int set_open(const struct sched_set *set);
/* Whether one of its replicas has failed for good: the others wait until the owner retries it. */
bool set_has_failed(const struct sched_set *set);
/* Whether it waits for its slots. */
bool set_waits(const struct sched_set *set);
/* Steps of its replicas' checkpoints, summed. */
int64_t set_saved(const struct sched_set *set);
/* Steps to its target, of the replica that has most of them. */
int64_t set_left(const struct sched_set *set);
/* Steps of the checkpoint that is furthest on. */
int64_t set_furthest(const struct sched_set *set);
/* The same of all its sets. */
int64_t ensemble_furthest(const struct ensemble *e);
/* When the last of its replicas that a worker has got on: others may wait for it. */
int64_t set_moved(const struct sched_set *set);

#endif
