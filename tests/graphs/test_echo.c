/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device ran, heard from the kernels themselves: an executable that is not what its graph shows is found out.
 */
#include "tests/graphs/graph_tests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "tests/lib/dev_fault.h"

enum { N = 1000, LINKS = 3, REPEAT = 4, AXPY = LINKS, SWAP = LINKS + 1 };

static void *args_of(struct tape *t, uint32_t launch)
{
    return t->args + t->launches[launch].args_offset;
}

/* One graph of REPEAT steps is replayed as `change` makes of it. *e: what the next submit says, if it says anything. */
static int run_changed(struct dev *inner, void (*change)(struct tape *t), struct err *e)
{
    struct dev *d = dev_fault_new(inner);
    struct toy t;
    struct recorder *r;
    ok(toy_open(&t, d, N, LINKS, &oops));
    t.fork = true;
    t.repeat = REPEAT;
    struct recorder_setup setup = toy_setup(&t, 0);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 2, &oops));
    dev_fault_behind(d, change);
    ok(recorder_submit(r, REPEAT, &oops));
    ok(toy_wait(&t, 2 + REPEAT, &oops));
    void *state = xcalloc(toy_state_size(&t), 1);
    ok(toy_state(&t, state, &oops)); /* the lane is idle now: the echo has been heard */
    free(state);
    assert_false(echo_idle(t.echo));
    int rc = recorder_submit(r, 1, e);
    assert_true(rc || echo_idle(t.echo) == false); /* the graph of one step was built and is heard in its turn */
    recorder_free(r);
    toy_close(&t);
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
    return rc;
}

static void assert_heard(void (*change)(struct tape *t), const char *says)
{
    struct err e = {0};
    assert_int_equal(run_changed(test_dev, change, &e), -ERR_DRIFT);
    assert_string_equal(e.msg, says);
}

#define RAN "recorder (live): what the device ran is not the tape: "

static void change_nothing(struct tape *t)
{
}

static void test_faithful(void **state)
{
    struct err e = {0};
    assert_int_equal(run_changed(test_dev, change_nothing, &e), 0);
}

static void change_argument(struct tape *t)
{
    struct args_axpy *a = args_of(t, AXPY);
    a->a = 0.75;
}

static void test_argument(void **state)
{
    assert_heard(change_argument, RAN
                 "step 0 of 4: launch 3 (axpy); a was 0.5 (0x3fe0000000000000), is 0.75 "
                 "(0x3fe8000000000000)");
}

static void change_grid(struct tape *t)
{
    t->launches[1].grid[0]++;
}

static void test_grid(void **state)
{
    assert_heard(change_grid, RAN "step 0 of 4: launch 1 (chain); grid was 8x1x1, is 9x1x1");
}

static void change_block(struct tape *t)
{
    t->launches[AXPY].block[0] /= 2;
}

static void test_block(void **state)
{
    assert_heard(change_block, RAN "step 0 of 4: launch 3 (axpy); block was 128x1x1, is 64x1x1");
}

static void change_cluster(struct tape *t)
{
    t->launches[SWAP].cluster[0] = 1;
}

static void test_cluster(void **state)
{
    if (!toy_clusters(test_dev))
        skip();
    assert_heard(change_cluster, RAN "step 0 of 4: launch 4 (swap); cluster was 2x1x1, is 1x1x1");
}

static void change_shared(struct tape *t)
{
    t->launches[0].shared_bytes = 2048;
}

static void test_shared(void **state)
{
    assert_heard(change_shared, RAN "step 0 of 4: launch 0 (chain); shared bytes was 0, is 2048");
}

/* fill has as many bytes of arguments as swap. */
static void change_kernel(struct tape *t)
{
    change_cluster(t);
    t->launches[SWAP].kernel = KERNEL_fill;
    t->launches[SWAP].flags = 0;
}

static void test_kernel(void **state)
{
    assert_heard(change_kernel, RAN "step 0 of 4: launch 4 (swap); kernel was swap, is fill");
}

/* Another of its family, with the very same arguments. */
static void change_variant(struct tape *t)
{
    t->launches[AXPY].kernel = KERNEL_axpy_less;
}

static void test_variant(void **state)
{
    assert_heard(change_variant, RAN "step 0 of 4: launch 3 (axpy); kernel was axpy, is axpy_less");
}

/* The first chain says that it is the second. */
static void change_number(struct tape *t)
{
    struct args_head *head = args_of(t, 0);
    head->launch = 1;
}

