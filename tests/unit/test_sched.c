/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler under single events and under random ones. The random test plays a world (workers that do what they are told
 * or crash, owners who change their minds) and holds the scheduler's promises after every event; then it lets everything
 * run to its end.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/buf.h"
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
    sched_explain(&p.s, &a->replicas[7], p.now, &w);
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

static void a_failing_replica_is_tried_again_then_left_behind(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 1);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_FAILED, &e->replicas[0]);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    int64_t when = sched_wake(&p.s, 0);
    assert_true(when > 0 && when < INT64_MAX);
    p.now = when;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(e->replicas[0].sm.state, REPLICA_RUNNING);
    play_about(&p, SCHED_FAILED, &e->replicas[0]);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_FAILED);
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    play_about(&p, SCHED_DONE, &e->replicas[1]);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_string_equal(e->reason, "1 of 2 windows failed; window 0: it blew up");
    /* The owner asks for another try: the failed window alone runs again, and all is well. */
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(play_count(&p, DECIDE_START), 1);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_null(e->reason);
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
    play_end(&p);
}

/* A set that needs more slots than any worker has gets one for itself; what runs there leaves at the end of its slice. Where it is
 * retried for one of its windows it is so as a whole. */
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

static void bad_input_is_not_tried_again(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 5);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    struct sched_event ev = {
        .kind = SCHED_FAILED, .replica = e->replicas[0].number, .code = ERR_TOPOLOGY, .message = "no such type"};
    play_feed(&p, ev);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_FAILED);
    play_end(&p);
}

static void crash(struct play *p, int worker, int slots)
{
    play_down(p, worker, "signal 11");
    play_up(p, worker, slots, "m");
}

/* Window 1 kills its worker whenever it runs. The others finish, it alone fails. */
static void the_replica_that_kills_workers_is_found(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 4, 1);
    play_begin(&p, 1);
    play_add(&p, e);
    play_up(&p, 0, 4, "m");
    int64_t now = 0;
    int crashes = 0;
    while (!ensemble_ended(e) && e->sm.state != ENSEMBLE_FINISHING) {
        assert_true(++crashes < 20);
        if (!p.s.workers[0].nrunning) { /* put aside: nobody else shows that the device is well */
            now = sched_wake(&p.s, now);
            p.now = now;
            play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
        }
        if (e->replicas[1].sm.state == REPLICA_RUNNING) {
            crash(&p, 0, 4);
            continue;
        }
        for (int i = 0; i < 4; i++)
            if (e->replicas[i].sm.state == REPLICA_RUNNING) {
                play_about(&p, SCHED_SEGMENT, &e->replicas[i]);
                play_about(&p, e->replicas[i].sm.state == REPLICA_STOPPING ? SCHED_STOPPED : SCHED_DONE,
                           &e->replicas[i]);
                break;
            }
    }
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 3);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_FAILED);
    assert_string_equal(e->replicas[1].reason, "signal 11");
    play_end(&p);
}

static void a_replica_goes_on_where_its_model_is(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 2);
    play_up(&p, 0, 1, "H100");
    play_up(&p, 1, 1, "H200");
    play_add(&p, e);
    assert_int_equal(e->replicas[0].set->worker, 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = 0, .message = "x"});
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    play_up(&p, 0, 1, "H100");
    assert_int_equal(e->replicas[0].set->worker, 0);
    /* That model is gone from the machine: better elsewhere than never. */
    play_feed(&p, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = 0, .message = "x"});
    play_up(&p, 0, 1, "A100");
    assert_true(e->replicas[0].set->worker >= 0);
    play_end(&p);
}

