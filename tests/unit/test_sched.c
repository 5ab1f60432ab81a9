/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler under single events: who starts where and when, replicas that run together, and what owners may ask
 * for.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

static void nothing_starts_before_its_folder_is_ready(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e});
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_int_equal(play_count(&p, DECIDE_START), 0);
    p.now = 5;
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .message = "disk full"});
    assert_int_equal(play_count(&p, DECIDE_START), 0);
    assert_string_equal(e->reason, "disk full");
    int64_t again = sched_wake(&p.s, 5);
    assert_true(again > 5 && again < INT64_MAX);
    p.now = again;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(play_count(&p, DECIDE_START), 2);
    assert_null(e->reason);
    play_end(&p);
}

static void a_freed_slot_is_filled_in_the_same_step(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    assert_int_equal(play_count(&p, DECIDE_START), 1);
    assert_int_equal(e->replicas[2].sm.state, REPLICA_RUNNING);
    play_end(&p);
}

static void slots_are_shared_between_owners_then_ensembles(void **state)
{
    struct play p;
    struct ensemble *a1 = play_ensemble(1, 10, 0), *a2 = play_ensemble(1, 10, 0), *b = play_ensemble(2, 10, 0);
    play_begin(&p, 1);
    play_add(&p, a1);
    play_add(&p, a2);
    play_add(&p, b);
    play_up(&p, 0, 8, "m");
    assert_int_equal(ensemble_count(a1, REPLICA_RUNNING), 2);
    assert_int_equal(ensemble_count(a2, REPLICA_RUNNING), 2);
    assert_int_equal(ensemble_count(b, REPLICA_RUNNING), 4);
    play_end(&p);
}

/* A worker that wants more gets them at once; one that wants fewer keeps those it has until they end. */
static void a_worker_may_want_more_slots_or_fewer(void **state)
{
    struct play p;
    struct ensemble *a = play_ensemble(1, 10, 0);
    struct sched_wait w;
    play_begin(&p, 1);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_SLOTS, .slots = 5}),
                     -ERR_PROTOCOL); /* no hello yet */
    play_add(&p, a);
    play_up(&p, 0, 2, "m");
    assert_int_equal(ensemble_count(a, REPLICA_RUNNING), 2);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_SLOTS, .slots = 5}), 0);
    assert_int_equal(ensemble_count(a, REPLICA_RUNNING), 5);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_SLOTS, .slots = 4}), 0);
    assert_int_equal(ensemble_count(a, REPLICA_RUNNING), 5);
    play_explain(&p, &a->replicas[7], &w);
    assert_int_equal(w.place, 3);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(play_about(&p, SCHED_DONE, &a->replicas[k]), 0);
        assert_int_equal(ensemble_count(a, REPLICA_RUNNING), 4); /* the first makes no room, the second does */
    }
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_SLOTS, .slots = 0}), -ERR_PROTOCOL);
    play_end(&p);
}

static void a_late_owner_gets_slots_at_the_next_checkpoints(void **state)
{
    struct play p;
    struct ensemble *a = play_ensemble(1, 4, 0), *b = play_ensemble(2, 4, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 4, "m");
    play_add(&p, a);
    play_add(&p, b);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++) {
            if (a->replicas[i].sm.state != REPLICA_RUNNING)
                continue;
            play_about(&p, SCHED_SEGMENT, &a->replicas[i]);
            if (a->replicas[i].sm.state == REPLICA_STOPPING)
                play_about(&p, SCHED_STOPPED, &a->replicas[i]);
        }
    assert_int_equal(ensemble_count(a, REPLICA_RUNNING), 2);
    assert_int_equal(ensemble_count(b, REPLICA_RUNNING), 2);
    play_end(&p);
}

/* Three replicas that exchange: all of them or none have slots, and what ends one ends the run of all. */
static void a_set_is_all_or_nothing(void **state)
{
    struct play p;
    struct ensemble *small = play_ensemble(1, 2, 1), *e = play_ensemble(1, 3, 1);
    e->nsets = 0;
    ensemble_add_set(e, 3);
    play_begin(&p, 2);
    play_up(&p, 0, 2, "m");
    play_up(&p, 1, 4, "m");
    play_add(&p, e);
    assert_int_equal(play_count(&p, DECIDE_START), 1);
    assert_int_equal(p.s.workers[1].nrunning, 3); /* the other is too small */
    play_add(&p, small);
    assert_int_equal(p.s.workers[0].nrunning, 2);
    assert_int_equal(p.s.workers[1].nrunning, 3);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    /* One fails: the others are stopped, then all are tried again together. */
    play_about(&p, SCHED_FAILED, &e->replicas[2]);
    assert_int_equal(play_count(&p, DECIDE_STOP), 1);
    assert_int_equal(e->sets[0].worker, 1);
    play_about(&p, SCHED_STOPPED, &e->replicas[0]);
    assert_int_equal(e->sets[0].worker, 1);
    play_about(&p, SCHED_STOPPED, &e->replicas[1]);
    assert_int_equal(e->sets[0].worker, -1);
    assert_int_equal(ensemble_count(e, REPLICA_QUEUED), 3);
    assert_int_equal(e->sets[0].failures, 1);
    p.now = sched_wake(&p.s, 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    /* One is done: it needs no slot any more. Then the last retry is used up: the others fail together. */
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    assert_int_equal(p.s.workers[1].nrunning, 2);
    play_about(&p, SCHED_FAILED, &e->replicas[2]);
    play_about(&p, SCHED_STOPPED, &e->replicas[1]);
    assert_int_equal(ensemble_count(e, REPLICA_FAILED), 2);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 1);
    assert_string_equal(e->replicas[1].reason, "a replica that it runs with failed");
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_true(strncmp(e->reason, "2 of 3 windows failed; window 2: ", 33) == 0);
    play_end(&p);
}

