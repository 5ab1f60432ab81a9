/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows added to ensembles: who goes on from where, who is new, and when it is not done.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

enum { FIRST = 1000000 }; /* number of the first new replica */

/* A window between the first two, and one before the last of three. */
static const int origin[] = {0, -1, 1, -1, 2};

static int add_windows(struct play *p, struct ensemble *e, int windows, const int *from, int64_t first)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_ADD_WINDOWS,
                                             .ensemble = e,
                                             .window = windows,
                                             .origin = from,
                                             .replica = first,
                                             .step = ensemble_furthest(e),
                                             .spec = "text",
                                             .message = "more"});
}

static int estimated(struct play *p, struct ensemble *e)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
}

static int prepared(struct play *p, struct ensemble *e)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
}

/* All that runs comes to its end, and what waits behind it. */
static void run_all(struct play *p, struct ensemble *e)
{
    while (ensemble_count(e, REPLICA_RUNNING))
        for (int i = 0; i < e->nreplicas; i++)
            if (e->replicas[i].held)
                play_about(p, SCHED_DONE, &e->replicas[i]);
}

static void expect_folder(const struct sched_replica *r, const char *own, const char *before)
{
    char folder[64], from[96];
    replica_folder(r, folder);
    replica_origin_folder(r, from);
    assert_string_equal(folder, own);
    assert_string_equal(from, before);
}

/* Those that are done run once more, as the windows that they are now; new ones have numbers and noise of their own. */
static void done_ones_take_up_what_they_had(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    int64_t first = e->replicas[0].number;
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), -ERR_CONFLICT); /* it runs */
    play_failed(&p, &e->replicas[1], ERR_SPEC, 0);
    run_all(&p, e);
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), -ERR_BUSY); /* its results are being written */
    assert_int_equal(estimated(&p, e), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), 0);
    assert_int_equal(play_count(&p, DECIDE_LADDER), 1);
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_int_equal(play_count(&p, DECIDE_START), 0); /* its folders are not ready */
    assert_int_equal(e->revision, 2);
    assert_int_equal(e->ladder, 2);
    assert_int_equal(e->windows, 5);
    assert_int_equal(e->nreplicas, 5);
    static const struct {
        int64_t number; /* from `first`, or -1 - that from FIRST */
        int stream, origin;
        enum replica_state state;
    } expected[] = {{0, 0, 0, REPLICA_QUEUED},
                    {-1, 3, -1, REPLICA_QUEUED},
                    {1, 1, -1, REPLICA_FAILED}, /* it has no checkpoint */
                    {-2, 4, -1, REPLICA_QUEUED},
                    {2, 2, 2, REPLICA_QUEUED}};
    for (int i = 0; i < 5; i++) {
        const struct sched_replica *r = &e->replicas[i];
        int64_t number = expected[i].number;
        assert_int_equal(r->number, number < 0 ? FIRST - 1 - number : first + number);
        assert_int_equal(r->window, i);
        assert_int_equal(r->stream, expected[i].stream);
        assert_int_equal(r->origin, expected[i].origin);
        assert_int_equal(r->sm.state, expected[i].state);
        assert_int_equal(r->steps, PLAY_STEPS);
        assert_int_equal(r->saved_step, 0);
        assert_ptr_equal(r->set, &e->sets[i]);
        assert_ptr_equal(r->set->replicas, r);
        assert_int_equal(r->set->number, r->number);
        assert_int_equal(replica_key(r), r->stream);
    }
    expect_folder(&e->replicas[4], "lambda_04", "revision_1/lambda_02");
    expect_folder(&e->replicas[3], "lambda_03", "");
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), -ERR_CONFLICT);
    assert_int_equal(prepared(&p, e), 0);
    run_all(&p, e);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 4);
    assert_int_equal(play_wish(&p, SCHED_CANCEL, e), 0);
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), -ERR_CONFLICT);
    play_end(&p);
}

/* Not while one has not taken up what is its own: that would be lost. */
static void one_revision_back(void **state)
{
    static const int once[] = {0, -1, 1}, twice[] = {0, 1, -1, 2};
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(add_windows(&p, e, 3, once, FIRST), -ERR_BUSY); /* its first window is still stopping */
    assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[0]), 0);
    assert_int_equal(add_windows(&p, e, 3, once, FIRST), 0);
    assert_int_equal(ensemble_count(e, REPLICA_PAUSED), 3);
    assert_int_equal(e->sm.state, ENSEMBLE_PAUSED);
    assert_int_equal(e->replicas[0].origin, 0);
    assert_int_equal(e->replicas[2].origin, -1);
    assert_int_equal(add_windows(&p, e, 4, twice, FIRST + 1), -ERR_BUSY); /* its folders are being moved */
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(add_windows(&p, e, 4, twice, FIRST + 1), -ERR_CONFLICT);
    assert_non_null(strstr(p.err.msg, "window 0 has not taken up yet"));
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    assert_true(e->replicas[0].held);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[0]), 0);
    assert_int_equal(add_windows(&p, e, 4, twice, FIRST + 1), 0);
    assert_int_equal(e->replicas[2].stream, 3);
    expect_folder(&e->replicas[0], "lambda_00", "revision_2/lambda_00");
    play_end(&p);
}