/* As loaded from the database after a crash of the service. */
static void what_was_interrupted_goes_on(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0), *q = play_ensemble(1, 2, 0), *f = play_ensemble(1, 1, 0);
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_RUNNING);
    sm_init(&e->replicas[0].sm, &replica_states, &e->replicas[0], REPLICA_RUNNING);
    sm_init(&e->replicas[1].sm, &replica_states, &e->replicas[1], REPLICA_STOPPING);
    sm_init(&e->replicas[2].sm, &replica_states, &e->replicas[2], REPLICA_DONE);
    e->replicas[2].saved_step = PLAY_STEPS;
    sm_init(&q->sm, &ensemble_states, q, ENSEMBLE_PAUSED);
    sm_init(&q->replicas[0].sm, &replica_states, &q->replicas[0], REPLICA_STOPPING);
    sm_init(&q->replicas[1].sm, &replica_states, &q->replicas[1], REPLICA_PAUSED);
    sm_init(&f->sm, &ensemble_states, f, ENSEMBLE_FINISHING);
    sm_init(&f->replicas[0].sm, &replica_states, &f->replicas[0], REPLICA_DONE);
    f->replicas[0].saved_step = PLAY_STEPS;
    play_begin(&p, 1);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    assert_int_equal(ensemble_count(e, REPLICA_QUEUED), 2);
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = q}), 0);
    assert_int_equal(ensemble_count(q, REPLICA_PAUSED), 2);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = f}), 0);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
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

static int extend(struct play *p, struct ensemble *e, bool more, int64_t steps)
{
    return play_feed(
        p, (struct sched_event){.kind = SCHED_EXTEND, .ensemble = e, .more = more, .step = steps, .message = "longer"});
}

/* Done, running, waiting and failed replicas get a later target; only what has to goes on. */
static void an_extension_is_a_later_target(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 4, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    play_failed(&p, &e->replicas[1], ERR_SPEC, 0);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_FAILED);
    assert_int_equal(e->replicas[2].sm.state, REPLICA_RUNNING);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS - 1), -ERR_CONFLICT);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS), 0);
    assert_int_equal(p.d.n, 0);
    assert_int_equal(extend(&p, e, true, 50), 0);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 4);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    assert_int_equal(e->revision, 2);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    assert_int_equal(e->replicas[0].saved_step, PLAY_STEPS);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_FAILED);
    assert_int_equal(e->replicas[1].steps, PLAY_STEPS + 50);
    /* One whose worker was told the earlier target comes to it, and goes on as others do whose turn it is. */
    play_about(&p, SCHED_DONE, &e->replicas[2]);
    assert_int_equal(e->replicas[2].saved_step, PLAY_STEPS);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 0);
    while (ensemble_count(e, REPLICA_RUNNING))
        for (int i = 0; i < e->nreplicas; i++)
            if (e->replicas[i].held)
                play_about(&p, SCHED_DONE, &e->replicas[i]);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 3);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_int_equal(extend(&p, e, true, 50), -ERR_BUSY);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true}), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS + 60), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_QUEUED);
    assert_null(e->reason);
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_int_equal(ensemble_count(e, REPLICA_QUEUED), 3);
    assert_int_equal(play_wish(&p, SCHED_CANCEL, e), 0);
    assert_int_equal(ensemble_count(e, REPLICA_CANCELLED), 3);
    assert_int_equal(extend(&p, e, true, 50), -ERR_CONFLICT);
    assert_int_equal(e->revision, 3);
    play_end(&p);
}

static void live(struct play *p, struct ensemble *e, double error, const char *verdict, int64_t step)
{
    struct sched_event ev = {
        .kind = SCHED_LIVE, .ensemble = e, .ok = true, .error = error, .message = verdict, .step = step};
    assert_int_equal(play_feed(p, ev), 0);
}

