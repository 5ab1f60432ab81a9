/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches are committed, each as one transaction, by the store's own thread.
 *
 * 1. Batches commit in the order in which they were filled; callbacks run in that order, on the loop thread.
 * 2. At most one batch is with the thread; the next is filled meanwhile and handed over when that one is done.
 * 3. A batch is committed whole or tried again whole.
 */
#include "daemon/store/batch.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "engine/base/log.h"

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
    store_write_begin(s);
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
    store_write_end(s);
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
    store_write_begin(s);
    sqlite3_wal_checkpoint_v2(s->writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    store_write_end(s);
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
    store_write_begin(s);
    int rc = store_in_place(s) ? store_sweep(s, &more) : SQLITE_IOERR;
    store_write_end(s);
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
        const uint64_t began = uv_hrtime();
        commit_until_done(s, b);
        b->seconds = (double)(uv_hrtime() - began) * 1e-9;
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
    if (b && b->nops && s->on_commit)
        s->on_commit(s->on_commit_arg, b->seconds);
    for (int i = 0; b && i < b->ncallbacks; i++)
        b->callbacks[i].fn(b->callbacks[i].arg);
    batch_free(b);
}

static void on_committed(uv_async_t *h)
{
    take_done(h->data);
    hand_over(h->data);
}

void store_on_commit(struct store *s, store_committed_fn *fn, void *arg)
{
    s->on_commit = fn;
    s->on_commit_arg = arg;
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
