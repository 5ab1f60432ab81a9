/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler when replicas, workers or the service itself fail: what is tried again, where, and what is not.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

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

/* What crashes the first device that is there waits for the others, that have not said hello yet; one that never does
 * is given up. */
static void a_device_that_is_still_to_come_counts(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    const struct sched_replica *r = &e->replicas[0];
    play_begin(&p, 3);
    play_add(&p, e);
    play_up(&p, 0, 4, "m");
    crash(&p, 0, 4);
    assert_int_equal(r->sm.state, REPLICA_QUEUED);
    play_up(&p, 1, 1, "m");
    assert_int_equal(r->set->worker, 1);
    crash(&p, 1, 1);
    assert_int_equal(r->sm.state, REPLICA_QUEUED);
    for (int i = 0; i < HEALTH_MISSES; i++)
        play_down(&p, 2, "no such device");
    assert_int_equal(r->sm.state, REPLICA_RUNNING);
    crash(&p, r->set->worker, 1);
    assert_int_equal(r->sm.state, REPLICA_FAILED);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_replica_is_tried_again_then_left_behind),
        cmocka_unit_test(bad_input_is_not_tried_again),
        cmocka_unit_test(the_replica_that_kills_workers_is_found),
        cmocka_unit_test(a_device_that_is_still_to_come_counts),
        cmocka_unit_test(a_replica_goes_on_where_its_model_is),
        cmocka_unit_test(what_was_interrupted_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
