/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/store/internal.h"

static char folder[64];
static struct err err;

static void path_in(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/test_store.XXXXXX");
    assert_non_null(mkdtemp(folder));
    err = (struct err){0};
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A database file with the given SQL in it. */
static void make_database(const char *sql)
{
    char path[128];
    sqlite3 *db;
    path_in(path, "shoald.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static struct ensemble *make_ensemble(int64_t number, const char *id, const char *key)
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

/* 64 digits. */
#define TEN(digit) digit digit digit digit digit digit digit digit digit digit
#define HASH(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) digit digit digit digit

static void put_ensemble(struct store *s, const struct ensemble *e)
{
    const char *names[] = {"b.top", "a.gro"}, *texts[] = {"top", "gro \xff"};
    static const char *const hashes[] = {HASH("1"), HASH("2")};
    struct submission sub = {"spec text", 2, names, texts, (const char **)hashes};
    store_put_ensemble(s, e, &sub);
}

static void note(void *arg)
{
    *(int *)arg += 1;
}

static void note_loss(void *arg)
{
    *(int *)arg += 10;
}

/* A store with its loop and thread. */
struct running {
    uv_loop_t loop;
    struct store *store;
};

static void run_store(struct running *r)
{
    assert_int_equal(uv_loop_init(&r->loop), 0);
    assert_int_equal(store_open(&r->store, folder, &err), 0);
    assert_int_equal(store_start(r->store, &r->loop, &err), 0);
}

static void commit(struct running *r)
{
    int done = 0;
    store_after_commit(r->store, note, NULL, &done);
    uv_async_t keep; /* the store's own handles do not keep a loop alive */
    uv_async_init(&r->loop, &keep, NULL);
    while (!done)
        uv_run(&r->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&keep, NULL);
    uv_run(&r->loop, UV_RUN_NOWAIT);
}

static void end_store(struct running *r)
{
    store_close(r->store);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
}

static struct ensemble *loaded[4];
static int nloaded;

static void take(void *arg, struct ensemble *e)
{
    loaded[nloaded++] = e;
}

/* What is stored, into `loaded`. */
static void load_again(struct running *r)
{
    nloaded = 0;
    run_store(r);
    assert_int_equal(store_load(r->store, take, NULL, &err), 0);
}

static int take_file(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    buf_printf(arg, "%s:%d ", name, (int)len);
    return 0;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

static void what_is_put_comes_back(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", "key");
    e->stop = (struct stop_rule){.error = 0.4184, .converged = true, .after = 77};
    e->allocation = (struct allocation){.share = 400, .before = 100, .every = 10};
    run_store(&r);
    put_ensemble(r.store, e);
    e->allocation.share = 500;
    struct sched_replica *rep = &e->replicas[1];
    sm_move(&e->sm, ENSEMBLE_RUNNING);
    ensemble_string(&e->reason, "why");
    rep->set->worker = 0;
    sm_move(&rep->sm, REPLICA_RUNNING);
    rep->set->failures = 1;
    rep->set->crashes = 2;
    rep->set->salt = 3;
    rep->saved_step = 77;
    rep->steps = 600;
    e->revision = 4;
    e->stopped_revision = 3;
    ensemble_string(&e->stopped, "enough");
    rep->code = ERR_NONFINITE;
    rep->failed_step = 80;
    ensemble_string(&rep->set->model, "m");
    store_save_ensemble(r.store, e);
    store_save_replica(r.store, rep);
    struct event ev = {.seq = 9, .time = 5, .ensemble = e, .replica = rep, .kind = "replica", .state = REPLICA_RUNNING};
    store_put_event(r.store, &ev);
    commit(&r);
    end_store(&r);

    load_again(&r);
    assert_int_equal(nloaded, 1);
    struct ensemble *got = loaded[0];
    assert_string_equal(got->id, "abcd");
    assert_string_equal(got->key, "key");
    assert_string_equal(got->reason, "why");
    assert_string_equal(got->spec_name, "my.yaml");
    assert_int_equal(got->owner, 1000);
    assert_int_equal(got->windows, 2);
    assert_int_equal(got->repeats, 1);
    assert_int_equal(got->nsets, 2);
    assert_int_equal(got->revision, 4);
    assert_string_equal(got->stopped, "enough");
    assert_int_equal(got->stopped_revision, 3);
    assert_int_equal(got->allocation.share, 500);
    assert_int_equal(got->allocation.before, 100);
    assert_int_equal(got->allocation.every, 10);
    assert_true(got->stop.error == 0.4184 && got->stop.converged && got->stop.after == 77);
    assert_int_equal(got->replicas[0].steps, 500);
    assert_int_equal(got->replicas[1].steps, 600);
    assert_int_equal(got->created, 1700000000123);
    assert_int_equal(got->seq, 9);
    assert_int_equal(got->sm.state, ENSEMBLE_RUNNING);
    assert_int_equal(got->nreplicas, 2);
    assert_int_equal(got->replicas[0].sm.state, REPLICA_QUEUED);
    assert_int_equal(got->replicas[1].sm.state, REPLICA_RUNNING);
    assert_int_equal(got->replicas[1].number, 3);
    assert_int_equal(got->replicas[1].set->failures, 1);
    assert_int_equal(got->replicas[1].set->crashes, 2);
    assert_int_equal(got->replicas[1].set->salt, 3);
    assert_int_equal(got->replicas[1].failed_step, 80);
    assert_ptr_equal(got->replicas[1].set, &got->sets[1]);
    assert_int_equal(got->replicas[1].saved_step, 77);
    assert_string_equal(got->replicas[1].set->model, "m");
    assert_null(got->replicas[1].reason);
    struct store_numbers last;
    assert_int_equal(store_numbers(r.store, &last, &err), 0);
    assert_int_equal(last.ensemble, 1);
    assert_int_equal(last.replica, 3);
    assert_int_equal(last.event, 9);

    struct buf spec = {0}, files = {0};
    assert_int_equal(store_read_inputs(r.store, 1, &spec, take_file, &files, &err), 0);
    assert_string_equal(spec.data, "spec text");
    assert_string_equal(files.data, "a.gro:5 b.top:3 ");
    json_t *events;
    assert_int_equal(store_read_events(r.store, 1, 0, 10, &events, &err), 0);
    assert_int_equal(json_array_size(events), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "window")), 1);
    json_decref(events);
    assert_int_equal(store_read_events(r.store, 1, 9, 10, &events, &err), 0);
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
    buf_free(&spec);
    buf_free(&files);
    end_store(&r);
    ensemble_free(got);
    ensemble_free(e);
}

/* Until nothing is left of what was removed. */
static void wait_swept(struct store *s)
{
    for (bool sweeping = true; sweeping;) {
        uv_mutex_lock(&s->lock);
        sweeping = s->sweeping;
        uv_mutex_unlock(&s->lock);
        uv_sleep(1);
    }
}

static void put_events(struct store *s, const struct ensemble *e, int64_t from, int n)
{
    for (int i = 0; i < n; i++)
        store_put_event(
            s, &(struct event){.seq = from + i, .ensemble = e, .replica = e->replicas, .kind = "x", .state = -1});
}

/* A removed ensemble is gone at once, for a start too, and its key is free; its rows go a slice at a time, also where a stop came between. */
static void a_removal_goes_in_slices(void **state)
{
    enum { SLICE = 1000, EVENTS = 5 * SLICE };
    struct running r;
    char path[128];
    sqlite3 *db;
    struct ensemble *e = make_ensemble(1, "abcd", "key"), *other = make_ensemble(2, "efgh", NULL),
                    *again = make_ensemble(3, "ijkl", "key");
    path_in(path, "shoald.db");
    run_store(&r);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    put_ensemble(r.store, e);
    put_ensemble(r.store, other);
    put_events(r.store, e, 1, EVENTS);
    commit(&r);
    end_store(&r);
    /* What a stop right after the removal's commit leaves. */
    assert_int_equal(sqlite3_exec(db, "UPDATE ensemble SET removed = 1, key = NULL WHERE number = 1", 0, 0, 0),
                     SQLITE_OK);
    nloaded = 0;
    assert_int_equal(uv_loop_init(&r.loop), 0);
    assert_int_equal(store_open(&r.store, folder, &err), 0);
    assert_int_equal(store_load(r.store, take, NULL, &err), 0);
    assert_int_equal(nloaded, 1);
    assert_string_equal(loaded[0]->id, "efgh");
    bool more = true;
    for (int left = EVENTS; left >= 0; left -= SLICE) {
        assert_int_equal(number(db, "SELECT count(*) FROM event"), left);
        assert_int_equal(number(db, "SELECT count(*) FROM replica"), 4);
        assert_int_equal(store_sweep(r.store, &more), SQLITE_OK);
        assert_true(more);
    }
    assert_int_equal(number(db, "SELECT count(*) FROM replica"), 2);
    assert_int_equal(store_start(r.store, &r.loop, &err), 0);
    put_ensemble(r.store, again);
    commit(&r);
    wait_swept(r.store);
    assert_int_equal(number(db, "SELECT count(*) FROM ensemble"), 2);
    assert_int_equal(number(db, "SELECT count(*) FROM replica_set"), 4);
    sqlite3_close(db);
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(again);
    ensemble_free(other);
    ensemble_free(e);
}

/* All replicas in one state move at once; the oldest events go, and how long it ran by them stays. */
static void moves_and_trims_are_stored(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    run_store(&r);
    put_ensemble(r.store, e);
    sm_init(&e->replicas[1].sm, &replica_states, &e->replicas[1], REPLICA_DONE);
    store_save_replica(r.store, &e->replicas[1]);
    store_move_replicas(r.store, e, REPLICA_QUEUED, REPLICA_PAUSED);
    put_events(r.store, e, 1, 10);
    store_trim_events(r.store, e, 7, 1234);
    commit(&r);
    end_store(&r);
    load_again(&r);
    assert_int_equal(loaded[0]->replicas[0].sm.state, REPLICA_PAUSED);
    assert_int_equal(loaded[0]->replicas[1].sm.state, REPLICA_DONE);
    assert_int_equal(loaded[0]->nevents, 3);
    assert_int_equal(loaded[0]->seq, 10);
    assert_int_equal(loaded[0]->ran_ms, 1234);
    assert_int_equal(loaded[0]->row_bytes, strlen("spec text"
                                                  "my.yaml"));
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

/* Of tables that grow with what is stored nothing is found by reading all of one. */
static void expect_no_scan(sqlite3 *db, const char *sql)
{
    static const char *const large[] = {"event", "replica", "replica_set", "input_file", "content", "label"};
    struct buf plan = {0};
    sqlite3_stmt *q;
    buf_printf(&plan, "EXPLAIN QUERY PLAN %s", sql);
    assert_int_equal(sqlite3_prepare_v2(db, plan.data, -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(q, 3);
        for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
            size_t len = strlen(large[i]);
            if (strncmp(step, "SCAN ", 5) == 0 && strncmp(step + 5, large[i], len) == 0 && step[5 + len] <= ' ')
                fail_msg("%s: %s", sql, step);
        }
    }
    sqlite3_finalize(q);
    buf_free(&plan);
}

static void no_statement_scans_a_table(void **state)
{
    static const char *const writes[] = {
#define X(name, sql) sql,
        STORE_STATEMENTS(X)
#undef X
    };
    struct store *s;
    sqlite3_stmt *q;
    assert_int_equal(store_open(&s, folder, &err), 0);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        expect_no_scan(s->writer, writes[i]);
    for (size_t i = 0; i < READ_COUNT; i++)
        expect_no_scan(s->reader, store_reads[i]);
    /* To delete a row is to look for those that refer to it: every reference is the beginning of an index. */
    const char *lacking =
        "SELECT t.name || '.' || f.\"from\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f"
        " WHERE t.type = 'table' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) i,"
        " pragma_index_info(i.name) c WHERE NOT i.partial AND c.seqno = 0 AND c.name = f.\"from\")";
    assert_int_equal(sqlite3_prepare_v2(s->reader, lacking, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        fail_msg("no index: %s", (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    assert_true(number(s->reader, "SELECT count(*) FROM sqlite_schema t, pragma_foreign_key_list(t.name)") >= 7);
    store_close(s);
}

/* Two ensembles have the same files: they are kept once, and go with the last that has them. */
static void contents_are_kept_once(void **state)
{
    struct running r;
    char path[128];
    sqlite3 *db;
    struct ensemble *e[2] = {make_ensemble(1, "abcd", NULL), make_ensemble(2, "efgh", NULL)};
    run_store(&r);
    path_in(path, "shoald.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (int i = 0; i < 2; i++)
        put_ensemble(r.store, e[i]);
    commit(&r);
    assert_int_equal(number(db, "SELECT count(*) FROM input_file"), 4);
    assert_int_equal(number(db, "SELECT count(*) FROM content"), 2);
    store_remove_ensemble(r.store, e[0]);
    commit(&r);
    assert_int_equal(number(db, "SELECT count(*) FROM content"), 2);
    struct buf spec = {0}, files = {0};
    assert_int_equal(store_read_inputs(r.store, 2, &spec, take_file, &files, &err), 0);
    assert_string_equal(files.data, "a.gro:5 b.top:3 ");
    store_remove_ensemble(r.store, e[1]);
    commit(&r);
    wait_swept(r.store);
    assert_int_equal(number(db, "SELECT count(*) FROM content"), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM input_file"), 0);
    sqlite3_close(db);
    buf_free(&spec);
    buf_free(&files);
    end_store(&r);
    ensemble_free(e[0]);
    ensemble_free(e[1]);
}

/* Repeats, and replicas that run together. */
static void sets_come_back(void **state)
{
    struct running r;
    struct ensemble *e = ensemble_new(6), *like = make_ensemble(1, "abcd", NULL);
    e->windows = 3;
    e->repeats = 2;
    for (int i = 0; i < 6; i++)
        e->replicas[i] = (struct sched_replica){.number = 40 + i,
                                                .ensemble = e,
                                                .window = i % 3,
                                                .repeat = i / 3,
                                                .steps = 10 * i,
                                                .sm = e->replicas[i].sm};
    ensemble_add_set(e, 3);
    ensemble_add_set(e, 1);
    ensemble_add_set(e, 2);
    e->number = 1;
    e->atoms = e->stages = 1;
    memcpy(e->id, "efgh", 5);
    memcpy(e->hash, like->hash, sizeof e->hash);
    ensemble_string(&e->name, "water");
    ensemble_string(&e->spec_name, "my.yaml");
    run_store(&r);
    put_ensemble(r.store, e);
    e->sets[2].crashes = 1;
    store_save_replica(r.store, &e->replicas[5]);
    commit(&r);
    end_store(&r);
    load_again(&r);
    const struct ensemble *got = loaded[0];
    assert_int_equal(got->nsets, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(got->sets[i].number, e->sets[i].number);
        assert_int_equal(got->sets[i].nreplicas, e->sets[i].nreplicas);
        assert_int_equal(got->sets[i].crashes, i == 2);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(got->replicas[i].window, i % 3);
        assert_int_equal(got->replicas[i].repeat, i / 3);
        assert_int_equal(got->replicas[i].steps, 10 * i);
    }
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(like);
    ensemble_free(e);
}

/* Replicas are in the order of the ladder, whatever their numbers are; events of those that were there stay theirs. */
static void a_wider_ladder_comes_back(void **state)
{
    static const int origin[] = {0, -1, 1};
    static const int64_t numbers[] = {2, 90, 3};
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    run_store(&r);
    put_ensemble(r.store, e);
    store_put_event(r.store, &(struct event){.seq = 1, .ensemble = e, .replica = &e->replicas[1], .kind = "grow"});
    e->replicas[1].saved_step = 400;
    e->sets[1].failures = 5;
    ensemble_widen(e, 3, origin, 90);
    e->revision = e->ladder = 2;
    store_save_ladder(r.store, e, "wider");
    commit(&r);
    end_store(&r);
    load_again(&r);
    const struct ensemble *got = loaded[0];
    assert_int_equal(got->windows, 3);
    assert_int_equal(got->revision, 2);
    assert_int_equal(got->ladder, 2);
    assert_int_equal(got->nsets, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(got->replicas[i].number, numbers[i]);
        assert_int_equal(got->replicas[i].window, i);
        assert_int_equal(got->replicas[i].stream, e->replicas[i].stream);
        assert_int_equal(got->replicas[i].origin, i == 2 ? 1 : -1);
        assert_int_equal(got->replicas[i].saved_step, 0);
        assert_int_equal(got->replicas[i].steps, 500);
        assert_int_equal(got->sets[i].number, numbers[i]);
        assert_int_equal(got->sets[i].failures, i == 2 ? 5 : 0);
    }
    json_t *events;
    assert_int_equal(store_read_events(r.store, 1, 0, 10, &events, &err), 0);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "window")), 2);
    json_decref(events);
    struct buf text = {0};
    assert_int_equal(store_read_inputs(r.store, 1, &text, NULL, NULL, &err), 0);
    assert_string_equal(text.data, "wider");
    buf_free(&text);
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

static void refused(const char *sql, const char *why)
{
    struct store *s;
    make_database(sql);
    assert_int_equal(store_open(&s, folder, &err), -ERR_DATABASE);
    if (!strstr(err.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
}

static void a_newer_schema_is_refused(void **state)
{
    refused("PRAGMA application_id = 1399353185; PRAGMA user_version = 9999; CREATE TABLE t (x)", "a newer one");
}

static void a_foreign_database_is_refused(void **state)
{
    refused("CREATE TABLE t (x)", "not a database of shoald");
}

static void constraints_are_on(void **state)
{
    struct store *s;
    assert_int_equal(store_open(&s, folder, &err), 0);
    static const char *const bad[] = {
        "INSERT INTO replica_set VALUES (77, 5, 0, 0, 0, NULL, NULL)", /* no such ensemble */
        "INSERT INTO service VALUES (2, 0)",                           /* one row only */
        "INSERT INTO event (seq, ensemble, time, kind) VALUES (1, 5, 0, 'x')",
        "UPDATE service SET clean = 'no'", /* STRICT */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(store_exec(s->writer, bad[i], &err), -ERR_DATABASE);
    assert_int_equal(store_exec(s->writer, "UPDATE service SET clean = 0", &err), 0);
    store_close(s);
}

static void the_same_key_of_one_owner_is_refused(void **state)
{
    struct ensemble *a = make_ensemble(1, "aaaa", "key"), *b = make_ensemble(2, "bbbb", "key");
    /* A broken constraint is a bug: the service aborts rather than going on with a memory that the disk does not have. */
    pid_t pid = fork();
    if (pid == 0) {
        struct running r;
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        fclose(stderr);
        run_store(&r);
        put_ensemble(r.store, a);
        put_ensemble(r.store, b);
        commit(&r);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    /* Neither is there: one transaction. */
    struct store *s;
    nloaded = 0;
    assert_int_equal(store_open(&s, folder, &err), 0);
    assert_int_equal(store_load(s, take, NULL, &err), 0);
    assert_int_equal(nloaded, 0);
    store_close(s);
    ensemble_free(a);
    ensemble_free(b);
}

static void migrations_are_whole_and_leave_a_copy(void **state)
{
    static const char *const list[] = {"CREATE TABLE a (x); INSERT INTO a VALUES (1)",
                                       "INSERT INTO a VALUES (2); CREATE TABLE b (x)",
                                       "INSERT INTO a VALUES (3); CREATE TABLE a (y)"};
    char path[128], copy[160];
    sqlite3 *db;
    path_in(path, "m.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(store_migrate(db, path, list, 1, &err), 0);
    snprintf(copy, sizeof copy, "%s.v1.bak", path);
    assert_int_not_equal(access(copy, F_OK), 0); /* nothing was there to copy */
    assert_int_equal(store_migrate(db, path, list, 2, &err), 0);
    assert_int_equal(store_migrate(db, path, list, 2, &err), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM a"), 2);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(store_migrate(db, path, list, 3, &err), -ERR_DATABASE);
    assert_non_null(strstr(err.msg, "migration 0003"));
    assert_int_equal(number(db, "SELECT count(*) FROM a"), 2);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    sqlite3_close(db);
    assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
    assert_int_equal(number(db, "SELECT count(*) FROM a"), 1);
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    sqlite3_close(db);
}

/* A table that another refers to can be made anew; what refers to nothing is found before it is committed. */
static void a_migration_may_rebuild_a_table(void **state)
{
    static const char *const list[] = {
        "CREATE TABLE a (n INTEGER PRIMARY KEY CHECK (n < 3)); CREATE TABLE b (a INTEGER REFERENCES a (n));"
        "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1), (2)",
        "CREATE TABLE c (n INTEGER PRIMARY KEY); INSERT INTO c SELECT n FROM a; DROP TABLE a;"
        "ALTER TABLE c RENAME TO a",
        "CREATE TABLE c (n INTEGER PRIMARY KEY); INSERT INTO c SELECT n FROM a WHERE n > 1; DROP TABLE a;"
        "ALTER TABLE c RENAME TO a"};
    char path[128];
    sqlite3 *db;
    path_in(path, "m.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(store_exec(db, "PRAGMA foreign_keys = ON", &err), 0);
    assert_int_equal(store_migrate(db, path, list, 2, &err), 0);
    assert_int_equal(store_exec(db, "INSERT INTO a VALUES (7); INSERT INTO b VALUES (7)", &err), 0);
    assert_int_equal(store_exec(db, "INSERT INTO b VALUES (8)", &err), -ERR_DATABASE); /* enforced again */
    assert_int_equal(store_migrate(db, path, list, 3, &err), -ERR_DATABASE);
    if (!strstr(err.msg, "migration 0003: row 1 of table b refers to a row of a that is not there"))
        fail_msg("%s", err.msg);
    assert_int_equal(number(db, "SELECT count(*) FROM a"), 3);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "PRAGMA foreign_keys"), 1);
    sqlite3_close(db);
}

/* A database of the first schema, with a running ensemble in it, as the program of today finds it. */
static void the_first_schema_becomes_todays(void **state)
{
    extern const char sql_0001[];
    struct running r;
    make_database("PRAGMA application_id = 1399353185; PRAGMA user_version = 1");
    make_database(sql_0001);
    make_database(
        "INSERT INTO ensemble VALUES (7, 'abcdefgh', 1000, 'key', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaa', 'water', 'my.yaml', 'text', 3, 2, 500, 1, 1, NULL, 5, 6);"
        "INSERT INTO input_file VALUES (7, 'a.top', x'00ff'), (7, 'b.top', x'00ff'), (7, 'c.gro', x'00');"
        "INSERT INTO window VALUES (7, 0, 0, 0, 0, 0), (7, 1, 1, 0, 0, 0);"
        "INSERT INTO replica VALUES (20, 7, 0, 1, 1, 2, 'cpu', 'm', 1, 40, 0.5, 11, 'x'),"
        " (21, 7, 1, 4, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL);"
        "INSERT INTO segment VALUES (20, 1, 1, 40, 5); INSERT INTO sample_file VALUES (20, 'dhdl.xvg', 9);"
        "INSERT INTO event VALUES (3, 7, 21, 5, 'replica', 0, NULL)");
    load_again(&r);
    assert_int_equal(nloaded, 1);
    struct buf text = {0}, files = {0};
    assert_int_equal(store_read_inputs(r.store, 7, &text, take_file, &files, &err), 0);
    assert_string_equal(files.data, "a.top:2 b.top:2 c.gro:1 ");
    buf_free(&text);
    buf_free(&files);
    const struct ensemble *got = loaded[0];
    assert_int_equal(got->windows, 2);
    assert_int_equal(got->repeats, 1);
    assert_int_equal(got->retries, 1);
    assert_int_equal(got->revision, 1);
    assert_null(got->stopped);
    assert_true(got->stop.error == 0);
    assert_int_equal(got->allocation.share, 0);
    assert_int_equal(got->nsets, 2);
    assert_int_equal(got->seq, 3);
    assert_int_equal(got->replicas[0].sm.state, REPLICA_RUNNING);
    assert_int_equal(got->replicas[0].set->failures, 1);
    assert_int_equal(got->replicas[0].set->crashes, 2);
    assert_string_equal(got->replicas[0].set->model, "m");
    assert_int_equal(got->replicas[0].saved_step, 40);
    assert_int_equal(got->replicas[1].window, 1);
    assert_int_equal(got->replicas[1].stream, 1);
    assert_int_equal(got->replicas[1].origin, -1);
    assert_int_equal(got->ladder, 1);
    assert_int_equal(got->replicas[1].steps, 500);
    assert_int_equal(got->replicas[1].sm.state, REPLICA_DONE);
    assert_int_equal(got->replicas[1].saved_step, 500);
    json_t *events;
    assert_int_equal(store_read_events(r.store, 7, 0, 10, &events, &err), 0);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "window")), 1);
    json_decref(events);
    end_store(&r);
    ensemble_free(loaded[0]);
}

static void damage_is_found_after_a_crash(void **state)
{
    struct running r;
    char path[128];
    run_store(&r);
    for (int i = 1; i < 200; i++) {
        struct ensemble *e = make_ensemble(i, "", NULL);
        snprintf(e->id, sizeof e->id, "id%06d", i);
        put_ensemble(r.store, e);
        ensemble_free(e);
    }
    commit(&r);
    end_store(&r);
    path_in(path, "shoald.db");
    make_database("UPDATE service SET clean = 0"); /* as a crash leaves it */
    struct store *s;
    assert_int_equal(store_open(&s, folder, &err), 0);
    store_close(s);
    make_database("UPDATE service SET clean = 0");
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long pages = ftell(f) / 4096;
    for (long p = 12; p < pages; p++) { /* past the first pages, which hold schema and service */
        fseek(f, p * 4096, SEEK_SET);
        for (int i = 0; i < 4096; i++)
            fputc(0xa5, f);
    }
    fclose(f);
    assert_int_equal(store_open(&s, folder, &err), -ERR_DATABASE);
}

#define READS 300

static void no_removal(void *arg, const char *id)
{
    fail();
}

static void read_much(void *arg)
{
    struct store *s = arg;
    for (int i = 0; i < READS; i++) {
        struct err e = {0};
        struct buf spec = {0};
        assert_int_equal(store_read_inputs(s, 1, &spec, NULL, NULL, &e), 0);
        assert_int_equal(spec.len, strlen("spec text"));
        buf_free(&spec);
    }
}

/* At a start, ensembles that wait for their estimates have them made while the rest is still loaded. */
static void many_threads_read(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    uv_thread_t readers[2];
    run_store(&r);
    put_ensemble(r.store, e);
    commit(&r);
    for (int i = 0; i < 2; i++)
        assert_int_equal(uv_thread_create(&readers[i], read_much, r.store), 0);
    for (int i = 0; i < READS; i++) {
        struct store_numbers last;
        assert_int_equal(store_load_removals(r.store, no_removal, NULL, &err), 0);
        assert_int_equal(store_numbers(r.store, &last, &err), 0);
        assert_int_equal(last.ensemble, 1);
        nloaded = 0;
        assert_int_equal(store_load(r.store, take, NULL, &err), 0);
        assert_int_equal(nloaded, 1);
        ensemble_free(loaded[0]);
    }
    for (int i = 0; i < 2; i++)
        uv_thread_join(&readers[i]);
    end_store(&r);
    ensemble_free(e);
}

static void on_timer(uv_timer_t *t)
{
}

static void a_full_disk_is_waited_for(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    struct rlimit old, small;
    int done = 0;
    char *large = xcalloc(1, 4 << 20);
    memset(large, 'x', (4 << 20) - 1);
    run_store(&r);
    put_ensemble(r.store, e);
    commit(&r);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct event ev = {.seq = 1, .ensemble = e, .kind = "x", .state = -1, .message = large};
    store_put_event(r.store, &ev);
    store_after_commit(r.store, note, NULL, &done);
    uv_timer_t timer;
    uv_timer_init(&r.loop, &timer);
    uv_timer_start(&timer, on_timer, 10, 10);
    for (int i = 0; i < 1000 && store_ok(r.store); i++)
        uv_run(&r.loop, UV_RUN_ONCE);
    assert_false(store_ok(r.store));
    assert_int_equal(done, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0); /* space again */
    for (int i = 0; i < 1000 && !done; i++)
        uv_run(&r.loop, UV_RUN_ONCE);
    assert_int_equal(done, 1);
    assert_true(store_ok(r.store));
    struct store_numbers last;
    assert_int_equal(store_numbers(r.store, &last, &err), 0);
    assert_int_equal(last.event, 1);
    /* What cannot be committed until the end is forgotten, once, whether it had its turn or not. */
    int lost = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (ev.seq = 2; ev.seq <= 3; ev.seq++) {
        store_put_event(r.store, &ev);
        store_after_commit(r.store, note, note_loss, &lost);
        for (int i = 0; i < 1000 && store_ok(r.store); i++)
            uv_run(&r.loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    end_store(&r);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(lost, 20);
    ensemble_free(e);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(contents_are_kept_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_removal_goes_in_slices, setup, teardown),
        cmocka_unit_test_setup_teardown(moves_and_trims_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(no_statement_scans_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(sets_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wider_ladder_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_newer_schema_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_foreign_database_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(constraints_are_on, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_key_of_one_owner_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(migrations_are_whole_and_leave_a_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_migration_may_rebuild_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_schema_becomes_todays, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_found_after_a_crash, setup, teardown),
        cmocka_unit_test_setup_teardown(many_threads_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_waited_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
