/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole run with its k-th device call failing, for k = 0, 1, 2, ... until a run sees no fault: each failure is
 * reported as what it is, nothing leaks, and the run without a fault has the right bits.
 */
#include "tests/graphs/graph_tests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "tests/lib/dev_fault.h"

enum { N = 500, LINKS = 3, STEPS = 25, CHECK_EVERY = 6 };

static int run_all(struct toy *t, struct recorder *r, void *out, struct err *e)
{
    int rc = recorder_submit(r, STEPS - 8, e);
    if (rc)
        return rc;
    recorder_epoch(r); /* so that a graph is rebuilt, too */
    if ((rc = recorder_submit(r, 8, e)) || (rc = toy_wait(t, STEPS, e)))
        return rc;
    return toy_state(t, out, e);
}

static int whole_run(struct dev *d, void *out, struct err *e)
{
    struct toy t = {0};
    struct recorder *r = NULL;
    int rc = toy_open(&t, d, N, LINKS, e);
    t.repeat = 3;
    struct recorder_setup setup = toy_setup(&t, CHECK_EVERY);
    if (!rc)
        rc = recorder_new(&r, &setup, e);
    if (!rc)
        rc = run_all(&t, r, out, e);
    recorder_free(r);
    toy_close(&t);
    return rc;
}

/* Returns how many calls a run makes. */
static uint64_t fail_each_call(uint32_t delay)
{
    void *want = expected_state(N, LINKS, STEPS), *got = NULL;
    struct toy sizes = {.arena_bytes = 0};
    struct dev *d = dev_fault_new(test_dev);
    uint64_t k;
    ok(toy_open(&sizes, test_dev, N, LINKS, &oops));
    size_t bytes = toy_state_size(&sizes);
    toy_close(&sizes);
    got = xcalloc(bytes, 1);
    dev_fault_delay(d, delay);
    for (k = 0;; k++) {
        struct err e = {0};
        dev_fault_fail(d, k);
        int rc = whole_run(d, got, &e);
        assert_int_equal(dev_fault_alive(d), 0);
        if (!dev_fault_fired(d)) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_equal(rc, -ERR_DEVICE);
        assert_says(&e, ERR_DEVICE, "planted fault in ");
        assert_true(k < 1000);
    }
    assert_memory_equal(got, want, bytes);
    dev_close(d);
    free(want);
    free(got);
    return k;
}

static void test_each_call_fails(void **state)
{
    assert_true(fail_each_call(0) >= 20);
}

/* The same with work held back, so that calls fail while earlier work has not begun. */
static void test_each_call_fails_late_tickets(void **state)
{
    assert_true(fail_each_call(4) >= 20);
}

int run_fault_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_fails),
        cmocka_unit_test(test_each_call_fails_late_tickets),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
