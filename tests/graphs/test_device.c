/* SPDX-License-Identifier: Apache-2.0
 *
 * What every device promises: memory, order, eager = replay, tapes read back as built, tickets, lanes.
 */
#include "tests/graphs/graph_tests.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "graphs/check.h"

enum { N = 1000, LINKS = 5, LANES = 16 };

static const struct dev_ops *ops(void)
{
    return test_dev->ops;
}

static void test_names(void **state)
{
    static const char *const bad[] = {"",
                                      "gpu",
                                      "cpu:",
                                      "cpu:0",
                                      "cpu:-1",
                                      "cpu:2x",
                                      "cpushuffle",
                                      "cpu:2:shuffled",
                                      "cpu:0:shuffle",
                                      "cuda",
                                      "cuda:",
                                      "cuda:1:2",
                                      "cpu:99999",
                                      "cpu:2:shuffle:eager",
                                      "cpu:eager:2",
                                      "cuda:eager",
                                      "cuda:GPU-",
                                      "cuda:GPU-xyz",
                                      "cuda:UUID-3f6b",
                                      "cuda:MIG-3f6b:2",
                                      "cuda:0:shuffle"};
    struct dev *d;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};
        assert_int_equal(dev_open(&d, bad[i], toy_kernels, &e), -ERR_USAGE);
        assert_says(
            &e, ERR_USAGE,
            "expected cpu, cpu:THREADS (1 to 4096) or cuda:NUMBER (or its id for NUMBER: GPU-.. or MIG-..), any with "
            ":eager behind it, or the first two with :shuffle");
        assert_null(d);
    }
    ok(dev_open(&d, "cpu:eager", toy_kernels, &oops));
    assert_true(d->eager);
    dev_close(d);
    struct err e = {0};
    assert_int_equal(dev_open(&d, "cuda:99999:eager", toy_kernels, &e), -ERR_DEVICE);
    assert_int_equal(dev_open(&d, "cuda:99999", toy_kernels, &e), -ERR_DEVICE);
    assert_says(&e, ERR_DEVICE, "cuda:99999: ");
    dev_close(NULL);
}

static void test_memory(void **state)
{
    unsigned char *back = xcalloc(N, 1), *pattern = xcalloc(N, 1);
    struct lane *lane;
    void *device, *mapped, *host, *unused;
    for (uint32_t i = 0; i < N; i++)
        pattern[i] = (unsigned char)(i * 7 + 1);
    ok(ops()->lane_new(test_dev, &lane, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MEMORY, N, &device, &unused, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MAPPED, N, &mapped, &host, &oops));

    memset(back, 1, N);
    ok(ops()->copy(test_dev, lane, back, device, N, &oops));
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(back[i] | ((unsigned char *)host)[i], 0);
    ok(ops()->copy(test_dev, lane, device, pattern, N, &oops));
    ok(ops()->copy(test_dev, lane, mapped, device, N, &oops));
    ok(ops()->copy(test_dev, lane, back, device, N, &oops));
    assert_memory_equal(back, pattern, N);
    assert_memory_equal(host, pattern, N);

    ops()->free(test_dev, DEV_MAPPED, mapped);
    ops()->free(test_dev, DEV_MEMORY, device);
    ops()->lane_free(test_dev, lane);
    free(pattern);
    free(back);
}

static void test_eager_equals_replay(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct graph *graph = NULL;
    void *want = expected_state(N, LINKS, 40), *start = expected_state(N, LINKS, 0);
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    void *got = xcalloc(toy_state_size(&t), 1);
    toy_emit(&t, &tape);
    ok(ops()->build(test_dev, t.lane, &tape, 1, &graph, &oops));
    ok(ops()->replay(test_dev, t.lane, graph, 30, &oops));
    ok(ops()->run(test_dev, t.lane, &tape, &oops)); /* eager between replays: lanes keep order */
    ok(ops()->replay(test_dev, t.lane, graph, 1, &oops));
    ok(ops()->replay(test_dev, t.lane, graph, 8, &oops));
    ok(toy_state(&t, got, &oops));
    assert_int_equal(toy_ticket(&t), 40);
    assert_memory_equal(got, want, toy_state_size(&t));
    assert_memory_not_equal(got, start, toy_state_size(&t));
    ops()->drop(test_dev, graph);
    tape_free(&tape);
    free(got);
    free(want);
    free(start);
    toy_close(&t);
}

