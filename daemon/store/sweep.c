/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of removed ensembles are deleted a slice at a time, each slice in a transaction of its own, on the store's
 * thread while no batch waits. So a commit waits for one slice at most, however many replicas and events an ensemble
 * had. The next start goes on with the rows that a stop leaves.
 */
#include "daemon/store/internal.h"

/* *n: how many rows it deleted. */
static int delete_rows(struct store *s, enum statement statement, int64_t ensemble, int *n)
{
    sqlite3_stmt *q = s->statements[statement];
    int rc = sqlite3_bind_int64(q, 1, ensemble);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(q);
    *n = sqlite3_changes(s->writer);
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* What refers to others first; the ensemble itself when nothing else is left. */
static int delete_slice(struct store *s, int64_t ensemble)
{
    static const enum statement slices[] = {STATEMENT_EVENTS_REMOVE, STATEMENT_REPLICAS_REMOVE, STATEMENT_SETS_REMOVE};
    static const enum statement rest[] = {STATEMENT_LABELS_REMOVE, STATEMENT_CONTENTS_REMOVE, STATEMENT_INPUTS_REMOVE,
                                          STATEMENT_ENSEMBLE_REMOVE};
    int rc = SQLITE_OK, n = 0;
    for (size_t i = 0; i < sizeof slices / sizeof *slices && rc == SQLITE_OK; i++) {
        rc = delete_rows(s, slices[i], ensemble, &n);
        if (n)
            return rc;
    }
    for (size_t i = 0; i < sizeof rest / sizeof *rest && rc == SQLITE_OK; i++)
        rc = delete_rows(s, rest[i], ensemble, &n);
    return rc;
}

int store_sweep(struct store *s, bool *more)
{
    sqlite3_stmt *q = s->statements[STATEMENT_REMOVED_NEXT];
    int rc = sqlite3_step(q);
    int64_t ensemble = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    *more = rc != SQLITE_DONE;
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE ? SQLITE_OK : rc;
    /* Without waiting for the disk: a slice that a power cut takes back is deleted again after the next start. */
    sqlite3_exec(s->writer, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    rc = sqlite3_exec(s->writer, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = delete_slice(s, ensemble);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->writer, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(s->writer))
        sqlite3_exec(s->writer, "ROLLBACK", NULL, NULL, NULL);
    int full = sqlite3_exec(s->writer, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    return rc != SQLITE_OK ? rc : full;
}
