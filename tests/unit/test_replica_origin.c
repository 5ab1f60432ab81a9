/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica that takes up what its window sampled before there were other windows, over a simulation that is a hash:
 * its rows are those of its frames, and interruptions change nothing.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/replica_task.h"
#include "tests/unit/fake_sim.h"

enum { FILES = FAKE_FILES, STEPS = 260, FRAME = 50, ROW = 10, MORE = 75 };

static struct stage protocol[] = {
    {.kind = STAGE_EQUILIBRATE, .timestep = 0.002, .steps = 60, .sample_every = 20},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 100, .sample_every = ROW, .frames_every = FRAME},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 100, .sample_every = ROW, .frames_every = FRAME},
};

static int set_up(void **state)
{
    (void)state;
    fake = (struct fake){.spec = {.name = "test",
                                  .stages = protocol,
                                  .nstages = (int)(sizeof protocol / sizeof *protocol),
                                  .checkpoint_every = 30,
                                  .settings = {.integrator = {.timestep = 0.002}, .alchemy = {.nwindows = 3}}},
                         .tuned_until = 60};
    return fake_folder_new();
}

static int tear_down(void **state)
{
    (void)state;
    return fake_folder_remove();
}

/* How it ended, and what was last told of an event of its own. */
static struct {
    enum report_kind end;
    uint64_t step;
    char event[1100];
} told;

static void hear(void *ctx, const struct replica *r, const struct replica_report *what)
{
    (void)ctx, (void)r;
    told.end = what->kind;
    told.step = what->step;
    if (what->kind == REPORT_EVENT)
        snprintf(told.event, sizeof told.event, "%.50s: %s", what->event, what->why->msg);
}

/* In lambda_00; stop: after so many calls into the simulation, 0: never. */
static enum report_kind run(const char *origin, uint64_t steps, int stop)
{
    struct models models = {.dev = &fake_dev};
    struct runner runner = {.dev = {&fake_dev}};
    struct err e = {0};
    assert(!jobs_new(&runner.jobs, &e));
    struct replica *r = replica_new(&(struct replica_setup){.models = &models,
                                                            .jobs = runner.jobs,
                                                            .directory = fake.directory,
                                                            .origin = origin,
                                                            .ladder = origin ? 2 : 1,
                                                            .steps = steps,
                                                            .report = hear});
    assert(!replica_task_add(&runner, r, &e));
    for (int before = fake.calls; runner.count;) {
        assert(!runner_turn(&runner, NULL, 0, -1, &e));
        if (stop && fake.calls - before >= stop && runner.count)
            replica_stop(r);
    }
    jobs_free(runner.jobs);
    return told.end;
}

/* What was sampled goes aside, as shoald does it. */
static void put_aside(void)
{
    char from[128], to[128];
    snprintf(from, sizeof from, "%s/lambda_00", fake.directory);
    snprintf(to, sizeof to, "%s/old", fake.directory);
    assert_int_equal(rename(from, to), 0);
}

static void forget_own(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s/lambda_00", fake.directory);
    assert_int_equal(system(command), 0);
}

static void expect_files(struct buf wanted[FILES])
{
    struct buf got[FILES] = {0};
    fake_files_read(got, 0);
    for (int i = 0; i < FILES; i++)
        assert_string_equal(got[i].data, wanted[i].data);
    fake_files_free(got);
    forget_own();
}

/* Every frame's row is the one that was written at its time, and of the others none is left; the rest of the files
 * stays. */
static void rows_of_frames(void **state)
{
    (void)state;
    struct buf old[FILES] = {0}, got[FILES] = {0};
    assert_int_equal(run(NULL, 0, 0), REPORT_DONE);
    fake_files_read(old, 0);
    put_aside();
    assert_int_equal(run("old", 0, 0), REPORT_DONE);
    assert_int_equal(told.step, STEPS);
    assert_string_equal(told.event, "frames: goes on from step 260, with 5 frames of old evaluated at all windows");
    fake_files_read(got, 0);
    for (int i = 1; i < FILES; i++)
        assert_string_equal(got[i].data, old[i].data);
    int rows = 0;
    char *line = strchr(got[0].data, '\n') + 1;
    for (char *end; *line; line = end, rows++) {
        char text[128];
        end = strchr(line, '\n') + 1;
        snprintf(text, sizeof text, "\n%.*s", (int)(end - line), line);
        assert_non_null(strstr(old[0].data, text));
        assert_true(strtod(line, NULL) == rows * FRAME * 0.002);
    }
    assert_int_equal(rows, 200 / FRAME + 1);
    fake_files_free(old);
    fake_files_free(got);
    fake_folder_empty();
}

