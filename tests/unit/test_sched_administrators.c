/* SPDX-License-Identifier: Apache-2.0
 *
 * What administrators do to others' ensembles and to devices.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

#define SLICE SCHED_SLICE_MS

/* What runs on a drained device stops and goes on elsewhere; nothing starts there until it is in use again. */
static void a_drained_device_is_empty(void **state)
{
    struct play p;
    play_begin(&p, 2);
    struct ensemble *e = play_add_endless(&p, 1, 6);
    play_up(&p, 0, 4, "m");
    play_up(&p, 1, 4, "m");
    assert_int_equal(p.s.workers[0].nrunning + p.s.workers[1].nrunning, 6);
    const int there = p.s.workers[1].nrunning;
    play_drain(&p, 1);
    assert_int_equal(play_count(&p, DECIDE_STOP), there);
    assert_int_equal(play_count(&p, DECIDE_NOTE), there);
    play_until(&p, 3 * SLICE, 1);
    assert_int_equal(p.s.workers[1].nrunning, 0);
    assert_int_equal(p.s.workers[0].nrunning, 4);
    assert_int_equal(e->nrunning, 4);
    play_undrain(&p, 1);
    assert_int_equal(e->nrunning, 6);
    play_end(&p);
}

/* A set whose model of device is drained goes on on another one. */
static void another_model_serves_where_its_own_is_drained(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 2, "m");
    struct ensemble *e = play_add_endless(&p, 1, 2);
    assert_int_equal(p.s.workers[0].nrunning, 2);
    play_up(&p, 1, 2, "n");
    play_drain(&p, 0);
    play_until(&p, SLICE, 1);
    assert_int_equal(p.s.workers[1].nrunning, 2);
    assert_string_equal(e->sets[0].model, "n");
    play_end(&p);
}

/* Where all are drained what waits says so; so it does when the service starts again. */
static void what_waits_says_who_drained(void **state)
{
    struct play p;
    struct sched_wait wait;
    play_begin(&p, 1);
    play_drain(&p, 0);
    struct ensemble *e = play_add_endless(&p, 1, 2);
    play_explain(&p, &e->replicas[0], &wait);
    assert_int_equal(wait.kind, WAIT_DEVICE); /* its worker is not there yet */
    play_up(&p, 0, 1, "m");
    assert_int_equal(e->nrunning, 0);
    play_explain(&p, &e->replicas[0], &wait);
    assert_int_equal(wait.kind, WAIT_DRAIN);
    assert_int_equal(wait.expected, -1);
    assert_string_equal(wait.drained->health.drained.by, "ann");
    assert_string_equal(wait.drained->health.drained.reason, "the fan");
    assert_true(sched_wake(&p.s, p.now) == INT64_MAX);
    play_undrain(&p, 0);
    assert_int_equal(e->nrunning, 1);
    play_explain(&p, &e->replicas[1], &wait);
    assert_null(wait.drained);
    play_end(&p);
}

/* One that was put aside after crashes is tried again at once, and all of it is in use. */
static void undraining_lifts_a_quarantine(void **state)
{
    struct play p;
    struct sched_wait wait;
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    for (int i = 0; i < HEALTH_STRIKES; i++)
        health_strike(&p.s.workers[0].health, p.now, "signal 11");
    struct ensemble *e = play_add_endless(&p, 1, 2);
    play_explain(&p, &e->replicas[0], &wait);
    assert_int_equal(wait.kind, WAIT_SICK);
    play_undrain(&p, 0);
    assert_int_equal(e->nrunning, 2);
    assert_null(p.s.workers[0].health.trouble);
    play_end(&p);
}

