/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch of a gang, by the CUDA program run on the CPU (tests/lib/emulate): what would be launched is what was,
 * what the device ran is what was submitted, or those who were in it say what differs and stop, and nobody else does.
 */
#undef NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cuda/nonbonded.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/mixture.h"
#include "tests/lib/moves.h"
#include "tests/lib/toy.h"

enum { ATOMS = 6, STEPS = 4, TRIES = 20 };

/* ---- a program whose launches change when they are told to ---- */

enum plant { PLANT_NONE, PLANT_GRID, PLANT_BLOCK, PLANT_ROWS, PLANT_OUTSIDE, PLANT_NEED };

static enum plant plant;

static uint32_t planted_need(const struct sim *s)
{
    return tiny_gang.shared_bytes(s) + (plant == PLANT_NEED ? 64 : 0);
}

static void planted_emit(const void *rows, void *heard, const struct gang_shape *shape, struct tape *t)
{
    tiny_gang.emit(rows, heard, shape, t);
    struct launch *l = &t->launches[t->count - 1];
    struct args_tiny *a = (struct args_tiny *)(t->args + l->args_offset);
    l->grid[0] += plant == PLANT_GRID;
    l->block[0] /= plant == PLANT_BLOCK ? 2 : 1;
    if (plant == PLANT_ROWS)
        a->rows = heard;
    if (plant == PLANT_OUTSIDE)
        a->heard = t;
}

struct gang_test {
    struct dev *inner, *dev;
    struct system *sys;
    struct settings set;
    struct program program;
    struct gang_kind kind;
    struct model *model;
};

static struct gang_test opened(void)
{
    struct gang_test t = {.sys = mixture_first(ATOMS), .set = toy_settings()};
    struct err e = {0};
    if (emulate_open(&t.inner, "cpu:2", NULL, *cuda_program.kernels, &e))
        fail_msg("%s", e.msg);
    t.dev = dev_fault_new(t.inner);
    return t;
}

/* Once the settings are as the test wants them. */
static void begin(struct gang_test *t)
{
    struct err e = {0};
    if (model_new(&t->model, t->dev, t->sys, &t->set, &e))
        fail_msg("%s", e.msg);
    t->kind = tiny_gang;
    t->kind.emit = planted_emit;
    t->kind.shared_bytes = planted_need;
    t->program = cuda_program;
    t->program.gang = &t->kind;
    t->model->program = &t->program;
    plant = PLANT_NONE;
}

static struct sim *member(const struct gang_test *t, uint32_t replica)
{
    struct sim *s;
    struct err e = {0};
    if (sim_new(&s, t->model, 0, replica, &e) || sim_thermalize(s, &e))
        fail_msg("%s", e.msg);
    return s;
}

static void closed(struct gang_test *t)
{
    assert_null(t->dev->collector);
    model_free(t->model);
    assert_int_equal(dev_fault_alive(t->dev), 0);
    dev_close(t->dev);
    dev_close(t->inner);
    toy_system_free(t->sys);
}

static void *state_of(struct sim *s)
{
    double(*x)[3] = xcalloc(2 * ATOMS, sizeof *x);
    struct err e = {0};
    if (sim_get(s, x, x + ATOMS, NULL, &e))
        fail_msg("%s", e.msg);
    return x;
}

/* The launch has ended whole, which the host may see later than the replica's own end. */
static void settle(const struct sim *s)
{
    struct err e = {0};
    if (dev_fault_settle(s->model->dev, &e))
        fail_msg("%s", e.msg);
}

/* What was heard is told when the next step is asked for: one after the other until it is. */
static int steps_until_told(struct sim *s, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < TRIES && !rc; k++) {
        rc = toy_try(s, SIM_STEP, 1, e);
        settle(s);
    }
    return rc;
}

/* ---- what would be launched ---- */

