/* SPDX-License-Identifier: Apache-2.0
 *
 * The replica's story and the runner, over a simulation that is a hash: whatever happens on the way, the files at the
 * end are those of an undisturbed run.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/ctl.h"
#include "tests/unit/replica_play.h"

static void a_whole_story(void **state)
{
    (void)state;
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.steps, 455);
    assert_int_equal(t.step, 455);
    /* After minimize; at 30 and at its end in the first equilibration; likewise 30, 50; 30 .. 180, 200; 30, 45. */
    assert_int_equal(t.segments, 1 + 2 + 2 + 7 + 2);
    struct buf files[FILES] = {0};
    fake_files_read(files, 0);
    double time, last = -1;
    int rows = 0;
    char *line = strchr(files[0].data, '\n') + 1;
    assert_memory_equal(files[0].data, "# window 0 pV\n", 14);
    for (; *line; line = strchr(line, '\n') + 1, rows++) {
        assert_int_equal(sscanf(line, "%lf", &time), 1);
        assert_true(rows || time == 0);
        assert_true(time > last);
        last = time;
    }
    assert_int_equal(rows, 21 + 9);
    assert_memory_equal(&last, (&(double){0.49}), sizeof last);
    assert_non_null(strstr(files[1].data, "# energies\n-0.1600 "));
    assert_non_null(strstr(files[1].data, "\n-0.1000 ")); /* the end of the first equilibration */
    assert_non_null(strstr(files[1].data, "\n0.0000 "));
    rows = 0;
    for (line = files[2].data; *line; line = strchr(line, '\n') + 1)
        rows++;
    assert_int_equal(rows, 5 + 2);
    assert_memory_equal(files[3].data, "test, window 0, t= 0.49000 ", 27);
    fake_files_free(files);
}

static void a_finished_replica_ends_at_once(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    run();
    fake_files_read(wanted, 0);
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.segments, 0);
    assert_int_equal(t.step, 455);
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Volume moves that find no room are told of once, and at the end of the stage with all of them, however often it is
 * interrupted; few are not. */
static void a_narrow_box(void **state)
{
    (void)state;
    fake.narrow = 10;
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 2);
    assert_string_equal(
        t.last_event,
        "narrow: the box is too narrow for its pressure: in all of this stage, 8 of 8 volume moves (100 %) were "
        "refused, for it is 1.85 nm wide now and would have become narrower than the 1.8 nm that its cut-off needs; "
        "its density stays too low then: expected a larger box or a shorter cut-off");
    fake_folder_empty();
    int told = 0, parts = 0;
    for (t = (struct told){.end = REPORT_STOPPED}; t.end != REPORT_DONE; parts++) {
        t = (struct told){.stop_after_calls = 30};
        run_replicas(&t, 1);
        told += t.events;
    }
    assert_true(parts > 3);
    assert_int_equal(told, 2);
    fake_folder_empty();
    fake.narrow = 4;
    assert_int_equal(run().events, 0);
}

/* A target that becomes later, after the end or before it, by as much as one likes and twice: the files are those of a
 * run whose spec says so. */
static void a_later_target(void **state)
{
    (void)state;
    static const uint64_t ends[][3] = {{455, 501, 620}, {455, 456, 620}, {470, 590, 620}, {620, 620, 620}};
    struct buf wanted[FILES] = {0};
    const uint64_t said = protocol[4].steps;
    protocol[4].steps += 620 - 455;
    undisturbed(wanted);
    protocol[4].steps = said;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int k = 0; k < 3; k++) {
            asked_target = ends[i][k];
            struct told t = run();
            assert_int_equal(t.end, REPORT_DONE);
            assert_int_equal(t.step, ends[i][k]);
            assert_int_equal(t.steps, ends[i][k]);
        }
        expect_files(wanted);
    }
    asked_target = 0;
    fake_files_free(wanted);
}

