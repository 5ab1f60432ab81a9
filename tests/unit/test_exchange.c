/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas that exchange windows, over simulations that are hashes: the draw itself, and that the files of all windows
 * at the end are those of an undisturbed run, wherever the worker was killed or the set was stopped.
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/swaps.h"
#include "tests/lib/oscillators.h"
#include "tests/lib/replica_task.h"
#include "tests/unit/fake_sim.h"

/* ---- the draw ---- */

/* Harmonic windows u_w = a_w (x - c_w)^2 / 2 in kT. Replicas take new positions in their windows now and then only, and
 * exchange meanwhile: what stands in a window must stay distributed as that window has it, and replicas must get about.
 */
static void test_stationary(void **state)
{
    enum { K = 5, ROUNDS = 60000 };
    static const double a[K] = {1, 2, 2, 4, 3}, c[K] = {0, 0.4, 1.2, 1.5, 2};
    for (enum exchange_scheme scheme = EXCHANGE_NEIGHBOURS; scheme <= EXCHANGE_GIBBS; scheme++) {
        const struct swaps s = {.scheme = scheme, .windows = K, .seed = 3, .set = 1, .beta = 0.4};
        double x[K], sum[K] = {0}, square[K] = {0};
        int walker[K], far = 0, changes = 0;
        uint64_t random = 5;
        for (int w = 0; w < K; w++) {
            x[w] = c[w] + random_normal(&random) / sqrt(a[w]);
            walker[w] = w;
        }
        for (uint64_t n = 0; n < ROUNDS; n++) {
            double delta_u[K * K], next[K];
            int from[K], next_walker[K];
            int fresh = (int)(random_uniform(&random) * K);
            x[fresh] = c[fresh] + random_normal(&random) / sqrt(a[fresh]);
            for (int w = 0; w < K; w++)
                for (int k = 0; k < K; k++)
                    delta_u[w * K + k] =
                        (0.5 * a[k] * (x[w] - c[k]) * (x[w] - c[k]) - 0.5 * a[w] * (x[w] - c[w]) * (x[w] - c[w])) /
                        s.beta;
            swaps_draw(&s, n, delta_u, from);
            for (int w = 0; w < K; w++) {
                next[w] = x[from[w]];
                next_walker[w] = walker[from[w]];
                changes += from[w] != w;
                assert_true(scheme == EXCHANGE_GIBBS || from[from[w]] == w);
                assert_true(scheme == EXCHANGE_GIBBS || abs(from[w] - w) < 2);
            }
            memcpy(x, next, sizeof x);
            memcpy(walker, next_walker, sizeof walker);
            far += walker[0] == K - 1;
            for (int w = 0; w < K; w++) {
                sum[w] += x[w];
                square[w] += (x[w] - c[w]) * (x[w] - c[w]);
            }
        }
        for (int w = 0; w < K; w++) { /* rows are correlated over some ten rounds */
            double error = sqrt(20.0 / ROUNDS);
            assert_true(fabs(sum[w] / ROUNDS - c[w]) * sqrt(a[w]) < 4 * error);
            assert_true(fabs(square[w] / ROUNDS * a[w] - 1) < 4 * error * sqrt(2));
        }
        assert_true(changes > ROUNDS);
        assert_true(far >
                    ROUNDS / 10); /* the last window's replica is often in the first: a fifth of the time, evenly */
    }
}

/* Chances are those of Metropolis, each exchange has numbers of its own, and energies that are none change nothing. */
static void test_chances(void **state)
{
    struct swaps s = {.scheme = EXCHANGE_NEIGHBOURS, .windows = 2, .seed = 11, .beta = 0.5};
    int from[2], accepted = 0, other = 0;
    for (uint64_t n = 0; n < 40000; n += 2) {
        swaps_draw(&s, n, (const double[]){0, 3, -1, 0}, from); /* D = 0.5 (3 - 1) */
        accepted += from[0];
        s.set = 7;
        int was = from[0];
        swaps_draw(&s, n, (const double[]){0, 3, -1, 0}, from);
        other += from[0] == was;
        s.set = 0;
        swaps_draw(&s, n + 1, (const double[]){0, -9, -9, 0}, from); /* no pair's turn */
        assert_int_equal(from[0], 0);
        swaps_draw(&s, n, (const double[]){0, NAN, -9, 0}, from);
        assert_int_equal(from[0], 0);
        swaps_draw(&s, n, (const double[]){0, INFINITY, -9, 0}, from);
        assert_int_equal(from[0], 0);
        swaps_draw(&s, n, (const double[]){0, 1, -1.5, 0}, from);
        assert_int_equal(from[0], 1);
    }
    double p = exp(-1), error = sqrt(p * (1 - p) / 20000);
    assert_true(fabs(accepted / 20000.0 - p) < 4 * error);
    assert_true(other < 0.7 * 20000 && other > 0.4 * 20000); /* p^2 + (1 - p)^2 = 0.53 */
}