/* All that wait fail, as whatever they are members of would have gone; those who come after them begin anew. */
static void assert_refused(enum plant what, const char *says)
{
    struct gang_test t = opened();
    struct err e = {0};
    begin(&t);
    struct sim *s[2] = {member(&t, 0), member(&t, 1)};
    for (int k = 0; k < 2; k++)
        toy_run(s[k], SIM_STEP, STEPS);
    plant = what;
    for (int k = 0; k < 2; k++)
        assert_int_equal(sim_submit(s[k], SIM_STEP, STEPS, &e), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sim_get(s[k], NULL, NULL, NULL, &e), -ERR_DRIFT);
        assert_string_equal(e.msg, says);
        assert_int_equal(sim_step_number(s[k]), STEPS);
    }
    plant = PLANT_NONE;
    assert_int_equal(sim_submit(s[0], SIM_STEP, STEPS, &e), -ERR_DRIFT); /* for ever */
    struct sim *next = member(&t, 2);
    toy_run(next, SIM_STEP, STEPS);
    sim_free(next);
    for (int k = 0; k < 2; k++)
        sim_free(s[k]);
    closed(&t);
}

static void test_shape(void **state)
{
    assert_refused(PLANT_GRID, "launch of a gang: launch 0 (tiny); grid was 1x1x1, is 2x1x1");
    assert_refused(PLANT_BLOCK, "launch of a gang: launch 0 (tiny); block was 512x1x1, is 256x1x1");
}

static void test_argument(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    begin(&t);
    struct sim *s = member(&t, 0);
    toy_run(s, SIM_STEP, STEPS);
    plant = PLANT_ROWS;
    assert_int_equal(toy_try(s, SIM_STEP, STEPS, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "launch of a gang: launch 0 (tiny); rows was 0x"));
    assert_non_null(strstr(e.msg, ", is 0x"));
    sim_free(s);
    closed(&t);
}

/* From the first launch on, so that there is nothing to compare it with. */
static void test_outside(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    begin(&t);
    struct sim *s = member(&t, 0);
    plant = PLANT_OUTSIDE;
    assert_int_equal(toy_try(s, SIM_STEP, STEPS, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "launch of a gang: launch 0 (tiny): heard is 0x"));
    assert_non_null(strstr(e.msg, "outside the memory"));
    sim_free(s);
    closed(&t);
}

static void test_need(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    char says[100];
    begin(&t);
    struct sim *s = member(&t, 0);
    const uint32_t need = planted_need(s);
    toy_run(s, SIM_STEP, STEPS);
    plant = PLANT_NEED;
    assert_int_equal(sim_submit(s, SIM_STEP, STEPS, &e), -ERR_DRIFT);
    snprintf(says, sizeof says, "member of a gang (tiny); shared bytes was %u, is %u", need, need + 64);
    assert_string_equal(e.msg, says);
    sim_free(s);
    closed(&t);
}

/* ---- what the device ran ---- */

static struct args_tiny *gang_args(struct tape *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->launches[i].kernel == KERNEL_tiny)
            return (struct args_tiny *)(t->args + t->launches[i].args_offset);
    return NULL;
}

static unsigned char copied_rows[64 * GANG_ROW_BYTES];

/* The same rows, of another table. */
static void change_rows(struct tape *t)
{
    struct args_tiny *a = gang_args(t);
    if (!a)
        return;
    memcpy(copied_rows, a->rows, t->launches[0].grid[0] * sizeof(struct tiny_row));
    a->rows = copied_rows;
}

static void change_shared(struct tape *t)
{
    if (gang_args(t))
        t->launches[0].shared_bytes += 64;
}

static void change_silent(struct tape *t)
{
    if (gang_args(t))
        gang_args(t)->head.echo = NULL;
}

/* Two who go in the launch that is changed, and one who goes in another. */
static void assert_heard(void (*change)(struct tape *), const char *says, const char *more)
{
    struct gang_test t = opened();
    struct err e = {0};
    begin(&t);
    struct sim *s[2] = {member(&t, 0), member(&t, 1)}, *other = member(&t, 2), *alone = member(&t, 2);
    dev_fault_change(t.dev, change);
    for (int k = 0; k < 2; k++)
        assert_int_equal(sim_submit(s[k], SIM_STEP, STEPS, &e), 0);
    engine_flush(t.dev);
    dev_fault_change(t.dev, NULL);
    toy_run(other, SIM_STEP, STEPS);
    for (int k = 0; k < 2; k++) {
        int rc = sim_get(s[k], NULL, NULL, NULL, &e); /* waits */
        if (rc == 0)
            rc = sim_outcome(s[k], &e);
        if (rc == 0)
            rc = steps_until_told(s[k], &e);
        assert_int_equal(rc, -ERR_DRIFT);
        assert_non_null(strstr(e.msg, "launch of a gang: what the device ran is not the tape: "));
        assert_non_null(strstr(e.msg, says));
        assert_non_null(strstr(e.msg, more));
    }
    for (int k = 0; k < STEPS; k++)
        toy_run(other, SIM_STEP, 1);
    toy_run(alone, SIM_STEP, 2 * STEPS);
    void *a = state_of(other), *b = state_of(alone);
    assert_memory_equal(a, b, 2 * ATOMS * 3 * sizeof(double));
    free(a);
    free(b);
    for (int k = 0; k < 2; k++)
        sim_free(s[k]);
    sim_free(other);
    sim_free(alone);
    closed(&t);
}

