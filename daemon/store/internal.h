/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the store: store.c opens and migrates, write.c fills batches, commit.c commits them on its thread, sweep.c
 * removes on it what is left of removed ensembles, reserve.c keeps space for that, read.c reads.
 */
#ifndef SHOAL_DAEMON_STORE_INTERNAL_H
#define SHOAL_DAEMON_STORE_INTERNAL_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "daemon/store/store.h"

/* Rows that a removal deletes in one transaction: others' commits wait for so many at most. */
#define STORE_SLICE "1000"

/* Every statement that writes, numbered by this list; the thread prepares them once. */
#define STORE_STATEMENTS(X)                                                                                            \
    X(ENSEMBLE_ADD,                                                                                                    \
      "INSERT INTO ensemble (number, id, owner, key, hash, name, spec_name, spec, atoms, windows, repeats, stages,"    \
      " retries, state, reason, created, changed, stop_error, stop_converged, stop_after, allocate_share,"             \
      " allocate_before, allocate_every, sizes, walkers, switching, pilot, placed, priority, urgent) VALUES "          \
      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")                                                 \
    X(CONTENT_ADD, "INSERT INTO content (hash, data) VALUES (?,?) ON CONFLICT DO NOTHING")                             \
    X(INPUT_ADD, "INSERT INTO input_file (ensemble, name, hash) VALUES (?,?,?)")                                       \
    X(SET_ADD,                                                                                                         \
      "INSERT INTO replica_set (number, ensemble, failures, crashes, salt) VALUES (?,?,0,0,0) ON CONFLICT DO NOTHING") \
    X(REPLICA_ADD,                                                                                                     \
      "INSERT INTO replica (number, ensemble, in_set, window, repeat, steps, state, stream, origin, stage, step,"      \
      " time_ps, code, failed_step) VALUES (?,?,?,?,?,?,?,?,?,0,0,0,0,0) ON CONFLICT (number) DO UPDATE SET"           \
      " window = excluded.window, origin = excluded.origin")                                                           \
    X(LADDER_SAVE,                                                                                                     \
      "UPDATE ensemble SET spec = ?, windows = ?, ladder = ?, pilot = ?, placed = ?, walkers = ?, switching = ?,"      \
      " stages = ?, stop_error = ?, stop_converged = ?, stop_after = ?, allocate_before = ?, allocate_every = ?"       \
      " WHERE number = ?")                                                                                             \
    X(REPLICAS_RETIRE, "UPDATE replica SET retired = 1 WHERE ensemble = ? AND number < ?")                             \
    X(LABEL_ADD, "INSERT INTO label (ensemble, key, value) VALUES (?,?,?)")                                            \
    X(ENSEMBLE_HIDE, "UPDATE ensemble SET removed = 1, key = NULL WHERE number = ?")                                   \
    X(EVENTS_REMOVE,                                                                                                   \
      "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE ensemble = ? LIMIT " STORE_SLICE ")")               \
    X(REPLICAS_REMOVE,                                                                                                 \
      "DELETE FROM replica WHERE number IN (SELECT number FROM replica WHERE ensemble = ? LIMIT " STORE_SLICE ")")     \
    X(SETS_REMOVE,                                                                                                     \
      "DELETE FROM replica_set WHERE number IN (SELECT number FROM replica_set WHERE ensemble = ? LIMIT " STORE_SLICE  \
      ")")                                                                                                             \
    X(LABELS_REMOVE, "DELETE FROM label WHERE ensemble = ?")                                                           \
    X(CONTENTS_REMOVE,                                                                                                 \
      "DELETE FROM content WHERE hash IN (SELECT hash FROM input_file WHERE ensemble = ?1) AND NOT EXISTS"             \
      " (SELECT 1 FROM input_file AS other WHERE other.hash = content.hash AND other.ensemble <> ?1)")                 \
    X(INPUTS_REMOVE, "DELETE FROM input_file WHERE ensemble = ?")                                                      \
    X(ENSEMBLE_REMOVE, "DELETE FROM ensemble WHERE number = ?")                                                        \
    X(REMOVED_NEXT, "SELECT number FROM ensemble WHERE removed = 1 LIMIT 1")                                           \
    X(REMOVAL_ADD, "INSERT INTO removal (id) VALUES (?)")                                                              \
    X(REMOVAL_END, "DELETE FROM removal WHERE id = ?")                                                                 \
    X(ENSEMBLE_SAVE,                                                                                                   \
      "UPDATE ensemble SET state = ?, reason = ?, changed = ?, revision = ?, stopped = ?, stopped_revision = ?,"       \
      " allocate_share = ?, again = ?, priority = ?, urgent = ?, paused_by = ?, moved_to = ?, doublings = ?"           \
      " WHERE number = ?")                                                                                             \
    X(UNTOLD_SAVE, "UPDATE ensemble SET untold = ? WHERE number = ?")                                                  \
    X(SET_SAVE, "UPDATE replica_set SET failures = ?, crashes = ?, salt = ?, device = ?, model = ? WHERE number = ?")  \
    X(REPLICA_SAVE,                                                                                                    \
      "UPDATE replica SET steps = ?, state = ?, stage = ?, step = ?, time_ps = ?, code = ?, failed_step = ?,"          \
      " reason = ? WHERE number = ?")                                                                                  \
    X(USED_SAVE, "UPDATE replica SET used_step = ?, used_ps = ? WHERE number = ?")                                     \
    X(REPLICAS_MOVE, "UPDATE replica SET state = ? WHERE ensemble = ? AND state = ?")                                  \
    X(EVENT_ADD, "INSERT INTO event (seq, ensemble, replica, time, kind, state, message) VALUES (?,?,?,?,?,?,?)")      \
    X(EVENTS_TRIM, "DELETE FROM event WHERE ensemble = ? AND seq <= ?")                                                \
    X(RAN_ADD, "UPDATE ensemble SET ran_ms = ran_ms + ? WHERE number = ?")                                             \
    X(HISTORY_PUT, "INSERT OR REPLACE INTO history (uid, used, at) VALUES (?,?,?)")                                    \
    X(HOLD_PUT, "INSERT OR REPLACE INTO hold (what, administrator, reason, since) VALUES (?,?,?,?)")                   \
    X(HOLD_END, "DELETE FROM hold WHERE what = ?")                                                                     \
    X(ACCOUNT_ADD,                                                                                                     \
      "INSERT INTO account (ensemble, day, device, uid, id, name, campaign, device_ms, steps, ps, joules)"             \
      " VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET device_ms = device_ms + excluded.device_ms,"          \
      " steps = steps + excluded.steps, ps = ps + excluded.ps,"                                                        \
      " joules = CASE WHEN excluded.joules IS NULL THEN joules ELSE coalesce(joules, 0) + excluded.joules END")        \
    X(ACCOUNTS_TRIM, "DELETE FROM account WHERE day < ?")