/* The state after one more step differs: the comparison above can fail. */
static void test_state_shows_every_step(void **state)
{
    struct toy t = {0};
    void *a = expected_state(N, LINKS, 40), *b = expected_state(N, LINKS, 41), *c = expected_state(N, LINKS + 1, 40);
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    assert_memory_not_equal(a, b, toy_state_size(&t));
    assert_memory_not_equal(a, c, toy_state_size(&t));
    toy_close(&t);
    free(a);
    free(b);
    free(c);
}

static void assert_holds_step(struct graph *graph, uint32_t repetition, const struct tape *tape)
{
    struct tape held = {0};
    ok(ops()->readback(test_dev, graph, repetition, &held, &oops));
    assert_int_equal(held.count, tape->count);
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct launch *x = &tape->launches[i], *y = &held.launches[i];
        assert_int_equal(x->kernel, y->kernel);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->flags, y->flags);
        assert_true(x->after == y->after);
        assert_memory_equal(x->cluster, y->cluster, sizeof x->cluster);
        assert_memory_equal(x->grid, y->grid, sizeof x->grid);
        assert_memory_equal(x->block, y->block, sizeof x->block);
        assert_int_equal(x->shared_bytes, y->shared_bytes);
        assert_int_equal(x->args_size, y->args_size);
        assert_memory_equal(tape_args(tape, x), tape_args(&held, y), x->args_size);
    }
    ok(check_tapes(&test_dev->kernels, tape, &held, &oops));
    tape_free(&held);
}

static void assert_holds(struct graph *graph, uint32_t repeat, const struct tape *tape)
{
    for (uint32_t r = 0; r < repeat; r++)
        assert_holds_step(graph, r, tape);
}

