/* SPDX-License-Identifier: Apache-2.0
 *
 * The service: carries out what the scheduler decides. It holds the scheduler, the store, the workers, and the
 * watchers; everything here happens on the loop thread.
 *
 * The way of a submission:
 *   submit    api/submit.c has it read and checked off the loop, then hands the ensemble to service_add
 *   batch     which numbers it and puts its rows into the store's open batch (store/write.c), and tells the scheduler,
 * whose first decision is to prepare it commit    at the end of the loop's turn the batch goes to the store's thread;
 * once it is on disk the callbacks run, in order: the client gets its answer, and prepare   prepare.c writes the input
 * folder from the committed rows, on the thread pool; the scheduler is told start     it gives free slots to sets of
 * replicas (schedule/); workers.c sends the start frames and back: frames of workers are events of the scheduler
 * (workers.c), its decisions are rows and events in the next batch (service.c, events.c), watchers hear of them after
 * the commit, and when the last replica has ended estimates.c has the results written.
 *
 * Order within one step: states and events go into the store's batch, then frames go to workers, jobs to the thread
 * pool. Workers may be told things that are not committed yet. That is safe: workers die with the service, and their
 * progress is in checkpoints.
 */
#ifndef SHOAL_DAEMON_SERVICE_SERVICE_H
#define SHOAL_DAEMON_SERVICE_SERVICE_H

#include <uv.h>

#include "daemon/metrics/metrics.h"
#include "daemon/processes/supervisor.h"
#include "daemon/schedule/sched.h"
#include "daemon/store/store.h"

struct service_config {
    const char *state;  /* folder, absolute */
    const char *worker; /* program */
    bool portable;      /* the state may be on a network filesystem or come from another machine: store_open */
    bool idle;          /* no worker is started: requests are answered, and nothing runs */
    int ndevices;
    const char **devices;
    json_t *left_out; /* devices that it has not, a text each; its owner's */
    int slots;        /* 0: the worker's choice */
    struct quota *quota;
    struct metrics *metrics;
    const char *build; /* what the program was built from */
};

/* What may change while it runs. */
struct service_tuning {
    int drain_seconds;                  /* then workers are killed */
    int slice_seconds;                  /* how long a set of replicas runs while others wait for its slots */
    int stall_seconds;                  /* a replica that makes no step for so long is stuck */
    int half_life_hours;                /* of what users have used */
    int accounting_days;                /* that what was used is kept */
    int estimate_seconds, estimate_mib; /* of processor time and memory, for one */
    int live_seconds; /* at least, between two live estimates of an ensemble; 0: only of those that may end by it */
};

/* Told when an ensemble has new committed events; embedded in its owner. */
struct watcher {
    struct watcher *next;
    struct ensemble *ensemble;
    void (*news)(struct watcher *w);
};

struct service {
    uv_loop_t *loop;
    struct service_config config;
    struct service_tuning tuning;
    struct sched sched;
    struct store *store;
    struct supervisor *supervisor;
    struct hold admission; /* while it is held only administrators submit */
    json_t **loads;        /* [devices], what each does now, as its worker told; NULL: nothing */
    void *by_id, *by_key;  /* trees of ensembles; find.c */
    int64_t next_ensemble, next_replica, next_seq;
    void (*carry_out)(struct service *sv, const struct decision *d); /* set by service_open, called by service_step */
    uv_timer_t tick;
    int offloaded;                /* in the thread pool */
    int exports;                  /* of ensembles that are being written */
    struct estimation *estimates; /* run or wait for their turn, oldest first */
    int64_t turns;                /* of users, at estimates */
    int64_t use_saved;            /* service_clock() of the last time that all of it was */
    uv_timer_t live;              /* until it is looked who is due for a live estimate */
    bool draining, stopped;
    bool late; /* the limit of a drain has passed, and jobs are still at work: nothing waits for them any more */
    uv_timer_t drain_limit;
    uv_timer_t space;              /* until it is tried again whether the disk has space */
    uv_timer_t presence;           /* until it is looked again whether the database is there */
    int64_t missed_since;          /* service_clock() when the database was not in its place any more; 0: it is */
    bool lost;                     /* it did not come back: the service ends for that */
    void (*on_stopped)(void *arg); /* drained: nothing runs any more */
    void *on_stopped_arg;
    void (*on_status)(void *arg, const char *text); /* for the service manager */
    /* That an ensemble is done, failed or cancelled is committed; NULL: nobody wants to know. Of the service's own
     * user's it is kept in the database (store_save_untold) until whoever is told says that it was. */
    void (*on_ended)(void *arg, const struct ensemble *en);
    void *on_ended_arg;
};