/* Two good estimates in a row end an ensemble where its replicas are; an extension goes on and is not asked again. */
static void an_ensemble_that_is_good_enough_ends(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    e->stop = (struct stop_rule){.error = 0.5, .converged = true, .after = 20};
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    e->replicas[2].saved_step = 20;
    live(&p, e, 0.4, "converged", 20);
    live(&p, e, 0.4, "unconverged", 20);
    live(&p, e, 0.4, "converged", 19);
    live(&p, e, 0.6, "converged", 20);
    live(&p, e, 0.4, "converged", 20);
    assert_null(e->stopped);
    live(&p, e, 0.5, "converged", 20);
    assert_string_equal(e->stopped, "stopped early: the error is 0.12 kcal/mol (stop-when: 0.12), verdict converged");
    assert_int_equal(play_count(&p, DECIDE_STOP), 2);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_int_equal(e->replicas[2].steps, 20);
    assert_int_equal(e->replicas[0].steps, PLAY_STEPS);
    play_feed(&p,
              (struct sched_event){.kind = SCHED_STOPPED, .worker = 0, .replica = e->replicas[0].number, .step = 30});
    assert_int_equal(e->replicas[0].steps, 30);
    play_feed(&p,
              (struct sched_event){.kind = SCHED_STOPPED, .worker = 0, .replica = e->replicas[1].number, .step = 5});
    assert_int_equal(e->replicas[1].steps, 20); /* taken back by a failure: no earlier than where it may end */
    play_about(&p, SCHED_DONE, &e->replicas[1]);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_DONE);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_RUNNING); /* for its final files */
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    struct sched_event beyond = {.kind = SCHED_DONE, .worker = 0, .replica = e->replicas[2].number, .step = 25};
    assert_int_equal(play_feed(&p, beyond), 0); /* its checkpoint was newer than was known */
    assert_int_equal(e->replicas[2].steps, 25);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_string_equal(e->reason, e->stopped);
    assert_int_equal(extend(&p, e, true, 10), 0);
    assert_int_equal(e->replicas[0].steps, 40);
    assert_int_equal(e->replicas[2].steps, 35);
    assert_false(ensemble_stopping(e));
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    live(&p, e, 0.1, "converged", 30);
    live(&p, e, 0.1, "converged", 30);
    assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    play_end(&p);
}

/* Where there are fewer slots than windows, one that may end at any time has them all sampled alike. */
static void windows_are_sampled_alike(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    e->stop.error = 1;
    play_begin(&p, 1);
    p.s.slice_ms = 1000;
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    for (int n = 0; n < 12; n++)
        for (int i = 0; i < 3; i++)
            if (e->replicas[i].held) {
                play_about(&p, SCHED_SEGMENT, &e->replicas[i]);
                play_until(&p, p.now + 1500, 0);
                break;
            }
    for (int i = 0; i < 3; i++)
        assert_in_range(e->replicas[i].saved_step, 30, 50);
    play_end(&p);
}

/* ---- production by need ---- */

/* An even share of 80 steps after 20; replicas begin with a quarter of it. */
static void by_need(struct ensemble *e)
{
    e->allocation = (struct allocation){.share = 80, .before = 20, .every = 2};
    for (int i = 0; i < e->nreplicas; i++)
        e->replicas[i].steps = 40;
}

/* All that are to run do so to their targets. */
static void run_all(struct play *p, struct ensemble *e)
{
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].held)
            play_about(p, SCHED_DONE, &e->replicas[i]);
}

/* What a look says: production of each window. */
static void looked(struct play *p, struct ensemble *e, int64_t a, int64_t b, int64_t c)
{
    struct sched_event ev = {
        .kind = SCHED_LOOKED, .ensemble = e, .targets = (const int64_t[]){a, b, c}, .message = "bad"};
    assert_int_equal(play_feed(p, ev), 0);
}

static void assert_targets(const struct ensemble *e, int64_t a, int64_t b, int64_t c)
{
    assert_int_equal(e->replicas[0].steps, a);
    assert_int_equal(e->replicas[1].steps, b);
    assert_int_equal(e->replicas[2].steps, c);
}

/* In rounds, each after a look at all there is; an extension is handed out likewise, alike where there is no estimate. */
static void production_goes_where_it_is_needed(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    by_need(e);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    live(&p, e, 1, "converged", 40); /* of fewer samples: it hands out nothing */
    assert_int_equal(play_count(&p, DECIDE_TARGET), 0);
    struct allocate_window w[3];
    assert_int_equal(sched_production(e, w), 120); /* half of all */
    assert_true(w[2].steps == 20 && w[2].replicas == 1);
    looked(&p, e, 30, 60, 30);
    assert_targets(e, 50, 80, 50);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 3);
    assert_int_equal(play_count(&p, DECIDE_START), 3);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    looked(&p, e, 60, 120, 60);
    assert_targets(e, 80, 140, 80);
    assert_int_equal(ensemble_count(e, REPLICA_PAUSED), 3);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_int_equal(extend(&p, e, false, 99), -ERR_CONFLICT);
    assert_int_equal(extend(&p, e, false, 100), 0);
    assert_int_equal(e->revision, 1);
    assert_int_equal(extend(&p, e, true, 40), 0);
    assert_int_equal(e->revision, 2);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_targets(e, 80, 140, 80);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    play_feed(&p, (struct sched_event){.kind = SCHED_LOOKED, .ensemble = e, .message = "no estimator"});
    assert_targets(e, 140, 140, 140);
    play_end(&p);
}