/* A target that lies before what was done already: it ends where it is, with its final files. */
static void a_target_that_is_passed(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    asked_target = 620;
    undisturbed(wanted);
    assert_int_equal(run().end, REPORT_DONE);
    asked_target = 500;
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.step, 620);
    expect_files(wanted);
    fake_files_free(wanted);
    /* In the middle of the last stage, too: the same as one whose target that was. */
    for (int calls = 40; calls < 400; calls += 7) {
        asked_target = 620;
        t = (struct told){.target = asked_target, .stop_after_calls = calls};
        run_replicas(&t, 1);
        if (t.end == REPORT_STOPPED && t.step > 410 + 1) {
            struct buf got[FILES] = {0};
            asked_target = t.step - 1;
            struct told last = run();
            assert_int_equal(last.end, REPORT_DONE);
            assert_int_equal(last.step, t.step);
            fake_files_read(got, 0);
            fake_folder_empty();
            asked_target = t.step;
            undisturbed(wanted);
            for (int i = 0; i < FILES; i++)
                assert_string_equal(got[i].data, wanted[i].data);
            fake_files_free(got);
            fake_files_free(wanted);
            calls += 60;
        }
        fake_folder_empty();
    }
    asked_target = 0;
}

/* One before the last stage is of no use to anybody. */
static void a_target_too_early(void **state)
{
    (void)state;
    asked_target = 410;
    struct told t = run();
    asked_target = 0;
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_CONFLICT);
}

static bool comes_to_its_end(const void *nothing)
{
    (void)nothing;
    return run().end == REPORT_DONE;
}

static bool survives(int k)
{
    return fake_survives(k, comes_to_its_end, NULL);
}

