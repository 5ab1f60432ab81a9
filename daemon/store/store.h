/* SPDX-License-Identifier: Apache-2.0
 *
 * The database: SQLite in WAL mode with synchronous=FULL. All state changes of one turn of the loop are one
 * transaction; the commits happen on a thread of the store's own, so the loop never waits for the disk.
 *
 * The happy path: the loop thread calls store_put_*, which copy what they are given into a batch; at the end of the
 * turn the batch goes to the thread, which commits it; then the callbacks of store_after_commit run on the loop thread,
 * in order.
 *
 * Failure modes: a full or failing disk: the batch is tried again every second, store_ok() says false meanwhile,
 * nothing is answered; so too when the file was removed or replaced under the service. Anything else (a broken
 * constraint, a corrupt database) is a bug or a loss the service cannot repair: it says so and aborts; what was
 * answered is on disk.
 */
#ifndef SHOAL_DAEMON_STORE_STORE_H
#define SHOAL_DAEMON_STORE_STORE_H

#include <jansson.h>
#include <uv.h>

#include "daemon/schedule/ensemble.h"
#include "daemon/schedule/health/hold.h"
#include "daemon/schedule/sched.h"
#include "engine/base/buf.h"

#define STORE_SCHEMA 23 /* user_version this program knows; the number of migrations */

struct store;

/* Opens or makes DIRECTORY/shoald.db: refuses network filesystems and newer schemas, checks the database after an
 * unclean stop (asking the service manager for time as long as that takes), copies it aside before it migrates it.
 * `portable`: the folder may be on a network filesystem, and may come from another machine. One process has the
 * database then, any other is refused, and all ensembles in it become those of this process's user. */
int store_open(struct store **out, const char *directory, bool portable, struct err *e);
/* From here on told on the loop thread of each commit how long it took, before its callbacks run. */
typedef void store_committed_fn(void *arg, double seconds);
void store_on_commit(struct store *s, store_committed_fn *fn, void *arg);
/* Starts the committing thread. */
int store_start(struct store *s, uv_loop_t *loop, struct err *e);
/* Commits what is pending, runs the callbacks, marks the stop as clean, closes. Blocks. NULL is fine. The loop must
 * then run until its handles are closed; the struct is freed by the last close callback. */
void store_close(struct store *s);
/* The first half of it, for a process that leaves at once: commits, runs the callbacks, marks the stop as clean. */
void store_finish(struct store *s);
bool store_ok(const struct store *s);
/* Whether what was put is committed and its callbacks have run; or cannot be now. */
bool store_settled(struct store *s);
/* Whether the database and its log are still the files that were opened, under their names, and no shorter. On any
 * thread. */
bool store_in_place(const struct store *s);

/* ---- at start; jobs on other threads may already read. The callbacks must not read themselves. ---- */
typedef void store_ensemble_fn(void *arg, struct ensemble *e); /* takes ownership */
int store_load(struct store *s, store_ensemble_fn *each, void *arg, struct err *e);
/* Ensembles whose rows are gone and whose folders may still be there. */
typedef void store_removal_fn(void *arg, const char *id);
int store_load_removals(struct store *s, store_removal_fn *each, void *arg, struct err *e);
/* What each user had used at a time, as it was put last. */
typedef void store_history_fn(void *arg, uint32_t uid, double used, int64_t at);
int store_load_histories(struct store *s, store_history_fn *each, void *arg, struct err *e);
/* What administrators have taken out of use: devices, and STORE_ADMISSION. */
#define STORE_ADMISSION "admission"
typedef void store_hold_fn(void *arg, const char *what, const struct hold *hold);
int store_load_holds(struct store *s, store_hold_fn *each, void *arg, struct err *e);
/* The largest numbers given so far, 0: none. They must never be given twice. */
struct store_numbers {
    int64_t ensemble, replica, event;
};
int store_numbers(struct store *s, struct store_numbers *out, struct err *e);

