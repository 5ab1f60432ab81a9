/* SPDX-License-Identifier: Apache-2.0
 *
 * Removed ensembles leave the database a few rows at a time, and no statement scans a table.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/lib/store_play.h"

/* The numbers that a start finds to be given, of which some may have no rows any more. */
static void hold_last(int64_t ensemble, int64_t replica, int64_t event)
{
    struct running r;
    struct store_numbers last;
    run_store(&r);
    assert_int_equal(store_numbers(r.store, &last, &err), 0);
    assert_int_equal(last.ensemble, ensemble);
    assert_int_equal(last.replica, replica);
    assert_int_equal(last.event, event);
    end_store(&r);
}

/* A removed ensemble is gone at once, for a start too, and its key is free; its rows go a slice at a time, also where a
 * stop came between. */
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
    assert_int_equal(store_open(&r.store, folder, false, &err), 0);
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

/* The numbers of the last ensemble, its replicas and events are not given again once its rows are gone. */
static void numbers_of_the_removed_are_not_given_again(void **state)
{
    enum { EVENTS = 3 };
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL), *last = make_ensemble(2, "efgh", NULL);
    const int64_t replica = last->replicas[last->nreplicas - 1].number;
    run_store(&r);
    put_ensemble(r.store, e);
    put_ensemble(r.store, last);
    put_events(r.store, last, 1, EVENTS);
    commit(&r);
    end_store(&r);
    hold_last(2, replica, EVENTS);
    make_database("UPDATE ensemble SET removed = 1 WHERE number = 2");
    run_store(&r);
    wait_swept(r.store);
    end_store(&r);
    hold_last(2, replica, EVENTS);
    ensemble_free(last);
    ensemble_free(e);
}

/* The rows of a removed ensemble are not deleted in a log that somebody has cut short, which would hide that it was. */
static void no_removal_goes_on_in_a_log_cut_short(void **state)
{
    char log[128];
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    run_store(&r);
    put_ensemble(r.store, e);
    commit(&r);
    end_store(&r);
    make_database("UPDATE ensemble SET removed = 1");
    path_in(log, "shoald.db-wal");
    assert_int_equal(uv_loop_init(&r.loop), 0);
    assert_int_equal(store_open(&r.store, folder, false, &err), 0);
    assert_int_equal(truncate(log, 0), 0);
    assert_int_equal(store_start(r.store, &r.loop, &err), 0);
    uv_sleep(100);
    assert_false(store_in_place(r.store));
    end_store(&r);
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
    assert_int_equal(store_open(&s, folder, false, &err), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_removal_goes_in_slices, setup, teardown),
        cmocka_unit_test_setup_teardown(no_removal_goes_on_in_a_log_cut_short, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_of_the_removed_are_not_given_again, setup, teardown),
        cmocka_unit_test_setup_teardown(no_statement_scans_a_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
