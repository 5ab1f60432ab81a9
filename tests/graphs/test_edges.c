/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps whose launches form a graph: their bits depend on the edges and on no order that the edges leave open, and a
 * drift of edges, clusters, attributes or of a library's nodes has a name.
 */
#include "tests/graphs/graph_tests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

enum { N = 1000, LINKS = 3, STEPS = 30 };

/* The state after STEPS steps of a forked toy on a device, as graphs of `repeat` steps (0: eagerly). */
static unsigned char *forked_state(struct dev *d, enum toy_plant plant, uint32_t repeat)
{
    struct toy t;
    struct tape tape = {0};
    struct graph *graph = NULL;
    ok(toy_open(&t, d, N, LINKS, &oops));
    t.fork = true;
    t.plant = plant;
    toy_emit(&t, &tape);
    ok(d->ops->trace(d, t.lane, &tape, &oops));
    if (repeat) {
        ok(d->ops->build(d, t.lane, &tape, repeat, &graph, &oops));
        ok(d->ops->replay(d, t.lane, graph, STEPS / repeat, &oops));
    }
    for (uint32_t i = 0; i < (repeat ? 0 : STEPS); i++)
        ok(d->ops->run(d, t.lane, &tape, &oops));
    ok(toy_wait(&t, STEPS, &oops));
    unsigned char *state = xcalloc(toy_state_size(&t), 1);
    ok(toy_state(&t, state, &oops));
    d->ops->drop(d, graph);
    tape_free(&tape);
    toy_close(&t);
    return state;
}

static size_t state_size(void)
{
    struct toy t;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    size_t bytes = toy_state_size(&t);
    toy_close(&t);
    return bytes;
}

static void test_repeated_graphs(void **state)
{
    static const uint32_t repeats[] = {1, 2, 5, 10, 30};
    unsigned char *want = forked_state(test_dev, PLANT_NONE, 0);
    for (size_t i = 0; i < sizeof repeats / sizeof repeats[0]; i++) {
        unsigned char *got = forked_state(test_dev, PLANT_NONE, repeats[i]);
        assert_memory_equal(got, want, state_size());
        free(got);
    }
    free(want);
}

/* Any order that the edges allow gives the bits of tape order; without an edge that is needed they differ. */
static void test_any_order(void **state)
{
    struct dev *d;
    unsigned char *want = forked_state(test_dev, PLANT_NONE, 0);
    ok(dev_open(&d, "cpu:2:shuffle", toy_kernels, &oops));
    for (uint32_t repeat = 0; repeat <= 10; repeat += 5) {
        unsigned char *got = forked_state(d, PLANT_NONE, repeat), *wrong = forked_state(d, PLANT_EDGE, repeat);
        if (!strncmp(test_dev_name, "cpu", 3)) /* a GPU fuses multiply-add: its bits are its own */
            assert_memory_equal(got, want, state_size());
        assert_memory_not_equal(wrong, got, state_size());
        free(got);
        free(wrong);
    }
    dev_close(d);
    free(want);
}

/* What a check says of a forked step that drifts. */
static void drift(enum toy_plant plant, const char *says)
{
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    t.fork = true;
    t.repeat = 4;
    struct recorder_setup setup = toy_setup(&t, 12);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 14, &oops));
    t.plant = plant;
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    assert_string_equal(e.msg, says);
    ok(toy_wait(&t, 14, &oops));
    recorder_free(r);
    toy_close(&t);
}

static void test_edge(void **state)
{
    drift(PLANT_EDGE, "recorder (check): launch 3 (axpy); after was {2}, is {1}");
}

static void test_cluster(void **state)
{
    if (!toy_clusters(test_dev))
        skip();
    drift(PLANT_CLUSTER, "recorder (check): launch 4 (swap); cluster was 2x1x1, is 1x1x1");
}

static void test_attributes(void **state)
{
    drift(PLANT_LATE,
          "recorder (check): launch 4 (swap); attributes were 0x1 (begins early), are 0x0 (begins after its "
          "predecessors)");
}

/* Something else each time where a library's frames will be. */
static __attribute__((noinline)) void litter(int with)
{
    volatile char frames[1 << 16];
    for (size_t i = 0; i < sizeof frames; i++)
        frames[i] = (char)with;
}

/* On a GPU the nodes of the library tell, too; but not what lies in the holes of its structs. */
static void test_library(void **state)
{
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    t.fork = true;
    struct recorder_setup setup = toy_setup(&t, 12);
    ok(recorder_new(&r, &setup, &oops));
    for (int step = 1; step <= 14; step++) {
        litter(step);
        ok(recorder_submit(r, 1, &oops));
    }
    assert_int_equal(recorder_nodes(r), strncmp(test_dev_name, "cuda", 4) ? LINKS + 5 : LINKS + 6);
    t.plant = PLANT_LIBRARY;
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DRIFT);
    assert_says(&e, ERR_DRIFT, "recorder (check): launch 5 (shrink); ");
    assert_says(&e, ERR_DRIFT, "a was 0.5 (0x3fe0000000000000), is 0.75 (0x3fe8000000000000)");
    ok(toy_wait(&t, 14, &oops));
    recorder_free(r);
    toy_close(&t);
}

/* Nodes that differ while the arguments do not: a plan that was made anew, say. No device is needed to see it. */
static void test_library_nodes(void **state)
{
    struct tape was = {0}, is = {0};
    struct err e = {0};
    emit_shrink(&was, &SHAPE_CHAIN, &(struct args_shrink){.a = 0.5});
    was.launches[0].nodes = 6;
    was.launches[0].nodes_hash = 0x11;
    tape_copy(&is, &was);
    ok(check_tapes(&toy_kernels, &was, &is, &oops));
    is.launches[0].nodes_hash = 0x12;
    assert_int_equal(check_tapes(&toy_kernels, &was, &is, &e), -ERR_DRIFT);
    assert_string_equal(e.msg,
                        "launch 0 (shrink); its 6 graph nodes hashed to 0x0000000000000011, hash to "
                        "0x0000000000000012");
    is.launches[0].nodes = 7;
    assert_int_equal(check_tapes(&toy_kernels, &was, &is, &e), -ERR_DRIFT);
    assert_string_equal(e.msg, "launch 0 (shrink); graph nodes was 6, is 7");
    tape_free(&was);
    tape_free(&is);
}

int run_edge_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_graphs), cmocka_unit_test(test_any_order),  cmocka_unit_test(test_edge),
        cmocka_unit_test(test_cluster),         cmocka_unit_test(test_attributes), cmocka_unit_test(test_library),
        cmocka_unit_test(test_library_nodes),
    };
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
