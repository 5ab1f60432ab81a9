/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/unit/replica_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/replica_task.h"

struct stage protocol[PROTOCOL_STAGES] = {
    {.kind = STAGE_MINIMIZE, .phase = 1, .timestep = 0.002, .steps = 100},
    {.kind = STAGE_EQUILIBRATE, .phase = 2, .timestep = 0.001, .steps = 60, .sample_every = 20},
    {.kind = STAGE_EQUILIBRATE, .timestep = 0.002, .steps = 50, .npt = true},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 200, .npt = true, .sample_every = 10, .frames_every = 50},
    {.kind = STAGE_PRODUCE, .timestep = 0.002, .steps = 45, .sample_every = 5, .frames_every = 20},
};

int set_up(void **state)
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

int tear_down(void **state)
{
    (void)state;
    return fake_folder_remove();
}

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

int asked_doublings;

void run_replicas(struct told *told, int n)
{
    struct models models = {.dev = &fake_dev};
    struct runner runner = {.dev = {&fake_dev}};
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
                                                              .doublings = asked_doublings,
                                                              .report = hear,
                                                              .ctx = &told[i]});
        assert_int_equal(replica_task_add(&runner, told[i].replica, &e), 0);
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

uint32_t asked_salt;
uint64_t asked_target;

struct told run(void)
{
    struct told t = {.salt = asked_salt, .target = asked_target};
    run_replicas(&t, 1);
    return t;
}

void expect_files(struct buf wanted[FILES])
{
    struct buf got[FILES] = {0};
    fake_files_read(got, 0);
    for (int i = 0; i < FILES; i++)
        assert_string_equal(got[i].data, wanted[i].data);
    fake_files_free(got);
    fake_folder_empty();
}

void undisturbed(struct buf wanted[FILES])
{
    struct told t = run();
    assert_int_equal(t.end, REPORT_DONE);
    assert_true(t.begun > 0);
    fake_files_read(wanted, 0);
    fake_folder_empty();
}