/* ---- the story of a set ---- */

enum { WINDOWS = 3, FILES = 4 };
static const char *const file_names[FILES] = {"dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"};

static struct stage protocol[] = {
    {.kind = STAGE_MINIMIZE, .phase = 1, .timestep = 0.002, .steps = 10},
    {.kind = STAGE_EQUILIBRATE, .timestep = 0.002, .steps = 20, .npt = true},
    {.kind = STAGE_PRODUCE,
     .timestep = 0.002,
     .steps = 65,
     .npt = true,
     .sample_every = 5,
     .frames_every = 30,
     .exchange_every = 10},
    {.kind = STAGE_EQUILIBRATE, .phase = 1, .timestep = 0.002, .steps = 10},
    {.kind = STAGE_PRODUCE,
     .timestep = 0.002,
     .steps = 35,
     .sample_every = 5,
     .frames_every = 20,
     .exchange_every = 10},
};

static int set_up(void **state)
{
    (void)state;
    fake = (struct fake){.spec = {.name = "test",
                                  .stages = protocol,
                                  .nstages = (int)(sizeof protocol / sizeof *protocol),
                                  .checkpoint_every = 25,
                                  .settings = {.exchange = EXCHANGE_NEIGHBOURS,
                                               .integrator = {.timestep = 0.002, .temperature = 300, .seed = 9},
                                               .barostat = {.on = true, .every = 25},
                                               .alchemy = {.nwindows = WINDOWS}}},
                         .tuned_until = 20};
    return fake_folder_new();
}

static int tear_down(void **state)
{
    (void)state;
    return fake_folder_remove();
}

struct told {
    struct replica *replica;
    int window;
    enum report_kind end;
    int ends;
    uint64_t step;
    char message[1000];
    bool dropped, begun,
        begins_anew; /* it gave up a checkpoint, has begun, and did so with the first step after that */
};

/* That a replica has said that it is done outlives its process, as in the service's database: it is not started again.
 */
