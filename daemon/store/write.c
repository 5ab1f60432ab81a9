/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches: what one turn of the loop wrote, as statement numbers and values, committed as one transaction by the store's own
 * thread.
 *
 * 1. Batches commit in the order in which they were filled; callbacks run in that order, on the loop thread.
 * 2. At most one batch is with the thread; the next is filled meanwhile and handed over when that one is done.
 * 3. A batch is committed whole or tried again whole.
 */
#include "daemon/store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/log.h"

enum value_kind { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
    enum value_kind kind;
    int64_t i;
    double d;
    char *data; /* owned */
    size_t len;
};

struct op {
    enum statement statement;
    int first, n; /* its values in the batch */
};

struct callback {
    store_done_fn *fn, *forget;
    void *arg;
};

struct batch {
    struct op *ops;
    int nops, cops;
    struct value *values;
    int nvalues, cvalues;
    struct callback *callbacks;
    int ncallbacks, ccallbacks;
};

static void *grow(void *items, int n, int *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? 2 * *cap : 16;
    return xrealloc(items, (size_t)*cap, size);
}

static struct batch *filling(struct store *s)
{
    if (!s->open)
        s->open = xcalloc(1, sizeof *s->open);
    return s->open;
}

static void batch_free(struct batch *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->nvalues; i++)
        free(b->values[i].data);
    free(b->values);
    free(b->ops);
    free(b->callbacks);
    free(b);
}

/* It will not be committed: its callbacks never run. */
static void batch_forget(struct batch *b)
{
    for (int i = 0; b && i < b->ncallbacks; i++)
        if (b->callbacks[i].forget)
            b->callbacks[i].forget(b->callbacks[i].arg);
    batch_free(b);
}

/* ---- filling; loop thread ---- */

static void op(struct store *s, enum statement statement)
{
    struct batch *b = filling(s);
    b->ops = grow(b->ops, b->nops, &b->cops, sizeof *b->ops);
    b->ops[b->nops++] = (struct op){statement, b->nvalues, 0};
}

static void value(struct store *s, struct value v)
{
    struct batch *b = s->open;
    b->values = grow(b->values, b->nvalues, &b->cvalues, sizeof *b->values);
    b->values[b->nvalues++] = v;
    b->ops[b->nops - 1].n++;
}

static void null(struct store *s)
{
    value(s, (struct value){.kind = VALUE_NULL});
}

static void integer(struct store *s, int64_t i)
{
    value(s, (struct value){.kind = VALUE_INT, .i = i});
}

static void real(struct store *s, double d)
{
    value(s, (struct value){.kind = VALUE_REAL, .d = d});
}

static void text(struct store *s, const char *t)
{
    if (!t)
        null(s);
    else
        value(s, (struct value){.kind = VALUE_TEXT, .data = xstrdup(t), .len = strlen(t)});
}

static void add_ensemble(struct store *s, const struct ensemble *e, const char *spec)
{
    op(s, STATEMENT_ENSEMBLE_ADD);
    integer(s, e->number);
    text(s, e->id);
    integer(s, e->owner);
    text(s, e->key);
    text(s, e->hash);
    text(s, e->name);
    text(s, e->spec_name);
    text(s, spec);
    integer(s, e->atoms);
    integer(s, e->windows);
    integer(s, e->repeats);
    integer(s, e->stages);
    integer(s, e->retries);
    integer(s, e->sm.state);
    text(s, e->reason);
    integer(s, e->created);
    integer(s, e->changed);
    real(s, e->stop.error);
    integer(s, e->stop.converged);
    integer(s, e->stop.after);
    integer(s, e->allocation.share);
    integer(s, e->allocation.before);
    integer(s, e->allocation.every);
}

/* Those that are there get their windows anew. */
static void put_replicas(struct store *s, const struct ensemble *e)
{
    for (int i = 0; i < e->nsets; i++) {
        op(s, STATEMENT_SET_ADD);
        integer(s, e->sets[i].number);
        integer(s, e->number);
    }
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        op(s, STATEMENT_REPLICA_ADD);
        integer(s, r->number);
        integer(s, e->number);
        integer(s, r->set->number);
        integer(s, r->window);
        integer(s, r->repeat);
        integer(s, r->steps);
        integer(s, r->sm.state);
        integer(s, r->stream);
        integer(s, r->origin);
    }
}

