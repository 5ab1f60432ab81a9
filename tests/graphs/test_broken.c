/* SPDX-License-Identifier: Apache-2.0
 *
 * On a GPU, in a process of its own, which cannot use it afterwards: a kernel reads where nothing is.
 */
#include "tests/graphs/graph_tests.h"

enum { N = 1000, LINKS = 3, AXPY = LINKS };

static struct err why; /* as it was told first */

/* Known when the ticket should come, with everything that there is to say. */
static void test_illegal_address(void **state)
{
    struct toy *t = *state;
    struct tape tape = {0};
    toy_emit(t, &tape);
    struct args_axpy *a = (struct args_axpy *)(tape.args + tape.launches[AXPY].args_offset);
    a->x = (void *)(uintptr_t)4096;
    ok(test_dev->ops->run(test_dev, t->lane, &tape, &oops));
    assert_int_equal(toy_wait(t, 1, &why), -ERR_DEVICE);
    assert_matches(why.msg,
                   "^cuda:[0-9]+: cuda[A-Za-z]+: cudaErrorIllegalAddress \\(an illegal memory access was "
                   "encountered\\); .+, compute capability [0-9]+\\.[0-9], [0-9]+\\.[0-9]{2} of "
                   "[0-9]+\\.[0-9]{2} GiB free before; the device is lost to this process$");
    assert_true(dev_lost(test_dev));
    assert_string_equal(test_dev->lost.msg, why.msg);
    tape_free(&tape);
}

static void assert_same(int rc, const struct err *e)
{
    assert_int_equal(rc, -ERR_DEVICE);
    assert_string_equal(e->msg, why.msg);
}

static void test_all_else_says_so(void **state)
{
    struct toy *t = *state;
    const struct dev_ops *ops = test_dev->ops;
    struct err e;
    struct tape tape = {0};
    struct mark mark;
    struct graph *graph = NULL;
    void *device, *host;
    double x;
    toy_emit(t, &tape);
    assert_same(ops->run(test_dev, t->lane, &tape, &e), &e);
    assert_same(ops->build(test_dev, t->lane, &tape, 1, &graph, &e), &e);
    assert_same(ops->mark(test_dev, t->lane, &mark, &e), &e);
    assert_same(ops->copy(test_dev, t->lane, &x, t->x, sizeof x, &e), &e);
    assert_same(ops->alloc(test_dev, t->lane, DEV_MEMORY, 4096, &device, &host, &e), &e);
    assert_same(ops->poll(test_dev, -1, &e), &e);
    tape_free(&tape);
}

static int open_toy(void **state)
{
    static struct toy t;
    struct err e = {0};
    *state = &t;
    return toy_open(&t, test_dev, N, LINKS, &e);
}

static int close_toy(void **state)
{
    toy_close(*state);
    return 0;
}

int run_broken_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_illegal_address), cmocka_unit_test(test_all_else_says_so)};
    return cmocka_run_group_tests_name("broken", tests, open_toy, close_toy);
}