/* Graphs of one step and of several, straight ones and forked ones, up to the longest tape there can be. */
static void test_readback(void **state)
{
    static const struct {
        uint32_t links, repeat;
        bool fork;
    } cases[] = {{1, 1, false}, {17, 1, false}, {3, 1, true}, {3, 7, true}, {17, 10, false}, {59, 4, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct toy t;
        struct tape tape = {0};
        struct graph *graph = NULL;
        ok(toy_open(&t, test_dev, N, cases[i].links, &oops));
        t.plant = PLANT_SHARED; /* so that shared bytes are not all zero */
        t.fork = cases[i].fork;
        toy_emit(&t, &tape);
        ok(ops()->trace(test_dev, t.lane, &tape, &oops));
        assert_int_equal(tape.count, cases[i].links + (cases[i].fork ? 5 : 3));
        ok(ops()->build(test_dev, t.lane, &tape, cases[i].repeat, &graph, &oops));
        assert_holds(graph, cases[i].repeat, &tape);
        ok(ops()->replay(test_dev, t.lane, graph, 2, &oops));
        assert_holds(graph, cases[i].repeat, &tape); /* while it runs, too */
        ok(toy_wait(&t, 2 * cases[i].repeat, &oops));
        ops()->drop(test_dev, graph);
        tape_free(&tape);
        toy_close(&t);
    }
}

/* Rebuilding while replays of the old tape are in flight: those keep the old arguments, later ones have the new. */
static void rebuild(uint32_t links_after, double a_after)
{
    struct toy t;
    struct tape before = {0}, after = {0};
    struct graph *graph = NULL;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    void *got = xcalloc(toy_state_size(&t), 1), *want = xcalloc(toy_state_size(&t), 1);
    toy_emit(&t, &before);
    t.links = links_after;
    t.a = a_after;
    toy_emit(&t, &after);
    ok(ops()->build(test_dev, t.lane, &before, 1, &graph, &oops));
    ok(ops()->replay(test_dev, t.lane, graph, 50, &oops));
    ok(ops()->build(test_dev, t.lane, &after, 1, &graph, &oops));
    assert_holds(graph, 1, &after);
    ok(ops()->replay(test_dev, t.lane, graph, 3, &oops));
    ok(toy_state(&t, got, &oops));
    ops()->drop(test_dev, graph);
    toy_close(&t);

    ok(toy_open(&t, test_dev, N, LINKS, &oops)); /* the same, eagerly, with tapes of its own */
    for (uint32_t i = 0; i < 53; i++) {
        struct tape tape = {0};
        t.links = i < 50 ? LINKS : links_after;
        t.a = i < 50 ? 0.5 : a_after;
        toy_emit(&t, &tape);
        ok(ops()->run(test_dev, t.lane, &tape, &oops));
        tape_free(&tape);
    }
    ok(toy_state(&t, want, &oops));
    assert_memory_equal(got, want, toy_state_size(&t));
    toy_close(&t);
    tape_free(&before);
    tape_free(&after);
    free(got);
    free(want);
}

static void test_update_arguments(void **state)
{
    rebuild(LINKS, 0.125);
}

static void test_update_topology(void **state)
{
    rebuild(LINKS + 4, 0.5);
    rebuild(1, 0.125);
}

/* One launch that cannot be: refused by the device, eagerly and as a graph. */
static void refuse(const struct tape *t, const char *says)
{
    struct lane *lane;
    struct graph *graph = NULL;
    struct err e = {0};
    ok(ops()->lane_new(test_dev, &lane, &oops));
    assert_int_equal(ops()->run(test_dev, lane, t, &e), -ERR_INTERNAL);
    assert_says(&e, ERR_INTERNAL, says);
    assert_int_equal(ops()->build(test_dev, lane, t, 1, &graph, &e), -ERR_INTERNAL);
    assert_says(&e, ERR_INTERNAL, says);
    assert_null(graph);
    ops()->lane_free(test_dev, lane);
}

static void test_bad_tapes(void **state)
{
    struct args_shrink args = {0}; /* as long as any */
    static const struct {
        uint32_t kernel, args_size;
        enum launch_kind kind;
        struct shape shape;
        const char *says;
    } cases[] = {
        {77,
         sizeof(struct args_advance),
         LAUNCH_KERNEL,
         {.grid = {1, 1, 1}, .block = {1, 1, 1}},
         "launch 0: kernel 77 (unknown) is not available"},
        {KERNEL_advance,
         4,
         LAUNCH_KERNEL,
         {.grid = {1, 1, 1}, .block = {1, 1, 1}},
         "launch 0: kernel advance takes 24 bytes of arguments, not 4"},
        {KERNEL_advance,
         sizeof(struct args_advance),
         LAUNCH_LIBRARY,
         {.grid = {1, 1, 1}, .block = {1, 1, 1}},
         "launch 0: advance is a kernel, not a library function"},
        {KERNEL_advance,
         sizeof(struct args_advance),
         LAUNCH_KERNEL,
         {.grid = {1, 1, 1}, .block = {1, 1, 1}, .after = 1},
         "launch 0 (advance): comes after mask 0x1, not only earlier launches"},
        {KERNEL_advance,
         sizeof(struct args_advance),
         LAUNCH_KERNEL,
         {.grid = {3, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}},
         "grid 3x1x1, block 1x1x1, cluster 2x1x1: expected whole clusters"},
        {KERNEL_shrink,
         sizeof(struct args_shrink),
         LAUNCH_LIBRARY,
         {.grid = {1, 1, 1}, .block = {1, 1, 1}, .flags = LAUNCH_EARLY},
         "launch 0 (shrink): attributes 0x1: a kernel may begin early, and nothing else"},
    };
    struct tape t = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tape_clear(&t);
        tape_add(&t, cases[i].kernel, cases[i].kind, &cases[i].shape, &args, cases[i].args_size);
        refuse(&t, cases[i].says);
    }
    tape_clear(&t);
    for (uint32_t i = 0; i <= TAPE_LAUNCHES_MAX; i++)
        assert_true(emit_shrink(&t, &SHAPE_CHAIN, &args) == (i < 64 ? UINT64_C(1) << i : 0));
    refuse(&t, "a tape of 65 launches: expected at most 64");
    tape_free(&t);
}

