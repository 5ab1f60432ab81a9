/* SPDX-License-Identifier: Apache-2.0
 *
 * Models are made beside the thread that feeds the device: that thread does what the device must be told and little
 * else.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/device/models.h"
#include "daemon/worker/threads/runner.h"
#include "engine/run/model.h"

enum { SIDE = 26 }; /* waters along an edge: 52,728 atoms */
#define SPACING 0.3107

static char directory[64];
static struct runner runner;
static struct dev_ops watched;
static const struct dev_ops *device_ops;
static pthread_t feeder;
static int calls, waits; /* waits: copies that the feeding thread waited for */
static size_t sent;      /* bytes of those that it did not */

static const char topology[] =
    "[ defaults ]\n1 2 no 1.0 1.0\n"
    "[ atomtypes ]\nOW 8 15.9994 0 A 0.315061 0.6364\nHW 1 1.008 0 A 0 0\n"
    "[ moleculetype ]\nSOL 2\n"
    "[ atoms ]\n1 OW 1 SOL OW 1 -0.834 15.9994\n2 HW 1 SOL HW1 1 0.417 1.008\n"
    "3 HW 1 SOL HW2 1 0.417 1.008\n"
    "#ifdef HOLD\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n"
    "[ settles ]\n1 1 0.09572 0.15139\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
    "[ system ]\nwater\n[ molecules ]\nSOL %d\n";
static const char spec[] =
    "name: water\nsystem: {topology: w.top, coordinates: w.gro}\n"
    "nonbonded: {cutoff: 0.9 nm}\n"
    "integrator: {timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 1}\n"
    "protocol:\n"
    "  - equilibrate: {time: 100 steps, ensemble: nvt, temperature: 100 K, defines: [HOLD]}\n"
    "  - equilibrate: {time: 100 steps, ensemble: nvt, temperature: 100 K, defines: [HOLD]}\n"
    "  - produce: {time: 100 steps, ensemble: nvt, sample-every: 100 steps}\n";

static FILE *input(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/input/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert(f);
    return f;
}

static void write_coordinates(FILE *f)
{
    static const double hydrogen[2][2] = {{0.075695, 0.058588}, {-0.075695, 0.058588}};
    fprintf(f, "water\n%d\n", 3 * SIDE * SIDE * SIDE);
    for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
        double x = (n % SIDE + 0.5) * SPACING, y = (n / SIDE % SIDE + 0.5) * SPACING,
               z = (n / SIDE / SIDE + 0.5) * SPACING;
        int residue = (n + 1) % 100000, atom = 3 * n % 100000;
        fprintf(f, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", residue, "SOL", "OW", atom, x, y, z);
        for (int h = 0; h < 2; h++)
            fprintf(f, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", residue, "SOL", h ? "HW2" : "HW1", atom, x + hydrogen[h][0],
                    y + hydrogen[h][1], z);
    }
    fprintf(f, "%.5f %.5f %.5f\n", SIDE * SPACING, SIDE * SPACING, SIDE * SPACING);
}

