/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in slabs, on its own and as devices give it; copies that wait for nothing; waiting at a pace.
 */
#include "tests/graphs/graph_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "graphs/poll_pace.h"
#include "graphs/pool.h"
#include "tests/lib/dev_fault.h"

/* --- the pool, with slabs from the heap --- */

enum { SLAB = 4096 };

struct slabs {
    size_t held, limit;
    int given; /* so far */
    struct {
        void *at;
        size_t bytes;
    } slab[8];
};

static int heap_new(void *ctx, size_t bytes, void **device, void **host, struct err *e)
{
    struct slabs *s = ctx;
    if (s->held + bytes > s->limit) {
        err_set(e, ERR_MEMORY, "%zu bytes: %zu of %zu are free", bytes, s->limit - s->held, s->limit);
        return DEV_FULL;
    }
    *device = *host = aligned_alloc(POOL_ALIGN, bytes);
    for (size_t i = 0; i < 8; i++)
        if (!s->slab[i].at) {
            s->slab[i].at = *device;
            s->slab[i].bytes = bytes;
            break;
        }
    s->held += bytes;
    s->given++;
    return 0;
}

static void heap_free(void *ctx, void *device, void *host)
{
    struct slabs *s = ctx;
    for (size_t i = 0; i < 8; i++)
        if (s->slab[i].at == device) {
            s->held -= s->slab[i].bytes;
            s->slab[i].at = NULL;
        }
    free(device);
}

static struct pool *new_pool(struct slabs *s, size_t slab_bytes)
{
    return pool_new(
        &(struct pool_source){.ctx = s, .slab_new = heap_new, .slab_free = heap_free, .slab_bytes = slab_bytes});
}

static unsigned char *take(struct pool *p, const void *owner, size_t bytes)
{
    void *device, *host;
    ok(pool_take(p, owner, bytes, &device, &host, &oops));
    memset(host, 1, bytes); /* it is all there */
    return device;
}

static void test_pool_blocks(void **state)
{
    struct slabs slabs = {.limit = 1 << 20};
    struct pool *p = new_pool(&slabs, SLAB);
    int alice, bob;
    unsigned char *a = take(p, &alice, 1000), *b = take(p, &bob, 1), *c = take(p, &alice, 2000);
    assert_int_equal(pool_held(p), SLAB);
    assert_ptr_equal(b, a + 1024);
    assert_ptr_equal(c, b + POOL_ALIGN);
    assert_int_equal(pool_used(p, &alice), 1024 + 2048);
    assert_int_equal(pool_used(p, &bob), POOL_ALIGN);
    assert_int_equal(pool_used(p, NULL), 1024 + 2048 + POOL_ALIGN);
    assert_ptr_equal(pool_owner(p, b), &bob);
    pool_give(p, a, (struct mark){0});
    pool_give(p, b, (struct mark){0});
    assert_ptr_equal(take(p, &bob, 700),
                     c + 2048); /* the smallest that is long enough; the two free ones are one now */
    assert_ptr_equal(take(p, &bob, 1200), a);
    unsigned char *large = take(p, &bob, 3 * SLAB); /* to itself */
    assert_int_equal(pool_held(p), 4 * SLAB);
    assert_ptr_equal(pool_owner(p, large), &bob);
    pool_leave(p, &bob);
    assert_null(pool_owner(p, large));
    assert_int_equal(pool_used(p, &bob), 0);
    pool_free(p);
    assert_int_equal(slabs.held, 0);
}

static void test_pool_reuse_waits_for_the_mark(void **state)
{
    struct slabs slabs = {.limit = 1 << 20};
    struct pool *p = new_pool(&slabs, SLAB);
    uint64_t word = 4;
    int owner;
    unsigned char *a = take(p, &owner, SLAB);
    pool_give(p, a, (struct mark){&word, 5});
    unsigned char *b = take(p, &owner, SLAB);
    assert_ptr_not_equal(a, b);
    word = 5;
    assert_ptr_equal(take(p, &owner, SLAB), a);
    pool_give(p, a, (struct mark){&word, 6});
    pool_leave(p, &owner); /* its work has finished, and its word may go */
    word = 0;
    assert_ptr_equal(take(p, &owner, SLAB), a);
    pool_free(p);
}