static void killed_at_every_call(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    int k = 1;
    for (; !survives(k); k++) {
        assert_true(k < 2000);
        struct told t = run();
        assert_int_equal(t.end, REPORT_DONE);
        expect_files(wanted);
    }
    assert_true(k > 100); /* that many places it died at */
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Those calls of it that come after the first end: a target that becomes later there loses nothing and doubles nothing.
 */
static void killed_on_the_way_to_a_later_target(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    asked_target = 520;
    undisturbed(wanted);
    int k = 1;
    for (bool alive = false; !alive; k++) {
        assert_true(k < 1000);
        asked_target = 0;
        assert_int_equal(run().end, REPORT_DONE);
        asked_target = 520;
        alive = survives(k);
        if (!alive)
            assert_int_equal(run().end, REPORT_DONE);
        expect_files(wanted);
    }
    asked_target = 0;
    assert_true(k > 20);
    fake_files_free(wanted);
}

static void killed_over_and_over(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    srand(20260);
    for (int round = 0; round < 10; round++) {
        while (!survives(1 + rand() % 40))
            ;
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* By the clock, they come at other steps in every run. */
static void checkpoints_at_any_time(void **state)
{
    (void)state;
    static const double seconds[] = {0, 1e-5, 1e-4, 1e-3, 60};
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    srand(20261);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        for (int round = 0; round < 3; round++) {
            fake.spec.checkpoint_every = 0;
            fake.spec.checkpoint_seconds = seconds[i];
            while (!survives(1 + rand() % 400))
                ;
            expect_files(wanted);
        }
    for (int round = 0; round < 10; round++) {
        do
            fake.spec.checkpoint_every = (uint64_t)(1 + rand() % 60);
        while (!survives(1 + rand() % 100));
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

static void stopped_and_continued(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    int stops = 0;
    for (int calls = 1; calls < 120; calls += 2) {
        struct told t = {.stop_after_calls = calls};
        fake.slowness = 1;
        run_replicas(&t, 1);
        stops += t.end == REPORT_STOPPED;
        while (t.end == REPORT_STOPPED) {
            t = (struct told){.stop_after_calls = calls + 12};
            run_replicas(&t, 1);
        }
        assert_int_equal(t.end, REPORT_DONE);
        expect_files(wanted);
    }
    assert_true(stops > 5);
    fake_files_free(wanted);
}

static void grown_lists_change_nothing(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    for (fake.grow_at = 1; fake.grow_at < 360; fake.grow_at += 13) {
        struct told t = run();
        assert_int_equal(t.end, REPORT_DONE);
        assert_int_equal(t.events, fake.grow_at <= 355);
        expect_files(wanted);
    }
    assert_int_equal(fake.most_queued, SIM_REPORTS - 1); /* what was behind was done again, and done once */
    fake_files_free(wanted);
}

/* Timesteps come in whole cycles of the mesh, though a stop, a checkpoint by the clock or a short list comes at any
 * time: the simulation ends the program where they do not. */
static void cycles_are_whole(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    fake.spec.settings.integrator.mesh_every = 5;
    fake.spec.checkpoint_every = 0;
    for (int calls = 30; calls < 80; calls += 7) {
        struct told t = {.end = REPORT_STOPPED};
        fake.grow_at = (uint64_t)calls * 5;
        while (t.end == REPORT_STOPPED) {
            t = (struct told){.stop_after_calls = calls};
            run_replicas(&t, 1);
        }
        assert_int_equal(t.end, REPORT_DONE);
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* Without a salt it blows up again and again at the same step; with one it goes on from the checkpoint before, and the
 * salt stays its own when it is killed and started again, told or not. */
static void salted_after_a_failure(void **state)
{
    (void)state;
    struct buf plain[FILES] = {0}, wanted[FILES] = {0};
    undisturbed(plain);
    fake.blow_up_at = 223;
    srand(20262);
    for (int round = 0; round < 8; round++) {
        asked_salt = 0;
        assert_int_equal(run().end, REPORT_FAILED);
        struct told again = run();
        assert_int_equal(again.code, ERR_NONFINITE);
        assert_in_range(again.step, 320, 322); /* 100 of the minimization, and the last whole batch: by the clock */
        asked_salt = 1;
        if (round == 0) {
            struct told t = run();
            assert_int_equal(t.end, REPORT_DONE);
            assert_int_equal(t.events, 1);
            assert_non_null(strstr(t.last_event, "salt: goes on from step 170 with other random numbers (salt 1)"));
            fake_files_read(wanted, 0);
            assert_string_not_equal(wanted[0].data, plain[0].data);
            fake_folder_empty();
            continue;
        }
        survives(8 + rand() % 60);
        while (!survives(2 + rand() % 60))
            asked_salt = (uint32_t)(rand() % 2) & asked_salt;
        expect_files(wanted);
    }
    asked_salt = 0;
    fake_files_free(plain);
    fake_files_free(wanted);
}

static void one_blows_up_alone(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0}, got[FILES] = {0};
    undisturbed(wanted);
    fake.blow_up_at = 123;
    fake.blow_up_replica = 1;
    fake.slowness = 2;
    struct told t[3] = {0};
    run_replicas(t, 3);
    assert_int_equal(t[0].end, REPORT_DONE);
    assert_int_equal(t[1].end, REPORT_FAILED);
    assert_int_equal(t[1].code, ERR_NONFINITE);
    assert_non_null(strstr(t[1].message, "the system blew up in stage "));
    assert_non_null(strstr(t[1].message,
                           ": the force on atom 1 is not finite; the coordinates of that moment are "
                           "in lambda_01/blowup.gro. Usual causes: a timestep too long"));
    assert_int_equal(t[2].end, REPORT_DONE);
    fake_files_read(got, 2);
    assert_string_not_equal(got[0].data, wanted[0].data);
    fake_files_free(got);
    expect_files(wanted); /* window 0's bytes are those of a run without neighbours */
    fake_files_free(wanted);
}

static void a_window_that_is_not_there(void **state)
{
    (void)state;
    fake.spec.settings.alchemy.nwindows = 1;
    struct told t[2] = {0};
    run_replicas(t, 2);
    assert_int_equal(t[0].end, REPORT_DONE);
    assert_int_equal(t[1].end, REPORT_FAILED);
    assert_int_equal(t[1].code, ERR_PROTOCOL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_story, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_finished_replica_ends_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_narrow_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_later_target, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_target_that_is_passed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_target_too_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_at_every_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_on_the_way_to_a_later_target, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_over_and_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checkpoints_at_any_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopped_and_continued, set_up, tear_down),
        cmocka_unit_test_setup_teardown(grown_lists_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cycles_are_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(salted_after_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_blows_up_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_that_is_not_there, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