void store_put_ensemble(struct store *s, const struct ensemble *e, const struct submission *sub)
{
    add_ensemble(s, e, sub->spec);
    for (int i = 0; i < sub->nfiles; i++) {
        size_t len = strlen(sub->file_texts[i]);
        op(s, STATEMENT_CONTENT_ADD);
        text(s, sub->file_hashes[i]);
        value(s, (struct value){.kind = VALUE_BLOB, .data = xstrdup(sub->file_texts[i]), .len = len});
        op(s, STATEMENT_INPUT_ADD);
        integer(s, e->number);
        text(s, sub->file_names[i]);
        text(s, sub->file_hashes[i]);
    }
    for (int i = 0; i < e->nlabels; i++) {
        op(s, STATEMENT_LABEL_ADD);
        integer(s, e->number);
        text(s, e->labels[i].key);
        text(s, e->labels[i].value);
    }
    put_replicas(s, e);
}

void store_save_ladder(struct store *s, const struct ensemble *e, const char *spec)
{
    op(s, STATEMENT_LADDER_SAVE);
    text(s, spec);
    integer(s, e->windows);
    integer(s, e->ladder);
    integer(s, e->number);
    put_replicas(s, e);
    store_save_ensemble(s, e);
    for (int i = 0; i < e->nreplicas; i++)
        store_save_replica(s, &e->replicas[i]);
}

void store_remove_ensemble(struct store *s, const struct ensemble *e)
{
    op(s, STATEMENT_ENSEMBLE_HIDE);
    integer(s, e->number);
    op(s, STATEMENT_REMOVAL_ADD);
    text(s, e->id);
}

void store_end_removal(struct store *s, const char *id)
{
    op(s, STATEMENT_REMOVAL_END);
    text(s, id);
}

void store_save_ensemble(struct store *s, const struct ensemble *e)
{
    op(s, STATEMENT_ENSEMBLE_SAVE);
    integer(s, e->sm.state);
    text(s, e->reason);
    integer(s, e->changed);
    integer(s, e->revision);
    text(s, e->stopped);
    integer(s, e->stopped_revision);
    integer(s, e->allocation.share);
    integer(s, e->again);
    integer(s, e->number);
}

void store_save_replica(struct store *s, const struct sched_replica *r)
{
    op(s, STATEMENT_REPLICA_SAVE);
    integer(s, r->steps);
    integer(s, r->sm.state);
    integer(s, r->stage);
    integer(s, r->saved_step);
    real(s, r->time_ps);
    integer(s, r->code);
    integer(s, r->failed_step);
    text(s, r->reason);
    integer(s, r->number);
    op(s, STATEMENT_SET_SAVE);
    integer(s, r->set->failures);
    integer(s, r->set->crashes);
    integer(s, r->set->salt);
    text(s, r->set->device);
    text(s, r->set->model);
    integer(s, r->set->number);
}

void store_move_replicas(struct store *s, const struct ensemble *e, enum replica_state from, enum replica_state to)
{
    op(s, STATEMENT_REPLICAS_MOVE);
    integer(s, to);
    integer(s, e->number);
    integer(s, from);
}

void store_put_event(struct store *s, const struct event *ev)
{
    op(s, STATEMENT_EVENT_ADD);
    integer(s, ev->seq);
    integer(s, ev->ensemble->number);
    if (ev->replica)
        integer(s, ev->replica->number);
    else
        null(s);
    integer(s, ev->time);
    text(s, ev->kind);
    if (ev->state >= 0)
        integer(s, ev->state);
    else
        null(s);
    text(s, ev->message);
}

void store_trim_events(struct store *s, const struct ensemble *e, int64_t seq, int64_t ms)
{
    op(s, STATEMENT_EVENTS_TRIM);
    integer(s, e->number);
    integer(s, seq);
    op(s, STATEMENT_RAN_ADD);
    integer(s, ms);
    integer(s, e->number);
}

