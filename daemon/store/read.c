/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/internal.h"

#include <string.h>

const char *const store_reads[READ_COUNT] = {
#define X(name, sql) [READ_##name] = sql,
    STORE_READS(X)
#undef X
};

static int prepare(sqlite3 *db, enum read what, sqlite3_stmt **q, struct err *e)
{
    return sqlite3_prepare_v2(db, store_reads[what], -1, q, NULL) == SQLITE_OK ? 0 : store_error(db, e, "read");
}

static const char *column(sqlite3_stmt *q, int i)
{
    return (const char *)sqlite3_column_text(q, i);
}

/* After the last row of a query: 0, or why there were no more. */
static int end_rows(const struct store *s, sqlite3_stmt *q, int step, const char *doing, struct err *e)
{
    int rc = step == SQLITE_DONE ? 0 : store_error(s->reader, e, doing);
    sqlite3_finalize(q);
    return rc;
}

/* ---- at start ---- */

/* A state that this program knows; else the row is damaged. */
static int read_state(sqlite3_stmt *q, int at, const struct sm_kind *kind, uint32_t *out, struct err *e)
{
    int64_t state = sqlite3_column_int64(q, at);
    if (state < 0 || state >= kind->count)
        return err_set(e, ERR_DATABASE, "%s %lld has state %lld, expected 0 to %u", kind->name,
                       (long long)sqlite3_column_int64(q, 0), (long long)state, kind->count - 1);
    *out = (uint32_t)state;
    return 0;
}

/* A replica without its set; the number of that is returned. */
static int64_t read_replica(sqlite3_stmt *q, struct sched_replica *r, struct err *e)
{
    uint32_t state;
    if (read_state(q, 5, &replica_states, &state, e))
        return -1;
    sm_init(&r->sm, &replica_states, r, state);
    r->number = sqlite3_column_int64(q, 0);
    r->window = sqlite3_column_int(q, 2);
    r->repeat = sqlite3_column_int(q, 3);
    r->steps = sqlite3_column_int64(q, 4);
    r->stage = sqlite3_column_int(q, 6);
    r->step = r->saved_step = sqlite3_column_int64(q, 7);
    r->time_ps = sqlite3_column_double(q, 8);
    r->code = sqlite3_column_int(q, 9);
    r->failed_step = sqlite3_column_int64(q, 10);
    ensemble_string(&r->reason, column(q, 11));
    r->stream = sqlite3_column_int(q, 12);
    r->origin = sqlite3_column_int(q, 13);
    r->used_step = r->used_saved = sqlite3_column_int64(q, 14);
    r->used_ps = sqlite3_column_double(q, 15);
    return sqlite3_column_int64(q, 1);
}

/* Replicas come in the order of repeats and windows, those of a set one after the other; a set has its first one's
 * number. */
static int read_replicas(struct store *s, struct ensemble *en, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_REPLICAS, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, en->number);
    int n = 0, in_set = 0, step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW && n < en->nreplicas) {
        int64_t set = read_replica(q, &en->replicas[n], e);
        if (set < 0) {
            sqlite3_finalize(q);
            return -ERR_DATABASE;
        }
        if (set == en->replicas[n].number && in_set) {
            ensemble_add_set(en, in_set);
            in_set = 0;
        }
        n++;
        in_set++;
    }
    if (in_set)
        ensemble_add_set(en, in_set);
    int rc = step == SQLITE_DONE ? 0 : store_error(s->reader, e, "load replicas");
    sqlite3_finalize(q);
    return rc || n == en->nreplicas ? rc : err_set(e, ERR_DATABASE, "ensemble %s lacks replicas", en->id);
}