enum statement {
#define X(name, sql) STATEMENT_##name,
    STORE_STATEMENTS(X)
#undef X
        STATEMENT_COUNT
};

/* In the order of enum account_by. */
#define ACCOUNTS_BY(X, by, columns, group)                                                                             \
    X(ACCOUNTS_OF_##by, "SELECT " columns                                                                              \
                        ", sum(device_ms), sum(steps), sum(ps), sum(joules) FROM account"                              \
                        " WHERE day >= ? AND uid = coalesce(?, uid) GROUP BY " group)

/* Every statement that reads. Lengths of texts are cast because SQLite counts characters of a TEXT, bytes of a BLOB. */
#define STORE_READS(X)                                                                                                 \
    X(REPLICAS,                                                                                                        \
      "SELECT number, in_set, window, repeat, steps, state, stage, step, time_ps, code, failed_step, reason,"          \
      " stream, origin, used_step, used_ps FROM replica WHERE ensemble = ? AND retired = 0"                            \
      " ORDER BY repeat, window")                                                                                      \
    X(SETS,                                                                                                            \
      "SELECT replica_set.number, failures, crashes, salt, device, model FROM replica_set"                             \
      " JOIN replica USING (number) WHERE replica_set.ensemble = ? AND retired = 0 ORDER BY repeat, window")           \
    X(LABELS, "SELECT key, value FROM label WHERE ensemble = ? ORDER BY key")                                          \
    X(ENSEMBLES,                                                                                                       \
      "SELECT number, id, owner, key, hash, name, spec_name, atoms, windows, repeats, stages, retries, state,"         \
      " reason, created, changed,"                                                                                     \
      " (SELECT count(*) FROM replica WHERE replica.ensemble = ensemble.number AND retired = 0),"                      \
      " (SELECT coalesce(max(seq), 0) FROM event WHERE event.ensemble = ensemble.number), revision,"                   \
      " stop_error, stop_converged, stop_after, stopped, stopped_revision,"                                            \
      " allocate_share, allocate_before, allocate_every, ladder,"                                                      \
      " (SELECT count(*) FROM event WHERE event.ensemble = ensemble.number), ran_ms,"                                  \
      " length(CAST(spec || name || spec_name || coalesce(key, '') AS BLOB))"                                          \
      " + (SELECT coalesce(sum(length(CAST(key || value AS BLOB))), 0) FROM label"                                     \
      " WHERE label.ensemble = ensemble.number)"                                                                       \
      " + (SELECT coalesce(sum(length(CAST(name || hash AS BLOB))), 0) FROM input_file"                                \
      " WHERE input_file.ensemble = ensemble.number), again, sizes, priority, paused_by, urgent,"                      \
      " (SELECT coalesce(sum(device_ms), 0) FROM account WHERE account.ensemble = ensemble.number), moved_to, untold," \
      " walkers, switching, pilot, placed, doublings"                                                                  \
      " FROM ensemble WHERE removed = 0 ORDER BY number")                                                              \
    X(HISTORIES, "SELECT uid, used, at FROM history")                                                                  \
    ACCOUNTS_BY(X, USER, "uid, NULL, NULL, NULL, NULL, NULL", "uid ORDER BY 7 DESC")                                   \
    ACCOUNTS_BY(X, ENSEMBLE, "uid, id, name, campaign, NULL, NULL", "ensemble ORDER BY 7 DESC")                        \
    ACCOUNTS_BY(X, CAMPAIGN, "uid, NULL, NULL, campaign, NULL, NULL", "uid, campaign ORDER BY 7 DESC")                 \
    ACCOUNTS_BY(X, DEVICE, "NULL, NULL, NULL, NULL, device, NULL", "device ORDER BY 7 DESC")                           \
    ACCOUNTS_BY(X, DAY, "NULL, NULL, NULL, NULL, NULL, day", "day ORDER BY day")                                       \
    X(HOLDS, "SELECT what, administrator, reason, since FROM hold")                                                    \
    X(REMOVALS, "SELECT id FROM removal")                                                                              \
    X(EVENTS,                                                                                                          \
      "SELECT seq, time, kind, event.state, message, window, repeat, retired FROM event"                               \
      " LEFT JOIN replica ON replica.number = event.replica"                                                           \
      " WHERE event.ensemble = ? AND seq > ? ORDER BY seq LIMIT ?")                                                    \
    X(ID_KNOWN,                                                                                                        \
      "SELECT EXISTS (SELECT 1 FROM ensemble WHERE id = ?1) OR EXISTS (SELECT 1 FROM removal WHERE id = ?1)")          \
    X(SPEC, "SELECT spec FROM ensemble WHERE number = ? AND removed = 0")                                              \
    X(FILE,                                                                                                            \
      "SELECT name, data FROM input_file JOIN content USING (hash) WHERE ensemble = ? AND name > ?"                    \
      " ORDER BY name LIMIT 1")                                                                                        \
    X(LAST_ENSEMBLE, "SELECT max(ensemble, (SELECT coalesce(max(number), 0) FROM ensemble)) FROM gone")                \
    X(LAST_REPLICA, "SELECT max(replica, (SELECT coalesce(max(number), 0) FROM replica)) FROM gone")                   \
    X(LAST_EVENT, "SELECT max(event, (SELECT coalesce(max(seq), 0) FROM event)) FROM gone")