static void test_pool_full(void **state)
{
    struct slabs slabs = {.limit = 2 * SLAB};
    struct pool *p = new_pool(&slabs, SLAB);
    struct err e = {0};
    void *device, *host;
    unsigned char *a = take(p, NULL, SLAB), *b = take(p, NULL, SLAB);
    assert_int_equal(pool_take(p, NULL, 1, &device, &host, &e), DEV_FULL);
    assert_says(&e, ERR_MEMORY, "4096 bytes: 0 of 8192 are free");
    pool_give(p, a, (struct mark){0});
    pool_give(p, b, (struct mark){0});
    assert_int_equal(slabs.held, 2 * SLAB); /* kept for later, */
    take(p, NULL, 2 * SLAB);                /* but not at the cost of somebody who needs it */
    assert_int_equal(slabs.held, 2 * SLAB);
    pool_free(p);
}

static void test_pool_without_slabs(void **state)
{
    struct slabs slabs = {.limit = 1 << 20};
    struct pool *p = new_pool(&slabs, 0);
    unsigned char *a = take(p, NULL, 300), *b = take(p, NULL, 5000);
    assert_int_equal(slabs.held, 512 + 5120);
    pool_give(p, a, (struct mark){0});
    assert_int_equal(slabs.held, 5120);
    pool_give(p, b, (struct mark){0});
    assert_int_equal(slabs.held, 0);
    pool_free(p);
}

/* What would leave less than half of a slab over takes no more than it needs. */
static void test_pool_long_blocks(void **state)
{
    struct slabs slabs = {.limit = 1 << 20};
    struct pool *p = new_pool(&slabs, SLAB);
    take(p, NULL, SLAB / 2);
    assert_int_equal(slabs.held, SLAB);
    take(p, NULL, SLAB / 2 + 1);
    assert_int_equal(slabs.held, SLAB + SLAB / 2 + POOL_ALIGN);
    take(p, NULL, SLAB / 2);
    assert_int_equal(slabs.held, SLAB + SLAB / 2 + POOL_ALIGN); /* beside the first */
    pool_free(p);
}

static struct pool *growing_pool(struct slabs *s)
{
    return pool_new(&(struct pool_source){
        .ctx = s, .slab_new = heap_new, .slab_free = heap_free, .slab_bytes = SLAB, .growth = 1.25});
}

/* Whoever has the longest block can have a longer one at once; then the next who begins causes another reserve, and
 * gets none of it. */
static void test_pool_growth(void **state)
{
    struct slabs slabs = {.limit = 1 << 20};
    struct pool *p = growing_pool(&slabs);
    int alice, bob, carol;
    unsigned char *a = take(p, &alice, 4 * SLAB);
    take(p, &alice, SLAB); /* beside it */
    take(p, &bob, 4 * SLAB);
    assert_int_equal(pool_held(p), (4 + 1 + 4 + 5) * SLAB);
    int given = slabs.given;
    unsigned char *longer = take(p, &alice, 5 * SLAB);
    pool_give(p, a, (struct mark){0});
    assert_int_equal(slabs.given, given);
    take(p, &carol, 2 * SLAB);
    assert_int_equal(slabs.given, given + 1); /* a longer one than before; her block is where that of alice was */
    assert_int_equal(pool_held(p), (4 + 1 + 4 + 5) * SLAB + 25 * SLAB / 4);
    take(p, &bob, 6 * SLAB);
    assert_int_equal(slabs.given, given + 1);
    take(p, &alice, 5 * SLAB);
    assert_int_equal(slabs.given, given + 2); /* so much was not foreseen */
    assert_ptr_not_equal(longer, a);
    pool_free(p);
    assert_int_equal(slabs.held, 0);
}

/* Nobody goes without for the sake of a reserve; who is refused leaves it to the others. */
static void test_pool_growth_full(void **state)
{
    struct slabs slabs = {.limit = 19 * SLAB / 2};
    struct pool *p = growing_pool(&slabs);
    struct err e = {0};
    int alice, bob, carol;
    void *device, *host;
    unsigned char *a = take(p, &alice, 4 * SLAB);
    assert_int_equal(pool_held(p), 9 * SLAB);
    assert_int_equal(pool_take(p, &bob, 6 * SLAB, &device, &host, &e), DEV_FULL);
    assert_says(&e, ERR_MEMORY, "24576 bytes: 22528 of 38912 are free");
    assert_int_equal(pool_held(p), 9 * SLAB);
    take(p, &bob, 4 * SLAB);
    assert_int_equal(pool_held(p), 8 * SLAB);
    take(p, &carol, SLAB);
    assert_int_equal(pool_held(p), 9 * SLAB);
    assert_int_equal(pool_take(p, &alice, 5 * SLAB, &device, &host, &e), DEV_FULL);
    pool_give(p, a, (struct mark){0});
    assert_int_equal(pool_used(p, NULL), 5 * SLAB);
    pool_free(p);
    assert_int_equal(slabs.held, 0);
}

