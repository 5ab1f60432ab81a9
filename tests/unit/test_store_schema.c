/* SPDX-License-Identifier: Apache-2.0
 *
 * The database as a file: its schema, how older ones become it, and damage.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/lib/store_play.h"

static void refused(const char *sql, const char *why)
{
    struct store *s;
    make_database(sql);
    assert_int_equal(store_open(&s, folder, false, &err), -ERR_DATABASE);
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
    assert_int_equal(store_open(&s, folder, false, &err), 0);
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
    assert_int_equal(got->replicas[0].used_step, 40); /* and no more is counted of what an older program counted */
    assert_true(got->replicas[0].used_ps == 0.5);
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
    assert_int_equal(store_open(&s, folder, false, &err), 0);
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
    assert_int_equal(store_open(&s, folder, false, &err), -ERR_DATABASE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_newer_schema_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_foreign_database_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(constraints_are_on, setup, teardown),
        cmocka_unit_test_setup_teardown(migrations_are_whole_and_leave_a_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_migration_may_rebuild_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_schema_becomes_todays, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_found_after_a_crash, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
