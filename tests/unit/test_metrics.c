/* SPDX-License-Identifier: Apache-2.0
 *
 * How metrics are counted and written. tests/e2e/metrics.py has them of a service, and Prometheus' own checker.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/metrics/metrics.h"

static int setup(void **state)
{
    *state = metrics_new();
    return 0;
}

static int teardown(void **state)
{
    metrics_free(*state);
    return 0;
}

/* How often the report has the text. */
static int times(const struct metrics *m, enum metrics_form form, const char *text)
{
    struct buf out = {0};
    int n = 0;
    metrics_put(m, form, &out);
    for (const char *at = out.data; (at = strstr(at, text)); at++)
        n++;
    buf_free(&out);
    return n;
}

static void counters_grow_and_begin_at_zero(void **state)
{
    struct metrics *m = *state;
    assert_int_equal(times(m, METRICS_OPEN, "shoal_steps_total{"), 0);
    metrics_add(m, METRICS_STEPS, "cpu", 0);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_steps_total{device=\"cpu\"} 0\n"), 1);
    metrics_add(m, METRICS_STEPS, "cpu", 9007199254740.0);
    metrics_add(m, METRICS_STEPS, "cpu", 1);
    metrics_add(m, METRICS_STEPS, "cuda:0", 2);
    metrics_forget(m); /* gauges alone */
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_steps_total{device=\"cpu\"} 9007199254741\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_steps_total{device=\"cuda:0\"} 2\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\n# TYPE shoal_steps counter\n"), 1);
    assert_int_equal(times(m, METRICS_TEXT, "\n# TYPE shoal_steps_total counter\n"), 1);
}

static void gauges_are_set_and_forgotten(void **state)
{
    struct metrics *m = *state;
    const char *const labels[] = {"cuda:0", "a \"b\" \\ c\nd"}, *const device[] = {"cuda:0"};
    metrics_set(m, METRICS_DEVICE, labels, 1);
    metrics_set(m, METRICS_DEVICE_SLOTS, device, 3);
    metrics_set(m, METRICS_DEVICE_SLOTS, device, 2);
    metrics_set(m, METRICS_STATE_FREE, NULL, 1e12);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_device_slots{device=\"cuda:0\"} 2\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_state_free_bytes 1000000000000\n"), 1);
    assert_int_equal(
        times(m, METRICS_OPEN, "\nshoal_device_info{device=\"cuda:0\",model=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\n# TYPE shoal_device info\n"), 1);
    assert_int_equal(times(m, METRICS_TEXT, "\n# TYPE shoal_device_info gauge\n"), 1);
    metrics_forget(m);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_device_slots"), 0);
    assert_int_equal(times(m, METRICS_OPEN, "\n# TYPE shoal_device_slots gauge\n"), 1);
}

static void buckets_are_sums(void **state)
{
    struct metrics *m = *state;
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_count 0\n"), 1);
    metrics_observe(m, METRICS_WAITS, 0);
    metrics_observe(m, METRICS_WAITS, 1);
    metrics_observe(m, METRICS_WAITS, 1.5);
    metrics_observe(m, METRICS_WAITS, 1e9);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_bucket{le=\"1.0\"} 2\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_bucket{le=\"5.0\"} 3\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_bucket{le=\"172800.0\"} 3\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_bucket{le=\"+Inf\"} 4\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_sum 1000000002.5\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_wait_seconds_count 4\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\nshoal_commit_seconds_bucket{le=\"0.001\"} 0\n"), 1);
    assert_int_equal(times(m, METRICS_OPEN, "\n# EOF\n"), 1);
    assert_int_equal(times(m, METRICS_TEXT, "# EOF"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counters_grow_and_begin_at_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(gauges_are_set_and_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(buckets_are_sums, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
