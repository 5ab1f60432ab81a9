/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put into the store comes back, and waits where the disk is full.
 */
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

#include "tests/lib/store_play.h"

static void what_is_put_comes_back(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", "key");
    e->stop = (struct stop_rule){.error = 0.4184, .converged = true, .after = 77};
    e->allocation = (struct allocation){.share = 400, .before = 100, .every = 10};
    e->walkers = 1;
    e->switching = 0.25;
    run_store(&r);
    put_ensemble(r.store, e);
    e->allocation.share = 500;
    e->doublings = 2;
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
    assert_int_equal(got->owner, store_portable ? geteuid() : 1000);
    assert_int_equal(got->windows, 2);
    assert_int_equal(got->walkers, 1);
    assert_true(got->switching == 0.25);
    assert_int_equal(got->doublings, 2);
    assert_true(replica_end(&got->replicas[0]) == 'A' && replica_end(&got->replicas[1]) == 'B');
    assert_int_equal(replica_walker(&got->replicas[1]), 0);
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

/* All replicas in one state move at once; the oldest events go, and how long it ran by them stays. */
static void moves_and_trims_are_stored(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    ensemble_string(&e->name, "eau sal\u00e9e"); /* bytes are counted */
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
                                                  "eau sal\u00e9e"
                                                  "my.yaml"
                                                  "b.top" HASH("1") "a.gro" HASH("2")));
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

static int64_t count(struct store *s, const char *sql)
{
    uv_mutex_lock(&s->read_lock);
    int64_t n = number(s->reader, sql);
    uv_mutex_unlock(&s->read_lock);
    return n;
}

/* Two ensembles have the same files: they are kept once, and go with the last that has them. */
static void contents_are_kept_once(void **state)
{
    struct running r;
    struct ensemble *e[2] = {make_ensemble(1, "abcd", NULL), make_ensemble(2, "efgh", NULL)};
    run_store(&r);
    for (int i = 0; i < 2; i++)
        put_ensemble(r.store, e[i]);
    commit(&r);
    assert_int_equal(count(r.store, "SELECT count(*) FROM input_file"), 4);
    assert_int_equal(count(r.store, "SELECT count(*) FROM content"), 2);
    store_remove_ensemble(r.store, e[0]);
    commit(&r);
    assert_int_equal(count(r.store, "SELECT count(*) FROM content"), 2);
    struct buf spec = {0}, files = {0};
    assert_int_equal(store_read_inputs(r.store, 2, &spec, take_file, &files, &err), 0);
    assert_string_equal(files.data, "a.gro:5 b.top:3 ");
    store_remove_ensemble(r.store, e[1]);
    commit(&r);
    wait_swept(r.store);
    assert_int_equal(count(r.store, "SELECT count(*) FROM content"), 0);
    assert_int_equal(count(r.store, "SELECT count(*) FROM input_file"), 0);
    buf_free(&spec);
    buf_free(&files);
    end_store(&r);
    ensemble_free(e[0]);
    ensemble_free(e[1]);
}

static void sum_histories(void *arg, uint32_t uid, double used, int64_t at)
{
    *(double *)arg += uid * used + (double)at;
}

