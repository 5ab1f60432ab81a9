/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's way from cold to live, its checks and its epochs.
 */
#include "tests/graphs/graph_tests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "tests/lib/dev_fault.h"

enum { N = 1000, LINKS = 4 };

static void assert_state(struct toy *t, uint32_t steps)
{
    void *want = expected_state(t->n, t->links, steps), *got = xcalloc(toy_state_size(t), 1);
    ok(toy_wait(t, steps, &oops));
    ok(toy_state(t, got, &oops));
    assert_memory_equal(got, want, toy_state_size(t));
    free(want);
    free(got);
}

/* Emitted twice while cold and once to build; never to replay; once per check. */
static void test_cold_to_live(void **state)
{
    struct toy t;
    struct recorder *r;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 8);
    ok(recorder_new(&r, &setup, &oops));
    assert_int_equal(recorder_nodes(r), 0);
    ok(recorder_submit(r, 1, &oops));
    assert_int_equal(t.emitted, 1);
    ok(recorder_submit(r, 1, &oops));
    assert_int_equal(t.emitted, 2);
    assert_int_equal(recorder_nodes(r), 0);
    ok(recorder_submit(r, 1, &oops));
    assert_int_equal(t.emitted, 3);
    assert_int_equal(recorder_nodes(r), LINKS + 3);
    ok(recorder_submit(r, 7, &oops));
    assert_int_equal(t.emitted, 3);
    ok(recorder_submit(r, 1, &oops));
    assert_int_equal(t.emitted, 4);
    ok(recorder_submit(r, 7 + 8 + 8 + 1, &oops));
    assert_int_equal(t.emitted, 7);
    assert_int_equal(recorder_nodes(r), LINKS + 3);
    assert_state(&t, 35);
    recorder_free(r);
    toy_close(&t);
}

/* The same steps in one submit, in many, checked always or never: the same bits. */
static void test_bits_do_not_depend_on_checks(void **state)
{
    static const struct {
        uint64_t check_every;
        uint32_t batch, emitted;
    } cases[] = {{0, 60, 3}, {1, 60, 60}, {7, 60, 11}, {1000, 60, 3}, {7, 1, 11}, {3, 13, 22}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct toy t;
        struct recorder *r;
        ok(toy_open(&t, test_dev, N, LINKS, &oops));
        struct recorder_setup setup = toy_setup(&t, cases[i].check_every);
        ok(recorder_new(&r, &setup, &oops));
        for (uint32_t left = 60; left > 0;) {
            uint32_t n = left < cases[i].batch ? left : cases[i].batch;
            ok(recorder_submit(r, n, &oops));
            left -= n;
        }
        assert_int_equal(t.emitted, cases[i].emitted);
        assert_int_equal(t.clock.steps, 60);
        assert_state(&t, 60);
        recorder_free(r);
        toy_close(&t);
    }
}

/* Every step is emitted and held against the first, none goes by a graph: the same bits, and what drifts is found at
 * once. */
static void test_eager(void **state)
{
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    test_dev->eager = true;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 7);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 40, &oops));
    ok(recorder_check_now(r, &oops));
    ok(recorder_submit(r, 20, &oops));
    assert_int_equal(t.emitted, 60);
    assert_int_equal(recorder_nodes(r), 0);
    assert_state(&t, 60);
    t.plant = PLANT_SCALAR;
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, "recorder (cold): launch 4 (axpy); a was 0.5");
    recorder_free(r);
    toy_close(&t);
    test_dev->eager = false;
}

/* Any number of steps by graphs of several and of one: the count is exact, whatever is checked or heard in between. */
static void test_graphs_of_several_steps(void **state)
{
    static const struct {
        uint32_t repeat, batch;
        uint64_t check_every;
    } cases[] = {{10, 60, 0}, {10, 7, 0}, {10, 13, 5}, {10, 29, 12}, {4, 60, 1}, {60, 60, 7}, {100, 60, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct toy t;
        struct recorder *r;
        ok(toy_open(&t, test_dev, N, LINKS, &oops));
        t.repeat = cases[i].repeat;
        struct recorder_setup setup = toy_setup(&t, cases[i].check_every);
        ok(recorder_new(&r, &setup, &oops));
        uint32_t done = 0;
        while (done < 60) {
            uint32_t n = 60 - done < cases[i].batch ? 60 - done : cases[i].batch;
            ok(recorder_submit(r, n, &oops));
            ok(toy_wait(&t, done += n, &oops));
        }
        assert_int_equal(t.clock.steps, 60);
        assert_state(&t, 60);
        ok(recorder_check_now(r, &oops));
        recorder_free(r);
        toy_close(&t);
    }
}

/* Two tapes of one replica, one of them rare: both are checked by the steps of the replica, not by their own. */
static void test_rare_tapes_are_checked(void **state)
{
    enum { BETWEEN = 10, EVERY = 40 };
    struct toy t;
    struct recorder *often, *rare;
    struct err e = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct toy seldom = t;
    struct recorder_setup setup = toy_setup(&t, EVERY), other = setup;
    other.ctx = &seldom;
    ok(recorder_new(&often, &setup, &oops));
    ok(recorder_new(&rare, &other, &oops));
    int rc = 0;
    for (uint32_t turn = 0; turn < 12 && !rc; turn++) {
        ok(recorder_submit(often, BETWEEN, &oops));
        ok(toy_wait(&t, t.clock.steps, &oops));
        rc = recorder_submit(rare, 1, &e);
        if (turn == 4) { /* live, and checked never yet by its own five steps */
            assert_int_equal(seldom.emitted, 3);
            seldom.plant = PLANT_SCALAR;
        }
    }
    assert_int_equal(rc, -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, "recorder (check): launch 4 (axpy); a was 0.5");
    assert_in_range(t.clock.steps, 5 * BETWEEN, 5 * BETWEEN + 2 * EVERY);
    recorder_free(often);
    recorder_free(rare);
    ok(toy_wait(&t, t.clock.steps, &oops));
    toy_close(&t);
}

static void test_check_now(void **state)
{
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 0);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_check_now(r, &oops)); /* nothing to check yet */
    assert_int_equal(t.emitted, 0);
    ok(recorder_submit(r, 20, &oops));
    ok(recorder_check_now(r, &oops));
    assert_int_equal(t.emitted, 4);
    t.plant = PLANT_FLOAT;
    ok(recorder_submit(r, 20, &oops)); /* nobody looks */
    assert_int_equal(recorder_check_now(r, &e), -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, "recorder (check): launch 1 (chain); scale[1] was");
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    ok(toy_wait(&t, 40, &oops));
    recorder_free(r);
    toy_close(&t);
}