static int read_sets(struct store *s, struct ensemble *en, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_SETS, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, en->number);
    int n = 0, step;
    for (; (step = sqlite3_step(q)) == SQLITE_ROW && n < en->nsets; n++) {
        struct sched_set *set = &en->sets[n];
        if (set->number != sqlite3_column_int64(q, 0))
            break;
        set->failures = sqlite3_column_int(q, 1);
        set->crashes = sqlite3_column_int(q, 2);
        set->salt = sqlite3_column_int(q, 3);
        ensemble_string(&set->device, column(q, 4));
        ensemble_string(&set->model, column(q, 5));
    }
    int rc = step == SQLITE_DONE || step == SQLITE_ROW ? 0 : store_error(s->reader, e, "load sets");
    sqlite3_finalize(q);
    return rc || n == en->nsets ? rc : err_set(e, ERR_DATABASE, "ensemble %s lacks sets", en->id);
}

static int read_labels(struct store *s, struct ensemble *en, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_LABELS, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, en->number);
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        ensemble_add_label(en, column(q, 0), column(q, 1));
    return end_rows(s, q, step, "load labels", e);
}

/* NULL: damaged. */
static struct ensemble *read_ensemble(sqlite3_stmt *q, struct err *e)
{
    uint32_t state;
    if (read_state(q, 12, &ensemble_states, &state, e))
        return NULL;
    struct ensemble *en = ensemble_new(sqlite3_column_int(q, 16));
    sm_init(&en->sm, &ensemble_states, en, state);
    en->number = sqlite3_column_int64(q, 0);
    snprintf(en->id, sizeof en->id, "%s", column(q, 1));
    en->owner = (uint32_t)sqlite3_column_int64(q, 2);
    ensemble_string(&en->key, column(q, 3));
    snprintf(en->hash, sizeof en->hash, "%s", column(q, 4));
    ensemble_string(&en->name, column(q, 5));
    ensemble_string(&en->spec_name, column(q, 6));
    en->atoms = sqlite3_column_int64(q, 7);
    en->windows = sqlite3_column_int(q, 8);
    en->repeats = sqlite3_column_int(q, 9);
    en->stages = sqlite3_column_int(q, 10);
    en->retries = sqlite3_column_int(q, 11);
    ensemble_string(&en->reason, column(q, 13));
    en->created = sqlite3_column_int64(q, 14);
    en->changed = sqlite3_column_int64(q, 15);
    en->seq = sqlite3_column_int64(q, 17);
    en->revision = sqlite3_column_int(q, 18);
    en->stop = (struct stop_rule){.error = sqlite3_column_double(q, 19),
                                  .converged = sqlite3_column_int(q, 20) != 0,
                                  .after = sqlite3_column_int64(q, 21)};
    ensemble_string(&en->stopped, column(q, 22));
    en->stopped_revision = sqlite3_column_int(q, 23);
    en->allocation = (struct allocation){.share = sqlite3_column_int64(q, 24),
                                         .before = sqlite3_column_int64(q, 25),
                                         .every = sqlite3_column_int64(q, 26)};
    en->ladder = sqlite3_column_int(q, 27);
    en->nevents = sqlite3_column_int64(q, 28);
    en->ran_ms = sqlite3_column_int64(q, 29);
    en->row_bytes = sqlite3_column_int64(q, 30);
    en->again = sqlite3_column_int(q, 31) != 0;
    device_sizes_read(&en->sizes, column(q, 32));
    en->priority = sqlite3_column_int(q, 35) ? PRIORITY_URGENT : sqlite3_column_int(q, 33);
    ensemble_string(&en->paused_by, column(q, 34));
    en->device_ms = sqlite3_column_double(q, 36);
    ensemble_string(&en->moved_to, column(q, 37));
    en->untold = sqlite3_column_int(q, 38) != 0;
    en->walkers = sqlite3_column_int(q, 39);
    en->switching = sqlite3_column_double(q, 40);
    en->pilot = sqlite3_column_int(q, 41) != 0;
    ensemble_string(&en->placed, column(q, 42));
    en->doublings = sqlite3_column_int(q, 43);
    return en;
}