/* What a user has used is what was put last. */
static void histories_are_stored(void **state)
{
    struct running r;
    double sum = 0;
    run_store(&r);
    store_put_history(r.store, 3, 5.0, 7);
    store_put_history(r.store, 4000000000, 1.5, 9);
    commit(&r);
    store_put_history(r.store, 3, 6.25, 8);
    commit(&r);
    end_store(&r);
    run_store(&r);
    assert_int_equal(store_load_histories(r.store, sum_histories, &sum, &err), 0);
    assert_true(sum == 3 * 6.25 + 4000000000 * 1.5 + 8 + 9);
    end_store(&r);
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
    ensemble_add_windows(e, 3, origin, 90);
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
    assert_null(json_object_get(json_array_get(events, 0), "pilot"));
    json_decref(events);
    struct buf text = {0};
    assert_int_equal(store_read_inputs(r.store, 1, &text, NULL, NULL, &err), 0);
    assert_string_equal(text.data, "wider");
    buf_free(&text);
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

/* A pilot's replicas are gone, but for what events say of them. */
static void placed_windows_come_back(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL), *placed = ensemble_of_windows(3, 2, true, 10, 700);
    json_t *events;
    e->pilot = true;
    run_store(&r);
    put_ensemble(r.store, e);
    commit(&r);
    end_store(&r);
    load_again(&r);
    assert_true(loaded[0]->pilot && !loaded[0]->placed);
    ensemble_free(loaded[0]);
    struct event ev = {.seq = 3, .ensemble = e, .replica = &e->replicas[1], .kind = "replica", .state = REPLICA_DONE};
    store_put_event(r.store, &ev);
    placed->walkers = 1;
    placed->switching = 0.5;
    placed->stages = 7;
    placed->stop = (struct stop_rule){0.5, true, 70};
    placed->allocation = (struct allocation){600, 100, 5};
    ensemble_string(&placed->placed, "{}");
    e->repeats = 2;
    ensemble_take_windows(e, placed, REPLICA_PAUSED);
    store_save_ladder(r.store, e, "placed");
    commit(&r);
    end_store(&r);
    load_again(&r);
    struct ensemble *got = loaded[0];
    assert_false(got->pilot);
    assert_string_equal(got->placed, "{}");
    assert_int_equal(got->windows, 3);
    assert_int_equal(got->nsets, 2);
    assert_int_equal(got->nreplicas, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(got->replicas[i].number, 10 + i);
        assert_int_equal(got->replicas[i].steps, 700);
        assert_int_equal(got->replicas[i].sm.state, REPLICA_PAUSED);
    }
    assert_true(got->walkers == 1 && got->switching == 0.5 && got->stages == 7);
    assert_true(got->stop.error == 0.5 && got->stop.converged && got->stop.after == 70);
    assert_true(got->allocation.share == 600 && got->allocation.before == 100 && got->allocation.every == 5);
    assert_int_equal(store_read_events(r.store, 1, 0, 10, &events, &err), 0);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "window")), 1);
    assert_true(json_is_true(json_object_get(json_array_get(events, 0), "pilot")));
    json_decref(events);
    end_store(&r);
    ensemble_free(got);
    ensemble_free(placed);
    ensemble_free(e);
}

static void the_same_key_of_one_owner_is_refused(void **state)
{
    struct ensemble *a = make_ensemble(1, "aaaa", "key"), *b = make_ensemble(2, "bbbb", "key");
    /* A broken constraint is a bug: the service aborts rather than going on with a memory that the disk does not have.
     */
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
    assert_int_equal(store_open(&s, folder, store_portable, &err), 0);
    assert_int_equal(store_load(s, take, NULL, &err), 0);
    assert_int_equal(nloaded, 0);
    store_close(s);
    ensemble_free(a);
    ensemble_free(b);
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
    store_after_commit(r.store, count_up, NULL, &done);
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
        store_after_commit(r.store, count_up, count_loss, &lost);
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

/* A second process is refused in words, and at a portable store's next start all ensembles are the user's own. */
static void a_portable_store_is_one_processs(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    char path[128];
    sqlite3 *db;
    e->owner = geteuid() + 1;
    store_portable = true;
    run_store(&r);
    end_store(&r);
    run_store(&r); /* whether the database is new or not */
    put_ensemble(r.store, e);
    commit(&r);
    path_in(path, "shoald.db-shm");
    assert_int_equal(access(path, F_OK), -1);
    pid_t pid = fork(); /* locks of one process do not exclude itself */
    if (pid == 0) {
        path_in(path, "shoald.db");
        bool locked = sqlite3_open(path, &db) == SQLITE_OK &&
                      sqlite3_exec(db, "SELECT count(*) FROM ensemble", NULL, NULL, NULL) == SQLITE_BUSY;
        _exit(!locked);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    end_store(&r);
    load_again(&r);
    assert_int_equal(nloaded, 1);
    assert_int_equal(loaded[0]->owner, geteuid());
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

int main(int argc, char **argv)
{
    store_portable = argc > 1 && !strcmp(argv[1], "portable");

    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(contents_are_kept_once, setup, teardown),
        cmocka_unit_test_setup_teardown(moves_and_trims_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(histories_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(sets_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wider_ladder_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(placed_windows_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_key_of_one_owner_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(many_threads_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_portable_store_is_one_processs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