/* One that is good enough while it is looked at ends: nothing more is handed out. Its extension goes on from what it has. */
static void what_is_good_enough_is_given_nothing(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    by_need(e);
    e->stop = (struct stop_rule){.error = 0.5, .after = 40};
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    live(&p, e, 0.4, "converged", 40);
    live(&p, e, 0.4, "converged", 40);
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    looked(&p, e, 30, 60, 30);
    assert_targets(e, 40, 40, 40);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(extend(&p, e, true, 20), 0);
    assert_int_equal(e->allocation.share, 40);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    looked(&p, e, 20, 60, 40);
    assert_targets(e, 40, 80, 60);
    play_end(&p);
}

/* What the database has is enough to go on: a look that was lost is asked for again. One that fails leaves its steps to no one. */
static void a_look_that_was_lost_is_made_again(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    by_need(e);
    for (int i = 0; i < 3; i++) {
        e->replicas[i].saved_step = e->replicas[i].step = 40;
        sm_init(&e->replicas[i].sm, &replica_states, &e->replicas[i], REPLICA_DONE);
    }
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_RUNNING);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    looked(&p, e, 30, 30, 60);
    assert_targets(e, 50, 50, 80);
    play_failed(&p, &e->replicas[0], ERR_SPEC, 45);
    run_all(&p, e);
    looked(&p, e, 0, 54, 108); /* more than there is for two: alike, then */
    assert_targets(e, 50, 100, 100);
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* ---- random worlds ---- */

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* Of sets of one, two or three replicas; more than three slots has no worker of these worlds. */
static struct ensemble *make_sets(uint32_t owner, int replicas, int retries)
{
    struct ensemble *e = play_ensemble(owner, replicas, retries);
    e->nsets = 0;
    e->stop = (struct stop_rule){.error = draw(3) == 0, .after = 10};
    if (draw(3) == 0)
        by_need(e);
    for (int left = replicas, n; left; left -= n) {
        n = 1 + (int)draw(3);
        n = n < left ? n : left;
        ensemble_add_set(e, n);
    }
    return e;
}

struct world {
    struct play p;
    int nensembles;
    struct ensemble *ensembles[12];
    bool prepare[12], estimate[12], look[12]; /* jobs under way */
    bool killer[12][8];                       /* this replica crashes its worker */
    bool sick[3];                             /* this device crashes whatever runs there */
    bool killed[3];                           /* to be carried out */
    bool full;                                /* the disk is being watched */
    bool fair;                                /* nobody but killers and sick devices does harm */
};

static int index_of(const struct world *w, const struct ensemble *e)
{
    int i = 0;
    while (w->ensembles[i] != e)
        i++;
    return i;
}