/* ---- on the loop thread ---- */
/* What was submitted. Strings are copied. */
struct submission {
    const char *spec;
    int nfiles;
    const char **file_names;
    const char **file_texts;
    const char **file_hashes; /* SHA-256 of each, hex: files of one hash are kept once */
};
struct event {
    int64_t seq, time;
    const struct ensemble *ensemble;
    const struct sched_replica *replica; /* NULL: of the ensemble */
    const char *kind;
    int state;           /* the new state, -1: no move */
    const char *message; /* NULL: none */
};
void store_put_ensemble(struct store *s, const struct ensemble *e, const struct submission *sub);
void store_save_ensemble(struct store *s, const struct ensemble *e);
/* Whether its end is still to be told (monitor/on_end.h). The ensemble of this number may be gone. */
void store_save_untold(struct store *s, int64_t ensemble, bool untold);
/* Its windows and replicas are others, as its spec now says; that and they are saved whole. Replicas of it with smaller
 * numbers than all of these were a pilot's: from here on only its events have them. */
void store_save_ladder(struct store *s, const struct ensemble *e, const char *spec);
/* It is gone once this is committed; its rows follow in slices, also after a restart. Its id stays among the removals
 * until store_end_removal. */
void store_remove_ensemble(struct store *s, const struct ensemble *e);
void store_end_removal(struct store *s, const char *id);
/* The replica and what is kept of its set. */
void store_save_replica(struct store *s, const struct sched_replica *r);
/* How far what it used is counted (store_add_account). */
void store_save_used(struct store *s, const struct sched_replica *r);
/* All replicas of the ensemble that are in one state. */
void store_move_replicas(struct store *s, const struct ensemble *e, enum replica_state from, enum replica_state to);
void store_put_event(struct store *s, const struct event *ev);
void store_put_history(struct store *s, uint32_t uid, double used, int64_t at);
/* What a set of the ensemble used of a device, added to what there is of that day (since 1970). */
void store_add_account(struct store *s, const struct ensemble *e, const char *device, int64_t day,
                       const struct sched_use *use);
/* Of days before this one nothing is kept. */
void store_trim_accounts(struct store *s, int64_t day);
void store_put_hold(struct store *s, const char *what, const struct hold *hold);
void store_end_hold(struct store *s, const char *what);
/* Its events up to `seq` go; by them it ran for `ms`. */
void store_trim_events(struct store *s, const struct ensemble *e, int64_t seq, int64_t ms);
/* Calls `fn` on the loop thread once everything put so far is durable. Where the store is closed and that cannot be,
 * `forget` frees arg; NULL: there is nothing to free. */
typedef void store_done_fn(void *arg);
void store_after_commit(struct store *s, store_done_fn *fn, store_done_fn *forget, void *arg);

/* ---- on any thread; committed data only ---- */
/* Events of an ensemble with seq > since, oldest first, at most `limit`, as an array of
 * {seq, time (ms), kind, the replica's window and repeat or null, state number or null, message or null, pilot (only
 * where it is of a window that a pilot had, before others were placed)}. New reference. */
int store_read_events(struct store *s, int64_t ensemble, int64_t since, int limit, json_t **out, struct err *e);
/* What was used since a day, of one user (-1: of all), summed up: an array of {uid, id, name, campaign, device, day, of
 * which those are null that were summed over, device_ms, steps, ps, joules (null: none is known)}; days in their order,
 * else who used most first. New reference. */
enum account_by { ACCOUNT_USER, ACCOUNT_ENSEMBLE, ACCOUNT_CAMPAIGN, ACCOUNT_DEVICE, ACCOUNT_DAY, ACCOUNT_KINDS };
int store_read_accounts(struct store *s, enum account_by by, int64_t since, int64_t uid, json_t **out, struct err *e);
/* Whether an ensemble has this id, or has had it and is still being removed. */
int store_knows_id(struct store *s, const char *id, bool *known, struct err *e);
/* The spec's text, and every input file through `each`, which may take its time: nobody else waits for it.
 * ERR_NOT_FOUND: it was removed. */
typedef int store_file_fn(void *arg, const char *name, const void *data, size_t len, struct err *e);
int store_read_inputs(struct store *s, int64_t ensemble, struct buf *spec, store_file_fn *each, void *arg,
                      struct err *e);

#endif
