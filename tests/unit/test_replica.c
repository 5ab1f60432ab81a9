/* SPDX-License-Identifier: Apache-2.0
 *
 * The replica's story and the runner, over a simulation that is a hash: whatever happens on the way, the files at the
 * end are those of an undisturbed run.
 */
#undef NDEBUG
#include <assert.h>
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/replica.h"
#include "daemon/worker/runner.h"
#include "engine/base/checksum.h"
#include "engine/run/ctl.h"
#include "tests/unit/fake_sim.h"

#define FILES FAKE_FILES
#define ENSEMBLE 77

static struct stage protocol[] = {
    {.kind = STAGE_MINIMIZE, .phase = 1, .timestep = 0.002, .steps = 100},
    {.kind = STAGE_EQUILIBRATE, .phase = 2, .timestep = 0.001, .steps = 60, .sample_every = 20},
    {.kind = STAGE_EQUILIBRATE, .timestep = 0.002, .steps = 50, .npt = true},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 200, .npt = true, .sample_every = 10, .frames_every = 50},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 45, .sample_every = 5, .frames_every = 20},
};

static int set_up(void **state)
{
    (void)state;
    fake = (struct fake){.spec = {.name = "test",
                                  .stages = protocol,
                                  .nstages = (int)(sizeof protocol / sizeof *protocol),
                                  .checkpoint_every = 30,
                                  .settings = {.integrator = {.timestep = 0.002},
                                               .barostat = {.on = true, .every = 25},
                                               .alchemy = {.nwindows = 3}}},
                         .tuned_until = 60 + 50};
    return fake_folder_new();
}

static int tear_down(void **state)
{
    (void)state;
    return fake_folder_remove();
}

/* What was heard of one replica. */
struct told {
    struct replica *replica;
    enum report_kind end;
    int progress, segments, events, ends, begun; /* begun: that production has */
    uint64_t step, steps, index;
    enum err_code code;
    char message[1000], last_event[1100];
    uint32_t salt;        /* asked for */
    uint64_t target;      /* asked for; 0: the spec's */
    int stop_after_calls; /* into the simulation; 0: never */
};

static void hear(void *ctx, const struct replica *r, const struct replica_report *what)
{
    struct told *t = ctx;
    (void)r;
    assert_int_equal(t->ends, 0);
    assert_true(what->step <= what->steps);
    t->step = what->step;
    t->steps = what->steps;
    switch (what->kind) {
    case REPORT_PROGRESS:
        t->progress++;
        return;
    case REPORT_SEGMENT:
        t->segments++;
        assert_true(what->index > t->index);
        t->index = what->index;
        return;
    case REPORT_EVENT:
        if (!strcmp(what->event, "produces")) {
            t->begun++;
            return;
        }
        t->events++;
        snprintf(t->last_event, sizeof t->last_event, "%.50s: %s", what->event, what->why->msg);
        return;
    case REPORT_FAILED:
        t->code = what->why->code;
        snprintf(t->message, sizeof t->message, "%s", what->why->msg);
        break;
    case REPORT_DONE:
    case REPORT_STOPPED:
        break;
    }
    t->end = what->kind;
    t->ends++;
}

static void run_one(void *arg)
{
    replica_run(((struct told *)arg)->replica);
}

static bool ready_one(const void *arg)
{
    return replica_ready(((const struct told *)arg)->replica);
}

static void ended_one(void *arg)
{
    replica_free(((struct told *)arg)->replica);
}