static int set_up(void **state)
{
    (void)state;
    char path[96];
    snprintf(directory, sizeof directory, "/tmp/shoal-models-XXXXXX");
    assert(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/input", directory);
    mkdir(path, 0700);
    FILE *f = input("spec.yaml");
    fputs(spec, f);
    fclose(f);
    f = input("w.top");
    fprintf(f, topology, SIDE * SIDE * SIDE);
    fclose(f);
    f = input("w.gro");
    write_coordinates(f);
    fclose(f);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

/* ---- a device that knows whose it is ---- */

static void expect_feeder(void)
{
    calls++;
    assert(pthread_equal(pthread_self(), feeder));
}

static int watched_alloc(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device,
                         void **host, struct err *e)
{
    expect_feeder();
    return device_ops->alloc(d, lane, kind, bytes, device, host, e);
}

static int watched_lane_new(struct dev *d, struct lane **out, struct err *e)
{
    expect_feeder();
    return device_ops->lane_new(d, out, e);
}

static int watched_copy(struct dev *d, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    expect_feeder();
    waits++;
    return device_ops->copy(d, lane, to, from, bytes, e);
}

static int watched_copy_async(struct dev *d, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    expect_feeder();
    sent += bytes;
    return device_ops->copy_async(d, lane, to, from, bytes, e);
}

static int no_memory(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                     struct err *e)
{
    expect_feeder();
    err_set(e, ERR_MEMORY, "%zu bytes of memory: none are free", bytes);
    return DEV_FULL;
}

/* ---- coroutines ---- */

struct asking {
    struct models *models;
    uint64_t stage;
    int ladder;
    struct job job;
    struct shared_model *got;
    struct err e;
    int rc;
};

static bool ready(const void *arg)
{
    const struct asking *a = arg;
    return !job_pending(&a->job) && (!a->got || models_ready(a->got, &a->job));
}

static void CO_FN ask(void *arg)
{
    struct asking *a = arg;
    a->rc = models_get(a->models, runner.jobs, &a->job, directory, a->ladder, a->stage, &a->got, &a->e);
}

static void ended(void *arg)
{
    (void)arg;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ask_all(struct asking *asking, int n)
{
    struct err e = {0};
    for (int i = 0; i < n; i++)
        assert_int_equal(runner_add(&runner, ask, ready, ended, &asking[i], &e), 0);
    while (runner.count)
        assert_int_equal(runner_turn(&runner, NULL, 0, -1, &e), 0);
}

/* All of them were sent, and arrived. */
static void expect_tables(struct model *m)
{
    struct sim *sim;
    struct buf state = {0};
    struct err e = {0};
    assert_int_equal(sent, m->shared.span.bytes + m->program->nonbonded_tables(m->nonbonded)->span.bytes);
    assert_int_equal(sim_new(&sim, m, 0, 0, &e), 0);
    if (sim_save(sim, &state, &e)) /* which looks at them */
        fail_msg("%s", e.msg);
    sim_free(sim);
    buf_free(&state);
}

/* Of the processor time that a model takes, the feeding thread spends a small part, and it waits for no copy. */
static void made_beside_the_feeding_thread(void **state)
{
    (void)state;
    struct models models = {.dev = runner.dev[0]};
    struct asking asking[2] = {{.models = &models}, {.models = &models}};
    double mine = seconds(CLOCK_THREAD_CPUTIME_ID), all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    ask_all(asking, 2);
    mine = seconds(CLOCK_THREAD_CPUTIME_ID) - mine;
    all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    for (int i = 0; i < 2; i++)
        if (asking[i].rc)
            fail_msg("%s", asking[i].e.msg);
    assert_ptr_equal(asking[0].got, asking[1].got);
    assert_int_equal(asking[0].got->system.natoms, 3 * SIDE * SIDE * SIDE);
    assert_true(calls >= 6); /* memory, a lane, a copy: for two sets of tables */
    assert_int_equal(waits, 0);
    expect_tables(asking[0].got->model);
    print_message("the feeding thread spent %.4f of %.4f s\n", mine, all);
    assert_true(mine < 0.2 * all);
    for (int i = 0; i < 2; i++)
        models_put(&models, asking[i].got);
    models_close(&models);
}

/* Stages that are alike share a model, others have their own; who does not mind gets what is there. */
static void one_for_each_phase(void **state)
{
    (void)state;
    struct models models = {.dev = runner.dev[0]};
    struct asking asking[5] = {{&models, .stage = 0},
                               {&models, .stage = 2},
                               {&models, .stage = 1},
                               {&models, .stage = 3},
                               {&models, .stage = MODELS_ANY}};
    ask_all(asking, 5);
    for (int i = 0; i < 5; i++)
        if (asking[i].rc)
            fail_msg("%s", asking[i].e.msg);
    const struct shared_model *held = asking[0].got, *free = asking[1].got;
    assert_ptr_equal(asking[2].got, held);
    assert_ptr_equal(asking[3].got, free);
    assert_true(asking[4].got == held || asking[4].got == free);
    assert_int_equal(held->system.nposition_restraints, SIDE * SIDE * SIDE);
    assert_int_equal(free->system.nposition_restraints, 0);
    assert_true(held->settings.integrator.temperature == 100 && free->settings.integrator.temperature == 298.15);
    assert_ptr_equal(held->model->set, &held->settings);
    for (int i = 0; i < 5; i++)
        models_put(&models, asking[i].got);
    models_close(&models);
}

/* What the spec says after windows were added is read anew. */
static void one_for_each_ladder(void **state)
{
    (void)state;
    struct models models = {.dev = runner.dev[0]};
    struct asking asking[3] = {
        {.models = &models, .ladder = 1}, {.models = &models, .ladder = 2}, {.models = &models, .ladder = 2}};
    for (int i = 0; i < 3; i++) {
        ask_all(&asking[i], 1);
        assert_int_equal(asking[i].rc, 0);
        models_put(&models, asking[i].got); /* an unused one is kept for who asks for the same */
        assert_int_equal(asking[i].got->ladder, asking[i].ladder);
    }
    assert_ptr_equal(asking[1].got, asking[2].got);
    models_close(&models);
}

/* Each replica is told of a device that would not take the model, and the next one tries anew. */
static void refused_by_the_device(void **state)
{
    (void)state;
    struct models models = {.dev = runner.dev[0]};
    struct asking asking[2] = {{.models = &models}, {.models = &models}};
    watched.alloc = no_memory;
    calls = 0;
    ask_all(asking, 2);
    watched.alloc = watched_alloc;
    assert_int_equal(calls, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(asking[i].rc);
        assert_int_equal(asking[i].e.code, ERR_MEMORY);
        models_put(&models, asking[i].got);
    }
    models_close(&models);
}

static int open_all(void **state)
{
    struct err e = {0};
    if (engine_open(&runner.dev[0], "cpu:1", &e) || jobs_new(&runner.jobs, &e))
        return -1;
    feeder = pthread_self();
    device_ops = runner.dev[0]->ops;
    watched = *device_ops;
    watched.alloc = watched_alloc;
    watched.lane_new = watched_lane_new;
    watched.copy = watched_copy;
    watched.copy_async = watched_copy_async;
    runner.dev[0]->ops = &watched;
    return set_up(state);
}

static int close_all(void **state)
{
    jobs_free(runner.jobs);
    dev_close(runner.dev[0]);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_beside_the_feeding_thread),
        cmocka_unit_test(one_for_each_phase),
        cmocka_unit_test(one_for_each_ladder),
        cmocka_unit_test(refused_by_the_device),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