static void mark_done(int window)
{
    char path[128];
    snprintf(path, sizeof path, "%s/done_%d", fake.directory, window);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

/* What replicas are told of their windows. */
struct member {
    uint32_t key;
    const char *origin;
};
static const struct member plain[WINDOWS] = {{0, NULL}, {1, NULL}, {2, NULL}};
static const struct member *members = plain;

static unsigned not_done(void)
{
    unsigned mask = 0;
    for (int w = 0; w < fake.spec.settings.alchemy.nwindows; w++) {
        char path[128];
        snprintf(path, sizeof path, "%s/done_%d", fake.directory, w);
        mask |= (unsigned)(access(path, F_OK) != 0) << w;
    }
    return mask;
}

#define ALL ((1u << WINDOWS) - 1)

static void hear(void *ctx, const struct replica *r, const struct replica_report *what)
{
    struct told *t = ctx;
    (void)r;
    assert_int_equal(t->ends, 0);
    t->step = what->step;
    if (what->kind == REPORT_EVENT && strstr(what->why->msg, "not after meeting 0,"))
        t->dropped = true;
    if (what->kind == REPORT_PROGRESS && !t->begun) {
        t->begun = true;
        t->begins_anew = t->dropped && what->step == 0;
    }
    if (what->kind == REPORT_DONE)
        mark_done(t->window);
    if (what->kind == REPORT_FAILED)
        snprintf(t->message, sizeof t->message, "%s", what->why->msg);
    if (what->kind != REPORT_DONE && what->kind != REPORT_STOPPED && what->kind != REPORT_FAILED)
        return;
    t->end = what->kind;
    t->ends++;
}

/* Some of the set's windows, the last one first; stopped after so many calls into simulations, 0: never. */
static void run_some(struct told told[WINDOWS], unsigned windows, int stop_after, uint64_t target, uint32_t salt)
{
    static const char *const folders[WINDOWS] = {"lambda_00", "lambda_01", "lambda_02"};
    struct models models[] = {{.dev = &fake_dev}, {.dev = &fake_other_dev}}; /* windows are on both */
    struct runner runner = {.dev = {&fake_dev, &fake_other_dev}};
    struct err e = {0};
    struct exchange *exchange = exchange_new(__builtin_popcount(windows));
    memset(told, 0, WINDOWS * sizeof *told);
    assert_int_equal(jobs_new(&runner.jobs, &e), 0);
    for (int w = WINDOWS - 1; w >= 0; w--) {
        told[w].window = w;
        if (!(windows >> w & 1))
            continue;
        told[w].replica = replica_new(&(struct replica_setup){.models = &models[w % 2],
                                                              .jobs = runner.jobs,
                                                              .directory = fake.directory,
                                                              .window = w,
                                                              .replica = members[w].key,
                                                              .folder = folders[w],
                                                              .origin = members[w].origin,
                                                              .ladder = members == plain ? 1 : 2,
                                                              .steps = target,
                                                              .salt = salt,
                                                              .exchange = exchange,
                                                              .report = hear,
                                                              .ctx = &told[w]});
        assert_int_equal(replica_task_add(&runner, told[w].replica, &e), 0);
    }
    int before = fake.calls;
    while (runner.count) {
        assert_int_equal(runner_turn(&runner, NULL, 0, -1, &e), 0);
        for (int w = 0; w < WINDOWS; w++)
            if (windows >> w & 1 && !told[w].ends && stop_after && fake.calls - before >= stop_after)
                replica_stop(told[w].replica);
    }
    assert_int_equal(fake.alive, 0);
    jobs_free(runner.jobs);
}

/* To the end, those that are not there. */
static void run(uint64_t target)
{
    struct told told[WINDOWS];
    unsigned windows = not_done();
    if (!windows)
        return;
    run_some(told, windows, 0, target, 0);
    for (int w = 0; w < WINDOWS; w++) {
        if (windows >> w & 1 && told[w].end != REPORT_DONE)
            fail_msg("window %d: %s", w, told[w].message);
        assert_false(told[w].begins_anew);
    }
}

/* They have got a later target. */
static void reopen(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -f %s/done_*", fake.directory);
    assert_int_equal(system(command), 0);
}

static void read_files(struct buf files[WINDOWS * FILES])
{
    for (int i = 0; i < WINDOWS * FILES; i++) {
        char path[128];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/lambda_%02d/%s", fake.directory, i / FILES, file_names[i % FILES]);
        files[i].len = 0;
        if (buf_read_file(&files[i], path, &e))
            fail_msg("%s", e.msg);
    }
}

static void free_files(struct buf files[WINDOWS * FILES])
{
    for (int i = 0; i < WINDOWS * FILES; i++)
        buf_free(&files[i]);
}

static void expect_files(struct buf wanted[WINDOWS * FILES])
{
    struct buf got[WINDOWS * FILES] = {0};
    read_files(got);
    for (int i = 0; i < WINDOWS * FILES; i++)
        assert_string_equal(got[i].data, wanted[i].data);
    free_files(got);
    fake_folder_empty();
}

static void undisturbed(struct buf wanted[WINDOWS * FILES], uint64_t target)
{
    run(target);
    read_files(wanted);
    fake_folder_empty();
}

/* Every replica is somewhere at every time, exchanges are counted, and replicas change windows. */
static void test_walks(void **state)
{
    (void)state;
    struct buf files[WINDOWS * FILES] = {0};
    char *line[WINDOWS];
    int rows = 0, moved = 0;
    undisturbed(files, 0);
    for (int w = 0; w < WINDOWS; w++)
        line[w] = strchr(files[w * FILES + 1].data, '\n') + 1;
    for (; *line[0]; rows++) {
        unsigned seen = 0;
        double first = 0;
        for (int w = 0; w < WINDOWS; w++) {
            double time, potential;
            int walker;
            unsigned long exchanges;
            assert_int_equal(sscanf(line[w], "%lf %lf %d %lu", &time, &potential, &walker, &exchanges), 4);
            first = w ? first : time;
            assert_true(time == first);
            seen |= 1u << walker;
            moved += walker != w;
            /* Of the row before the exchange. 6 in the first stage; the second begins at 0.15 ps. */
            double ps = time < 0.14 ? time : time - 0.15;
            int expected = (time < 0.14 ? 0 : 6) + (int)fmax(0, ceil(ps / 0.02 - 1e-6) - 1);
            assert_int_equal(exchanges, expected);
            line[w] = strchr(line[w], '\n') + 1;
        }
        assert_int_equal(seen, (1u << WINDOWS) - 1);
    }
    assert_int_equal(*line[WINDOWS - 1], 0);
    assert_int_equal(rows, 14 + 8);
    assert_true(moved > rows / 2);
    free_files(files);
}

static bool comes_to_its_end(const void *target)
{
    run(*(const uint64_t *)target);
    return true;
}

static bool survives(int k, uint64_t target)
{
    return fake_survives(k, comes_to_its_end, &target);
}

static void test_killed_at_every_call(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    undisturbed(wanted, 0);
    int k = 1;
    for (; !survives(k, 0); k++) {
        assert_true(k < 3000);
        run(0);
        expect_files(wanted);
    }
    assert_true(k > 300);
    expect_files(wanted);
    free_files(wanted);
}

static void test_killed_over_and_over(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    fake.spec.settings.exchange = EXCHANGE_GIBBS;
    undisturbed(wanted, 0);
    srand(20262);
    for (int round = 0; round < 20; round++) {
        fake.spec.checkpoint_every = (uint64_t)(round % 4 ? 1 + rand() % 60 : 0);
        while (!survives(1 + rand() % 300, 0))
            ;
        expect_files(wanted);
    }
    free_files(wanted);
}

static void test_stopped(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    undisturbed(wanted, 0);
    int stops = 0;
    fake.slowness = 1;
    for (int calls = 1; calls < 400; calls += 9) {
        struct told told[WINDOWS];
        for (int more = 0; not_done(); more += 40, stops++) {
            unsigned windows = not_done();
            run_some(told, windows, calls + more, 0, 0);
            for (int w = 0; w < WINDOWS; w++)
                assert_true(!(windows >> w & 1) || told[w].end == REPORT_DONE || told[w].end == REPORT_STOPPED);
        }
        expect_files(wanted);
    }
    assert_true(stops > 100);
    free_files(wanted);
}

/* To a later target, killed on the way. */
static void test_extended(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    const uint64_t later = 140 + 28;
    undisturbed(wanted, later);
    bool alive = false;
    int k = 1;
    for (; !alive; k += 7) {
        run(0);
        reopen();
        alive = survives(k, later);
        run(later);
        expect_files(wanted);
    }
    assert_true(k > 100);
    free_files(wanted);
}

/* ---- windows added between two that have exchanged ---- */

static const struct member wide[WINDOWS] = {{0, "old/lambda_00"}, {2, NULL}, {1, "old/lambda_01"}};

/* Two windows come to their end or, after so many calls, to a meeting; then there is one between them. Where they
 * stood.
 */
static uint64_t sample_two(int calls)
{
    struct told told[WINDOWS];
    char command[256];
    fake.spec.settings.alchemy.nwindows = 2;
    fake.spec.exchange_after = 0;
    members = plain;
    run_some(told, 3, calls, 0, 0);
    assert_int_equal(told[0].step, told[1].step);
    snprintf(command, sizeof command, "cd %s && mkdir old && mv lambda_00 lambda_01 old && rm -f done_*",
             fake.directory);
    assert_int_equal(system(command), 0);
    fake.spec.settings.alchemy.nwindows = 3;
    fake.spec.exchange_after = told[0].step;
    members = wide;
    return told[0].step;
}

/* The same step again: calls and jobs of the disk come in any order. */
static void sample_two_until(int calls, uint64_t at)
{
    for (int i = 0; sample_two(calls) != at; i++) {
        assert_true(i < 100);
        fake_folder_empty();
    }
}

/* Of every row of energy.xvg whose simulation is in a window, and how many exchanges came before it. */
static void expect_walks(struct buf files[WINDOWS * FILES], double after)
{
    char *line[WINDOWS];
    int beyond = 0, moved = 0;
    for (int w = 0; w < WINDOWS; w++)
        line[w] = strchr(files[w * FILES + 1].data, '\n') + 1;
    while (*line[0]) {
        unsigned seen = 0;
        unsigned long before = 0;
        double time = 0;
        for (int w = 0; w < WINDOWS; w++) {
            double potential;
            int walker;
            unsigned long exchanges;
            assert_int_equal(sscanf(line[w], "%lf %lf %d %lu", &time, &potential, &walker, &exchanges), 4);
            assert_true(w == 0 || exchanges == before);
            before = exchanges;
            seen |= 1u << walker;
            moved += walker != w && time > after + 0.02 + 1e-9;
            assert_true(w != 1 || walker == 1 || time > after + 0.02 + 1e-9); /* the new one is alone until they meet */
            line[w] = strchr(line[w], '\n') + 1;
        }
        if (time > after + 1e-9)
            assert_int_equal(seen, 7);
        beyond += time > after + 1e-9;
    }
    assert_true(beyond < 5 || moved > 0);
}

static void test_added(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    fake.slowness = 1;
    static const int stops[] = {60, 150, 0}; /* after so many calls; 0: at the end */
    uint64_t last = 30;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        const int calls = stops[i];
        const uint64_t at = sample_two(calls);
        assert_true(at >= last && (at == 140) == !calls);
        last = at;
        run(0);
        read_files(wanted);
        expect_walks(wanted, 0.002 * ((double)at - 30));
        fake_folder_empty();
        bool alive = at == 140; /* some are done soon then, and who kills leaves half rows in the files of all */
        for (int k = 1; !alive; k += 41) {
            sample_two_until(calls, at);
            alive = survives(k, 0);
            run(0);
            expect_files(wanted);
        }
        for (int stop = 5; stop < 200; stop += 90) {
            struct told told[WINDOWS];
            sample_two_until(calls, at);
            for (unsigned windows; (windows = not_done()); stop += 20)
                run_some(told, windows, stop, 0, 0);
            expect_files(wanted);
        }
        free_files(wanted);
        memset(wanted, 0, sizeof wanted);
    }
    members = plain;
}