void store_after_commit(struct store *s, store_done_fn *fn, store_done_fn *forget, void *arg)
{
    struct batch *b = filling(s);
    b->callbacks = grow(b->callbacks, b->ncallbacks, &b->ccallbacks, sizeof *b->callbacks);
    b->callbacks[b->ncallbacks++] = (struct callback){fn, forget, arg};
}

/* ---- committing; the store's thread ---- */

static int bind_value(sqlite3_stmt *q, int at, const struct value *v)
{
    switch (v->kind) {
    case VALUE_NULL:
        return sqlite3_bind_null(q, at);
    case VALUE_INT:
        return sqlite3_bind_int64(q, at, v->i);
    case VALUE_REAL:
        return sqlite3_bind_double(q, at, v->d);
    case VALUE_TEXT:
        return sqlite3_bind_text64(q, at, v->data, v->len, SQLITE_STATIC, SQLITE_UTF8);
    case VALUE_BLOB:
        return sqlite3_bind_blob64(q, at, v->data, v->len, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static int run_op(struct store *s, const struct batch *b, const struct op *o)
{
    sqlite3_stmt *q = s->statements[o->statement];
    int rc = SQLITE_OK;
    if (o->n != sqlite3_bind_parameter_count(q))
        rc = SQLITE_RANGE; /* a bug here: a statement and what fills it differ */
    for (int i = 0; i < o->n && rc == SQLITE_OK; i++)
        rc = bind_value(q, i + 1, &b->values[o->first + i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(q);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

bool store_in_place(const struct store *s)
{
    struct stat st;
    for (const struct store_file *f = s->files; f < s->files + STORE_FILES; f++)
        if (stat(f->path, &st) || st.st_dev != f->device || st.st_ino != f->inode ||
            st.st_size < atomic_load(&f->bytes)) /* read after the length: make_room sets it first */
            return false;
    return true;
}

void store_note_sizes(struct store *s)
{
    struct stat st;
    for (struct store_file *f = s->files; f < s->files + STORE_FILES; f++)
        if (!stat(f->path, &st))
            atomic_store(&f->bytes, st.st_size);
}

static int commit(struct store *s, const struct batch *b)
{
    if (!store_in_place(s)) { /* what is written to a file without a name is lost with the process */
        log_line(LOG_ERROR, "commit failed: %s or its log (-wal) was removed or replaced", s->path);
        return SQLITE_IOERR;
    }
    int rc = sqlite3_exec(s->writer, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (int i = 0; i < b->nops && rc == SQLITE_OK; i++)
        rc = run_op(s, b, &b->ops[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->writer, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        log_line(LOG_ERROR, "commit failed: %s", sqlite3_errmsg(s->writer));
        if (!sqlite3_get_autocommit(s->writer))
            sqlite3_exec(s->writer, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

/* Conditions of the machine, which may pass; all else is a bug or a loss. */
static bool may_pass(int rc)
{
    int primary = rc & 0xff;
    return primary == SQLITE_FULL || primary == SQLITE_IOERR || primary == SQLITE_BUSY || primary == SQLITE_LOCKED ||
           primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY || primary == SQLITE_NOMEM;
}

/* What was kept for the database, and its log, which is written into it. */
static void make_room(struct store *s)
{
    if (reserve_give(s))
        log_line(LOG_WARNING, "the disk is full: the database goes on in what was kept for it");
    atomic_store(&s->files[STORE_LOG].bytes, 0);
    sqlite3_wal_checkpoint_v2(s->writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static void commit_until_done(struct store *s, const struct batch *b)
{
    bool made_room = false;
    for (int rc; b->nops && (rc = commit(s, b)) != SQLITE_OK;) {
        if (!may_pass(rc))
            abort();
        if (store_lacks_space(s->writer, rc) && !made_room) {
            made_room = true;
            make_room(s);
            continue;
        }
        made_room = false;
        atomic_store(&s->failing, true);
        uv_mutex_lock(&s->lock);
        bool quit = s->quit;
        if (!quit)
            uv_cond_timedwait(&s->wake, &s->lock, s->retry_ns);
        quit = s->quit;
        uv_mutex_unlock(&s->lock);
        if (quit)
            return; /* its callbacks never run: nothing of it was answered */
    }
    atomic_store(&s->failing, false);
    store_note_sizes(s);
    reserve_keep(s);
}

/* Called with the lock held, which it gives up meanwhile. A slice for which there is no space now is tried again. */
static void sweep(struct store *s)
{
    uv_mutex_unlock(&s->lock);
    bool more = true;
    int rc = store_in_place(s) ? store_sweep(s, &more) : SQLITE_IOERR;
    if (rc != SQLITE_OK && !may_pass(rc))
        abort();
    if (rc == SQLITE_OK)
        store_note_sizes(s);
    uv_mutex_lock(&s->lock);
    s->sweeping = more;
    if (rc != SQLITE_OK && !s->sent && !s->quit)
        uv_cond_timedwait(&s->wake, &s->lock, s->retry_ns);
}

static void thread_main(void *arg)
{
    struct store *s = arg;
    uv_mutex_lock(&s->lock);
    for (;;) {
        while (!s->sent && !s->quit && !s->sweeping)
            uv_cond_wait(&s->wake, &s->lock);
        struct batch *b = s->sent;
        if (!b && s->quit)
            break;
        if (!b) {
            sweep(s);
            continue;
        }
        uv_mutex_unlock(&s->lock);
        commit_until_done(s, b);
        uv_mutex_lock(&s->lock);
        s->sent = NULL;
        s->done = b;
        s->sweeping = true;
        uv_async_send(&s->committed);
    }
    uv_mutex_unlock(&s->lock);
}

/* ---- handing over; loop thread ---- */

static void hand_over(struct store *s)
{
    uv_mutex_lock(&s->lock);
    if (s->open && !s->sent && !s->done) {
        s->sent = s->open;
        s->open = NULL;
        uv_cond_signal(&s->wake);
    }
    uv_mutex_unlock(&s->lock);
}

static void on_turn(uv_prepare_t *h)
{
    hand_over(h->data);
}

static void take_done(struct store *s)
{
    uv_mutex_lock(&s->lock);
    struct batch *b = s->done;
    s->done = NULL;
    uv_mutex_unlock(&s->lock);
    for (int i = 0; b && i < b->ncallbacks; i++)
        b->callbacks[i].fn(b->callbacks[i].arg);
    batch_free(b);
}

static void on_committed(uv_async_t *h)
{
    take_done(h->data);
    hand_over(h->data);
}

int store_start(struct store *s, uv_loop_t *loop, struct err *e)
{
    s->loop = loop;
    uv_prepare_init(loop, &s->turn);
    int rc = uv_async_init(loop, &s->committed, on_committed);
    if (rc == 0)
        rc = uv_thread_create(&s->thread, thread_main, s);
    if (rc)
        return err_set(e, ERR_INTERNAL, "start the store's thread: %s", uv_strerror(rc));
    s->turn.data = s->committed.data = s;
    s->handles = 2;
    s->running = s->sweeping = true;
    uv_prepare_start(&s->turn, on_turn);
    uv_unref((uv_handle_t *)&s->turn);
    uv_unref((uv_handle_t *)&s->committed);
    return 0;
}

/* Commits what is left. Callbacks may put more, for instance events; those are committed too. */
void store_stop_thread(struct store *s)
{
    bool more;
    do {
        hand_over(s);
        uv_mutex_lock(&s->lock);
        while (s->sent && !atomic_load(&s->failing)) {
            uv_mutex_unlock(&s->lock);
            uv_sleep(1);
            uv_mutex_lock(&s->lock);
        }
        bool stuck = s->sent;
        uv_mutex_unlock(&s->lock);
        take_done(s);
        more = s->open && !stuck;
    } while (more);
    uv_mutex_lock(&s->lock);
    s->quit = true;
    uv_cond_signal(&s->wake);
    uv_mutex_unlock(&s->lock);
    uv_thread_join(&s->thread);
    batch_forget(s->sent);
    batch_forget(s->done);
    batch_forget(s->open);
    s->sent = s->done = s->open = NULL;
    s->running = false;
}