static bool comes_to_its_end(const void *steps)
{
    return run("old", *(const uint64_t *)steps, 0) == REPORT_DONE;
}

/* From the end of what was to be done and from its middle, to a later end; what goes on is what would have been. */
static void interrupted_anywhere(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct buf whole[FILES] = {0}, wanted[FILES] = {0};
        assert_int_equal(run(NULL, STEPS + MORE, 0), REPORT_DONE);
        fake_files_read(whole, 0);
        forget_own();
        assert_int_equal(run(NULL, STEPS, first ? 60 : 0), first ? REPORT_STOPPED : REPORT_DONE);
        assert_true(told.step > 100);
        put_aside();
        assert_int_equal(run("old", STEPS + MORE, 0), REPORT_DONE);
        fake_files_read(wanted, 0);
        for (int i = 1; i < FILES; i++)
            assert_string_equal(wanted[i].data, whole[i].data);
        forget_own();
        int k = 1;
        for (bool alive = false; !alive; k++) {
            assert_true(k < 1000);
            alive = fake_survives(k, comes_to_its_end, &(uint64_t){STEPS + MORE});
            if (!alive)
                assert_int_equal(run("old", STEPS + MORE, 0), REPORT_DONE);
            expect_files(wanted);
        }
        assert_true(k > 20);
        for (int stop = 1; stop < k; stop++) {
            while (run("old", STEPS + MORE, stop) == REPORT_STOPPED)
                stop++;
            expect_files(wanted);
        }
        fake_files_free(whole);
        fake_files_free(wanted);
        fake_folder_empty();
    }
}

/* Frames say their steps in 31 bits: their times go on where these begin anew. */
static void more_steps_than_frames_say(void **state)
{
    (void)state;
    char path[160];
    struct buf frames = {0}, got[FILES] = {0};
    struct err e = {0};
    assert_int_equal(run(NULL, 0, 0), REPORT_DONE);
    put_aside();
    snprintf(path, sizeof path, "%s/old/traj.xtc", fake.directory);
    assert_int_equal(buf_read_file(&frames, path, &e), 0);
    char *at = frames.data;
    for (int i = 0; i <= 200 / FRAME; i++) { /* as long as it was: the checkpoint counts bytes */
        char *end = strchr(at, '\n'), text[64];
        int n = snprintf(text, sizeof text, "frame %d 0 ", (int)((INT32_MAX - INT64_C(100) + i * FRAME) & INT32_MAX));
        memset(at, '1', (size_t)(end - at));
        memcpy(at, text, (size_t)n);
        at = end + 1;
    }
    assert_int_equal(buf_write_file(path, frames.data, frames.len, &e), 0);
    assert_int_equal(run("old", 0, 0), REPORT_DONE);
    fake_files_read(got, 0);
    const char *line = got[0].data;
    for (int i = 0; i <= 200 / FRAME; i++) {
        line = strchr(line, '\n') + 1;
        assert_true(fabs(strtod(line, NULL) - 0.002 * (INT32_MAX - 100.0 + i * FRAME)) < 1e-3);
    }
    buf_free(&frames);
    fake_files_free(got);
    fake_folder_empty();
}

static void damage(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/old/%s", fake.directory, name);
    assert_int_equal(truncate(path, 20), 0);
}

/* A damaged checkpoint is passed over, and where there is none it begins anew; files that lack what a good one counts
 * on are an error. */
static void damaged(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    assert_int_equal(run(NULL, STEPS, 0), REPORT_DONE);
    put_aside();
    damage("checkpoint");
    assert_int_equal(run("old", STEPS, 0), REPORT_DONE);
    assert_non_null(strstr(told.event, "frames: goes on from step "));
    fake_files_read(wanted, 0);
    forget_own();
    damage("traj.xtc");
    assert_int_equal(run("old", STEPS, 0), REPORT_FAILED);
    forget_own();
    damage("checkpoint.previous");
    assert_int_equal(run("old", STEPS, 0), REPORT_DONE);
    assert_non_null(strstr(told.event, "produces: "));
    fake_files_free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interrupted_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_steps_than_frames_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