static void test_heard(void **state)
{
    assert_heard(change_rows, "step 0 of 1: launch 0 (tiny); rows was 0x", ", is 0x");
    assert_heard(change_shared, "step 0 of 1: launch 0 (tiny); shared bytes was ", ", is ");
    assert_heard(change_silent, "launch 0 (tiny) ran 0 times, not 1", "");
}

/* A member's first launch is heard, and then one in so many of its steps, and the first after it was checked. */
static void test_how_often(void **state)
{
    for (int asked = 0; asked < 2; asked++) {
        struct gang_test t = opened();
        struct err e = {0};
        struct buf blob = {0};
        t.set.check_every = asked ? 0 : 5 * STEPS;
        begin(&t);
        struct sim *s = member(&t, 0);
        toy_run(s, SIM_STEP, STEPS);
        settle(s);
        dev_fault_change(t.dev, change_shared);
        for (int k = 0; k < 4; k++)
            toy_run(s, SIM_STEP, STEPS);
        settle(s);
        if (asked) {
            for (int k = 0; k < 4; k++)
                toy_run(s, SIM_STEP, STEPS);
            settle(s);
            assert_int_equal(sim_save(s, &blob, &e), 0);
        }
        assert_int_equal(steps_until_told(s, &e), -ERR_DRIFT);
        if (!asked)
            assert_int_equal(sim_step_number(s), STEPS + 5 * STEPS + 1);
        assert_non_null(strstr(e.msg, "launch 0 (tiny); shared bytes was "));
        sim_free(s);
        buf_free(&blob);
        closed(&t);
    }
}

/* Before its state is taken for good it is known what was heard, though others of the launch are still at it. */
static void test_saving(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    struct buf blob = {0};
    begin(&t);
    struct sim *s[2] = {member(&t, 0), member(&t, 1)};
    dev_fault_change(t.dev, change_shared);
    assert_int_equal(sim_submit(s[0], SIM_STEP, 1, &e), 0);
    assert_int_equal(sim_submit(s[1], SIM_STEP, 100, &e), 0);
    engine_flush(t.dev);
    while (!sim_done(s[0]))
        assert_int_equal(t.dev->ops->poll(t.dev, 100, &e), 0);
    assert_int_equal(sim_save(s[0], &blob, &e), -ERR_DRIFT);
    for (int k = 0; k < 2; k++)
        sim_free(s[k]);
    buf_free(&blob);
    closed(&t);
}

/* Those who leave before they know hold nobody up: a launch is heard in the same slot again. */
static void test_leaving(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    begin(&t);
    struct sim *stays = member(&t, 0); /* the gang is not made anew */
    for (uint32_t k = 1; k < 20; k++) {
        struct sim *s = member(&t, k);
        assert_int_equal(sim_submit(s, SIM_STEP, STEPS, &e), 0);
        engine_flush(t.dev);
        sim_free(s);
    }
    dev_fault_change(t.dev, change_shared);
    assert_int_equal(steps_until_told(stays, &e), -ERR_DRIFT);
    sim_free(stays);
    closed(&t);
}

/* ---- states of a member ---- */

static void test_states(void **state)
{
    struct gang_test t = opened();
    char moves[300];
    begin(&t);
    moves_begin();
    struct sim *s = member(&t, 0), *idle = member(&t, 1);
    for (int k = 0; k < 2; k++)
        toy_run(s, SIM_STEP, STEPS);
    sim_free(idle);
    sim_free(s);
    moves_end("member of gang", moves, sizeof moves);
    assert_string_equal(moves, "resting resting waiting launched resting waiting launched resting out out");
    closed(&t);
}

