/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler's rules about whose fault a failure is, and about devices (sched.h), each by itself.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

/* ---- whose fault ---- */

static void a_full_disk_costs_nothing(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0), *f = play_ensemble(2, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    play_add(&p, f);
    play_failed(&p, &e->replicas[0], ERR_NO_SPACE, 5);
    assert_int_equal(play_count(&p, DECIDE_SPACE), 1);
    assert_int_equal(play_count(&p, DECIDE_REASON), 1);
    assert_string_equal(e->reason, "waits for space on the disk: no good");
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    assert_int_equal(e->sets[0].failures, 0);
    play_failed(&p, &e->replicas[1], ERR_NO_SPACE, 5);
    assert_int_equal(play_count(&p, DECIDE_SPACE), 0); /* it is being watched */
    play_until(&p, 1000000, 1);
    assert_int_equal(e->nrunning, 0);
    /* The results of the one that ends meanwhile wait too. */
    play_about(&p, SCHED_DONE, &f->replicas[0]);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = f, .code = ERR_NO_SPACE, .message = "x"});
    assert_int_equal(f->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_SPACE});
    assert_int_equal(play_count(&p, DECIDE_START), 2);
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
    assert_null(e->reason);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = f, .ok = true});
    assert_int_equal(f->sm.state, ENSEMBLE_DONE);
    play_end(&p);
}

/* Results that cannot be made for want of something that is not theirs are made later; what their samples lack is for
 * good. */
static void what_the_machine_lacks_is_waited_for(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    play_feed(&p, (struct sched_event){
                      .kind = SCHED_ESTIMATED, .ensemble = e, .code = ERR_BUSY, .message = "too many open files"});
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_string_equal(e->reason, "too many open files");
    assert_int_equal(play_count(&p, DECIDE_REASON), 1);
    int64_t wake = sched_wake(&p.s, p.now);
    assert_in_range(wake, p.now + 1, p.now + 10000);
    p.now = wake;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
    assert_int_equal(sched_wake(&p.s, p.now), INT64_MAX);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_null(e->reason);
    struct ensemble *f = play_ensemble(2, 1, 0);
    play_add(&p, f);
    play_about(&p, SCHED_DONE, &f->replicas[0]);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = f, .code = ERR_ESTIMATE, .message = "x"});
    assert_int_equal(f->sm.state, ENSEMBLE_FAILED);
    play_end(&p);
}

static void memory_that_others_hold_costs_nothing(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    for (int i = 0; i < 5; i++) {
        play_failed(&p, &e->replicas[0], i % 2 ? ERR_BUSY : ERR_MEMORY, 0);
        assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
        p.now = sched_wake(&p.s, p.now);
        play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
        assert_int_equal(e->replicas[0].sm.state, REPLICA_RUNNING);
    }
    /* Nobody else holds any: it does not fit, and that is its own. */
    play_about(&p, SCHED_DONE, &e->replicas[1]);
    play_failed(&p, &e->replicas[0], ERR_MEMORY, 0);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_FAILED);
    play_end(&p);
}

static void fail_again(struct play *p, struct ensemble *e, int64_t step)
{
    play_failed(p, &e->replicas[0], ERR_NONFINITE, step);
    while (e->replicas[0].sm.state == REPLICA_QUEUED) {
        p->now = sched_wake(&p->s, p->now);
        play_feed(p, (struct sched_event){.kind = SCHED_TICK});
    }
}

static void what_would_recur_is_tried_with_other_noise(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 3);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    fail_again(&p, e, 15);
    assert_int_equal(e->sets[0].salt, 0);
    fail_again(&p, e, 16); /* elsewhere: not the same failure */
    assert_int_equal(e->sets[0].salt, 0);
    fail_again(&p, e, 16);
    assert_int_equal(e->sets[0].salt, 1);
    /* Getting beyond it forgives: the retries are there again. */
    assert_int_equal(e->sets[0].failures, 3);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    assert_int_equal(e->sets[0].failures, 3);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    assert_int_equal(e->sets[0].failures, 0);
    for (int i = 0; i < 4; i++)
        fail_again(&p, e, 25);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_FAILED);
    play_end(&p);
}

