/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the scheduler, from below: users.c counts, decisions.c writes down what is decided, turns.c orders the windows
 * of an ensemble, pack.c chooses, sets.c moves sets in and out of slots, failures.c says what becomes of those that
 * failed, allocation.c hands production out by what windows need, finishing.c ends ensembles; reports.c hears what
 * workers say of replicas, devices.c of themselves, owners.c obeys owners, add_windows.c adds windows; sched.c takes
 * events.
 */
#ifndef SHOAL_DAEMON_SCHEDULE_INTERNAL_H
#define SHOAL_DAEMON_SCHEDULE_INTERNAL_H

#include <stddef.h>

#include "daemon/schedule/sched.h"

/* One step's arguments, handed down. */
struct step {
    struct sched *s;
    int64_t now, time;
    struct decisions *out;
};

/* ---- decisions.c ---- */
void decide(struct step *st, struct decision d);
void note(struct step *st, struct sched_replica *r, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void note_ensemble(struct step *st, struct ensemble *e, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void move_ensemble(struct step *st, struct ensemble *e, enum ensemble_state to);
/* One that has ended waits again, for no reason. Whether it had ended. */
bool queue_again(struct step *st, struct ensemble *e);
/* Milliseconds until the next try: `first` after one failure, doubled with each more, `most` at the most. */
int64_t retry_pause(int64_t first, int64_t most, int failures);
void move_replica(struct step *st, struct sched_replica *r, enum replica_state to);
/* All replicas of the ensemble that are in state `from`: one decision, however many there are. */
void move_all(struct step *st, struct ensemble *e, enum replica_state from, enum replica_state to);
/* An ensemble that has not ended takes its place among the active ones. */
void sched_activate(struct sched *s, struct ensemble *e);
/* An array with room for one more than n. */
void *sched_grown(void *items, int n, int *cap, size_t size);
/* Has the ensemble's input folder written, unless that is under way. */
void prepare_input(struct step *st, struct ensemble *e);
void set_reason(struct step *st, struct ensemble *e, const char *reason);
/* Something of the ensemble could not be written: nothing starts until the disk has space. */
void wait_for_space(struct step *st, struct ensemble *e, const char *message);
/* It does not wait for space any more. */
void forget_space(struct step *st, struct ensemble *e);

/* ---- owners.c ---- */
/* ERR_CONFLICT: not from its state. */
int on_pause(struct step *st, const struct sched_event *ev, struct err *err);
int on_resume(struct step *st, struct ensemble *e, struct err *err);
int on_cancel(struct step *st, struct ensemble *e, struct err *err);
int on_priority(struct step *st, const struct sched_event *ev, struct err *err);
/* ERR_BUSY: nobody knows the device yet. */
int on_move(struct step *st, const struct sched_event *ev, struct err *err);
int on_retry(struct step *st, const struct sched_event *ev, struct err *err);
/* ERR_BUSY: its results are being written. */
int on_extend(struct step *st, const struct sched_event *ev, struct err *err);

/* ---- add_windows.c ---- */
/* ERR_CONFLICT: not from its state; ERR_BUSY. */
int on_add_windows(struct step *st, const struct sched_event *ev, struct err *err);

/* ---- sets.c ---- */
/* Gives free slots to whose turn it is. */
void fill_slots(struct step *st);
/* Nobody's model is on the worker's device any more but those of ensembles that run there. */
void forget_models(struct sched *s, int worker);
/* Sets whose slice has ended make room. */
void end_slices(struct step *st);
/* Asks a running set to checkpoint and leave. */
void stop_set(struct step *st, struct sched_set *set);
/* Out of its slots without having ended: where it waits depends on what its owner wants. */
void release_set(struct step *st, struct sched_set *set);
/* Its done replicas whose target has become later wait again, unless it is at work, or has failed or its ensemble has
 * ended: then when it has left, or when its owner retries. */
void reopen_set(struct step *st, struct sched_set *set);
/* Out of its slots for good. */
void fail_set(struct step *st, struct sched_set *set);
/* Where the ensemble's replicas wait. */
enum replica_state waiting_state(const struct ensemble *e);
/* The replica's target is where its checkpoint is, and no earlier than the ensemble may end. */
void end_here(struct step *st, struct sched_replica *r);
/* The replica's slot is free. */
void let_go(struct step *st, struct sched_replica *r);
/* Whether a replica of the set has a slot. */
bool set_is_held(const struct sched_set *set);
/* The set has no worker any more, and none of its replicas a slot. */
void leave_worker(struct step *st, struct sched_set *set);

/* ---- reports.c ---- */
/* What a worker says of a replica. */
int on_replica(struct step *st, const struct sched_event *ev, struct err *err);

/* ---- allocation.c ---- */
/* Production by even sampling, steps of each replica: what one that was stopped early goes on from is what it has. */
int64_t allocation_share(const struct ensemble *e);
/* The first target of a window of it, over all stages. */
int64_t allocation_first(const struct ensemble *e);
/* Whether production is left to hand out. */
bool allocation_open(const struct ensemble *e);
/* All that was handed out is done: asks for a look at the samples. */
void look_at_samples(struct step *st, struct ensemble *e);
/* Hands out what that look says, or to all alike. */
void hand_out_production(struct step *st, const struct sched_event *ev);

/* ---- finishing.c ---- */
/* An ensemble whose replicas have all ended is finishing. */
void finish_if_ended(struct step *st, struct ensemble *e);
/* Has the results of an ensemble that has ended computed again. One that was cancelled has them made when they are
 * asked for. ERR_CONFLICT: it has not ended. */
int on_reestimate(struct step *st, struct ensemble *e, struct err *err);
/* What became of a look at its samples (allocation.c). */
void on_look(struct step *st, const struct sched_event *ev);
/* What became of its results. */
void on_estimated(struct step *st, const struct sched_event *ev);
void finish_again(struct step *st, struct ensemble *e);
/* A live estimate was made: whether the ensemble ends by it. */
void on_live(struct step *st, const struct sched_event *ev);

/* ---- failures.c ---- */
void note_failure(struct sched_replica *r, int code, const char *message);
/* A replica of the set failed, all others have left: it is tried again or failed. `alone`: nothing else ran there. */
void set_failed(struct step *st, struct sched_set *set, bool alone);
/* A worker crashed while the set ran there. */
void blame_set(struct step *st, struct sched_set *set, int worker, bool alone, const char *message);
/* It got somewhere: what counted against it is forgotten as far as that shows it wrong. */
void forgive_progress(struct sched_set *set);

/* A crash, or a failure of the device itself. */
void strike(struct step *st, int worker, const char *message);

/* ---- devices.c ---- */
/* Sets of the ensemble that wait and for which no device will ever have the memory fail. */
void fail_too_large(struct step *st, struct ensemble *e);
int on_worker_up(struct step *st, const struct sched_event *ev, struct err *err);
int on_worker_slots(struct step *st, const struct sched_event *ev, struct err *err);
void on_worker_down(struct step *st, const struct sched_event *ev);
/* An administrator takes a device out of use, or puts it back. */
void on_device_drained(struct step *st, const struct sched_event *ev);
void on_device_undrained(struct step *st, const struct sched_event *ev);
/* Workers whose replicas are stuck are ended. */
void end_stuck(struct step *st);

/* ---- users.c ---- */
int user_index(struct sched *s, uint32_t uid);
/* The ensemble begins, or ends, to want slots. */
void user_wants(struct sched *s, struct ensemble *e, bool wants);
/* Nothing of theirs is to run, or it may again. */
void user_over(struct sched *s, int user, bool over);
void account(struct sched *s, int64_t now);
/* The time that a set has had on its worker's device since that was done last counts for its ensemble's energy. */
void claim_energy(struct sched_worker *w, struct sched_set *set);
/* What a user with so many replicas in slots has had, a slice of each ahead: who has least comes first. */
double user_claim(const struct sched *s, const struct sched_user *u, int64_t running);
/* Whether the owner comes new and has nothing in slots: their first set goes first. */
bool user_comes(const struct sched *s, const struct ensemble *e);
/* Whether there is one such, who wants slots. */
bool users_come(const struct sched *s);
/* The part of the slots that so many are, by weight. */
double user_part(const struct sched_user *u, int64_t running);

/* ---- turns.c ---- */
/* The share of its production that a set has made, 0 to 1; -1: it has samples from before the last ladder to take up.
 */
double turn_share(const struct sched_set *set);
/* Of two sets of one ensemble: how much further behind `a` is than `b`, in shares or steps; below 0: it is ahead. */
double turn_behind(const struct sched_set *a, const struct sched_set *b);
/* Notes that the turn of a running set begins, once it produces. Call after its start and after each step that it told.
 */
void turn_begin(struct sched_set *set, int64_t now);
/* Whether a running set has had its turn among the sets of its ensemble. */
bool turn_ended(const struct sched *s, const struct sched_set *set, int64_t now);
/* When to ask that again, unless it tells of a step before; INT64_MAX: then only. */
int64_t turn_wake(const struct sched *s, const struct sched_set *set, int64_t now);
/* How long its turn will have been, ms, if it goes on as it did. */
int64_t turn_length(const struct sched *s, const struct sched_set *set, int64_t now);

/* ---- pack.c ---- */
/* The set that the free slots of `worker` should go to, NULL: none now. */
struct sched_set *pack_next(const struct sched *s, int worker, int64_t now);
/* Who others may have to make room for on this worker, NULL: nobody. */
const struct sched_set *pack_claimant(const struct sched *s, int worker, int64_t now);
/* Whether a running set should make room for the claimant: at the end of its slice, or (not `sliced`) at a checkpoint
 * before. */
bool pack_should_yield(const struct sched *s, const struct sched_set *set, const struct sched_set *next, bool sliced,
                       int64_t now);
/* Whether a running set should make room, at the end of its slice, for another ensemble of its user, who may have no
 * more slots. */
bool pack_passes_on(const struct sched *s, const struct sched_set *set, int64_t now);
/* Whether a running set should leave its slots to another set of its ensemble. */
bool pack_gives_way(const struct sched *s, const struct sched_set *set, int64_t now);
/* How long a set runs, ms, before it makes room for another ensemble that deserves it. */
int64_t pack_slice(const struct sched *s, const struct sched_set *set);
/* The worker to fill next among those not in `skip` (bit per worker), -1: none. */
int pack_worker(const struct sched *s, uint64_t skip);
/* Of the workers whose next set it is the one to start it on: one that has its ensemble's model rather than `worker`,
 * unless a device would be idle while nobody else waits. */
int pack_place(const struct sched *s, int worker, struct sched_set *set, int64_t now);
/* Why a set cannot run on a worker that has said hello, even if nothing else did: others have more slots, it never has
 * the memory, others have the model of device that the set's bits come from. */
enum pack_refusal { PACK_FITS, PACK_SLOTS, PACK_MEMORY, PACK_MODEL };
enum pack_refusal pack_refusal(const struct sched *s, int worker, const struct sched_set *set);
/* Memory that a set is predicted to need on a worker's device beside what runs there, and what is left for it. */
struct pack_memory {
    int64_t needs, free; /* bytes; needs 0: not known */
};
struct pack_memory pack_memory(const struct sched *s, int worker, const struct sched_set *set);
/* What it is predicted to need where nothing else runs, bytes of each card of a device with all its cards; 0: not
 * known.
 */
int64_t pack_alone(const struct sched *s, int worker, const struct sched_set *set);
/* Whether there are slots for it and not the memory. */
bool pack_lacks_memory(const struct sched *s, int worker, const struct sched_set *set);
/* Whether no device will ever have the memory. */
bool pack_too_large(const struct sched *s, const struct sched_set *set);
/* Whether the set may run on that worker, by slots, memory, model and where its ensemble was moved to. */
bool pack_fits(const struct sched *s, int worker, const struct sched_set *set);
/* Whether it had better run elsewhere. */
bool pack_shuns(const struct sched *s, int worker, const struct sched_set *set);
/* A device that it fits, that one may count on, and that is not in `tried`. */
bool pack_has_other(const struct sched *s, const struct sched_set *set, uint64_t tried);
/* Whether its turn comes before that of another one of its ensemble; neither is a suspect. */
bool pack_before(const struct sched_set *a, const struct sched_set *b);
/* The set whose turn it is on this worker, whether or not the worker can take it now. */
struct sched_set *pack_whose_turn(const struct sched *s, int worker, int64_t now);

#endif