static int read_ensembles(struct store *s, store_ensemble_fn *each, void *arg, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_ENSEMBLES, &q, e))
        return -(int)e->code;
    int rc = 0, step = SQLITE_DONE;
    while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct ensemble *en = read_ensemble(q, e);
        rc = en ? read_replicas(s, en, e) : -ERR_DATABASE;
        if (!rc)
            rc = read_labels(s, en, e);
        if (!rc)
            rc = read_sets(s, en, e);
        if (rc)
            ensemble_free(en);
        else
            each(arg, en);
    }
    if (!rc && step != SQLITE_DONE)
        rc = store_error(s->reader, e, "load ensembles");
    sqlite3_finalize(q);
    return rc ? err_prefix(e, "%s", s->path) : 0;
}

int store_load(struct store *s, store_ensemble_fn *each, void *arg, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_ensembles(s, each, arg, e);
    uv_mutex_unlock(&s->read_lock);
    return rc;
}

static int read_removals(struct store *s, store_removal_fn *each, void *arg, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_REMOVALS, &q, e))
        return -(int)e->code;
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        each(arg, column(q, 0));
    return end_rows(s, q, step, "load removals", e);
}

int store_load_removals(struct store *s, store_removal_fn *each, void *arg, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_removals(s, each, arg, e);
    uv_mutex_unlock(&s->read_lock);
    return rc;
}

static int read_histories(struct store *s, store_history_fn *each, void *arg, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_HISTORIES, &q, e))
        return -(int)e->code;
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        each(arg, (uint32_t)sqlite3_column_int64(q, 0), sqlite3_column_double(q, 1), sqlite3_column_int64(q, 2));
    return end_rows(s, q, step, "load histories", e);
}

int store_load_histories(struct store *s, store_history_fn *each, void *arg, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_histories(s, each, arg, e);
    uv_mutex_unlock(&s->read_lock);
    return rc;
}

static int read_holds(struct store *s, store_hold_fn *each, void *arg, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_HOLDS, &q, e))
        return -(int)e->code;
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        each(arg, column(q, 0),
             &(struct hold){
                 .by = (char *)column(q, 1), .reason = (char *)column(q, 2), .since = sqlite3_column_int64(q, 3)});
    return end_rows(s, q, step, "load holds", e);
}

int store_load_holds(struct store *s, store_hold_fn *each, void *arg, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_holds(s, each, arg, e);
    uv_mutex_unlock(&s->read_lock);
    return rc;
}

/* ---- any thread ---- */

static json_t *nullable(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? json_null() : json_integer(sqlite3_column_int64(q, i));
}

static int read_events(struct store *s, int64_t ensemble, int64_t since, int limit, json_t *out, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_EVENTS, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, ensemble);
    sqlite3_bind_int64(q, 2, since);
    sqlite3_bind_int(q, 3, limit);
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW) {
        json_t *row = json_pack("{s:I,s:I,s:s,s:o,s:o,s:o,s:s?}", "seq", (json_int_t)sqlite3_column_int64(q, 0), "time",
                                (json_int_t)sqlite3_column_int64(q, 1), "kind", column(q, 2), "window", nullable(q, 5),
                                "repeat", nullable(q, 6), "state", nullable(q, 3), "message", column(q, 4));
        if (sqlite3_column_int(q, 7))
            json_object_set_new(row, "pilot", json_true());
        json_array_append_new(out, row);
    }
    return end_rows(s, q, step, "read events", e);
}

int store_read_events(struct store *s, int64_t ensemble, int64_t since, int limit, json_t **out, struct err *e)
{
    *out = json_array();
    uv_mutex_lock(&s->read_lock);
    int rc = read_events(s, ensemble, since, limit, *out, e);
    uv_mutex_unlock(&s->read_lock);
    if (rc) {
        json_decref(*out);
        *out = NULL;
    }
    return rc;
}

static json_t *nullable_real(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? json_null() : json_real(sqlite3_column_double(q, i));
}

static int read_accounts(struct store *s, enum read what, int64_t since, int64_t uid, json_t *out, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, what, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, since);
    if (uid >= 0)
        sqlite3_bind_int64(q, 2, uid);
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        json_array_append_new(out,
                              json_pack("{s:o,s:s?,s:s?,s:s?,s:s?,s:o,s:f,s:I,s:f,s:o}", "uid", nullable(q, 0), "id",
                                        column(q, 1), "name", column(q, 2), "campaign", column(q, 3), "device",
                                        column(q, 4), "day", nullable(q, 5), "device_ms", sqlite3_column_double(q, 6),
                                        "steps", (json_int_t)sqlite3_column_int64(q, 7), "ps",
                                        sqlite3_column_double(q, 8), "joules", nullable_real(q, 9)));
    return end_rows(s, q, step, "read accounts", e);
}

