/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/store_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

char folder[64];
bool store_portable;
struct err err;

void path_in(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
}

int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/test_store.XXXXXX");
    assert_non_null(mkdtemp(folder));
    err = (struct err){0};
    return 0;
}

int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

void make_database(const char *sql)
{
    char path[128];
    sqlite3 *db;
    path_in(path, "shoald.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

struct ensemble *make_ensemble(int64_t number, const char *id, const char *key)
{
    struct ensemble *e = ensemble_of_windows(2, 1, false, 2 * number, 500);
    e->number = number;
    snprintf(e->id, sizeof e->id, "%s", id);
    e->owner = 1000;
    ensemble_string(&e->key, key);
    ensemble_string(&e->name, "water");
    ensemble_string(&e->spec_name, "my.yaml");
    memset(e->hash, 'a', 64);
    e->atoms = 3;
    e->stages = 2;
    e->retries = 1;
    e->created = e->changed = 1700000000123;
    return e;
}

void put_ensemble(struct store *s, const struct ensemble *e)
{
    const char *names[] = {"b.top", "a.gro"}, *texts[] = {"top", "gro \xff"};
    static const char *const hashes[] = {HASH("1"), HASH("2")};
    struct submission sub = {"spec text", 2, names, texts, (const char **)hashes};
    store_put_ensemble(s, e, &sub);
}

void count_up(void *arg)
{
    *(int *)arg += 1;
}

void count_loss(void *arg)
{
    *(int *)arg += 10;
}

void run_store(struct running *r)
{
    assert_int_equal(uv_loop_init(&r->loop), 0);
    assert_int_equal(store_open(&r->store, folder, store_portable, &err), 0);
    assert_int_equal(store_start(r->store, &r->loop, &err), 0);
}

void commit(struct running *r)
{
    int done = 0;
    store_after_commit(r->store, count_up, NULL, &done);
    uv_async_t keep; /* the store's own handles do not keep a loop alive */
    uv_async_init(&r->loop, &keep, NULL);
    while (!done)
        uv_run(&r->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&keep, NULL);
    uv_run(&r->loop, UV_RUN_NOWAIT);
}

void end_store(struct running *r)
{
    store_close(r->store);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
}

struct ensemble *loaded[4];
int nloaded;

void take(void *arg, struct ensemble *e)
{
    loaded[nloaded++] = e;
}

void load_again(struct running *r)
{
    nloaded = 0;
    run_store(r);
    assert_int_equal(store_load(r->store, take, NULL, &err), 0);
}

int take_file(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    buf_printf(arg, "%s:%d ", name, (int)len);
    return 0;
}

int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

void wait_swept(struct store *s)
{
    for (bool sweeping = true; sweeping;) {
        uv_mutex_lock(&s->lock);
        sweeping = s->sweeping;
        uv_mutex_unlock(&s->lock);
        uv_sleep(1);
    }
}

void put_events(struct store *s, const struct ensemble *e, int64_t from, int n)
{
    for (int i = 0; i < n; i++)
        store_put_event(
            s, &(struct event){.seq = from + i, .ensemble = e, .replica = e->replicas, .kind = "x", .state = -1});
}