/* Of one that had come to its end the windows exchange when it is extended. */
static void test_added_and_extended(void **state)
{
    (void)state;
    struct buf wanted[WINDOWS * FILES] = {0};
    const uint64_t later = 140 + 60;
    bool alive = false;
    sample_two(0);
    run(later);
    read_files(wanted);
    expect_walks(wanted, 0.002 * (140 - 30));
    fake_folder_empty();
    for (int k = 1; !alive; k += 67) {
        sample_two(0);
        run(0);
        reopen();
        alive = survives(k, later);
        run(later);
        expect_files(wanted);
    }
    free_files(wanted);
    members = plain;
}

/* Who fails says why, the others end at their checkpoints; with another noise the set gets by. */
static void test_one_fails(void **state)
{
    (void)state;
    struct told told[WINDOWS];
    fake.blow_up_at = 20 + 47;
    fake.blow_up_replica = 2;
    for (int again = 0; again < 2; again++) {
        int failed = 0;
        run_some(told, ALL, 0, 0, 0);
        for (int w = 0; w < WINDOWS; w++) {
            failed += told[w].end == REPORT_FAILED;
            assert_true(told[w].end == REPORT_FAILED || (told[w].end == REPORT_STOPPED && told[w].step <= 30 + 40));
        }
        assert_int_equal(failed, 1);
    }
    run_some(told, ALL, 0, 0, 1);
    for (int w = 0; w < WINDOWS; w++)
        assert_int_equal(told[w].end, REPORT_DONE);
    fake_folder_empty();
}

/* Those whose partners are gone do not go on as if nothing were missing; where all have ended nothing is missing. */
static void test_company(void **state)
{
    (void)state;
    struct told told[WINDOWS];
    run_some(told, ALL & ~1u, 0, 0, 0);
    for (int w = 1; w < WINDOWS; w++)
        assert_true(told[w].end == REPORT_FAILED &&
                    strstr(told[w].message, "of the 3 windows that exchange replicas only 2 are"));
    fake_folder_empty();
    run(0);
    run_some(told, ALL & ~3u, 0, 0, 0);
    for (int w = 2; w < WINDOWS; w++)
        assert_int_equal(told[w].end, REPORT_DONE);
    fake_folder_empty();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stationary),
        cmocka_unit_test(test_chances),
        cmocka_unit_test_setup_teardown(test_walks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_at_every_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_over_and_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_extended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_added, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_added_and_extended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_company, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