static void check_promises(const struct world *w)
{
    for (int k = 0; k < w->p.s.nworkers; k++) {
        const struct sched_worker *sw = &w->p.s.workers[k];
        if (sw->nrunning > (sw->up ? sw->slots : 0)) { /* a set that is larger than that, alone */
            assert_true(sw->up);
            assert_int_equal(sw->nsets, 1);
        }
        int held = 0;
        for (int i = 0; i < sw->nsets; i++) {
            const struct sched_set *set = sw->sets[i];
            assert_int_equal(set->worker, k);
            if (set->crashes >= SCHED_SUSPECT)
                assert_int_equal(sw->nsets, 1);
            for (int r = 0; r < set->nreplicas; r++)
                held += set->replicas[r].held;
        }
        assert_int_equal(held, sw->nrunning);
        /* No slot is left free while something could have it. */
        assert_null(pack_next(&w->p.s, k, w->p.now));
    }
    for (int i = 0; i < w->nensembles; i++) {
        const struct ensemble *e = w->ensembles[i];
        int ended = ensemble_count(e, REPLICA_DONE) + ensemble_count(e, REPLICA_FAILED);
        if (e->sm.state == ENSEMBLE_DONE)
            assert_int_equal(ensemble_count(e, REPLICA_DONE), e->nreplicas);
        for (int k = 0; k < e->nreplicas; k++)
            if (e->replicas[k].sm.state == REPLICA_DONE && e->replicas[k].set->worker < 0)
                assert_true(e->replicas[k].saved_step >= e->replicas[k].steps);
        if (e->sm.state == ENSEMBLE_FINISHING || e->sm.state == ENSEMBLE_FAILED)
            assert_int_equal(ended, e->nreplicas);
        else if (!ensemble_ended(e))
            assert_true(ended < e->nreplicas || e->looking);
        if (e->sm.state == ENSEMBLE_FINISHING || e->sm.state == ENSEMBLE_DONE || e->sm.state == ENSEMBLE_FAILED)
            assert_false(allocation_open(e));
        if (e->sm.state == ENSEMBLE_PAUSED || e->sm.state == ENSEMBLE_CANCELLED)
            assert_int_equal(ensemble_count(e, REPLICA_RUNNING) + ensemble_count(e, REPLICA_QUEUED), 0);
        if (w->p.s.users[e->user].over)
            assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 0);
        for (int k = 0; k < e->nsets; k++)
            assert_true(e->sets[k].failures <= e->retries + 1);
    }
}

static void world_step(struct world *w, struct sched_event ev)
{
    if (play_feed(&w->p, ev)) {
        assert_int_equal(w->p.d.n, 0); /* refused: nothing happened */
        return;
    }
    for (int i = 0; i < w->p.d.n; i++) {
        const struct decision *d = &w->p.d.item[i];
        if (d->kind == DECIDE_PREPARE)
            w->prepare[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_ESTIMATE)
            w->estimate[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_LOOK)
            w->look[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_KILL)
            w->killed[d->worker] = true;
        if (d->kind == DECIDE_SPACE)
            w->full = true;
        if (d->kind == DECIDE_START || d->kind == DECIDE_STOP || d->kind == DECIDE_KILL)
            assert_true(w->p.s.workers[d->worker].up);
    }
    check_promises(w);
}

static void finish_look(struct world *w, int i, bool well)
{
    struct allocate_window windows[8];
    int64_t targets[8], budget = sched_production(w->ensembles[i], windows);
    allocate(windows, w->ensembles[i]->windows, 80, budget, 2, NULL, NULL);
    for (int k = 0; k < 8; k++)
        targets[k] = windows[k].target + (draw(9) == 0);
    w->look[i] = false;
    world_step(
        w, (struct sched_event){
               .kind = SCHED_LOOKED, .ensemble = w->ensembles[i], .targets = well ? targets : NULL, .message = "x"});
}

static void finish_job(struct world *w, int i, bool well)
{
    if (w->look[i])
        finish_look(w, i, well);
    if (w->prepare[i]) {
        w->prepare[i] = false;
        world_step(
            w, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = w->ensembles[i], .ok = well, .message = "x"});
    } else if (w->estimate[i]) {
        w->estimate[i] = false;
        world_step(
            w, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = w->ensembles[i], .ok = well, .message = "x"});
    }
}