static void a_stuck_replica_is_blamed_alone(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_begin(&p, 1);
    p.s.stall_ms = SCHED_STALL_MS;
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    for (p.now = 0; p.now < SCHED_STALL_MS - 1000; p.now += 10000)
        for (int i = 1; i < 3; i++) {
            struct sched_event ev = {
                .kind = SCHED_PROGRESS, .worker = 0, .replica = e->replicas[i].number, .step = e->replicas[i].step + 1};
            play_feed(&p, ev);
            ev = (struct sched_event){.kind = SCHED_PROGRESS, .replica = e->replicas[0].number}; /* talks, but stays */
            play_feed(&p, ev);
            assert_int_equal(play_count(&p, DECIDE_KILL), 0);
        }
    assert_int_equal(sched_wake(&p.s, p.now), SCHED_STALL_MS);
    p.now = SCHED_STALL_MS;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_KILL), 1);
    assert_non_null(strstr(p.d.item[0].text, "window 0 has made no step for 600 s"));
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_KILL), 0);
    play_down(&p, 0, "killed: stuck");
    assert_int_equal(e->sets[0].crashes, 1);
    assert_int_equal(e->sets[1].crashes + e->sets[2].crashes, 0);
    assert_int_equal(p.s.workers[0].health.strikes, 0); /* others went on there: the device is well */
    play_end(&p);
}

/* ---- devices ---- */

static void a_sick_device_is_put_aside_and_probed(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 12, 0);
    struct sched_worker *sick = NULL;
    play_begin(&p, 2);
    play_up(&p, 0, 2, "m");
    play_up(&p, 1, 2, "m");
    play_add(&p, e);
    sick = &p.s.workers[1];
    for (int i = 0; i < HEALTH_STRIKES; i++) {
        assert_false(health_is_sick(&sick->health));
        assert_int_equal(sick->nsets, 2);
        play_down(&p, 1, "signal 11");
        assert_int_equal(play_count(&p, DECIDE_NOTE), i == HEALTH_STRIKES - 1);
        play_up(&p, 1, 2, "m");
        play_about(&p, SCHED_SEGMENT, &p.s.workers[0].sets[0]->replicas[0]);
    }
    assert_true(health_is_sick(&sick->health));
    assert_int_equal(sick->nsets, 0);
    assert_int_equal(p.s.workers[0].nsets, 2); /* the healthy one works */
    assert_int_equal(ensemble_count(e, REPLICA_FAILED), 0);
    /* Tried again after a pause, with one set; the pause doubles. */
    int64_t pause = sched_wake(&p.s, p.now) - p.now;
    p.now += pause;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(sick->nsets, 1);
    play_down(&p, 1, "signal 11");
    play_up(&p, 1, 2, "m");
    assert_int_equal(sched_wake(&p.s, p.now) - p.now, 2 * pause);
    p.now += 2 * pause;
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    play_about(&p, SCHED_SEGMENT, &sick->sets[0]->replicas[0]);
    assert_false(health_is_sick(&sick->health));
    assert_null(sick->health.trouble);
    assert_int_equal(sick->nsets, 2);
    assert_int_equal(ensemble_count(e, REPLICA_FAILED), 0);
    play_end(&p);
}

static void a_move_to_another_model_is_told(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "H100");
    play_add(&p, e);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 0);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    play_down(&p, 0, "x");
    play_up(&p, 0, 1, "H200");
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    play_end(&p);
}

/* A device that never came up is not waited for for ever. */
static void a_lost_device_is_given_up(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 2);
    ensemble_string(&e->sets[0].model, "H100");
    play_up(&p, 0, 1, "H200");
    play_add(&p, e);
    assert_int_equal(e->nrunning, 0); /* the other one may be of its model */
    for (int i = 0; i < HEALTH_MISSES; i++)
        play_down(&p, 1, "exited with status 1");
    assert_int_equal(e->nrunning, 1);
    assert_string_equal(p.s.workers[1].health.trouble, "exited with status 1");
    play_up(&p, 1, 1, "H100");
    assert_null(p.s.workers[1].health.trouble);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_machine_lacks_is_waited_for),
        cmocka_unit_test(a_full_disk_costs_nothing),
        cmocka_unit_test(memory_that_others_hold_costs_nothing),
        cmocka_unit_test(what_would_recur_is_tried_with_other_noise),
        cmocka_unit_test(a_stuck_replica_is_blamed_alone),
        cmocka_unit_test(a_sick_device_is_put_aside_and_probed),
        cmocka_unit_test(a_move_to_another_model_is_told),
        cmocka_unit_test(a_lost_device_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
