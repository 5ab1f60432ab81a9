/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include <signal.h>

#include "engine/base/log.h"
#include "engine/base/sm.h"
#include "tests/lib/moves.h"

enum { IDLE, RUNNING, DONE };

struct job {
    struct sm sm;
    int worker; /* > 0 while running */
};

static bool holds(const void *owner, uint32_t state)
{
    const struct job *j = owner;
    return (state == RUNNING) == (j->worker > 0);
}

static const struct sm_state states[] = {
    [IDLE] = {"idle", SM_TO(RUNNING) | SM_TO(DONE)},
    [RUNNING] = {"running", SM_TO(IDLE) | SM_TO(DONE)},
    [DONE] = {"done", 0},
};
static const struct sm_kind kind = {"job", states, 3, holds};

static void test_moves(void **state)
{
    struct job j = {0};
    sm_init(&j.sm, &kind, &j, IDLE);
    assert_string_equal(sm_name(&j.sm), "idle");
    assert_true(sm_may(&j.sm, RUNNING));
    assert_true(sm_may(&j.sm, DONE));
    assert_false(sm_may(&j.sm, IDLE));
    assert_false(sm_may(&j.sm, 3));
    assert_false(sm_may(&j.sm, 70));
    j.worker = 4;
    sm_move(&j.sm, RUNNING);
    assert_string_equal(sm_name(&j.sm), "running");
    j.worker = 0;
    sm_move(&j.sm, DONE);
    assert_int_equal(j.sm.state, DONE);
    for (uint32_t to = 0; to < 4; to++)
        assert_false(sm_may(&j.sm, to));
}

static void move_after_end(void *arg)
{
    struct job j = {0};
    sm_init(&j.sm, &kind, &j, DONE);
    sm_move(&j.sm, IDLE);
}

static void move_against_invariant(void *arg)
{
    struct job j = {0};
    sm_init(&j.sm, &kind, &j, IDLE);
    sm_move(&j.sm, RUNNING);
}

static void start_against_invariant(void *arg)
{
    struct job j = {.worker = 1};
    sm_init(&j.sm, &kind, &j, IDLE);
}

static void start_unknown(void *arg)
{
    struct job j = {0};
    sm_init(&j.sm, &kind, &j, 3);
}

static void trace(void *arg)
{
    struct job j = {0};
    log_setup("test", LOG_DEBUG);
    sm_init(&j.sm, &kind, &j, IDLE);
    sm_move(&j.sm, DONE);
}

static void test_refused(void **state)
{
    assert_child(move_after_end, NULL, SIGABRT, "done -> idle (2 -> 0): not an allowed move");
    assert_child(move_against_invariant, NULL, SIGABRT, "idle -> running (0 -> 1): the invariant of the new state");
    assert_child(start_against_invariant, NULL, SIGABRT, "the invariant of the new state does not hold");
    assert_child(start_unknown, NULL, SIGABRT, "no such state");
}

static void test_trace(void **state)
{
    assert_child(trace, NULL, 0, "idle -> done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