/* A launch that the GPU refuses ends the capture cleanly: the lane and the graph work on. */
static void test_refused_launch(void **state)
{
    struct toy t;
    struct tape good = {0}, bad = {0};
    struct graph *graph = NULL, *refused = NULL;
    struct err e = {0};
    if (strncmp(test_dev_name, "cuda", 4))
        skip();
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    toy_emit(&t, &good);
    tape_copy(&bad, &good);
    bad.launches[2].block[0] = 5000;
    ok(ops()->build(test_dev, t.lane, &good, 1, &graph, &oops));
    assert_int_equal(ops()->build(test_dev, t.lane, &bad, 1, &refused, &e), -ERR_DEVICE);
    assert_says(&e, ERR_DEVICE, test_dev_name);
    assert_null(refused);
    assert_holds(graph, 1, &good);
    assert_int_equal(ops()->run(test_dev, t.lane, &bad, &e), -ERR_DEVICE);
    assert_says(&e, ERR_DEVICE, test_dev_name);
    assert_matches(e.msg,
                   "^launch 2 \\(chain\\): cuda:[0-9]+: cudaLaunchKernelExC: cudaErrorInvalid[A-Za-z]+ "
                   "\\(invalid [a-z ]+\\); .+, compute capability [0-9]+\\.[0-9], [0-9]+\\.[0-9]{2} of "
                   "[0-9]+\\.[0-9]{2} GiB free$");
    assert_false(dev_lost(test_dev));
    ok(ops()->replay(test_dev, t.lane, graph, 5, &oops));
    ok(toy_wait(&t, 5, &oops));
    ops()->drop(test_dev, graph);
    tape_free(&good);
    tape_free(&bad);
    toy_close(&t);
}

/* A copy of what another lane has yet to compute, which then goes on where the copy is no matter any more; round a ring
 * of lanes. */
static void test_follow(void **state)
{
    enum { RING = 3, STEPS = 400 };
    struct toy t[RING];
    struct tape tape[RING] = {0}, alone = {0};
    void *device[RING], *host[RING];
    struct mark copied[RING] = {0};
    for (int i = 0; i < RING; i++) {
        ok(toy_open(&t[i], test_dev, N, LINKS, &oops));
        toy_emit(&t[i], &tape[i]);
        ok(ops()->alloc(test_dev, t[i].lane, DEV_MAPPED, t[i].arena_bytes, &device[i], &host[i], &oops));
    }
    for (int i = 0; i < RING; i++)
        for (int n = 0; n < STEPS; n++)
            ok(ops()->run(test_dev, t[i].lane, &tape[i], &oops));
    for (int i = 0; i < RING; i++) {
        const struct toy *from = &t[(i + 1) % RING];
        ok(ops()->follow(test_dev, t[i].lane, from->lane, &oops));
        ok(ops()->copy_async(test_dev, t[i].lane, device[i], from->arena, from->arena_bytes, &oops));
        ok(ops()->mark(test_dev, t[i].lane, &copied[i], &oops));
        ok(ops()->follow(test_dev, from->lane, t[i].lane, &oops));
        ok(ops()->run(test_dev, from->lane, &tape[(i + 1) % RING], &oops));
    }
    for (int i = 0; i < RING; i++) {
        ok(toy_wait(&t[i], STEPS + 1, &oops));
        while (!mark_passed(&copied[i]))
            ok(ops()->poll(test_dev, 1, &oops));
    }
    unsigned char *want = xcalloc(t[0].arena_bytes, 1);
    for (uint32_t more = 0; more < 2; more++) { /* what came behind the copies is not in them */
        struct toy one;
        ok(toy_open(&one, test_dev, N, LINKS, &oops));
        toy_emit(&one, &alone);
        for (uint32_t n = 0; n < STEPS + more; n++)
            ok(ops()->run(test_dev, one.lane, &alone, &oops));
        ok(ops()->copy(test_dev, one.lane, want, one.arena, one.arena_bytes, &oops));
        for (int i = 0; i < RING; i++)
            assert_int_equal(memcmp(host[i], want, one.arena_bytes) == 0, more == 0);
        tape_clear(&alone);
        toy_close(&one);
    }
    tape_free(&alone);
    free(want);
    for (int i = 0; i < RING; i++) {
        ops()->free(test_dev, DEV_MAPPED, device[i]);
        tape_free(&tape[i]);
        toy_close(&t[i]);
    }
}