int service_open(struct service *sv, uv_loop_t *loop, const struct service_config *c, struct err *e);
/* Before service_start, and whenever something of it or limits of users change. */
void service_tune(struct service *sv, const struct service_tuning *t);
/* Loads what there is and starts the workers. */
int service_start(struct service *sv, struct err *e);
/* Stop admitting, checkpoint, then on_stopped. */
void service_drain(struct service *sv);
/* Says how many workers are up and replicas run, where the service manager listens. */
void service_tell_status(struct service *sv);
/* Draining, and no worker is left: on_stopped. */
void service_stop_if_drained(struct service *sv);
/* Runs the loop until jobs of the thread pool and estimates, which hold ensembles, are done, those that follow a commit
 * too; false: the limit of the drain came first. */
bool service_finish_offloaded(struct service *sv);
/* Commits what there is and marks the stop as clean, for a process that leaves at once. */
void service_leave(struct service *sv);
/* After the loop has nothing left to do for others: closes everything. The loop must run until it is empty. */
void service_close(struct service *sv);

int64_t service_now(void);   /* ms since 1970: what is recorded */
int64_t service_clock(void); /* ms of a clock that never jumps and goes on in sleep: what the scheduler plans by */
/* Steps the scheduler and carries out its decisions. */
int service_step(struct service *sv, struct sched_event *ev, struct err *e);
/* What users have used goes into the database: once a minute, and at the end. */
void service_save_use(struct service *sv);
/* What a set used on this worker, with each checkpoint and when it leaves; worker -1: it has none. */
void service_account(struct service *sv, struct sched_set *set, int worker);
/* Energy that no set has taken: of ensembles that have left their devices. Whenever a device has nothing to run, and
 * before an ensemble is removed. */
void service_save_energy(struct service *sv);
/* The replica that a worker knows by this number, if it has it. */
struct sched_replica *service_running(const struct service *sv, int worker, int64_t number);
/* The worker of the device with this name; -1: there is none, or NULL. */
int service_worker_of(const struct service *sv, const char *device);
/* One worker is up, the disk takes writes, no drain. */
bool service_ready(const struct service *sv, struct err *e);

/* ---- find.c ---- */
/* From here until service_unregister the ensemble, which has its id, owner and key, is found by them. */
void service_register(struct service *sv, struct ensemble *en);
void service_unregister(struct service *sv, struct ensemble *en);
/* Ensembles that an ambiguous word may mean. */
#define SERVICE_CANDIDATES 8
struct candidates {
    int n; /* may be more than are kept */
    struct ensemble *items[SERVICE_CANDIDATES];
};
/* The caller's own ensemble by its id, its key, its name, or the beginning of its id (four characters or more), in this
 * order; then, for admins, another user's by its id, then by any of the others. ERR_NOT_FOUND, ERR_CONFLICT (ambiguous:
 * *found has several). */
struct ensemble *service_find(struct service *sv, uint32_t uid, const char *word, struct candidates *found,
                              struct err *e);
/* Whether the user sees it: its owner and admins do. */
bool service_may_see(const struct service *sv, uint32_t uid, const struct ensemble *en);
/* Anybody's ensemble of this id, NULL: none. */
struct ensemble *service_find_id(const struct service *sv, const char *id);
/* The owner's ensemble with this idempotency key, NULL: none. */
struct ensemble *service_find_key(const struct service *sv, uint32_t uid, const char *key);
/* root and the service's own user, whose everything is. */
bool service_owns(uint32_t uid);
/* They, and the group of administrators. */
bool service_is_admin(const struct service *sv, uint32_t uid);
/* Whether it looks like the id of an ensemble. */
bool service_is_id(const char *text);
/* An id that nobody has. */
void service_choose_id(const struct service *sv, char id[16]);

/* Numbers it, names it, stores it, and lets the scheduler have it. */
void service_add(struct service *sv, struct ensemble *en, const struct submission *sub);
/* The same of one that comes from another node, with its id, its states and its past: `events` as store_read_events
 * gives them. It takes no part in anything before its owner says so; its folder comes once this is committed. */
void service_adopt(struct service *sv, struct ensemble *en, const struct submission *sub, const json_t *events);
/* Numbers for its replicas, to be used by ensemble_of_windows at once. */
int64_t service_next_replica(const struct service *sv);