/* --- pace --- */

/* A wait that lasts so long, from `now` on: how often it is looked, and how much of it is overslept. */
static int looks_of(struct pace *p, double *now, double lasts, double *overslept)
{
    const double begun = *now, until = begun + lasts;
    int looks = 1;
    for (pace_news(p, begun); *now < until; looks++) {
        const double sleep = pace_sleep(p, *now);
        assert_true(sleep >= 0 && sleep <= PACE_SLEEP);
        *now += sleep > 0 ? sleep : 0.1;
    }
    pace_waited(p, *now - begun);
    *overslept = *now - until;
    return looks;
}

/* Of whatever waits last, little is overslept, and there are not many more looks than parts; from the first on, and
 * when waits become shorter or longer. */
static void test_pace(void **state)
{
    static const double lasts[] = {1e3, 1e4, 300, 1.5e3};
    struct pace p = {0};
    double now = 1e6, overslept, mean = 0;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 10 * PACE_MEMORY; i++) {
            const int looks = looks_of(&p, &now, lasts[k], &overslept);
            const double longest = mean > lasts[k] ? mean : lasts[k];
            assert_true(overslept <= 1.1 * longest / PACE_PART);
            if (i > 8 * PACE_MEMORY) {
                assert_true(looks <= PACE_PART + 3);
                mean = lasts[k];
            }
        }
    (void)state;
}

/* Short waits are looked at without pause; no sleep is longer than the longest. */
static void test_pace_ends(void **state)
{
    struct pace p = {0};
    double now = 1e6, overslept;
    for (int i = 0; i < 10 * PACE_MEMORY; i++) {
        looks_of(&p, &now, PACE_PART * PACE_LEAST - 10, &overslept);
        assert_true(overslept <= 0.11);
    }
    for (int i = 0; i < 10 * PACE_MEMORY; i++)
        looks_of(&p, &now, 1e6, &overslept);
    assert_true(pace_sleep(&p, now) == PACE_SLEEP);
    (void)state;
}

/* --- devices --- */

enum { N = 1000, LINKS = 3 };

static const struct dev_ops *ops(void)
{
    return test_dev->ops;
}

static void test_usage(void **state)
{
    struct dev_usage before, during, after;
    struct lane *lane, *other;
    void *a, *b, *mapped;
    ok(ops()->lane_new(test_dev, &lane, &oops));
    ok(ops()->lane_new(test_dev, &other, &oops));
    ops()->usage(test_dev, lane, &before);
    assert_int_equal(before.lane, 0);
    ok(ops()->alloc(test_dev, lane, DEV_MEMORY, 100000, &a, NULL, &oops));
    ok(ops()->alloc(test_dev, NULL, DEV_MEMORY, 300000, &b, NULL, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MAPPED, 50000, &mapped, NULL, &oops));
    ops()->usage(test_dev, lane, &during);
    assert_in_range(during.lane, 100000, 100000 + POOL_ALIGN);
    assert_in_range(during.used - before.used, 400000, 400000 + 2 * POOL_ALIGN);
    assert_true(during.total == before.total && during.free < during.total);
    ops()->usage(test_dev, other, &after);
    assert_int_equal(after.lane, 0);
    ops()->free(test_dev, DEV_MAPPED, mapped);
    ops()->free(test_dev, DEV_MEMORY, a);
    ops()->free(test_dev, DEV_MEMORY, b);
    ops()->free(test_dev, DEV_MEMORY, NULL);
    ops()->usage(test_dev, lane, &after);
    assert_int_equal(after.lane, 0);
    assert_int_equal(after.used, before.used);
    ops()->lane_free(test_dev, lane);
    ops()->lane_free(test_dev, other);
}

/* What does not fit is no failure: the device works on, and the figures are told. */
static void test_out_of_memory(void **state)
{
    struct dev_usage usage, after;
    struct err e = {0};
    char says[100];
    void *device;
    ops()->usage(test_dev, NULL, &usage);
    assert_int_equal(ops()->alloc(test_dev, NULL, DEV_MEMORY, 2 * usage.total, &device, NULL, &e), DEV_FULL);
    snprintf(says, sizeof says, "of %zu", usage.total);
    assert_says(&e, ERR_MEMORY, says);
    assert_says(&e, ERR_MEMORY, "are free");
    ops()->usage(test_dev, NULL, &after);
    assert_int_equal(after.used, usage.used);
    assert_false(dev_lost(test_dev));
    free(expected_state(N, LINKS, 5));
}

