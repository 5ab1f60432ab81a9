/* SPDX-License-Identifier: Apache-2.0
 *
 * The health of a device: every move of its two tables by the event that causes it, and events that come when they
 * cannot.
 */
#undef NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those above */
#include <cmocka.h>

#include "daemon/schedule/health/device_health.h"
#include "tests/lib/moves.h"

static void assert_is(const struct device_health *h, const char *life, const char *trust)
{
    assert_string_equal(sm_name(&h->life), life);
    assert_string_equal(sm_name(&h->trust), trust);
}

static void a_worker_comes_and_goes(void **state)
{
    struct device_health h;
    device_health_init(&h);
    assert_is(&h, "new", "well");
    assert_true(health_may_say_hello(&h) && health_counts(&h));
    assert_false(health_is_up(&h));
    health_ended(&h, false, "no such device");
    assert_is(&h, "new", "well");
    assert_string_equal(h.trouble, "no such device");
    health_hello(&h);
    assert_is(&h, "up", "well");
    assert_null(h.trouble);
    assert_true(health_is_up(&h));
    assert_false(health_may_say_hello(&h));
    health_ended(&h, false, "signal 11"); /* blaming is not its matter */
    assert_is(&h, "down", "well");
    assert_null(h.trouble);
    health_hello(&h);
    health_ending(&h);
    assert_is(&h, "ending", "well");
    assert_true(health_is_up(&h));
    assert_false(health_may_say_hello(&h));
    health_ended(&h, false, "killed");
    assert_is(&h, "down", "well");
    device_health_close(&h);
}

static void one_that_says_no_hello_is_lost(void **state)
{
    for (int was_up = 0; was_up < 2; was_up++) {
        struct device_health h;
        device_health_init(&h);
        if (was_up) {
            health_hello(&h);
            health_ended(&h, true, NULL);
        }
        for (int i = 0; i < HEALTH_MISSES; i++) {
            assert_true(health_counts(&h));
            assert_string_equal(sm_name(&h.life), was_up ? "down" : "new");
            health_ended(&h, false, "exited with status 1");
        }
        assert_is(&h, "lost", "well");
        assert_false(health_counts(&h));
        health_ended(&h, true, NULL);
        assert_is(&h, "lost", "well");
        assert_string_equal(h.trouble, "exited with status 1");
        health_hello(&h);
        assert_is(&h, "up", "well");
        assert_int_equal(h.misses, 0);
        device_health_close(&h);
    }
}

static void make_sick(struct device_health *h)
{
    device_health_init(h);
    health_hello(h);
    for (int i = 0; i < HEALTH_STRIKES; i++) {
        assert_false(health_is_sick(h));
        assert_int_equal(health_strike(h, 1000, "signal 11"), i == HEALTH_STRIKES - 1);
    }
    assert_is(h, "up", "sick");
}

static void crashes_put_it_aside(void **state)
{
    struct device_health h;
    make_sick(&h);
    assert_true(health_is_sick(&h));
    int64_t pause = health_pause(&h);
    assert_int_equal(h.probe_at, 1000 + pause);
    health_set_starts(&h);
    assert_is(&h, "up", "probed");
    assert_true(health_is_sick(&h));
    assert_false(health_strike(&h, 2000, NULL)); /* it was sick already */
    assert_is(&h, "up", "sick");
    assert_int_equal(h.probe_at, 2000 + 2 * pause);
    assert_string_equal(h.trouble, "no reason given");
    health_strike(&h, 3000, "signal 6"); /* of what ran there before it was put aside */
    assert_is(&h, "up", "sick");
    assert_int_equal(health_pause(&h), 4 * pause);
    health_set_left(&h);
    assert_is(&h, "up", "sick");
    health_set_starts(&h);
    health_set_left(&h); /* nothing is known from that */
    assert_is(&h, "up", "sick");
    health_ended(&h, true, NULL);
    health_hello(&h);
    assert_string_equal(h.trouble, "signal 6");
    health_set_starts(&h);
    health_checkpoint(&h);
    assert_is(&h, "up", "well");
    assert_null(h.trouble);
    assert_int_equal(health_pause(&h), pause);
    device_health_close(&h);
}

static void a_checkpoint_makes_it_well(void **state)
{
    struct device_health h;
    make_sick(&h);
    health_checkpoint(&h); /* of what ran there before it was put aside */
    assert_is(&h, "up", "well");
    health_checkpoint(&h);
    health_set_starts(&h);
    health_set_left(&h);
    assert_is(&h, "up", "well");
    health_strike(&h, 0, "signal 11");
    assert_is(&h, "up", "struck");
    health_set_starts(&h);
    assert_is(&h, "up", "struck");
    health_checkpoint(&h);
    assert_is(&h, "up", "well");
    health_strike(&h, 0, "signal 11");
    health_strike(&h, 0, "signal 11");
    assert_is(&h, "up", "struck");
    device_health_close(&h);
}

static void hello_again(void *h)
{
    health_hello(h);
}

static void kill_it(void *h)
{
    health_ending(h);
}

static void trust_again(void *h)
{
    sm_move(&((struct device_health *)h)->trust, TRUST_WELL);
}

static void events_that_cannot_come(void **state)
{
    struct device_health h;
    assert_table(&device_life_states,
                 "new>new new>up new>lost up>ending up>down ending>down down>up down>down down>lost lost>up lost>lost");
    assert_table(&device_trust_states,
                 "well>struck struck>well struck>struck struck>sick sick>well sick>sick sick>probed "
                 "probed>well probed>sick");
    device_health_init(&h);
    assert_child(kill_it, &h, SIGABRT, "new -> ending (0 -> 2): not an allowed move");
    health_hello(&h);
    assert_child(hello_again, &h, SIGABRT, "up -> up (1 -> 1): not an allowed move");
    health_ending(&h);
    assert_child(kill_it, &h, SIGABRT, "ending -> ending (2 -> 2): not an allowed move");
    health_ended(&h, true, NULL);
    assert_child(kill_it, &h, SIGABRT, "down -> ending (3 -> 2): not an allowed move");
    health_strike(&h, 0, "signal 11");
    assert_child(trust_again, &h, SIGABRT, "struck -> well (1 -> 0): the invariant of the new state does not hold");
    assert_false(sm_may(&h.trust, TRUST_PROBED));
    device_health_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_comes_and_goes), cmocka_unit_test(one_that_says_no_hello_is_lost),
        cmocka_unit_test(crashes_put_it_aside),    cmocka_unit_test(a_checkpoint_makes_it_well),
        cmocka_unit_test(events_that_cannot_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