/* Runs n replicas, of windows 0, 1, ..., through the runner until all have ended. */
static void run_replicas(struct told *told, int n)
{
    struct models models = {.dev = &fake_dev};
    struct runner runner = {.dev = &fake_dev};
    struct err e = {0};
    assert_int_equal(jobs_new(&runner.jobs, &e), 0);
    for (int i = 0; i < n; i++) {
        told[i].replica = replica_new(&(struct replica_setup){.models = &models,
                                                              .jobs = runner.jobs,
                                                              .directory = fake.directory,
                                                              .ensemble = ENSEMBLE,
                                                              .window = i,
                                                              .replica = (uint32_t)i,
                                                              .salt = told[i].salt,
                                                              .steps = told[i].target,
                                                              .report = hear,
                                                              .ctx = &told[i]});
        assert_int_equal(runner_add(&runner, run_one, ready_one, ended_one, &told[i], &e), 0);
    }
    int before = fake.calls;
    while (runner.count) {
        assert_int_equal(runner_turn(&runner, NULL, 0, -1, &e), 0);
        for (int i = 0; i < n; i++)
            if (!told[i].ends && told[i].stop_after_calls && fake.calls - before >= told[i].stop_after_calls)
                replica_stop(told[i].replica);
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(told[i].ends, 1);
    assert_int_equal(fake.alive, 0);
    jobs_free(runner.jobs);
}

static uint32_t asked_salt;
static uint64_t asked_target;

static struct told run(void)
{
    struct told t = {.salt = asked_salt, .target = asked_target};
    run_replicas(&t, 1);
    return t;
}

/* Compares window 0's files with those of an undisturbed run, then empties the directory. */
static void expect_files(struct buf wanted[FILES])
{
    struct buf got[FILES] = {0};
    fake_files_read(got, 0);
    for (int i = 0; i < FILES; i++)
        assert_string_equal(got[i].data, wanted[i].data);
    fake_files_free(got);
    fake_folder_empty();
}

static void undisturbed(struct buf wanted[FILES])
{
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_true(t.begun > 0);
    fake_files_read(wanted, 0);
    fake_folder_empty();
}

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

/* Volume moves that find no room are told of once, and at the end of the stage with all of them, however often it is interrupted; few
 * are not. */
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

/* A target that becomes later, after the end or before it, by as much as one likes and twice: the files are those of a run whose
 * spec says so. */
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

/* Those calls of it that come after the first end: a target that becomes later there loses nothing and doubles nothing. */
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

static void damage(const char *name, long at)
{
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/%s", fake.directory, name);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fputc('#', f);
    fclose(f);
}

static void damaged_checkpoints(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    for (int both = 0; both < 2; both++) {
        struct told t = {.stop_after_calls = 60};
        fake.slowness = 1;
        run_replicas(&t, 1);
        assert_int_equal(t.end, REPORT_STOPPED);
        damage("checkpoint", 90);
        if (both)
            damage("checkpoint.previous", 5);
        uint64_t index = t.index;
        t = run();
        assert_int_equal(t.end, REPORT_DONE);
        assert_int_equal(t.events, 1 + both);
        assert_non_null(strstr(t.last_event, both ? "checkpoint.previous: not a checkpoint" : "checkpoint: damaged"));
        assert_true(index > 2);
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* Window 0 is stopped half way; its newest checkpoint. */
static void stopped_checkpoint(struct buf *file)
{
    struct buf path = {0};
    struct err e = {0};
    struct told t = {.stop_after_calls = 60};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(buf_read_file(file, path.data, &e), 0);
    buf_free(&path);
}

/* With the checksum that belongs to it. */
static void write_forged(struct buf *file)
{
    struct buf path = {0};
    struct err e = {0};
    uint64_t sum = htole64(checksum(file->data, file->len - 8));
    memcpy(file->data + file->len - 8, &sum, sizeof sum);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(buf_write_file(path.data, file->data, file->len, &e), 0);
    buf_free(&path);
}

/* Of another ensemble, seed, window or repeat, or with numbers that would not fit into what is told of them: an event says so, and the
 * one before it counts. */
static void foreign_checkpoints(void **state)
{
    (void)state;
    static const struct {
        int word;
        uint64_t value;
        const char *said;
    } cases[] = {{11, ENSEMBLE + 1, "of another ensemble"},
                 {12, 1, "of a run with seed 1, and the spec's is 0"},
                 {13, 1, "of another window or repeat"},
                 {1, 1, "of window 1, not 0"},
                 {1, 3, "numbers that no replica has"},
                 {2, UINT64_C(1) << 40, "numbers that no replica has"},
                 {3, UINT64_C(1) << 31, "numbers that no replica has"},
                 {4, UINT64_C(1) << 63, "numbers that no replica has"},
                 {5, UINT64_C(1) << 63, "numbers that no replica has"},
                 {6, UINT64_C(1) << 32, "numbers that no replica has"},
                 {8, UINT64_C(1) << 62, "numbers that no replica has"}};
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf file = {0};
        stopped_checkpoint(&file);
        uint64_t word = htole64(cases[i].value);
        memcpy(file.data + 8 * cases[i].word, &word, sizeof word);
        write_forged(&file);
        buf_free(&file);
        struct told t = run();
        assert_int_equal(t.end, REPORT_DONE);
        assert_int_equal(t.events, 1);
        if (!strstr(t.last_event, cases[i].said))
            fail_msg("\"%s\" does not say \"%s\"", t.last_event, cases[i].said);
        expect_files(wanted);
    }
    fake_files_free(wanted);
}

/* A format before the owner was kept: who wrote it is not known, and it is gone on from. */
static void a_checkpoint_of_format_3(void **state)
{
    (void)state;
    enum { OWNER = 11 * 8, OWNER_BYTES = 3 * 8 };
    struct buf wanted[FILES] = {0}, file = {0};
    undisturbed(wanted);
    stopped_checkpoint(&file);
    file.data[7] = '3';
    memmove(file.data + OWNER, file.data + OWNER + OWNER_BYTES, file.len - OWNER - OWNER_BYTES);
    file.len -= OWNER_BYTES;
    write_forged(&file);
    buf_free(&file);
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 0);
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Work of weeks is not thrown away because a newer program cannot read it: nothing is begun anew, nothing removed. */
static void a_checkpoint_of_another_format(void **state)
{
    (void)state;
    struct buf file = {0}, again = {0}, path = {0};
    struct err e = {0};
    const char *message = "lambda_00/checkpoint: of format 2, this program reads formats 3 and 4: ";
    stopped_checkpoint(&file);
    buf_printf(&path, "%s/lambda_00/checkpoint", fake.directory);
    file.data[7] = '2';
    write_forged(&file);
    struct told t = run();
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(t.message, message));
    assert_int_equal(buf_read_file(&again, path.data, &e), 0);
    assert_int_equal(again.len, file.len);
    buf_free(&file);
    buf_free(&again);
    buf_free(&path);
}

/* Reading this link says EIO, as a bad block does: the checkpoint before counts, and the link is gone. */
static void an_unreadable_checkpoint(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    struct told t = {.stop_after_calls = 60};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/checkpoint", fake.directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/proc/self/mem", path), 0);
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 1);
    assert_non_null(strstr(t.last_event, "lambda_00/checkpoint: Input/output error"));
    expect_files(wanted);
    fake_files_free(wanted);
}