/* Given back while the lane's work still uses it: it stays until that has ended. */
static void test_free_in_flight(void **state)
{
    struct toy t;
    struct tape tape = {0};
    struct graph *graph = NULL;
    ok(toy_open(&t, test_dev, N, LINKS, &oops));
    toy_emit(&t, &tape);
    ok(ops()->build(test_dev, t.lane, &tape, 10, &graph, &oops));
    ok(ops()->replay(test_dev, t.lane, graph, 20, &oops));
    ops()->free(test_dev, DEV_MEMORY, t.arena);
    t.arena = NULL;
    ok(toy_wait(&t, 200, &oops));
    ops()->drop(test_dev, graph);
    tape_free(&tape);
    toy_close(&t);
}

static void test_copy_async(void **state)
{
    struct lane *lane;
    struct mark mark;
    void *device, *there, *back, *there_host, *back_host;
    ok(ops()->lane_new(test_dev, &lane, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MEMORY, N, &device, NULL, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MAPPED, N, &there, &there_host, &oops));
    ok(ops()->alloc(test_dev, lane, DEV_MAPPED, N, &back, &back_host, &oops));
    for (unsigned char round = 1; round <= 20; round++) {
        memset(there_host, round, N);
        ok(ops()->copy_async(test_dev, lane, device, there_host, N, &oops));
        ok(ops()->copy_async(test_dev, lane, back_host, device, N, &oops));
        ok(ops()->mark(test_dev, lane, &mark, &oops));
        ops()->watch(test_dev, lane, mark.word, mark.target);
        while (!mark_passed(&mark))
            ok(ops()->poll(test_dev, 1000, &oops));
        assert_memory_equal(back_host, there_host, N);
    }
    ok(ops()->poll(test_dev, -1, &oops)); /* nothing is watched any more */
    ops()->free(test_dev, DEV_MAPPED, there);
    ops()->free(test_dev, DEV_MAPPED, back);
    ops()->free(test_dev, DEV_MEMORY, device);
    ops()->lane_free(test_dev, lane);
}

/* A watched word that does not come: poll gives up in time. */
static void test_watch_timeout(void **state)
{
    uint64_t never = 0;
    struct lane *lane;
    ok(ops()->lane_new(test_dev, &lane, &oops));
    ops()->watch(test_dev, lane, &never, 1);
    ok(ops()->poll(test_dev, 0, &oops));
    ok(ops()->poll(test_dev, 20, &oops));
    never = 1;
    ok(ops()->poll(test_dev, -1, &oops));
    ops()->lane_free(test_dev, lane);
}

/* The device is lost: every call says why, and that it is not the replica's fault. */
static void test_lost(void **state)
{
    struct dev *d = dev_fault_new(test_dev);
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    ok(toy_open(&t, d, N, LINKS, &oops));
    struct recorder_setup setup = toy_setup(&t, 10);
    ok(recorder_new(&r, &setup, &oops));
    ok(recorder_submit(r, 30, &oops));
    assert_false(dev_lost(d));
    dev_fault_lose(d, 0);
    assert_int_equal(recorder_submit(r, 1, &e), -ERR_DEVICE);
    /* The replay, or the copy before it if it is heard. */
    assert_says(&e, ERR_DEVICE, "planted loss of the device in ");
    assert_says(&e, ERR_DEVICE, " (call 0)");
    assert_true(dev_lost(d));
    assert_int_equal(d->ops->poll(d, 0, &e), -ERR_DEVICE);
    assert_says(&e, ERR_DEVICE, d->lost.msg);
    recorder_free(r);
    toy_close(&t);
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
}

int run_memory_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_blocks),
        cmocka_unit_test(test_pool_reuse_waits_for_the_mark),
        cmocka_unit_test(test_pool_full),
        cmocka_unit_test(test_pool_without_slabs),
        cmocka_unit_test(test_pool_long_blocks),
        cmocka_unit_test(test_pool_growth),
        cmocka_unit_test(test_pool_growth_full),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_pace_ends),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_free_in_flight),
        cmocka_unit_test(test_copy_async),
        cmocka_unit_test(test_watch_timeout),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