int store_read_accounts(struct store *s, enum account_by by, int64_t since, int64_t uid, json_t **out, struct err *e)
{
    *out = json_array();
    uv_mutex_lock(&s->read_lock);
    int rc = read_accounts(s, (enum read)(READ_ACCOUNTS_OF_USER + (int)by), since, uid, *out, e);
    uv_mutex_unlock(&s->read_lock);
    if (rc) {
        json_decref(*out);
        *out = NULL;
    }
    return rc;
}

static int read_known(struct store *s, const char *id, bool *known, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_ID_KNOWN, &q, e))
        return -(int)e->code;
    sqlite3_bind_text(q, 1, id, -1, SQLITE_STATIC);
    int rc = sqlite3_step(q) == SQLITE_ROW ? 0 : store_error(s->reader, e, "look for an id");
    *known = !rc && sqlite3_column_int(q, 0) != 0;
    sqlite3_finalize(q);
    return rc;
}

int store_knows_id(struct store *s, const char *id, bool *known, struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_known(s, id, known, e);
    uv_mutex_unlock(&s->read_lock);
    return rc;
}

static int read_spec(struct store *s, int64_t ensemble, struct buf *spec, struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_SPEC, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, ensemble);
    int rc = 0, step = sqlite3_step(q);
    if (step == SQLITE_ROW)
        buf_add(spec, sqlite3_column_text(q, 0), (size_t)sqlite3_column_bytes(q, 0));
    else if (step == SQLITE_DONE)
        rc = err_set(e, ERR_NOT_FOUND, "no such ensemble: it was removed");
    else
        rc = store_error(s->reader, e, "read spec");
    sqlite3_finalize(q);
    return rc;
}

/* The next file after `name`, copied; an empty name in *next: there is none. */
static int read_file(struct store *s, int64_t ensemble, const char *name, struct buf *next, struct buf *content,
                     struct err *e)
{
    sqlite3_stmt *q;
    if (prepare(s->reader, READ_FILE, &q, e))
        return -(int)e->code;
    sqlite3_bind_int64(q, 1, ensemble);
    sqlite3_bind_text(q, 2, name, -1, SQLITE_STATIC);
    int step = sqlite3_step(q);
    if (step == SQLITE_ROW) {
        buf_add(next, column(q, 0), (size_t)sqlite3_column_bytes(q, 0));
        buf_add(content, sqlite3_column_blob(q, 1), (size_t)sqlite3_column_bytes(q, 1));
    }
    int rc = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : store_error(s->reader, e, "read input files");
    sqlite3_finalize(q);
    return rc;
}

/* One by one: the lock is not held while the caller writes a file. */
static int read_files(struct store *s, int64_t ensemble, store_file_fn *each, void *arg, struct err *e)
{
    struct buf name = {0};
    int rc = 0;
    for (bool more = true; more && !rc;) {
        struct buf next = {0}, content = {0};
        uv_mutex_lock(&s->read_lock);
        rc = read_file(s, ensemble, name.data ? name.data : "", &next, &content, e);
        uv_mutex_unlock(&s->read_lock);
        more = next.len > 0;
        if (!rc && more)
            rc = each(arg, next.data, content.data, content.len, e);
        buf_free(&name);
        buf_free(&content);
        name = next;
    }
    buf_free(&name);
    return rc;
}

int store_read_inputs(struct store *s, int64_t ensemble, struct buf *spec, store_file_fn *each, void *arg,
                      struct err *e)
{
    uv_mutex_lock(&s->read_lock);
    int rc = read_spec(s, ensemble, spec, e);
    uv_mutex_unlock(&s->read_lock);
    return rc || !each ? rc : read_files(s, ensemble, each, arg, e);
}
