/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler: events in, decisions out. No I/O, no clock, no globals: time comes with the event, and the caller
 * carries out the decisions in their order (service/service.c). It owns the ensembles handed to it.
 *
 * 1. A worker is never given more replicas than slots, but for a set that has more than there are: it gets the worker
 * for itself. A slot that becomes free is offered at once. A set of replicas gets all the slots that it needs or none;
 * it starts, stops, yields and is blamed as a whole.
 * 2. Fair turns: slots go to the user who has used least since they were last idle, a slice ahead for each replica that
 * runs, by weight (users.c); among a user's ensembles to the one of the highest priority, then with the fewest running
 * replicas, then to the one that has used least, then to the older submission, then to the set whose turn it is (10). A
 * set whose slice has ended makes room when that would give its slots to another user or to another ensemble of its
 * user. So with U users of one weight and S slots each user runs something within about U / S slices, whatever
 * checkpoint intervals they chose. Who comes new, owing nothing, goes first with their first set: for that a set makes
 * room that has run for SCHED_FIRST_MS. What an administrator made urgent goes before all that, for any owner and
 * any number of their running replicas: for it sets make room at their next checkpoint. A user who has as many
 * replicas running as they may starts no more.
 * 3. A worker crash blames every set it had running. One that was blamed SCHED_SUSPECT times without a checkpoint
 * between is run alone, first where it has not crashed yet. When it goes on to crash every device that it could run on,
 * alone and for its retries more, it fails, and nobody else is hurt (sets.c).
 * 4. A device that crashes HEALTH_STRIKES times without a checkpoint between is put aside: after a pause that doubles,
 * one set at a time is tried there until a checkpoint says that it is well (devices.c). The healthy ones work.
 * 5. A set that fails by its own fault is tried again from its last checkpoint, `retries` times; then it is failed and
 * its ensemble goes on. Getting beyond the step where it failed forgives it. What the machine lacks (disk space, memory
 * that others hold, a locked folder) is waited out and costs nothing; so is what its owner lacks: who has more stored
 * than they may makes room at a checkpoint and starts nothing until they have removed something. A failure of the
 * physics at the same step from the same checkpoint would recur for ever: it is tried again from the older checkpoint
 * with other noise.
 * 6. A set of which no replica makes a step for stall_ms is stuck: its worker is killed, and it alone is blamed.
 * 7. An ensemble whose replicas have all ended is finishing until its results are written, whatever happened to them.
 *    Its owner can have them written again; that waits behind results that were never written and behind live estimates
 *    (service/estimates.c).
 * 8. Targets become later, by an extension, or move to where the last checkpoint is (finishing.c). A replica that
 * reaches the one its worker was told, while it has got a later one, goes on from its checkpoint like any other that
 * waits.
 * 9. Where production is handed out by what windows need, an ensemble whose replicas have all reached their targets is
 * looked at and gets later ones, until all is handed out (allocation.c).
 * 10. Windows of one ensemble take turns once they produce, so that all of them have samples early, and an ensemble
 * that ends before its time has windows that were sampled alike. A turn is long beside what a start costs (turns.c).
 *
 * 11. On a device that an administrator has drained nothing starts, and what ran there goes on elsewhere from its
 * checkpoints, on another model of device if there is none of its own (devices.c). An ensemble that an administrator
 * paused goes on when an administrator says so (owners.c, api/owner.c).
 *
 * 12. A set starts where the model of its ensemble is already, if its turn has come there too; but no device is left
 * idle for that while nobody else waits (pack.c). It waits where it is predicted to need more memory than what runs
 * there leaves. One that no device could ever hold fails. An ensemble that was moved to a device stays there as long as
 * that can be counted on.
 *
 * `now` never jumps (ms of a clock that goes on in sleep); `time` is what is recorded (ms since 1970).
 */
#ifndef SHOAL_DAEMON_SCHEDULE_SCHED_H
#define SHOAL_DAEMON_SCHEDULE_SCHED_H

#include "daemon/host/room.h"
#include "daemon/schedule/energy/meter.h"
#include "daemon/schedule/ensemble.h"
#include "daemon/schedule/health/device_health.h"
#include "engine/base/err.h"
#include "engine/base/statistics/allocate.h"

