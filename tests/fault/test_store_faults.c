/* SPDX-License-Identifier: Apache-2.0
 *
 * The database on a disk that breaks: the k-th call fails, for k = 0, 1, 2 ... until a run meets no fault; then several
 * calls in a row, then a full disk. What was acknowledged is there afterwards, in whole batches, and nothing was
 * acknowledged that is not.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/store/internal.h"
#include "engine/base/log.h"
#include "tests/lib/vfs_fault.h"

#define ENSEMBLES 3
#define EVENTS 4 /* of each, in one batch with it */

static char folder[64];
static bool store_portable;

/* In memory where there is such a disk: thousands of commits wait for it. */
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/test_faults.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static struct ensemble *make_ensemble(int64_t number)
{
    struct ensemble *e = ensemble_of_windows(2, 1, false, 10 * number, 500);
    e->number = number;
    snprintf(e->id, sizeof e->id, "id%06d", (int)number);
    ensemble_string(&e->name, "water");
    ensemble_string(&e->spec_name, "my.yaml");
    memset(e->hash, 'a', 64);
    e->atoms = e->stages = 1;
    return e;
}

static void put(struct store *s, const struct ensemble *e)
{
    static char content[20000];
    memset(content, 'x', sizeof content - 1);
    const char *names[] = {"a.top"}, *texts[] = {content};
    const char *hashes[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    struct submission sub = {"spec text", 1, names, texts, hashes};
    store_put_ensemble(s, e, &sub);
    for (int i = 0; i < EVENTS; i++) {
        struct event ev = {.seq = EVENTS * e->number + i, .ensemble = e, .kind = "x", .state = -1};
        store_put_event(s, &ev);
    }
}

static int64_t acknowledged;

static void acknowledge(void *arg)
{
    const struct ensemble *e = arg;
    assert_int_equal(e->number, acknowledged + 1); /* in order */
    acknowledged = e->number;
}

static void on_timer(uv_timer_t *t)
{
}

/* One life of a store: what it acknowledges, batch by batch. */
static void live(void)
{
    uv_loop_t loop;
    struct store *s;
    struct err e = {0};
    struct ensemble *all[ENSEMBLES];
    uv_timer_t timer; /* the store's own handles do not keep a loop alive */
    acknowledged = 0;
    if (store_open(&s, folder, store_portable, &e)) {
        assert_int_equal(e.code, ERR_DATABASE);
        assert_non_null(strstr(e.msg, "shoald.db"));
        return;
    }
    s->retry_ns = 1000000;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(store_start(s, &loop, &e), 0);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_timer, 1, 1);
    for (int i = 0; i < ENSEMBLES; i++) {
        all[i] = make_ensemble(i + 1);
        put(s, all[i]);
        store_after_commit(s, acknowledge, NULL, all[i]);
        for (int turns = 0; acknowledged <= i; turns++) {
            assert_true(turns < 5000);
            uv_run(&loop, UV_RUN_ONCE);
        }
    }
    uv_close((uv_handle_t *)&timer, NULL);
    store_close(s);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    for (int i = 0; i < ENSEMBLES; i++)
        ensemble_free(all[i]);
}

static int64_t found;

static void take(void *arg, struct ensemble *e)
{
    assert_int_equal(e->number, ++found);
    assert_int_equal(e->nreplicas, 2);
    ensemble_free(e);
}

static int take_file(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    *(int *)arg += len == 19999;
    return 0;
}

/* On a sound disk: all that was acknowledged is there, and every batch is there whole. */
static void check(void)
{
    struct store *s;
    struct err e = {0};
    found = 0;
    if (store_open(&s, folder, store_portable, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(store_load(s, take, NULL, &e), 0);
    assert_true(found >= acknowledged);
    for (int64_t i = 1; i <= found; i++) {
        json_t *events;
        struct buf spec = {0};
        int files = 0;
        assert_int_equal(store_read_events(s, i, 0, 100, &events, &e), 0);
        assert_int_equal(json_array_size(events), EVENTS);
        assert_int_equal(store_read_inputs(s, i, &spec, take_file, &files, &e), 0);
        assert_int_equal(files, 1);
        json_decref(events);
        buf_free(&spec);
    }
    store_close(s);
}

static long every_call(long count, enum vfs_fault_kind kind)
{
    for (long k = 0;; k += count) { /* so each call fails in one of the runs */
        make_folder();
        vfs_fault_arm(k, count, kind);
        live();
        vfs_fault_disarm();
        bool hit = vfs_fault_hit();
        check();
        remove_folder();
        if (!hit)
            return k;
    }
}

static void one_fault(void **state)
{
    long calls = every_call(1, VFS_FAULT_IO);
    print_message("%ld calls can fail\n", calls);
    assert_true(calls > 50);
}

static void faults_that_last(void **state)
{
    every_call(7, VFS_FAULT_IO);
}

static void a_full_disk(void **state)
{
    every_call(3, VFS_FAULT_FULL);
}

/* A file that was removed under the service: nothing more is acknowledged. */
static void a_removed_database(void **state)
{
    uv_loop_t loop;
    struct store *s;
    struct err e = {0};
    struct ensemble *en = make_ensemble(1);
    char path[128];
    uv_timer_t timer;
    make_folder();
    acknowledged = 0;
    assert_int_equal(store_open(&s, folder, store_portable, &e), 0);
    s->retry_ns = 1000000;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(store_start(s, &loop, &e), 0);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_timer, 1, 1);
    snprintf(path, sizeof path, "%s/shoald.db", folder);
    assert_int_equal(unlink(path), 0);
    put(s, en);
    store_after_commit(s, acknowledge, NULL, en);
    for (int turns = 0; turns < 100; turns++)
        uv_run(&loop, UV_RUN_ONCE);
    assert_false(store_ok(s));
    assert_int_equal(acknowledged, 0);
    uv_close((uv_handle_t *)&timer, NULL);
    store_close(s);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    ensemble_free(en);
    remove_folder();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fault),
        cmocka_unit_test(faults_that_last),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_removed_database),
    };
    log_setup("test", LOG_ERROR - 1);
    store_portable = argc > 1 && !strcmp(argv[1], "portable");
    vfs_fault_install(!store_portable);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