/* Each repeat gets its own, in the order of repeats; new ones go as far as the furthest of their repeat. */
static void every_repeat(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct ensemble *e = ensemble_of_windows(2, 2, false, 1, 100);
    e->replicas[3].steps = 150;
    e->replicas[2].saved_step = 7;
    ensemble_add_windows(e, 3, middle, 50);
    static const int numbers[] = {1, 50, 2, 3, 51, 4}, steps[] = {100, 100, 100, 100, 150, 150};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(e->replicas[i].number, numbers[i]);
        assert_int_equal(e->replicas[i].steps, steps[i]);
        assert_int_equal(e->replicas[i].repeat, i / 3);
        assert_int_equal(e->replicas[i].window, i % 3);
    }
    e->ladder = 2;
    assert_int_equal(replica_key(&e->replicas[4]), 1 << 16 | 2);
    expect_folder(&e->replicas[3], "repeat_01/lambda_00", "revision_1/repeat_01/lambda_00");
    ensemble_free(e);
}

static void live(struct play *p, struct ensemble *e, int ladder)
{
    struct sched_event ev = {.kind = SCHED_LIVE,
                             .ensemble = e,
                             .ok = true,
                             .error = 0.1,
                             .ladder = ladder,
                             .message = "converged",
                             .step = PLAY_STEPS};
    assert_int_equal(play_feed(p, ev), 0);
}

/* What estimates of the windows of before say does not end an ensemble: its new windows may have nothing. */
static void other_estimates_count_anew(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->stop = (struct stop_rule){.error = 0.5, .after = 20};
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    live(&p, e, 1);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[0]), 0);
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), 0);
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    live(&p, e, 1); /* it was being made meanwhile */
    live(&p, e, 1);
    assert_null(e->stopped);
    live(&p, e, 2);
    assert_null(e->stopped); /* the first of these windows */
    live(&p, e, 2);
    assert_non_null(e->stopped);
    play_end(&p);
}

/* What a look says each window's production is to be. */
static void looked(struct play *p, struct ensemble *e, const int64_t *targets)
{
    assert_int_equal(
        play_feed(p, (struct sched_event){.kind = SCHED_LOOKED, .ensemble = e, .targets = targets, .message = "bad"}),
        0);
}

static void assert_targets(const struct ensemble *e, const int64_t *steps)
{
    for (int i = 0; i < e->nreplicas; i++)
        assert_int_equal(e->replicas[i].steps, steps[i]);
}

/* A new window begins with the floor, and brings an even share to what is handed out. */
static void production_by_need(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_by_need(e);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), -ERR_BUSY); /* it is looked at, as two windows */
    looked(&p, e, (const int64_t[]){20, 60});
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), 0);
    assert_targets(e, (const int64_t[]){40, 40, 80});
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    run_all(&p, e);
    assert_true(e->looking);
    struct allocate_window w[3];
    assert_int_equal(sched_production(e, w), 120); /* half of three even shares */
    assert_int_equal(w[1].steps, 20);
    looked(&p, e, (const int64_t[]){20, 40, 60});
    run_all(&p, e);
    assert_int_equal(sched_production(e, w), 240);
    looked(&p, e, (const int64_t[]){40, 100, 100});
    assert_targets(e, (const int64_t[]){60, 120, 120});
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* One that was good enough is not made longer by new windows: they get what the others have, on average. */
static void by_need_after_it_was_good_enough(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_by_need(e);
    e->stop = (struct stop_rule){.error = 0.5, .after = 30};
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    live(&p, e, 1);
    live(&p, e, 1);
    looked(&p, e, NULL);
    assert_int_equal(estimated(&p, e), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), 0);
    assert_int_equal(e->allocation.share, 20);
    assert_targets(e, (const int64_t[]){40, 30, 40});
    assert_int_equal(prepared(&p, e), 0);
    run_all(&p, e);
    looked(&p, e, (const int64_t[]){20, 20, 20});
    assert_targets(e, (const int64_t[]){40, 40, 40});
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* What it is to become is found out off the loop: it may be removed meanwhile. */
static void not_of_one_that_is_removed(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct play p;
    struct err err = {0};
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(estimated(&p, e), 0);
    assert_int_equal(sched_remove(&p.s, e, &err), 0);
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), -ERR_NOT_FOUND);
    struct sched_event longer = {.kind = SCHED_EXTEND, .ensemble = e, .more = true, .step = 9, .message = "longer"};
    assert_int_equal(play_feed(&p, longer), -ERR_NOT_FOUND);
    assert_int_equal(p.d.n, 0);
    assert_int_equal(p.s.nactive, 0);
    ensemble_free(e);
    play_end(&p);
}