static void worker_acts(struct world *w, int k, bool calm)
{
    struct sched_worker *sw = &w->p.s.workers[k];
    if (!sw->up) {
        world_step(
            w, (struct sched_event){.kind = SCHED_WORKER_UP, .worker = k, .slots = 4 - k, .device = "d", .model = "m"});
        return;
    }
    if (w->killed[k] || (w->sick[k] && sw->nsets && draw(2))) {
        w->killed[k] = false;
        world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = k, .message = "signal 11"});
        return;
    }
    const struct sched_replica *all[16];
    int n = 0;
    for (int i = 0; i < sw->nsets; i++)
        for (int m = 0; m < sw->sets[i]->nreplicas; m++)
            if (sw->sets[i]->replicas[m].held)
                all[n++] = &sw->sets[i]->replicas[m];
    for (int i = 0; i < n; i++)
        if (w->killer[index_of(w, all[i]->ensemble)][all[i]->window] && draw(3) == 0) {
            world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = k, .message = "signal 11"});
            return;
        }
    if (!n)
        return;
    const struct sched_replica *r = all[draw((uint32_t)n)];
    static const int codes[] = {ERR_NONFINITE, ERR_NO_SPACE, ERR_MEMORY, ERR_IO, ERR_DEVICE, ERR_BUSY};
    struct sched_event ev = {.worker = k, .replica = r->number, .code = codes[draw(6)], .message = "x"};
    if (w->sick[k])
        return; /* nothing comes of it */
    ev.step = r->step < r->told ? r->step + 10 : r->step;
    if (r->sm.state == REPLICA_STOPPING)
        ev.kind = SCHED_STOPPED;
    else if (r->step >= r->told)
        ev.kind = SCHED_DONE;
    else if (!calm && !w->fair && draw(12) == 0)
        ev.kind = SCHED_FAILED;
    else
        ev.kind = draw(2) ? SCHED_SEGMENT : SCHED_PROGRESS;
    if (ev.kind != SCHED_DONE && w->killer[index_of(w, r->ensemble)][r->window])
        ev.step = r->step; /* never gets anywhere */
    if (ev.kind == SCHED_SEGMENT && w->killer[index_of(w, r->ensemble)][r->window])
        ev.kind = SCHED_PROGRESS;
    world_step(w, ev);
}

static void something_happens(struct world *w)
{
    static const enum sched_kind wishes[] = {SCHED_PAUSE,  SCHED_RESUME, SCHED_CANCEL, SCHED_RETRY,
                                             SCHED_RESUME, SCHED_RETRY,  SCHED_EXTEND, SCHED_LIVE};
    uint32_t what = draw(20);
    w->p.now += draw(2000);
    if (what == 0 && w->nensembles < 12) {
        const uint32_t user = draw(3), replicas = draw(8),
                       retries = draw(3); /* one after the other, for any compiler */
        struct ensemble *e = make_sets(user, 1 + (int)replicas, (int)retries);
        for (int i = 0; i < e->nreplicas; i++)
            w->killer[w->nensembles][i] = draw(15) == 0;
        w->ensembles[w->nensembles++] = e;
        world_step(w, (struct sched_event){.kind = SCHED_ADD, .ensemble = e});
    } else if (what < 3 && w->nensembles) {
        struct sched_event ev = {.kind = wishes[draw(8)],
                                 .ensemble = w->ensembles[draw((uint32_t)w->nensembles)],
                                 .ok = true,
                                 .more = true,
                                 .step = 20,
                                 .message = "longer"};
        for (int i = 0; i < ev.ensemble->nreplicas && ev.kind == SCHED_LIVE; i++)
            if (ev.ensemble->replicas[i].saved_step < ev.step)
                ev.step = ev.ensemble->replicas[i].saved_step;
        world_step(w, ev);
    } else if (what < 6 && w->nensembles) {
        finish_job(w, (int)draw((uint32_t)w->nensembles), draw(4) != 0);
    } else if (what == 6) {
        world_step(w, (struct sched_event){.kind = SCHED_TICK});
    } else if (what == 9 && w->nensembles && draw(4) == 0) {
        world_step(w, (struct sched_event){.kind = SCHED_STORED,
                                           .ensemble = w->ensembles[draw((uint32_t)w->nensembles)],
                                           .ok = draw(2),
                                           .message = "too much"});
    } else if (what == 8 && w->full) {
        w->full = false;
        world_step(w, (struct sched_event){.kind = SCHED_SPACE});
    } else if (what == 7 && !w->fair && w->p.s.workers[0].up && draw(10) == 0) {
        world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = 0, .message = "killed"});
    } else {
        worker_acts(w, (int)draw((uint32_t)w->p.s.nworkers), false);
    }
}