#define SCHED_SUSPECT 2 /* crashes in a row that make a set suspect */

#define SCHED_SLICE_MS 60000
#define SCHED_FIRST_MS 10000
#define SCHED_HALF_LIFE_MS (INT64_C(168) * 3600 * 1000)
#define SCHED_STALL_MS 600000

enum sched_kind {
    SCHED_ADD,       /* ensemble: submitted just now, or loaded from the database */
    SCHED_PREPARED,  /* ensemble: its folder is ready, ok; or not: code, message */
    SCHED_ESTIMATED, /* ensemble: results written, ok; or not: code, message */
    SCHED_PAUSE, /* ensemble; also RESUME and CANCEL: what its owner asks for, or, of a pause, the administrator `by` */
    SCHED_RESUME,
    SCHED_CANCEL,
    /* ensemble: its owner asks for its failed and cancelled replicas; one: only those of `window` that failed */
    SCHED_RETRY,
    SCHED_PRIORITY,   /* ensemble: its priority among its owner's is to be this */
    SCHED_MOVE,       /* ensemble: is to go on on the device `device` of `worker`, -1: on any; `by` */
    SCHED_REESTIMATE, /* ensemble: its results are to be computed again from the rows it has */
    /* ensemble: its replicas' target over all stages is to be `step`, or, more, by `step` later; message: in words */
    SCHED_EXTEND,
    /* ensemble: it is to have `window` windows, of which `origin` says which they were, by a spec with the text `spec`;
     * its new replicas are numbered from `replica`; windows: where a pilot placed the others; message: in words */
    SCHED_ADD_WINDOWS,
    /* ensemble: a live estimate was made of at least `step` steps of each replica, of the windows that revision
     * `ladder` made; ok: it has a number, with the error `error` (kJ/mol); message: its verdict */
    SCHED_LIVE,
    /* ensemble: what DECIDE_LOOK asked for; targets: production of its windows, or of a pilot placed: an ensemble with
     * the windows that it places, of whose numbers none is given yet, by a spec with the text `spec`; message: in
     * words. NULL, nobody knows: code, message say why. doublings: of walkers, how often later switches are twice as
     * long; -1, nobody knows: message says why */
    SCHED_LOOKED,
    SCHED_WORKER_UP, /* worker: said hello; slots, device, model, limits, room, millijoules */
    /* worker: wants so many slots from now on, fewer make nobody leave; its device has that room, and those millijoules
     */
    SCHED_SLOTS,
    SCHED_WORKER_DOWN, /* worker: ended; ok: in order, else a crash: message */
    SCHED_PROGRESS,    /* worker, replica, stage, step, time_ps, switched */
    SCHED_SEGMENT,     /* worker, replica, stage, step, time_ps, switched */
    SCHED_DONE,        /* worker, replica */
    SCHED_STOPPED,     /* worker, replica, step */
    SCHED_FAILED,      /* worker, replica, code, message, step */
    SCHED_SPACE,       /* the disk has space again */
    SCHED_STORED,      /* ensemble: its owner has more stored than they may, message; ok: they have not */
    SCHED_USER,        /* uid: has this weight, and `most` replicas at once at most */
    SCHED_DRAINED,     /* worker: its device is out of use by `hold` */
    SCHED_UNDRAINED,   /* worker: it is in use again, whatever it crashed */
    SCHED_DRAIN,       /* the service stops */
    SCHED_TICK,        /* time has passed */
};

struct sched_event {
    enum sched_kind kind;
    int64_t now, time; /* ms */
    struct ensemble *ensemble;
    int worker, slots;
    int priority;
    uint32_t uid;
    double weight;
    int64_t most;
    const char *device, *model, *limits, *message;
    const char *by; /* name of an administrator; NULL: the owner */
    const struct hold *hold;
    struct room room;
    int64_t millijoules;     /* of the device's energy counter; 0: it does not tell */
    bool ok, more, one, dry; /* dry: whether it could be done */
    int window;
    int64_t replica; /* number */
    int stage, code;
    int64_t step;
    int64_t switched; /* timesteps of switches, 0: the replica is no walker */
    double time_ps, error;
    const int64_t *targets;  /* [windows of the ensemble], steps */
    struct ensemble *placed; /* the caller's, also afterwards */
    int doublings;
    int ladder;
    const int *origin;          /* as of ensemble_add_windows */
    const char *spec, *windows; /* windows: of a ladder that was placed, as struct ensemble has it */
};