enum read {
#define X(name, sql) READ_##name,
    STORE_READS(X)
#undef X
        READ_COUNT
};
extern const char *const store_reads[READ_COUNT];

struct batch; /* batch.h */

/* The database and its write-ahead log, in which commits are until SQLite writes them into the database. */
enum { STORE_DATABASE, STORE_LOG, STORE_FILES };
struct store_file {
    char *path;
    dev_t device;
    ino_t inode;
    atomic_llong bytes; /* that it had after the last commit; it never becomes shorter by itself */
};

struct store {
    char *path;      /* of the database */
    sqlite3 *writer; /* the thread's, once it runs */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    /* Always under read_lock: SQLite itself does not lock it. In a portable store it is the writer, whose lock on the
     * file admits no other connection; transactions of the writer hold read_lock then, too. */
    sqlite3 *reader;
    uv_mutex_t read_lock;
    bool portable;

    uv_loop_t *loop;
    uv_prepare_t turn;         /* end of a turn of the loop: hands the batch over */
    uv_async_t committed;      /* the thread has committed */
    int handles;               /* to be closed before the struct is freed */
    struct batch *open;        /* loop thread only: filled now */
    struct batch *sent, *done; /* under lock: waiting for the thread; committed, callbacks to run */
    uv_thread_t thread;
    uv_mutex_t lock;
    uv_cond_t wake;
    bool running, quit;  /* quit under lock */
    bool sweeping;       /* under lock: ensembles may be removed whose rows are there; sweep.c */
    atomic_bool failing; /* the last commit failed and is tried again */
    uint64_t retry_ns;   /* between two tries */
    store_committed_fn *on_commit;
    void *on_commit_arg;
    char *reserve; /* path of the file that keeps space, and whether it is there: reserve.c */
    bool reserved;
    struct store_file files[STORE_FILES]; /* as they were opened */
};

/* ERR_DATABASE with SQLite's own text. */
int store_error(sqlite3 *db, struct err *e, const char *doing);
int store_exec(sqlite3 *db, const char *sql, struct err *e);
/* Runs the migrations that the database lacks, each in a transaction, after a copy to PATH.vN.bak. */
int store_migrate(sqlite3 *db, const char *path, const char *const *list, int n, struct err *e);
void store_stop_thread(struct store *s);
/* Around what the writer does, once other threads may read: readers of a portable store wait meanwhile. */
void store_write_begin(struct store *s);
void store_write_end(struct store *s);
/* sweep.c: one slice, on the thread; *more: there may be another. An SQLite code. */
int store_sweep(struct store *s, bool *more);
/* After a commit: how long the files are now. */
void store_note_sizes(struct store *s);
/* Whether its last call that failed, with `rc`, did so for want of space. */
bool store_lacks_space(sqlite3 *db, int rc);
/* What SQLite says went wrong, with the system's word for it. */
int store_said(sqlite3 *db, struct err *e);
/* reserve.c: whether there is such a file; makes it, where it is not there and the disk has room; removes it, false: it
 * was not there. */
void reserve_find(struct store *s);
void reserve_keep(struct store *s);
bool reserve_give(struct store *s);

#endif
