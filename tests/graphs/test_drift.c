/* SPDX-License-Identifier: Apache-2.0
 *
 * Every way a step can drift inside an epoch is caught at the next check, named, and stays fatal.
 */
#include "tests/graphs/graph_tests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/dev_fault.h"

enum { N = 1000, LINKS = 3 };

/* A live recorder whose next submit plants `plant` and checks first. *e says what the check said. */
static void plant(enum toy_plant what, struct err *e)
{
    struct toy t;
    struct recorder *r;
    struct err again = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 10);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 12, &oops)); /* 2 eager, 10 replayed: the next step is checked */
    t.plant = what;
    assert_int_equal(recorder_submit(r, 5, e), -ERR_DRIFT);
    t.plant = PLANT_NONE; /* it does not recover */
    recorder_epoch(r);
    assert_int_equal(recorder_submit(r, 5, &again), -ERR_DRIFT);
    assert_string_equal(e->msg, again.msg);
    assert_int_equal(recorder_nodes(r), 0);
    recorder_free(r);
    ok(toy_wait(&t, 12, &oops));
    t.dev->ops->lane_free(t.dev, t.lane); /* nothing more was submitted */
    t.lane = NULL;
    assert_int_equal(toy_ticket(&t), 12);
    toy_close(&t);
}

static void test_scalar(void **state)
{
    struct err e = {0};
    plant(PLANT_SCALAR, &e);
    assert_string_equal(e.msg,
                        "recorder (check): launch 3 (axpy); a was 0.5 (0x3fe0000000000000), is 0.75 "
                        "(0x3fe8000000000000)");
}

static void test_float(void **state)
{
    struct err e = {0};
    plant(PLANT_FLOAT, &e);
    assert_string_equal(e.msg,
                        "recorder (check): launch 1 (chain); scale[1] was 3.8900001 (0x4078f5c3), is 3.5 "
                        "(0x40600000)");
}

static void test_pointer(void **state)
{
    struct toy t;
    struct err e = {0};
    char want[200];
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 10);
    struct recorder *r;
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 12, &oops));
    t.plant = PLANT_POINTER;
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    snprintf(want, sizeof want, "recorder (check): launch 3 (axpy); y was 0x%" PRIx64 ", is 0x%" PRIx64,
             (uint64_t)(uintptr_t)t.y, (uint64_t)(uintptr_t)t.x);
    assert_string_equal(e.msg, want);
    recorder_free(r);
    toy_close(&t);
}

static void test_grid(void **state)
{
    struct err e = {0};
    plant(PLANT_GRID, &e);
    assert_string_equal(e.msg, "recorder (check): launch 0 (chain); grid was 8x1x1, is 9x1x1; 3 more launches differ");
}

static void test_block(void **state)
{
    struct err e = {0};
    plant(PLANT_BLOCK, &e);
    assert_string_equal(e.msg,
                        "recorder (check): launch 0 (chain); block was 128x1x1, is 64x1x1; 3 more launches differ");
}

static void test_shared(void **state)
{
    struct err e = {0};
    plant(PLANT_SHARED, &e);
    assert_string_equal(e.msg, "recorder (check): launch 1 (chain); shared bytes was 0, is 1024");
}

static void test_added(void **state)
{
    struct err e = {0};
    plant(PLANT_ADDED, &e);
    assert_string_equal(e.msg, "recorder (check): launch 4 (axpy) was added: 6 launches were, 7 are");
}

static void test_removed(void **state)
{
    struct err e = {0};
    plant(PLANT_REMOVED, &e);
    assert_string_equal(e.msg, "recorder (check): launch 1 (chain) was removed: 6 launches were, 5 are");
}

static void test_kernel(void **state)
{
    struct err e = {0};
    plant(PLANT_KERNEL, &e);
    assert_string_equal(e.msg, "recorder (check): launch 1 (chain); kernel was chain, is fill");
}

/* Of one family: kernels whose arguments are those of the one that was. */
static void test_variant(void **state)
{
    struct err e = {0};
    plant(PLANT_VARIANT, &e);
    assert_string_equal(e.msg, "recorder (check): launch 3 (axpy); kernel was axpy, is axpy_less");
}

static void test_outside(void **state)
{
    struct err e = {0};
    plant(PLANT_OUTSIDE, &e);
    assert_says(&e, ERR_DRIFT, "recorder (check): launch 3 (axpy): y is 0x");
    assert_says(&e, ERR_DRIFT, "outside the memory of the replica");
}

/* Drift is caught while the recorder is still on its way to live, and before anything outside is launched. */
static void test_before_live(void **state)
{
    static const uint32_t steps_before[] = {0, 1, 2};
    static const char *const says[] = {"recorder (cold): launch 3 (axpy): y is 0x", "recorder (cold): launch 3 (axpy)",
                                       "recorder (warm): launch 3 (axpy)"};
    static const enum toy_plant plants[] = {PLANT_OUTSIDE, PLANT_SCALAR, PLANT_POINTER};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        struct toy t;
        struct recorder *r;
        struct err e = {0};
        ok(toy_open(&t, test_dev, N, LINKS, &oops));
        struct recorder_setup setup = toy_setup(&t, 0);
        ok(recorder_new(&r, &setup, &oops));
        ok(recorder_submit(r, steps_before[i], &oops));
        t.plant = plants[i];
        assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
        assert_says(&e, ERR_DRIFT, says[i]);
        ok(toy_wait(&t, steps_before[i], &oops));
        recorder_free(r);
        toy_close(&t);
    }
}

/* A byte that differs between tape and graph is caught when the graph is built: every byte of every argument. */
static void test_flipped_bytes(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct dev *d = dev_fault_new(test_dev);
    struct err e = {0};
    ok(toy_open(&t, d, N, LINKS, &oops));
    toy_emit(&t, &tape);
    for (uint32_t i = 0; i < tape.count; i++)
        for (uint32_t byte = 0; byte < tape.launches[i].args_size; byte++) {
            struct recorder_setup setup = toy_setup(&t, 0);
            struct recorder *r;
            char says[120];
            ok(recorder_new(&r, &setup, &oops));
            ok(recorder_submit(r, 2, &oops));
            dev_fault_flip(d, i, byte);
            assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
            snprintf(says, sizeof says,
                     "recorder (warm): the graph does not hold the tape (step 0 of 1): launch %u (%s); ", i,
                     toy_kernels.kernels[tape.launches[i].kernel].name);
            assert_says(&e, ERR_DRIFT, says);
            recorder_free(r);
        }
    tape_free(&tape);
    toy_close(&t);
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
}

int run_drift_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar),        cmocka_unit_test(test_float),   cmocka_unit_test(test_pointer),
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_block),   cmocka_unit_test(test_shared),
        cmocka_unit_test(test_added),         cmocka_unit_test(test_removed), cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_variant),       cmocka_unit_test(test_outside), cmocka_unit_test(test_before_live),
        cmocka_unit_test(test_flipped_bytes),
    };
    return cmocka_run_group_tests_name("drift", tests, NULL, NULL);
}