/* ---- remove.c ---- */
/* Removes an ensemble that has ended, then calls `done` with the bytes that this freed. ERR_CONFLICT. */
typedef void service_removed_fn(void *arg, int64_t bytes);
int service_remove(struct service *sv, struct ensemble *en, service_removed_fn *done, void *arg, struct err *e);
/* At a start: folders whose removal was interrupted. */
int service_go_on_removing(struct service *sv, struct err *e);

/* ---- events.c ---- */
/* A state that is not -1 is that of the replica, or without one of the ensemble; clients see it once it is committed.
 */
void service_put_event(struct service *sv, struct ensemble *en, struct sched_replica *r, const char *kind, int state,
                       const char *message);
/* What happened to it before it came here; nobody is told of it. */
void service_put_history(struct service *sv, struct ensemble *en, const json_t *events);
/* All replicas of the ensemble that were in one state are in another: clients see that once it is committed. */
void service_show_replicas(struct service *sv, struct ensemble *en, enum replica_state from, enum replica_state to);
/* Clients see the ensemble's reason once what was put is committed. */
void service_show_reason(struct service *sv, struct ensemble *en);
void service_watch(struct watcher *w);
void service_unwatch(struct watcher *w);

/* ---- offload.c ---- */
/* Runs `work` in the thread pool, then `done` on the loop thread. */
typedef void offload_fn(void *arg);
void service_offload(struct service *sv, offload_fn *work, offload_fn *done, void *arg);

/* ---- workers.c ---- */
extern const struct supervisor_ops workers_ops; /* their argument is the service */
/* Carries out DECIDE_START, STOP, DRAIN. */
void workers_tell(struct service *sv, const struct decision *d);

/* ---- disk_full.c ---- */
/* Tries now and then whether the state folder takes writes again; then the scheduler hears of it. */
void service_watch_disk(struct service *sv);

/* ---- strays.c ---- */
/* At a start: says which folders belong to none of the ensembles that were loaded. ERR_DATABASE: none was loaded, and
 * there are some. */
int service_find_strays(struct service *sv, struct ensemble *const *ensembles, int n, struct err *e);

/* At a start, before that: folders of imports, STATE/imports/ID, go to their places where their ensembles were stored,
 * and are removed where not. */
void service_finish_imports(struct service *sv, struct ensemble *const *ensembles, int n);

/* ---- database_watch.c ---- */
/* From here on the service notices within a second or two that its database or the log of it was removed, replaced or
 * cut short. */
void service_watch_database(struct service *sv);

/* ---- prepare.c ---- */
void service_prepare(struct service *sv, struct ensemble *en);
/* STATE/ensembles/ID[/name]; the caller frees. name may be NULL. */
char *service_path(const struct service *sv, const struct ensemble *en, const char *name);

/* ---- running_time.c ---- */
/* Adds to *ms those in which any of its replicas had a slot, by the events that are kept, as far as they are committed.
 * For the thread pool. */
int service_time_running(struct service *sv, const struct ensemble *en, int64_t *ms, struct err *e);
/* Where it has more events than are kept, the oldest go. */
void service_trim_events(struct service *sv, struct ensemble *en);

/* ---- estimates.c ---- */
void service_estimate(struct service *sv, struct ensemble *en);
/* Has results made, then calls `done` on the loop thread (e NULL: they are): of an ensemble that has ended its
 * results.json, or, live, `text` from what there is so far. worked_ms: processor time that it took. At most
 * SERVICE_ESTIMATES at a time, the others wait: users take turns; those who ask for the same share one. ERR_BUSY: the
 * service stops. */
#define SERVICE_ESTIMATES 2
typedef void service_results_fn(void *arg, const struct err *e, const struct buf *text, int64_t worked_ms);
void service_results(struct service *sv, struct ensemble *en, bool live, service_results_fn *done, void *arg);
/* The same for the scheduler, of what all replicas have made: with what the estimator is to say of their next steps, or
 * of the windows that a pilot places. */
void service_results_of_look(struct service *sv, struct ensemble *en, service_results_fn *done, void *arg);
/* When the service drains: ends all. */
void service_stop_estimates(struct service *sv);

/* ---- estimates_so_far.c ---- */
/* Estimates what there is so far for the scheduler: SCHED_LOOKED. */
void service_look(struct service *sv, struct ensemble *en);
/* From here on ensembles that have not ended have estimates of what there is so far. */
void service_estimate_live(struct service *sv);
/* What a results.json says, but when it was made. False: it is none. For any thread. */
bool service_read_estimate(const struct buf *results, struct ensemble_estimate *x);

#endif
