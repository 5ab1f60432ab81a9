/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner with several devices that have no descriptor, as GPUs have none: what happens on one of them is heard
 * while another has nothing to tell, and one that is lost ends the turn.
 */
#undef NDEBUG
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/worker/threads/runner.h"
#include "engine/base/clock.h"

enum { DEVICES = 3, LOOKS = 4 };

struct blind_dev {
    struct dev base;
    int polled, longest; /* times, and ms that a poll was to last */
    int reached;         /* polls from now until its word is reached */
    bool fails;
};

static struct blind_dev devices[DEVICES];

/* A poll sleeps as long as it may while its word is not reached. */
static int blind_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct blind_dev *d = (struct blind_dev *)dev;
    d->polled++;
    d->reached--;
    d->longest = timeout_ms > d->longest ? timeout_ms : d->longest;
    if (d->fails)
        return err_set(e, ERR_DEVICE, "poll");
    if (d->reached > 0)
        nanosleep(&(struct timespec){.tv_nsec = timeout_ms * 1000000L}, NULL);
    return 0;
}

static int no_descriptor(struct dev *dev)
{
    return -1;
}

static const struct dev_ops blind_ops = {.poll = blind_poll, .poll_fd = no_descriptor};

static struct runner runner_of(int n)
{
    struct runner r = {0};
    for (int i = 0; i < n; i++) {
        devices[i] = (struct blind_dev){.base = {.ops = &blind_ops}, .reached = INT32_MAX};
        r.dev[i] = &devices[i].base;
    }
    return r;
}

static bool ready(const void *dev)
{
    return ((const struct blind_dev *)dev)->reached <= 0;
}

static void CO_FN wait_for_each(void *dev)
{
    struct blind_dev *d = dev;
    for (int i = 0; i < 10; i++) {
        d->reached = LOOKS;
        while (!ready(d))
            co_pause();
    }
}

static void ended(void *dev)
{
}

static void add(struct runner *r, int i)
{
    struct err e = {0};
    assert_int_equal(runner_add(r, wait_for_each, ready, ended, &devices[i], &e), 0);
}

/* Whichever of them has work, none is waited for alone, and the others are looked at as often. */
static void each_is_heard(void **state)
{
    for (int of = 0; of < DEVICES; of++) {
        struct runner r = runner_of(DEVICES);
        struct err e = {0};
        add(&r, of);
        while (r.count)
            assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), 0);
        for (int i = 0; i < DEVICES; i++) {
            assert_int_equal(devices[i].longest, 0);
            assert_in_range(devices[i].polled, 10 * (LOOKS - 1), 10 * (LOOKS + 1) + 2);
        }
    }
}

/* The only one may sleep, since nobody else has anything to tell. */
static void one_waits(void **state)
{
    struct runner r = runner_of(1);
    struct err e = {0};
    add(&r, 0);
    while (r.count)
        assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), 0);
    assert_true(devices[0].longest > 0);
}

/* Looks at devices that have nothing to tell end soon: messages of shoald are to be read. */
static void a_turn_ends(void **state)
{
    struct runner r = runner_of(2);
    struct err e = {0};
    add(&r, 0);
    assert_int_equal(runner_turn(&r, NULL, 0, 0, &e), 0); /* it begins */
    devices[0].reached = INT32_MAX;
    const double begun = clock_now();
    assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), 0);
    assert_true(clock_now() - begun < 1);
    devices[0].reached = 0;
    while (r.count)
        assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), 0);
}

static void CO_FN lose(void *dev)
{
    err_set(&((struct blind_dev *)dev)->base.lost, ERR_DEVICE, "the last one is gone");
}

static void one_is_lost(void **state)
{
    struct runner r = runner_of(DEVICES);
    struct err e = {0};
    assert_int_equal(runner_add(&r, lose, ready, ended, &devices[DEVICES - 1], &e), 0);
    assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), -ERR_DEVICE);
    assert_string_equal(e.msg, "the last one is gone");
}

static void a_poll_fails(void **state)
{
    struct runner r = runner_of(DEVICES);
    struct err e = {0};
    add(&r, 0);
    assert_int_equal(runner_turn(&r, NULL, 0, 0, &e), 0); /* it begins */
    devices[1].fails = true;
    assert_int_equal(runner_turn(&r, NULL, 0, -1, &e), -ERR_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_heard), cmocka_unit_test(one_waits),    cmocka_unit_test(a_turn_ends),
        cmocka_unit_test(one_is_lost),   cmocka_unit_test(a_poll_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
