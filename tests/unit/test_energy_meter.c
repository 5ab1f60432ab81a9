/* SPDX-License-Identifier: Apache-2.0
 *
 * Energy of a device is shared by those who ran there, as their device time; nothing is shared twice.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "daemon/schedule/energy/meter.h"
#include "tests/lib/sched_play.h"

static struct ensemble a, b;

static void assert_near(double x, double expected)
{
    if (!(fabs(x - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.12g, expected %.12g", x, expected);
}

static void assert_taken(struct energy_meter *m, const struct ensemble *e, double joules)
{
    assert_near(energy_take(m, e), joules);
    assert_true(energy_take(m, e) == 0);
}

static void it_goes_as_device_time(void **state)
{
    struct energy_meter m = {0};
    energy_read(&m, 1000, 50000);
    energy_claim(&m, &a, 200);
    energy_claim(&m, &b, 200);
    energy_claim(&m, &a, 400);
    energy_read(&m, 2000, 60000); /* 10 J, of which nobody ran for 200 of 1000 ms */
    assert_near(m.joules, 10);
    assert_near(m.idle, 2);
    energy_claim(&m, &b, 1000);
    energy_read(&m, 3000, 61000);
    assert_taken(&m, &a, 6);
    assert_taken(&m, &b, 3);
    assert_null(energy_next(&m));
    energy_close(&m);
}

static void what_is_not_known_is_nobodys(void **state)
{
    struct energy_meter m = {0};
    energy_claim(&m, &a, 100); /* before the first reading */
    energy_read(&m, 1000, 50000);
    energy_claim(&m, &a, 100);
    energy_read(&m, 2000, 40000); /* back */
    energy_claim(&m, &a, 100);
    energy_read(&m, 3000, 0); /* not told */
    energy_claim(&m, &a, 100);
    energy_read(&m, 4000, 90000);
    assert_null(energy_next(&m));
    assert_true(m.joules == 0 && m.idle == 0 && m.n == 0);
    energy_claim(&m, &a, 1000);
    energy_read(&m, 5000, 91000);
    assert_taken(&m, &a, 1);
    energy_close(&m);
}

/* Two readings of one time: what came between is shared with the next. */
static void no_time_has_no_energy(void **state)
{
    struct energy_meter m = {0};
    energy_read(&m, 1000, 50000);
    energy_claim(&m, &a, 0);
    energy_read(&m, 1000, 51000);
    assert_null(energy_next(&m));
    energy_claim(&m, &a, 500);
    energy_read(&m, 2000, 52000);
    assert_taken(&m, &a, 1);
    assert_near(m.idle, 1);
    energy_close(&m);
}

static void who_is_gone_has_none(void **state)
{
    struct energy_meter m = {0};
    energy_read(&m, 1000, 50000);
    energy_claim(&m, &a, 500);
    energy_claim(&m, &b, 500);
    energy_read(&m, 2000, 52000);
    energy_claim(&m, &a, 500);
    energy_forget(&m, &a);
    energy_read(&m, 3000, 54000);
    assert_ptr_equal(energy_next(&m), &b);
    assert_taken(&m, &a, 0);
    assert_taken(&m, &b, 1);
    energy_close(&m);
}

/* ---- in the scheduler ---- */

static void counter_is(struct play *p, int64_t at, int64_t millijoules)
{
    p->now = at;
    assert_int_equal(play_feed(p, (struct sched_event){.kind = SCHED_SLOTS, .slots = 4, .millijoules = millijoules}),
                     0);
}

/* Three replicas of one user and one of another; one set leaves in the middle of a stretch, and all of them by a crash.
 */
static void sets_have_it_wherever_they_are(void **state)
{
    struct play p;
    play_begin(&p, 1);
    play_up(&p, 0, 4, "m");
    struct ensemble *three = play_ensemble(1, 3, 3), *one = play_ensemble(2, 1, 3);
    play_add(&p, three);
    play_add(&p, one);
    struct energy_meter *m = &p.s.workers[0].energy;
    assert_int_equal(p.s.workers[0].nrunning, 4);
    counter_is(&p, 1000, 100000);
    counter_is(&p, 2000, 104000);
    assert_taken(m, three, 3);
    assert_taken(m, one, 1);
    play_wish(&p, SCHED_PAUSE, one);
    p.now = 2500;
    assert_int_equal(play_about(&p, SCHED_STOPPED, &one->replicas[0]), 0);
    counter_is(&p, 3000, 112000); /* 8 J: 3/8 + 1/2 of the time, and 1/8 */
    assert_taken(m, three, 7);
    assert_taken(m, one, 1);
    p.now = 3500;
    play_down(&p, 0, "signal 9");
    p.now = 5000; /* the device ran for a quarter of the stretch */
    assert_int_equal(
        play_feed(&p,
                  (struct sched_event){
                      .kind = SCHED_WORKER_UP, .slots = 4, .device = "cpu", .model = "m", .millijoules = 114000}),
        0);
    assert_taken(m, three, 0.5);
    assert_near(m->idle, 1.5);
    assert_near(m->joules, 14);
    play_end(&p);
}

static void a_removed_ensemble_is_forgotten(void **state)
{
    struct play p;
    play_begin(&p, 1);
    play_up(&p, 0, 4, "m");
    struct ensemble *e = play_ensemble(1, 1, 3);
    play_add(&p, e);
    counter_is(&p, 1000, 100000);
    p.now = 1500;
    play_wish(&p, SCHED_CANCEL, e);
    assert_int_equal(play_about(&p, SCHED_STOPPED, &e->replicas[0]), 0);
    assert_int_equal(sched_remove(&p.s, e, &p.err), 0);
    ensemble_free(e);
    counter_is(&p, 2000, 101000);
    assert_null(energy_next(&p.s.workers[0].energy));
    assert_near(p.s.workers[0].energy.idle, 1);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_as_device_time),         cmocka_unit_test(what_is_not_known_is_nobodys),
        cmocka_unit_test(no_time_has_no_energy),          cmocka_unit_test(who_is_gone_has_none),
        cmocka_unit_test(sets_have_it_wherever_they_are), cmocka_unit_test(a_removed_ensemble_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