enum decision_kind {
    DECIDE_PREPARE,  /* write the ensemble's input folder, then SCHED_PREPARED */
    DECIDE_START,    /* send start of the set's held replicas to `worker` */
    DECIDE_STOP,     /* send stop of the set to `worker` */
    DECIDE_DRAIN,    /* send drain to `worker` */
    DECIDE_KILL,     /* end `worker`: text says why; then SCHED_WORKER_DOWN */
    DECIDE_ESTIMATE, /* write results.json, then SCHED_ESTIMATED */
    DECIDE_LOOK,     /* estimate what the ensemble's samples say, then SCHED_LOOKED */
    DECIDE_SPACE,    /* watch the disk until it has space, then SCHED_SPACE */
    DECIDE_REPLICA,  /* the replica moved to `state`: save it, tell the watchers */
    DECIDE_REPLICAS, /* its owner moved all replicas of the ensemble that were in state `from` to `state`: save that */
    DECIDE_ENSEMBLE, /* the ensemble moved to `state`: save it, tell the watchers */
    DECIDE_TARGET,   /* the replica has another target: save it */
    DECIDE_LADDER,   /* the ensemble has other windows: save them, its replicas, and text, its spec */
    DECIDE_REASON,   /* the ensemble's reason changed: save it */
    DECIDE_ACCOUNT,  /* the set leaves `worker`: save what it used there (sched_take_use) */
    DECIDE_NOTE, /* worth an event of ensemble and replica (NULL: of none): its kind is `note`, its message `text` */
};

struct decision {
    enum decision_kind kind;
    struct ensemble *ensemble;
    struct sched_replica *replica;
    struct sched_set *set;
    int worker;
    uint32_t from, state;
    const char *note;
    char *text; /* owned by the list */
};

struct decisions {
    struct decision *item;
    int n, cap;
};

/* Empties the list; its memory is kept. */
void decisions_clear(struct decisions *d);
void decisions_free(struct decisions *d);

struct sched_user {
    uint32_t uid;
    int wanting;    /* ensembles that want slots */
    int running;    /* replicas in slots */
    int64_t most;   /* replicas that may be in slots */
    double weight;  /* of their part of the slots, as the administrator has it */
    double counts;  /* the weight with what was used before in it: users.c */
    double history; /* slots x ms, halved every half-life */
    bool unsaved;   /* it grew since the service saved it */
    double usage;   /* slots x ms by the weight that counts: what their turn is measured by */
    bool comes;     /* new, or was idle until they owed nothing; nothing of theirs has run since */
    bool over;      /* has more stored than they may: nothing of theirs runs */
    /* When the user's last estimate began, and the last live one that nobody asked for. Both count turns: struct
     * service. */
    int64_t estimated, looked;
};

struct sched_worker {
    struct device_health health;
    int slots, nrunning; /* replicas, one a slot */
    int nsets;
    int sets_cap;
    struct sched_set **sets; /* [nsets], those that run here */
    char *device, *model;    /* NULL: it never said hello */
    char
        *limits; /* what of the device decides how much a replica takes there, in the worker's words; NULL: not known */
    struct room room; /* of its device, as if no replica were there */
    struct energy_meter energy;
};

struct sched {
    int64_t slice_ms, stall_ms, half_life_ms; /* may be set after sched_init */
    int nworkers;
    struct sched_worker *workers;
    int nensembles, cap;
    struct ensemble **ensembles; /* in submission order */
    int nactive, active_cap;
    struct ensemble **active; /* those that have not ended, in submission order */
    int nusers, users_cap;
    struct sched_user *users;
    int64_t accounted; /* usage is counted up to here */
    double usage;      /* of a user who comes, at least: the least of those who want slots, as far as that has come */
    bool full;         /* the disk is */
    bool draining;
};

void sched_init(struct sched *s, int nworkers);
void sched_close(struct sched *s);
/* 0, or ERR_CONFLICT or ERR_BUSY for a wish that the ensemble's state does not allow (now), ERR_NOT_FOUND for a
 * revision of one that was removed, or ERR_PROTOCOL for a worker that speaks of a replica it does not have; then
 * nothing was changed. Appends to *out. */