/* No more surprises: everything that nobody paused must come to its end. */
static void settle(struct world *w)
{
    for (int round = 0; round < 40000; round++) {
        bool all = true;
        w->p.now += 500;
        for (int i = 0; i < w->nensembles; i++) {
            finish_job(w, i, true);
            if (w->p.s.users[w->ensembles[i]->user].over)
                world_step(w, (struct sched_event){.kind = SCHED_STORED, .ensemble = w->ensembles[i], .ok = true});
            if (w->ensembles[i]->sm.state == ENSEMBLE_PAUSED)
                world_step(w, (struct sched_event){.kind = SCHED_RESUME, .ensemble = w->ensembles[i]});
            all = all && ensemble_ended(w->ensembles[i]);
        }
        if (all)
            return;
        if (w->full) {
            w->full = false;
            world_step(w, (struct sched_event){.kind = SCHED_SPACE});
        }
        world_step(w, (struct sched_event){.kind = SCHED_TICK});
        worker_acts(w, (int)draw((uint32_t)w->p.s.nworkers), true);
    }
    fail_msg("seed led to a world that never settles");
}

static bool has_killer(const struct world *w, int i, const struct sched_set *set)
{
    for (int k = 0; k < set->nreplicas; k++)
        if (w->killer[i][set->replicas[k].window])
            return true;
    return false;
}

/* Whatever killers and sick devices there were: sets without a killer are done, or were cancelled. */
static void nobody_else_pays(const struct world *w)
{
    for (int i = 0; i < w->nensembles; i++)
        for (int k = 0; k < w->ensembles[i]->nsets; k++) {
            const struct sched_set *set = &w->ensembles[i]->sets[k];
            for (int r = 0; r < set->nreplicas && !has_killer(w, i, set); r++)
                assert_int_not_equal(set->replicas[r].sm.state, REPLICA_FAILED);
        }
}

static void promises_hold_in_random_worlds(void **state)
{
    for (int k = 0; k < 300; k++) {
        struct world *w = xcalloc(1, sizeof *w);
        seed = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15) + 1;
        play_begin(&w->p, 1 + (int)draw(3));
        w->fair = k % 2;
        w->p.s.slice_ms = 5000;
        w->p.s.stall_ms = 200000;
        for (int i = 0; i < w->p.s.nworkers && k % 4 == 1; i++)
            w->sick[i] = i != w->p.s.nworkers / 2; /* one is well */
        for (int i = 0; i < 400; i++)
            something_happens(w);
        settle(w);
        if (w->fair)
            nobody_else_pays(w);
        for (int i = 0; i < w->nensembles; i++)
            for (int r = 0; r < w->ensembles[i]->nreplicas; r++)
                if (w->killer[i][r])
                    assert_int_not_equal(w->ensembles[i]->replicas[r].sm.state, REPLICA_DONE);
        play_end(&w->p);
        free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_starts_before_its_folder_is_ready),
        cmocka_unit_test(a_freed_slot_is_filled_in_the_same_step),
        cmocka_unit_test(slots_are_shared_between_owners_then_ensembles),
        cmocka_unit_test(a_worker_may_want_more_slots_or_fewer),
        cmocka_unit_test(a_late_owner_gets_slots_at_the_next_checkpoints),
        cmocka_unit_test(a_failing_replica_is_tried_again_then_left_behind),
        cmocka_unit_test(a_set_larger_than_a_worker_is_alone),
        cmocka_unit_test(a_set_is_stuck_as_a_whole),
        cmocka_unit_test(a_set_is_all_or_nothing),
        cmocka_unit_test(bad_input_is_not_tried_again),
        cmocka_unit_test(the_replica_that_kills_workers_is_found),
        cmocka_unit_test(a_replica_goes_on_where_its_model_is),
        cmocka_unit_test(what_was_interrupted_goes_on),
        cmocka_unit_test(what_a_state_does_not_allow_is_refused),
        cmocka_unit_test(an_extension_is_a_later_target),
        cmocka_unit_test(an_ensemble_that_is_good_enough_ends),
        cmocka_unit_test(windows_are_sampled_alike),
        cmocka_unit_test(production_goes_where_it_is_needed),
        cmocka_unit_test(a_look_that_was_lost_is_made_again),
        cmocka_unit_test(what_is_good_enough_is_given_nothing),
        cmocka_unit_test(promises_hold_in_random_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