/* One that leaves while it waits, or while its launch is on its way. */
static void test_leaving_early(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    char moves[300];
    begin(&t);
    struct sim *s[2] = {member(&t, 0), member(&t, 1)};
    moves_begin();
    assert_int_equal(sim_submit(s[0], SIM_STEP, STEPS, &e), 0);
    sim_free(s[0]);
    assert_int_equal(sim_submit(s[1], SIM_STEP, STEPS, &e), 0);
    engine_flush(t.dev);
    sim_free(s[1]);
    moves_end("member of gang", moves, sizeof moves);
    assert_string_equal(moves, "waiting out waiting launched resting out");
    closed(&t);
}

/* What became of a launch is known at once or later. */
static void test_states_of_echo(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    struct buf blob = {0};
    char moves[300];
    t.set.check_every = 0;
    begin(&t);
    moves_begin();
    struct sim *s = member(&t, 0);
    toy_run(s, SIM_STEP, STEPS);
    assert_int_equal(sim_save(s, &blob, &e), 0); /* a check */
    assert_int_equal(sim_save(s, &blob, &e), 0);
    toy_run(s, SIM_STEP, STEPS);
    moves_end("echo of member", moves, sizeof moves);
    /* "due" stands for itself once a launch is over, whichever way it came. */
    const bool late = strncmp(moves, "awaited awaited+due due due awaited", 35) == 0;
    assert_true(late || strncmp(moves, "awaited quiet due due awaited", 29) == 0);
    sim_free(s);
    buf_free(&blob);
    closed(&t);
}

static void submit_again(void *s)
{
    struct err e = {0};
    sim_submit(s, SIM_STEP, STEPS, &e);
}

static void test_moves_refused(void **state)
{
    struct gang_test t = opened();
    struct err e = {0};
    assert_table(&gang_member_states,
                 "out>resting resting>out resting>waiting waiting>out waiting>launched "
                 "launched>resting");
    assert_table(&gang_echo_states,
                 "due>due due>awaited awaited>awaited+due awaited>quiet awaited+due>due "
                 "awaited+due>awaited+due quiet>due quiet>awaited");
    begin(&t);
    struct sim *s = member(&t, 0);
    assert_int_equal(sim_submit(s, SIM_STEP, STEPS, &e), 0);
    assert_child(submit_again, s, SIGABRT, "waiting -> waiting (2 -> 2): not an allowed move");
    sim_free(s);
    closed(&t);
}

/* ---- memory ---- */

static int (*given)(struct dev *, struct lane *, enum dev_memory, size_t, void **, void **, struct err *);
static int allocations; /* that there is memory for */

static int alloc_some(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                      struct err *e)
{
    if (allocations-- > 0)
        return given(d, lane, kind, bytes, device, host, e);
    err_set(e, ERR_MEMORY, "no memory for %zu bytes", bytes);
    return DEV_FULL;
}

/* Wherever memory ends, a member that is not made fails with ERR_MEMORY, and nothing is left of it. */
static void test_no_memory(void **state)
{
    struct gang_test t = opened();
    begin(&t);
    struct dev_ops ops = *t.dev->ops;
    const struct dev_ops *before = t.dev->ops;
    given = ops.alloc;
    ops.alloc = alloc_some;
    t.dev->ops = &ops;
    struct sim *s = NULL;
    for (int n = 0; !s; n++) {
        struct err e = {0};
        allocations = n;
        int rc = sim_new(&s, t.model, 0, 0, &e);
        if (rc != 0 && rc != -ERR_MEMORY)
            fail_msg("%d allocations: %d, %s", n, rc, e.msg);
    }
    t.dev->ops = before;
    sim_free(s);
    closed(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shape),         cmocka_unit_test(test_argument),
                                       cmocka_unit_test(test_outside),       cmocka_unit_test(test_need),
                                       cmocka_unit_test(test_heard),         cmocka_unit_test(test_how_often),
                                       cmocka_unit_test(test_saving),        cmocka_unit_test(test_leaving),
                                       cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_states),
                                       cmocka_unit_test(test_leaving_early), cmocka_unit_test(test_states_of_echo),
                                       cmocka_unit_test(test_moves_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