static void test_tickets(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct graph *graph = NULL;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    toy_emit(&t, &tape);
    ok(ops()->build(test_dev, t.lane, &tape, 1, &graph, &oops));
    ok(ops()->poll(test_dev, -1, &oops)); /* nothing is outstanding: returns */
    assert_int_equal(toy_ticket(&t), 0);
    for (uint64_t round = 1; round <= 20; round++) {
        ok(ops()->replay(test_dev, t.lane, graph, 10, &oops));
        ok(toy_wait(&t, 10 * round, &oops));
        assert_int_equal(toy_ticket(&t), 10 * round);
    }
    ops()->drop(test_dev, graph);
    tape_free(&tape);
    toy_close(&t);
}

static void test_poll_fd(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct pollfd p = {.fd = ops()->poll_fd(test_dev), .events = POLLIN};
    if (p.fd < 0)
        skip();
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    toy_emit(&t, &tape);
    while (poll(&p, 1, 0) > 0)
        ok(ops()->poll(test_dev, 0, &oops));
    for (int round = 0; round < 3; round++) {
        assert_int_equal(poll(&p, 1, 0), 0);
        ok(ops()->run(test_dev, t.lane, &tape, &oops));
        assert_int_equal(poll(&p, 1, 10000), 1);
        ok(ops()->poll(test_dev, 0, &oops));
    }
    tape_free(&tape);
    toy_close(&t);
}

/* Lanes do not disturb one another: each one's bits are those it has alone. */
static void test_many_lanes(void **state)
{
    struct toy t[LANES];
    struct graph *graph[LANES] = {0};
    struct tape tape = {0};
    void *got = NULL;
    for (uint32_t i = 0; i < LANES; i++) {
        ok(toy_open(&t[i], test_dev, N + i, LINKS + i % 3, &oops));
        tape_clear(&tape);
        toy_emit(&t[i], &tape);
        ok(ops()->build(test_dev, t[i].lane, &tape, 1, &graph[i], &oops));
    }
    for (uint32_t round = 0; round < 6; round++)
        for (uint32_t i = 0; i < LANES; i++)
            ok(ops()->replay(test_dev, t[i].lane, graph[i], 5, &oops));
    for (uint32_t i = 0; i < LANES; i++) {
        ok(toy_wait(&t[i], 30, &oops));
        got = xrealloc(got, toy_state_size(&t[i]), 1);
        ok(toy_state(&t[i], got, &oops));
        void *want = expected_state(N + i, LINKS + i % 3, 30);
        assert_memory_equal(got, want, toy_state_size(&t[i]));
        free(want);
        ops()->drop(test_dev, graph[i]);
        toy_close(&t[i]);
    }
    free(got);
    tape_free(&tape);
}

/* Graph and lane go while work is in flight: it is finished first. */
static void test_close_with_work_in_flight(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct graph *graph = NULL;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    toy_emit(&t, &tape);
    ok(ops()->build(test_dev, t.lane, &tape, 1, &graph, &oops));
    ok(ops()->replay(test_dev, t.lane, graph, 200, &oops));
    ops()->drop(test_dev, graph);
    ops()->lane_free(test_dev, t.lane);
    t.lane = NULL;
    assert_int_equal(toy_ticket(&t), 200);
    tape_free(&tape);
    toy_close(&t);
}

int run_device_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_eager_equals_replay),
        cmocka_unit_test(test_state_shows_every_step),
        cmocka_unit_test(test_readback),
        cmocka_unit_test(test_update_arguments),
        cmocka_unit_test(test_update_topology),
        cmocka_unit_test(test_bad_tapes),
        cmocka_unit_test(test_refused_launch),
        cmocka_unit_test(test_follow),
        cmocka_unit_test(test_tickets),
        cmocka_unit_test(test_poll_fd),
        cmocka_unit_test(test_many_lanes),
        cmocka_unit_test(test_close_with_work_in_flight),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