/* They stay one set, which goes on from one step. */
static void those_that_exchange(void **state)
{
    static const int middle[] = {0, -1, 1};
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->nsets = 0;
    ensemble_add_set(e, 2);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    const int64_t first = e->replicas[0].number;
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[i]), 0);
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), -ERR_CONFLICT);
    assert_non_null(strstr(p.err.msg, "windows 0 and 1, which exchange replicas, are at steps 10 and 0"));
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    play_about(&p, SCHED_SEGMENT, &e->replicas[1]);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[i]), 0);
    struct sched_event before = {.kind = SCHED_ADD_WINDOWS, .ensemble = e, .window = 3, .origin = middle, .step = 9};
    assert_int_equal(play_feed(&p, before), -ERR_BUSY); /* it was further when it came to this */
    assert_int_equal(add_windows(&p, e, 3, middle, FIRST), 0);
    assert_int_equal(e->nsets, 1);
    assert_int_equal(e->sets[0].nreplicas, 3);
    assert_int_equal(e->sets[0].number, first);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(e->replicas[i].set, e->sets);
        assert_int_equal(e->replicas[i].origin, middle[i]);
        assert_int_equal(e->replicas[i].number, i == 1 ? FIRST : first + i / 2);
    }
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    play_end(&p);
}

static int pilot_looked(struct play *p, struct ensemble *e, struct ensemble *placed, int code)
{
    return play_feed(
        p,
        (struct sched_event){
            .kind = SCHED_LOOKED, .ensemble = e, .placed = placed, .spec = "text", .code = code, .message = "because"});
}

/* When all of a pilot has ended its samples are looked at, and other replicas take the place of its own. */
static void those_that_a_pilot_places(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0), *placed = ensemble_of_windows(3, 2, true, FIRST, 500);
    e->pilot = true;
    e->repeats = 1;
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    assert_int_equal(add_windows(&p, e, 5, origin, FIRST), -ERR_CONFLICT);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_EXTEND, .ensemble = e, .step = 900}),
                     -ERR_CONFLICT);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 0);
    assert_int_equal(pilot_looked(&p, e, NULL, ERR_IO), 0); /* the machine lacks something: looked at again */
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    p.now += 5000;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(pilot_looked(&p, e, placed, 0), 0);
    assert_int_equal(play_count(&p, DECIDE_LADDER), 1);
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_true(!e->pilot && e->revision == 2 && e->ladder == 2 && e->windows == 3 && e->nsets == 2);
    for (int i = 0; i < 6; i++) {
        const struct sched_replica *r = &e->replicas[i];
        assert_true(r->ensemble == e && r->set->ensemble == e && r->sm.owner == r);
        assert_true(r->number == FIRST + i && r->origin < 0 && r->sm.state == REPLICA_QUEUED);
    }
    ensemble_free(placed);
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
    play_end(&p);
}

/* They wait until the owner has the ensemble go on. */
static void a_pilot_of_one_that_is_paused(void **state)
{
    struct play p;
    struct err err = {0};
    struct ensemble *e = play_ensemble(1, 2, 0), *placed = ensemble_of_windows(3, 1, false, FIRST, 500);
    e->pilot = true;
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(sched_check_still(e, &err), -ERR_BUSY); /* its files will change their places */
    assert_int_equal(pilot_looked(&p, e, placed, 0), 0);
    ensemble_free(placed);
    assert_int_equal(ensemble_count(e, REPLICA_PAUSED), 3);
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(sched_check_still(e, &err), 0);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 0);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(prepared(&p, e), 0);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    play_end(&p);
}

/* A service that starts where all of a pilot has ended looks at its samples; one that was killed lost nothing. */
static void a_pilot_that_was_left_at_its_end(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->pilot = true;
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_RUNNING);
    for (int i = 0; i < 2; i++) {
        struct sched_replica *r = &e->replicas[i];
        sm_init(&r->sm, &replica_states, r, REPLICA_DONE);
        r->told = r->step = r->saved_step = r->steps;
    }
    play_begin(&p, 1);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 0);
    play_end(&p);
}

/* The ensemble has failed; a retry looks again. */
static void a_pilot_that_places_none(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->pilot = true;
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(pilot_looked(&p, e, NULL, ERR_ESTIMATE), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_string_equal(e->reason, "because");
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 0);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), -ERR_CONFLICT);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done_ones_take_up_what_they_had),
        cmocka_unit_test(one_revision_back),
        cmocka_unit_test(every_repeat),
        cmocka_unit_test(other_estimates_count_anew),
        cmocka_unit_test(production_by_need),
        cmocka_unit_test(by_need_after_it_was_good_enough),
        cmocka_unit_test(not_of_one_that_is_removed),
        cmocka_unit_test(those_that_exchange),
        cmocka_unit_test(those_that_a_pilot_places),
        cmocka_unit_test(a_pilot_of_one_that_is_paused),
        cmocka_unit_test(a_pilot_that_was_left_at_its_end),
        cmocka_unit_test(a_pilot_that_places_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