/* Somebody empties an output while the replica runs: it says so, and the next attempt makes the same bytes again. */
static void an_output_emptied_while_running(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    fake.empty_at_call = 100;
    fake.calls = 0;
    struct told t = run();
    assert_int_equal(t.end, REPORT_FAILED);
    assert_int_equal(t.code, ERR_IO);
    assert_non_null(strstr(t.message, "lambda_00/dhdl.xvg: 0 bytes; expected "));
    fake.empty_at_call = 0;
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 2);
    assert_non_null(strstr(t.last_event, "lambda_00/dhdl.xvg has 0 bytes, the checkpoint counts on "));
    expect_files(wanted);
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
            assert_non_null(strstr(t.last_event, "salt: goes on from step 170 with noise of its own, salt 1"));
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

static void an_output_cut_short_by_someone(void **state)
{
    (void)state;
    struct buf wanted[FILES] = {0};
    undisturbed(wanted);
    struct told t = {.stop_after_calls = 130};
    fake.slowness = 1;
    run_replicas(&t, 1);
    assert_int_equal(t.end, REPORT_STOPPED);
    char path[128];
    snprintf(path, sizeof path, "%s/lambda_00/dhdl.xvg", fake.directory);
    assert_int_equal(truncate(path, 10), 0);
    t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_int_equal(t.events, 2);
    expect_files(wanted);
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
    assert_string_equal(t[1].message, "step 123: the force on atom 1 is not finite");
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
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_story),
        TEST(a_finished_replica_ends_at_once),
        TEST(a_narrow_box),
        TEST(a_later_target),
        TEST(a_target_that_is_passed),
        TEST(a_target_too_early),
        TEST(killed_at_every_call),
        TEST(killed_on_the_way_to_a_later_target),
        TEST(killed_over_and_over),
        TEST(checkpoints_at_any_time),
        TEST(stopped_and_continued),
        TEST(grown_lists_change_nothing),
        TEST(damaged_checkpoints),
        TEST(an_output_cut_short_by_someone),
        TEST(a_checkpoint_of_another_format),
        TEST(a_checkpoint_of_format_3),
        TEST(foreign_checkpoints),
        TEST(an_unreadable_checkpoint),
        TEST(an_output_emptied_while_running),
        TEST(salted_after_a_failure),
        TEST(one_blows_up_alone),
        TEST(a_window_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