int sched_step(struct sched *s, const struct sched_event *ev, struct decisions *out, struct err *e);
/* Whether nothing happens to an ensemble by itself: it is paused or has ended, and nobody works on it any more.
 * ERR_CONFLICT: it goes on; ERR_BUSY: somebody does. */
int sched_check_still(const struct ensemble *en, struct err *e);
/* Takes an ensemble out that has ended and that nobody works on any more. ERR_CONFLICT: it has not, or somebody does.
 * It is the caller's then, to be freed. */
int sched_remove(struct sched *s, struct ensemble *en, struct err *e);
/* When SCHED_TICK should come next, ms; INT64_MAX: nothing waits for time to pass. */
int64_t sched_wake(const struct sched *s, int64_t now);
/* What a user had in the database: their history as of `ago` ms before now. Before anything runs. */
void sched_remember(struct sched *s, uint32_t uid, double history, int64_t ago);
/* What a set used on its worker since that was taken last: its part of the worker's time, shared evenly by replicas in
 * slots; steps that its replicas' checkpoints hold, and their simulated time. Steps that are made again count once. */
struct sched_use {
    double device_ms, ps;
    int64_t steps;
    double joules; /* 0: none is known */
};
struct sched_use sched_take_use(struct sched_set *set);
/* What a look is made for: windows [of the ensemble] with their steps of production and as many replicas as share them.
 * Returns what all of these are to have made after it. */
int64_t sched_production(const struct ensemble *e, struct allocate_window *w);

/* ---- why a replica waits (explain.c) ---- */
enum wait_kind {
    WAIT_NOT,    /* it runs, has ended, or its owner paused it */
    WAIT_INPUT,  /* its input folder is not written yet */
    WAIT_SPACE,  /* the disk is full */
    WAIT_QUOTA,  /* its owner's part of it is */
    WAIT_LIMIT,  /* its owner has as many replicas running as they may */
    WAIT_PAUSE,  /* after a failure */
    WAIT_DEVICE, /* no device that it can run on is up */
    WAIT_SICK,   /* those that are up are put aside */
    WAIT_DRAIN,  /* those that are up are drained */
    WAIT_ROOM,   /* its turn has come; others make room */
    WAIT_MEMORY, /* its turn has come; the device has slots for it and not the memory */
    WAIT_TURN,   /* for its turn */
    WAIT_KINDS,
};

struct sched_wait {
    enum wait_kind kind;
    int place;                          /* in the queue, from 1; 0: not in it */
    int64_t expected;                   /* ms from now until it starts, as far as one can tell; -1: one cannot */
    const struct sched_worker *drained; /* WAIT_DRAIN: one of them */
    const struct sched_worker *full; /* WAIT_MEMORY: whose device it is; and what is needed there and is free, bytes */
    int64_t needs, free;
};

/* What the replicas of one ensemble wait for, found once for all of them. It stays good as long as the ensemble has the
 * same windows: places are those of when it was opened, and a replica that did not wait then has none. */
struct sched_queue {
    const struct sched *s;
    const struct ensemble *ensemble;
    int64_t now;
    int *place;                       /* [sets of the ensemble], from 1; 0: did not wait */
    int64_t nslots;                   /* of devices that are up */
    int64_t *free_at;                 /* [nslots], ms from now, earliest first */
    int64_t round_ms;                 /* until the same slot is free again */
    const struct sched_set *turn[64]; /* [workers], whose it is */
};

void sched_queue_open(struct sched_queue *q, const struct ensemble *e, int64_t now);
void sched_queue_close(struct sched_queue *q);
void sched_explain(const struct sched_queue *q, const struct sched_replica *r, struct sched_wait *out);
/* A few words for people: "its turn". NULL for WAIT_NOT. */
const char *wait_text(enum wait_kind kind);
/* One word for programs: "turn". Never another for the same kind. */
const char *wait_name(enum wait_kind kind);
/* How many replicas of all ensembles wait for what. A pass over the sets that wait. */
void sched_count_waiting(const struct sched *s, int64_t now, int64_t counts[WAIT_KINDS]);

#endif