/* A declared epoch may change everything, at any state; the bits are those of the two parts run eagerly. */
static void test_epoch(void **state)
{
    static const uint32_t steps_before[] = {0, 1, 2, 3, 20};
    for (size_t i = 0; i < sizeof steps_before / sizeof steps_before[0]; i++) {
        struct toy t, u;
        struct recorder *r;
        struct tape tape = {0};
        ok(toy_open(&t, test_dev, N, LINKS, &oops));
        struct recorder_setup setup = toy_setup(&t, 5);
        ok(recorder_new(&r, &setup, &oops));
        ok(recorder_submit(r, steps_before[i], &oops));
        t.links = LINKS + 2;
        t.a = 0.25;
        recorder_epoch(r);
        assert_int_equal(recorder_nodes(r), 0);
        ok(recorder_submit(r, 11, &oops));
        assert_int_equal(recorder_nodes(r), LINKS + 5);

        ok(toy_open(&u, test_dev, N, LINKS, &oops));
        for (uint32_t step = 0; step < steps_before[i] + 11; step++) {
            u.links = step < steps_before[i] ? LINKS : LINKS + 2;
            u.a = step < steps_before[i] ? 0.5 : 0.25;
            tape_clear(&tape);
            toy_emit(&u, &tape);
            ok(test_dev->ops->run(test_dev, u.lane, &tape, &oops));
        }
        unsigned char *got = xcalloc(toy_state_size(&t), 1), *want = xcalloc(toy_state_size(&u), 1);
        ok(toy_state(&t, got, &oops));
        ok(toy_state(&u, want, &oops));
        assert_memory_equal(got, want, toy_state_size(&t));
        free(got);
        free(want);
        tape_free(&tape);
        recorder_free(r);
        toy_close(&t);
        toy_close(&u);
    }
}

static void emit_nothing(void *ctx, struct tape *t)
{
}

static void test_empty_step(void **state)
{
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 5);
    setup.emit = emit_nothing;
    ok(recorder_new(&r, &setup, &oops));
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    assert_string_equal(e.msg, "recorder (cold): the step recorded no launches");
    recorder_free(r);
    recorder_free(NULL);
    toy_close(&t);
}

/* Several recorders share a device whose tickets come late; each ends with its own bits. */
static void test_late_tickets(void **state)
{
    enum { REPLICAS = 5 };
    struct dev *d = dev_fault_new(test_dev);
    struct toy t[REPLICAS];
    struct recorder *r[REPLICAS];
    dev_fault_delay(d, 3);
    for (uint32_t i = 0; i < REPLICAS; i++) {
        ok(toy_open(&t[i], d, N + i, LINKS, &oops));
        struct recorder_setup setup = toy_setup(&t[i], 9);
        ok(recorder_new(&r[i], &setup, &oops));
    }
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < REPLICAS; i++)
            ok(recorder_submit(r[i], 10, &oops));
        for (uint32_t i = REPLICAS; i-- > 0;)
            ok(toy_wait(&t[i], 10 * (round + 1), &oops));
    }
    for (uint32_t i = 0; i < REPLICAS; i++) {
        assert_state(&t[i], 40);
        recorder_free(r[i]);
        toy_close(&t[i]);
    }
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
}

int run_recorder_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_to_live),
        cmocka_unit_test(test_eager),
        cmocka_unit_test(test_bits_do_not_depend_on_checks),
        cmocka_unit_test(test_epoch),
        cmocka_unit_test(test_empty_step),
        cmocka_unit_test(test_late_tickets),
        cmocka_unit_test(test_graphs_of_several_steps),
        cmocka_unit_test(test_check_now),
        cmocka_unit_test(test_rare_tapes_are_checked),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
