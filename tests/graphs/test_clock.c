/* SPDX-License-Identifier: Apache-2.0
 *
 * A device with a clock: run() waits, says what each launch took, and computes what it computes without.
 */
#include "tests/graphs/graph_tests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

enum { N = 4096, LINKS = 6, STEPS = 5 };

struct told {
    struct dev_clock clock;
    struct toy *toy;
    const struct tape *tape;
    uint32_t calls;
    double seconds; /* of all launches */
};

static void ran(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times)
{
    struct told *told = (struct told *)clock;
    assert_ptr_equal(d, test_dev);
    assert_ptr_equal(t, told->tape);
    told->calls++;
    assert_int_equal(toy_ticket(told->toy), told->calls); /* the tape has ended */
    for (uint32_t i = 0; i < t->count; i++) {
        assert_true(times[i].seconds >= 0 && times[i].part > 0 && times[i].part <= 1);
        told->seconds += times[i].seconds;
    }
}

static void test_clock(void **state)
{
    struct toy t;
    struct tape tape = {0};
    void *want = expected_state(N, LINKS, STEPS + 1);
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    void *got = xcalloc(toy_state_size(&t), 1);
    struct told told = {.clock.ran = ran, .toy = &t, .tape = &tape};
    toy_emit(&t, &tape);
    test_dev->clock = &told.clock;
    const double begun = dev_now();
    for (int i = 0; i < STEPS; i++)
        ok(test_dev->ops->run(test_dev, t.lane, &tape, &oops));
    const double passed = 1e-6 * (dev_now() - begun);
    test_dev->clock = NULL;
    ok(test_dev->ops->run(test_dev, t.lane, &tape, &oops)); /* nobody hears of this one */
    ok(toy_state(&t, got, &oops));
    assert_memory_equal(got, want, toy_state_size(&t));
    assert_int_equal(told.calls, STEPS);
    assert_true(told.seconds > 0 && told.seconds < passed);
    tape_free(&tape);
    free(got);
    free(want);
    toy_close(&t);
}

static void test_label(void **state)
{
    struct tape a = {.work = 3, .pieces = 7}, b = {0};
    tape_copy(&b, &a);
    tape_clear(&b);
    assert_int_equal(b.work, 3);
    assert_int_equal(b.pieces, 7);
    tape_free(&b);
}

int run_clock_tests(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_clock), cmocka_unit_test(test_label)};
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