static void test_number(void **state)
{
    assert_heard(change_number, RAN "launch 1 (chain) ran more than 4 times");
}

static void change_unknown(struct tape *t)
{
    struct args_head *head = args_of(t, 0);
    head->launch = 77;
}

static void test_unknown(void **state)
{
    assert_heard(change_unknown, RAN "a kernel (chain) ran as launch 77, which the tape does not have");
}

static void change_silent(struct tape *t)
{
    struct args_head *head = args_of(t, AXPY);
    head->echo = NULL;
}

static void test_silent(void **state)
{
    assert_heard(change_silent, RAN "launch 3 (axpy) ran 0 times, not 4");
}

static void change_edge(struct tape *t)
{
    t->launches[AXPY].after = 0;
}

/* A missing edge shows when a launch begins before one that it should wait for: on a device that tries all orders. */
static void test_edge(void **state)
{
    struct dev *d;
    struct err e = {0};
    ok(dev_open(&d, "cpu:1:shuffle", toy_kernels, &oops));
    assert_int_equal(run_changed(d, change_edge, &e), -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, "recorder (live): what the device ran is not the tape: step ");
    assert_says(&e, ERR_DRIFT, "launch 3 (axpy); after was {2}, is {}");
    assert_int_equal(run_changed(d, change_nothing, &e), 0);
    dev_close(d);
}

/* Records beyond the room for them are not written, and nothing beyond the room is touched. */
static void test_full_ring(void **state)
{
    unsigned char records[256];
    struct echo_ring ring = {.on = 1, .capacity = 100, .records = records};
    struct args_advance args = {.head = {.echo = &ring}};
    struct launch l = {.kernel = KERNEL_advance, .kind = LAUNCH_KERNEL, .args_size = sizeof args};
    memset(records, 7, sizeof records);
    for (int i = 0; i < 3; i++)
        echo_note(&l, &args);
    assert_int_equal(ring.used, 3 * ECHO_RECORD_BYTES(sizeof args));
    assert_int_not_equal(records[0], 7);
    for (size_t i = ECHO_RECORD_BYTES(sizeof args); i < sizeof records; i++)
        assert_int_equal(records[i], 7);
    ring.on = 0;
    echo_note(&l, &args);
    assert_int_equal(ring.used, 3 * ECHO_RECORD_BYTES(sizeof args));
}

/* While the lane's echo is out for another recorder a graph that nobody has heard yet is not run. */
static void test_busy(void **state)
{
    struct dev *d = dev_fault_new(test_dev);
    struct toy t;
    struct recorder *r[2];
    struct err e = {0};
    const uint32_t steps = 4 + 2 * REPEAT;
    ok(toy_open(&t, d, N, LINKS, &oops));
    t.repeat = REPEAT;
    struct recorder_setup setup = toy_setup(&t, 0);
    for (int i = 0; i < 2; i++) {
        ok(recorder_new(&r[i], &setup, &oops));
        ok(recorder_submit(r[i], 2, &oops));
    }
    dev_fault_keep_marks(d, true);
    ok(recorder_submit(r[0], REPEAT, &oops));
    dev_fault_behind(d, change_argument);
    ok(recorder_submit(r[1], REPEAT, &oops));
    ok(toy_wait(&t, steps, &oops));
    unsigned char *expected = expected_state(N, LINKS, steps), *found = xcalloc(toy_state_size(&t), 1);
    ok(toy_state(&t, found, &oops));
    assert_memory_equal(found, expected, toy_state_size(&t));
    dev_fault_keep_marks(d, false);
    ok(recorder_submit(r[1], REPEAT, &oops)); /* heard now */
    ok(toy_state(&t, found, &oops));
    assert_int_equal(recorder_submit(r[1], 1, &e), -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, RAN);
    free(expected);
    free(found);
    recorder_free(r[0]);
    recorder_free(r[1]);
    toy_close(&t);
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
}

int run_echo_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faithful),  cmocka_unit_test(test_argument), cmocka_unit_test(test_grid),
        cmocka_unit_test(test_block),     cmocka_unit_test(test_cluster),  cmocka_unit_test(test_shared),
        cmocka_unit_test(test_kernel),    cmocka_unit_test(test_variant),  cmocka_unit_test(test_number),
        cmocka_unit_test(test_unknown),   cmocka_unit_test(test_silent),   cmocka_unit_test(test_edge),
        cmocka_unit_test(test_full_ring), cmocka_unit_test(test_busy),
    };
    return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
