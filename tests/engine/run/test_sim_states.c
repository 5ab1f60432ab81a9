/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of a replica: those that its work and its memory go through while it runs, and moves that cannot come.
 */
#undef NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/moves.h"
#include "tests/lib/toy.h"

#define WORK "work of replica"
#define MEMORY "memory of replica"

static void assert_went(const char *kind, const char *expected)
{
    char moves[400];
    moves_end(kind, moves, sizeof moves);
    assert_string_equal(moves, expected);
}

static void assert_memory(const struct sim *s, const char *expected)
{
    assert_string_equal(sm_name(&s->memory), expected);
}

/* Until its state has arrived. */
static void fetch(struct sim *s)
{
    struct err e = {0};
    assert_int_equal(sim_fetch(s, &e), 0);
    assert_int_equal(sim_wait(s, &e), 0);
}

static void its_memory(void **state)
{
    struct system *sys = toy_water(6);
    const struct settings set = toy_settings();
    struct buf blob = {0};
    struct err e = {0};
    moves_begin();
    struct toy t = toy_open(sys, &set, 0);
    assert_went(MEMORY, "edited");
    moves_begin();
    toy_run(t.sim, SIM_STEP, 3);
    assert_went(MEMORY, "left ready");
    moves_begin();
    fetch(t.sim);
    fetch(t.sim);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0); /* it has been fetched */
    assert_went(MEMORY, "ready+fetched ready+fetched");
    moves_begin();
    toy_run(t.sim, SIM_STEP, 3);
    toy_run(t.sim, SIM_SAMPLE, 1);
    fetch(t.sim);
    fetch(t.sim);
    assert_went(MEMORY, "ready left left+fetched left+fetched");
    moves_begin();
    toy_run(t.sim, SIM_SAMPLE, 1);
    fetch(t.sim);
    toy_run(t.sim, SIM_STEP, 1);
    sim_salt(t.sim, 1);
    sim_salt(t.sim, 2);
    assert_went(MEMORY, "left left+fetched ready edited edited");
    moves_begin();
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    fetch(t.sim);
    sim_seal(&blob);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    assert_went(MEMORY, "left left+fetched edited");
    buf_free(&blob);
    toy_close(&t);
    toy_system_free(sys);
}

/* What is done between works: observables change hands, the mesh goes another way. */
static void its_memory_between_works(void **state)
{
    struct sim s = {0};
    sim_states_init(&s);
    sim_memory_fetched(&s);
    assert_memory(&s, "left+fetched");
    sim_memory_unready(&s);
    assert_memory(&s, "left+fetched");
    sim_memory_changed(&s);
    assert_memory(&s, "left");
    sim_memory_changed(&s);
    assert_memory(&s, "left");
    sim_memory_worked(&s, true);
    sim_memory_fetched(&s);
    assert_memory(&s, "ready+fetched");
    sim_memory_changed(&s);
    assert_memory(&s, "ready");
    sim_memory_fetched(&s);
    sim_memory_unready(&s);
    assert_memory(&s, "left+fetched");
    sim_memory_worked(&s, true);
    sim_memory_unready(&s);
    assert_memory(&s, "left");
}

static void its_work(void **state)
{
    struct system *sys = toy_water(6);
    const struct settings set = toy_settings();
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    const struct err why = {.code = ERR_DEVICE};
    moves_begin();
    toy_run(t.sim, SIM_STEP, 1);
    assert_went(WORK, "underway told");
    moves_begin();
    for (int k = 0; k < 3; k++)
        assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), 0);
    for (int k = 0; k < 3; k++) {
        while (!sim_done(t.sim))
            assert_int_equal(t.dev->ops->poll(t.dev, 100, &e), 0);
        assert_int_equal(sim_outcome(t.sim, &e), SIM_OK);
    }
    assert_went(WORK, "underway underway underway underway underway told");
    moves_begin();
    sim_fail(t.sim, &why);
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), -ERR_DEVICE);
    assert_int_equal(sim_outcome(t.sim, &e), -ERR_DEVICE);
    assert_went(WORK, "failed failed failed");
    toy_close(&t);
    toy_system_free(sys);
}

static void hear(void *s)
{
    sim_count_heard(s);
}

static void work(void *s)
{
    sim_memory_worked(s, true);
}

static void fetched(void *s)
{
    sim_memory_fetched(s);
}

static void fail_without_reason(void *s)
{
    sim_fail(s, &(struct err){0});
}

static void moves_that_cannot_come(void **state)
{
    struct sim s = {0};
    assert_table(&sim_work_states,
                 "told>underway told>failed underway>told underway>underway underway>failed failed>failed");
    assert_table(&sim_memory_states,
                 "edited>edited edited>left left>edited left>left left>left+fetched left>ready left+fetched>edited "
                 "left+fetched>left left+fetched>left+fetched left+fetched>ready ready>edited ready>left ready>ready "
                 "ready>ready+fetched ready+fetched>edited ready+fetched>left ready+fetched>left+fetched "
                 "ready+fetched>ready ready+fetched>ready+fetched");
    sim_states_init(&s);
    assert_child(hear, &s, SIGABRT, "told -> told (0 -> 0): not an allowed move");
    assert_child(fail_without_reason, &s, SIGABRT, "told -> failed (0 -> 2): the invariant");
    sim_memory_edited(&s);
    assert_child(work, &s, SIGABRT, "edited -> ready (0 -> 3): not an allowed move");
    assert_child(fetched, &s, SIGABRT, "edited -> left+fetched (0 -> 2): not an allowed move");
    sim_count_submitted(&s);
    sim_fail(&s, &(struct err){.code = ERR_DEVICE});
    assert_child(hear, &s, SIGABRT, "failed -> told (2 -> 0): not an allowed move");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(its_memory), cmocka_unit_test(its_memory_between_works),
                                       cmocka_unit_test(its_work), cmocka_unit_test(moves_that_cannot_come)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