/* A set that needs more slots than any worker has gets one for itself; what runs there leaves at the end of its slice.
 * Where it is retried for one of its windows it is so as a whole. */
static void a_set_larger_than_a_worker_is_alone(void **state)
{
    struct play p;
    struct ensemble *small = play_ensemble(1, 2, 0), *e = play_ensemble(2, 3, 0);
    e->nsets = 0;
    ensemble_add_set(e, 3);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, small);
    play_add(&p, e);
    assert_int_equal(p.s.workers[0].nrunning, 2);
    play_until(&p, SCHED_SLICE_MS + 1000, 10);
    assert_int_equal(p.s.workers[0].nrunning, 3);
    assert_int_equal(p.s.workers[0].nsets, 1);
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 3);
    play_about(&p, SCHED_FAILED, &e->replicas[1]);
    play_about(&p, SCHED_STOPPED, &e->replicas[0]);
    play_about(&p, SCHED_STOPPED, &e->replicas[2]);
    assert_int_equal(ensemble_count(e, REPLICA_FAILED), 3);
    assert_int_equal(p.s.workers[0].nrunning, 2);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true}), 0);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_RETRY, .ensemble = e, .one = true, .window = 2}),
                     0);
    assert_int_equal(ensemble_count(e, REPLICA_QUEUED), 3);
    play_end(&p);
}

/* One of a set that waits for the others is not stuck while they get on; where none does, it is. */
static void a_set_is_stuck_as_a_whole(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->nsets = 0;
    ensemble_add_set(e, 2);
    play_begin(&p, 1);
    p.s.stall_ms = SCHED_STALL_MS;
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    for (int i = 1; i <= 4; i++) {
        p.now += SCHED_STALL_MS / 2;
        play_feed(&p, (struct sched_event){.kind = SCHED_PROGRESS, .replica = e->replicas[0].number, .step = i});
        assert_int_equal(play_count(&p, DECIDE_KILL), 0);
    }
    p.now += SCHED_STALL_MS;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_KILL), 1);
    play_end(&p);
}

/* Its step does not change meanwhile; timesteps of the switch say that it gets on, and checkpoints keep some of them.
 */
static void a_walker_within_a_switch_is_not_stuck(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    struct sched_replica *r = &e->replicas[0];
    play_begin(&p, 1);
    p.s.stall_ms = SCHED_STALL_MS;
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    for (int i = 1; i <= 4; i++) {
        p.now += SCHED_STALL_MS / 2;
        play_feed(&p, (struct sched_event){.kind = i == 1 ? SCHED_SEGMENT : SCHED_PROGRESS,
                                           .replica = r->number,
                                           .step = 7,
                                           .switched = 100 * i});
        play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
        assert_int_equal(play_count(&p, DECIDE_KILL), 0);
    }
    assert_int_equal(r->saved_switched, 100);
    p.now += SCHED_STALL_MS;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_KILL), 1);
    play_end(&p);
}

static void what_a_state_does_not_allow_is_refused(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), -ERR_CONFLICT);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    assert_int_equal(p.d.n, 0);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(play_count(&p, DECIDE_STOP), 1);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(p.d.n, 0);
    play_about(&p, SCHED_STOPPED, &e->replicas[0]);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_PAUSED);
    assert_int_equal(play_wish(&p, SCHED_CANCEL, e), 0);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), -ERR_CONFLICT);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), -ERR_CONFLICT);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_QUEUED);
    assert_int_equal(
        play_about(&p, SCHED_DONE, &(struct sched_replica){.set = &(struct sched_set){.worker = 0}, .number = 12345}),
        -ERR_PROTOCOL);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_starts_before_its_folder_is_ready),
        cmocka_unit_test(a_freed_slot_is_filled_in_the_same_step),
        cmocka_unit_test(slots_are_shared_between_owners_then_ensembles),
        cmocka_unit_test(a_worker_may_want_more_slots_or_fewer),
        cmocka_unit_test(a_late_owner_gets_slots_at_the_next_checkpoints),
        cmocka_unit_test(a_set_larger_than_a_worker_is_alone),
        cmocka_unit_test(a_set_is_stuck_as_a_whole),
        cmocka_unit_test(a_walker_within_a_switch_is_not_stuck),
        cmocka_unit_test(a_set_is_all_or_nothing),
        cmocka_unit_test(what_a_state_does_not_allow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