/* Its reason says who paused it, through all that its owner may still do, until it goes on. */
static void a_pause_of_an_administrator_stays(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct ensemble *e = play_add_endless(&p, 1, 2);
    play_up(&p, 0, 2, "m");
    struct sched_event pause = {.kind = SCHED_PAUSE, .ensemble = e};
    play_feed(&p, pause);
    assert_null(e->paused_by);
    pause.by = "ann";
    play_feed(&p, pause); /* the owner has it paused already */
    assert_string_equal(e->paused_by, "ann");
    assert_string_equal(e->reason, "paused by the administrator ann");
    assert_int_equal(play_count(&p, DECIDE_REASON), 1);
    pause.by = NULL;
    play_feed(&p, pause);
    assert_int_equal(p.d.n, 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_string_equal(e->reason, "paused by the administrator ann");
    play_until(&p, 1000, 1);
    play_wish(&p, SCHED_CANCEL, e);
    assert_string_equal(e->paused_by, "ann"); /* a retry is for administrators, too */
    assert_null(e->reason);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    assert_null(e->paused_by);
    pause.by = "bob";
    play_feed(&p, pause);
    assert_string_equal(e->paused_by, "bob");
    play_wish(&p, SCHED_RESUME, e);
    assert_null(e->paused_by);
    assert_null(e->reason);
    play_end(&p);
}

static int checkpoint(struct play *p, const struct sched_set *set)
{
    return play_about(p, SCHED_SEGMENT, &set->replicas[0]);
}

/* It has the slots of another user, one after the other at their next checkpoints, and keeps them to its end; its owner
 * may have no more than one replica running otherwise. */
static void what_is_urgent_goes_before_all_users(void **state)
{
    struct play p;
    struct sched_wait wait, after;
    play_begin(&p, 1);
    struct sched_event one = {.kind = SCHED_USER, .uid = 2, .weight = 1, .most = 1};
    play_feed(&p, one);
    play_up(&p, 0, 4, "m");
    struct ensemble *others = play_add_endless(&p, 1, 8), *own = play_add_endless(&p, 2, 2),
                    *e = play_add_endless(&p, 2, 3);
    play_until(&p, 2 * SLICE, 1);
    assert_int_equal(own->nrunning + e->nrunning, 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_PRIORITY, .ensemble = e, .priority = PRIORITY_URGENT});
    play_explain(&p, &e->replicas[2], &wait);
    assert_int_not_equal(wait.kind, WAIT_LIMIT);
    assert_in_range(wait.place, 1, 3);
    play_explain(&p, &others->replicas[7], &after);
    assert_in_range(after.place, wait.place + 1, 100);
    for (int i = 0; i < 8 && e->nrunning < 3; i++) {
        struct sched_set *set = p.s.workers[0].sets[0];
        for (int k = 1; k < p.s.workers[0].nsets && set->ensemble == e; k++)
            set = p.s.workers[0].sets[k];
        checkpoint(&p, set);
        assert_int_equal(play_count(&p, DECIDE_STOP), 1);
        play_until(&p, p.now + 1, 1);
    }
    assert_int_equal(e->nrunning, 3);
    for (int i = 0; i < p.s.workers[0].nsets; i++) {
        const struct sched_set *set = p.s.workers[0].sets[i];
        checkpoint(&p, set);
        assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    }
    play_until(&p, p.now + 20 * SLICE, 1);
    assert_int_equal(e->nrunning, 3);
    play_add_endless(&p, 3, 1); /* who comes new has the slot that is left, not one of these */
    play_until(&p, p.now + SLICE, 1);
    assert_int_equal(e->nrunning, 3);
    play_feed(&p, (struct sched_event){.kind = SCHED_PRIORITY, .ensemble = e, .priority = 0});
    play_until(&p, p.now + 6 * SLICE, 1);
    assert_in_range(e->nrunning, 0, 1);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drained_device_is_empty),
        cmocka_unit_test(another_model_serves_where_its_own_is_drained),
        cmocka_unit_test(what_waits_says_who_drained),
        cmocka_unit_test(undraining_lifts_a_quarantine),
        cmocka_unit_test(a_pause_of_an_administrator_stays),
        cmocka_unit_test(what_is_urgent_goes_before_all_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
