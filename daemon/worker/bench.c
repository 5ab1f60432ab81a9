/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker bench: N replicas of a spec through the real runner, outputs and checkpoints included, into a folder
 * that is removed again. The spec's minimization and a warm-up come first; the clock runs from when every replica has
 * come to the measured steps until the last has done them.
 */
#include <ftw.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/commands.h"
#include "daemon/worker/device.h"
#include "daemon/worker/input.h"
#include "daemon/worker/replica.h"
#include "daemon/worker/runner.h"
#include "engine/base/number.h"

#define INCLUDE_MAX 32
#define WARM_UP_MIN 50 /* steps: past the capture of the graph, and a few pair lists */

struct bench {
    const char *device;
    uint64_t steps;
    unsigned replicas, arrived, running;
    struct bench_replica *all;
    double started, ended, cpu_started, cpu_ended; /* seconds */
    uint64_t last_stage;
    uint32_t nodes;
    size_t device_bytes;
    struct err failed;
};

struct bench_replica {
    struct bench *bench;
    struct replica *replica;
    bool arrived;
};

static double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_clock(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The measured stage begins when all have come to it. */
static bool gate(void *ctx, const struct replica *r, uint64_t stage)
{
    struct bench_replica *mine = ctx;
    struct bench *b = mine->bench;
    (void)r;
    if (stage < b->last_stage)
        return true;
    if (!mine->arrived) {
        mine->arrived = true;
        if (++b->arrived == b->replicas) {
            b->started = wall_clock();
            b->cpu_started = cpu_clock();
        }
    }
    return b->arrived == b->replicas;
}

static void heard(void *ctx, const struct replica *r, const struct report *what)
{
    struct bench *b = ((struct bench_replica *)ctx)->bench;
    if (what->kind == REPORT_DONE) {
        b->ended = wall_clock();
        b->cpu_ended = cpu_clock();
        b->nodes = sim_nodes_per_step(replica_sim(r));
        b->device_bytes = sim_device_bytes(replica_sim(r));
    }
    if (what->kind == REPORT_FAILED && !b->failed.code) {
        b->failed = *what->why;
        for (unsigned i = 0; i < b->replicas; i++)
            replica_stop(b->all[i].replica);
    }
}

static void CO_FN run_one(void *arg)
{
    replica_run(((struct bench_replica *)arg)->replica);
}

static bool ready_one(const void *arg)
{
    return replica_ready(((const struct bench_replica *)arg)->replica);
}

static void ended_one(void *arg)
{
    ((struct bench_replica *)arg)->bench->running--;
}

/* The spec's minimizations, a warm-up, and `steps` of its last stage. */
static void set_protocol(struct bench *b, struct spec *spec)
{
    const struct stage bare = {0}, *last = spec->nstages ? &spec->stages[spec->nstages - 1] : &bare;
    struct stage *stages = xcalloc((size_t)spec->nstages + 2, sizeof *stages);
    int n = 0;
    for (int i = 0; i < spec->nstages && spec->stages[i].kind == STAGE_MINIMIZE; i++)
        stages[n++] = spec->stages[i];
    uint64_t warm_up = b->steps / 10 > WARM_UP_MIN ? b->steps / 10 : WARM_UP_MIN;
    stages[n++] = (struct stage){.kind = STAGE_EQUILIBRATE, .steps = warm_up, .npt = last->npt};
    b->last_stage = (uint64_t)n;
    stages[n] = *last;
    stages[n].kind = STAGE_PRODUCE;
    stages[n++].steps = b->steps;
    free(spec->stages);
    spec->stages = stages;
    spec->nstages = n;
}

static int run_all(struct bench *b, struct runner *runner, struct models *models, const struct shared_model *shared,
                   struct err *e)
{
    b->all = xcalloc(b->replicas, sizeof *b->all);
    int windows = shared->spec->settings.alchemy.nwindows;
    for (unsigned i = 0; i < b->replicas; i++) {
        b->all[i] = (struct bench_replica){.bench = b};
        b->all[i].replica = replica_new(&(struct replica_setup){.models = models,
                                                                .jobs = runner->jobs,
                                                                .directory = shared->directory,
                                                                .window = (int)(i % (unsigned)windows),
                                                                .replica = i,
                                                                .report = heard,
                                                                .gate = gate,
                                                                .ctx = &b->all[i]});
    }
    for (unsigned i = 0; i < b->replicas; i++) {
        int rc = runner_add(runner, run_one, ready_one, ended_one, &b->all[i], e);
        if (rc)
            return rc;
        b->running++;
    }
    while (b->running) {
        int rc = runner_turn(runner, NULL, 0, -1, e);
        if (rc)
            return rc;
    }
    for (unsigned i = 0; i < b->replicas; i++)
        replica_free(b->all[i].replica);
    free(b->all);
    if (b->failed.code)
        *e = b->failed;
    return -(int)b->failed.code;
}

static void print(const struct bench *b, const struct shared_model *shared, bool json)
{
    double wall = b->ended - b->started, steps = (double)b->replicas * (double)b->steps;
    double timestep = shared->spec->settings.integrator.timestep;
    json_t *out =
        json_pack("{s:i, s:i, s:f, s:I, s:f, s:f, s:f, s:i, s:f, s:I}", "replicas", (int)b->replicas, "atoms",
                  shared->system.natoms, "timestep_fs", timestep * 1e3, "steps", (json_int_t)b->steps, "wall_s", wall,
                  "us_per_replica_step", wall / steps * 1e6, "ns_per_day_aggregate",
                  steps * timestep * 1e-3 / wall * 86400, "kernel_nodes_per_step", (int)b->nodes, "cpu_s_per_wall_s",
                  (b->cpu_ended - b->cpu_started) / wall, "device_bytes_per_replica", (json_int_t)b->device_bytes);
    const char *key;
    json_t *value;
    if (json)
        json_dumpf(out, stdout, JSON_REAL_PRECISION(6));
    else
        json_object_foreach (out, key, value)
            printf("%-26s %.6g\n", key, json_number_value(value));
    if (json)
        putchar('\n');
    json_decref(out);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static int bench(struct bench *b, const char *spec_path, const char *const *includes, int ninclude, bool json,
                 struct err *e)
{
    const char *base = getenv("TMPDIR");
    struct buf folder = {0};
    struct spec *spec;
    struct system sys = {0};
    struct models models = {0};
    struct runner runner = {0};
    struct shared_model *shared;
    int rc = input_read(spec_path, includes, ninclude, &spec, &sys, e);
    if (rc)
        return rc;
    set_protocol(b, spec);
    rc = engine_open(&models.dev, b->device, e);
    if (rc) {
        spec_free(spec);
        system_close(&sys);
        return rc;
    }
    runner.dev = models.dev;
    rc = jobs_new(&runner.jobs, e);
    buf_printf(&folder, "%s/shoal-bench-XXXXXX", base && *base ? base : "/tmp");
    if (!rc && !mkdtemp(folder.data))
        rc = err_errno(e, "make a folder %s", folder.data);
    if (rc) {
        spec_free(spec);
        system_close(&sys);
    } else {
        rc = models_add(&models, folder.data, spec, &sys, &shared, e);
        if (!rc) {
            rc = run_all(b, &runner, &models, shared, e);
            if (!rc)
                print(b, shared, json);
        }
        models_put(&models, shared);
        nftw(folder.data, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    buf_free(&folder);
    if (runner.count) /* the device was lost: what hangs on it cannot be freed in order */
        return rc;
    jobs_free(runner.jobs);
    models_close(&models);
    dev_close(models.dev);
    return rc;
}

static int usage(void)
{
    fputs(
        "usage: shoal bench SPEC [--replicas N] [--steps S] [--device cpu|cpu:N|cuda:K] [--include DIR]... "
        "[--json]\n",
        stderr);
    return EXIT_USAGE;
}

int bench_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"replicas", required_argument, NULL, 'r'}, {"steps", required_argument, NULL, 's'},
        {"device", required_argument, NULL, 'd'},   {"include", required_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},           {NULL, 0, NULL, 0}};
    struct bench b = {.device = "cpu"};
    struct err e = {0};
    int64_t replicas = 1, steps = 1000;
    bool json = false;
    const char *includes[INCLUDE_MAX];
    int ninclude = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        int rc = 0;
        if (c == 'd')
            b.device = optarg;
        else if (c == 'j')
            json = true;
        else if (c == 'i' && ninclude < INCLUDE_MAX)
            includes[ninclude++] = optarg;
        else if (c == 'r')
            rc = number_whole(&replicas, "--replicas ", optarg, 1, 10000, &e);
        else if (c == 's')
            rc = number_whole(&steps, "--steps ", optarg, 1, 1000000000, &e);
        else
            return usage();
        if (rc)
            return exit_with("bench", &e);
    }
    b.replicas = (unsigned)replicas;
    b.steps = (uint64_t)steps;
    if (optind + 1 != argc)
        return usage();
    return bench(&b, argv[optind], includes, ninclude, json, &e) ? exit_with("bench", &e) : EXIT_OK;
}
