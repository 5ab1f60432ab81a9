/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/bench_run.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "daemon/worker/device/device.h"
#include "daemon/worker/offline/input.h"
#include "daemon/worker/replica/replica.h"
#include "daemon/worker/threads/runner.h"
#include "engine/base/clock.h"

#define WARM_UP_MIN 200 /* steps: past graphs of all sizes, and a few pair lists */

struct bench {
    const struct bench_task *task;
    struct bench_result *out;
    struct models models;
    struct runner runner;
    struct buf folder;
    struct shared_model *shared[BENCH_SPECS_MAX];
    uint64_t last_stage[BENCH_SPECS_MAX];
    unsigned count, arrived, running, asked;
    struct bench_replica *all;
    double started, cpu_started, feeding_started; /* seconds */
    bool open, ended;                             /* measuring has begun; is over */
    struct err failed;
};

struct bench_replica {
    struct bench *bench;
    struct replica *replica;
    int spec;
    bool arrived;
    uint64_t first; /* step number when the clock starts */
};

static double cpu_clock(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Of the thread that feeds the device, which is the one that calls. */
static double feeding_clock(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* The measured stage begins when all have come to it, for all in one turn of the runner: none gets ahead of the others.
 */
static bool gate(void *ctx, const struct replica *r, uint64_t stage)
{
    struct bench_replica *mine = ctx;
    struct bench *b = mine->bench;
    if (stage < b->last_stage[mine->spec])
        return true;
    if (!mine->arrived) {
        mine->arrived = true;
        mine->first = replica_timesteps(r);
        b->arrived++;
    }
    return b->open;
}

static void start_measuring(struct bench *b)
{
    b->open = true;
    b->started = clock_now();
    b->cpu_started = cpu_clock();
    b->feeding_started = feeding_clock();
    b->models.dev->clock = b->task->clock;
}

static void stop_all(struct bench *b)
{
    for (unsigned i = 0; i < b->count; i++)
        replica_stop(b->all[i].replica);
}

/* Whether the one whose turn it is to be asked has done its steps: one a turn, so that asking costs nothing of what is
 * measured. */
static bool one_is_through(struct bench *b)
{
    const struct bench_replica *r = &b->all[b->asked++ % b->count];
    return b->open && replica_sim(r->replica) && replica_timesteps(r->replica) >= r->first + b->task->steps;
}

/* One replica is through: up to now all were in flight, and what they have done counts. */
static void end_measuring(struct bench *b)
{
    b->ended = true;
    b->models.dev->clock = NULL;
    b->out->wall = clock_now() - b->started;
    b->out->cpu = cpu_clock() - b->cpu_started;
    b->out->feeding = feeding_clock() - b->feeding_started;
    for (unsigned i = 0; i < b->count; i++) {
        const struct sim *sim = replica_sim(b->all[i].replica);
        struct bench_share *share = &b->out->share[b->all[i].spec];
        share->steps +=
            sim ? replica_timesteps(b->all[i].replica) - b->all[i].first : b->task->steps; /* or it has ended */
        if (sim)
            share->nodes = sim_nodes_per_step(sim), share->bytes = sim_device_bytes(sim);
    }
    stop_all(b);
}

static void heard(void *ctx, const struct replica *r, const struct replica_report *what)
{
    struct bench_replica *mine = ctx;
    struct bench *b = mine->bench;
    (void)r;
    if (what->kind == REPORT_DONE && !b->ended)
        end_measuring(b);
    if (what->kind == REPORT_FAILED && !b->failed.code) {
        b->failed = *what->why;
        stop_all(b);
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

static uint64_t whole_cycles(uint64_t steps, const struct spec *spec)
{
    const uint64_t cycle = mesh_cycle(&spec->settings.integrator);
    return (steps + cycle - 1) / cycle * cycle;
}

/* The spec's minimizations, then its last stage twice, with the settings of what produces: the warm-up has done all
 * that the task's steps do. Returns the number of the second. */
static uint64_t set_protocol(struct spec *spec, const struct bench_task *task)
{
    const uint64_t steps = task->steps, usual = steps / 10 > WARM_UP_MIN ? steps / 10 : WARM_UP_MIN;
    const struct stage bare = {0}, *last = spec->nstages ? &spec->stages[spec->nstages - 1] : &bare;
    struct stage *stages = xcalloc((size_t)spec->nstages + 2, sizeof *stages);
    int n = 0;
    for (int i = 0; i < spec->nstages && spec->stages[i].kind == STAGE_MINIMIZE; i++)
        stages[n++] = spec->stages[i];
    stages[n] = stages[n + 1] = *last;
    stages[n].steps = whole_cycles(task->warm_up ? task->warm_up : usual, spec);
    stages[++n].steps = whole_cycles(2 * steps, spec);
    stages[n - 1].kind = stages[n].kind = STAGE_PRODUCE;
    for (int i = 0; i <= n; i++) {
        stages[i].phase = 0;
        stages[i].timestep = spec->settings.integrator.timestep;
    }
    free(spec->stages);
    spec->stages = stages;
    spec->nstages = n + 1;
    return (uint64_t)n;
}

static int add_model(struct bench *b, int k, struct err *e)
{
    struct buf folder = {0};
    struct spec *spec;
    struct system sys = {0};
    int rc = input_read(b->task->specs[k], b->task->includes.items, b->task->includes.n, &spec, &sys, e);
    if (rc)
        return rc;
    if ((rc = spec_check_box(spec, &sys, e))) {
        spec_free(spec);
        system_close(&sys);
        return rc;
    }
    b->last_stage[k] = set_protocol(spec, b->task);
    spec->settings.replicas = (int)b->task->replicas * b->task->nspecs; /* all that share the device */
    spec->settings.form = b->task->form;
    spec->settings.nonbonded.pme_form = b->task->pme;
    b->out->share[k].natoms = sys.natoms;
    b->out->share[k].timestep = spec->settings.integrator.timestep;
    buf_printf(&folder, "%s/%d", b->folder.data, k);
    if (mkdir(folder.data, 0700)) {
        rc = err_errno(e, "make a folder %s", folder.data);
        spec_free(spec);
        system_close(&sys);
    } else {
        rc = models_add(&b->models, folder.data, spec, &sys, &b->shared[k], e);
        if (!rc)
            b->out->share[k].forms = model_forms(b->shared[k]->model);
    }
    buf_free(&folder);
    return rc;
}

static struct replica *new_replica(struct bench *b, struct bench_replica *of, unsigned number)
{
    const struct shared_model *shared = b->shared[of->spec];
    const unsigned windows = (unsigned)spec_windows(shared->spec);
    if (b->task->single)
        number = windows / 2;
    return replica_new(&(struct replica_setup){.models = &b->models,
                                               .jobs = b->runner.jobs,
                                               .directory = shared->directory,
                                               .window = (int)(number % windows),
                                               .replica = number,
                                               .report = heard,
                                               .gate = gate,
                                               .ctx = of});
}

static int run_all(struct bench *b, struct err *e)
{
    int rc = 0;
    b->count = (b->task->single ? 1 : b->task->replicas) * (unsigned)b->task->nspecs;
    b->all = xcalloc(b->count, sizeof *b->all);
    for (unsigned i = 0; i < b->count; i++) {
        b->all[i] = (struct bench_replica){.bench = b, .spec = (int)(i % (unsigned)b->task->nspecs)};
        b->all[i].replica = new_replica(b, &b->all[i], i / (unsigned)b->task->nspecs);
    }
    for (unsigned i = 0; i < b->count && !rc; i++) {
        rc = runner_add(&b->runner, run_one, ready_one, ended_one, &b->all[i], e);
        b->running += !rc;
    }
    while (b->running && !rc) {
        if (b->arrived == b->count && !b->open)
            start_measuring(b);
        rc = runner_turn(&b->runner, NULL, 0, -1, e);
        if (!rc && !b->ended && !b->failed.code && one_is_through(b))
            end_measuring(b);
    }
    if (rc)
        return rc;
    for (unsigned i = 0; i < b->count; i++)
        replica_free(b->all[i].replica);
    free(b->all);
    if (b->failed.code)
        *e = b->failed;
    return -(int)b->failed.code;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static int run_in_folder(struct bench *b, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < b->task->nspecs && !rc; k++)
        rc = add_model(b, k, e);
    if (!rc)
        rc = run_all(b, e);
    for (int k = 0; k < b->task->nspecs; k++)
        if (b->shared[k])
            models_put(&b->models, b->shared[k]);
    nftw(b->folder.data, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}

int bench_run(const struct bench_task *task, struct bench_result *out, struct err *e)
{
    const char *base = getenv("TMPDIR");
    struct bench b = {.task = task, .out = out};
    *out = (struct bench_result){0};
    int rc = engine_open(&b.models.dev, task->device, e);
    if (rc)
        return rc;
    b.runner.dev[0] = b.models.dev;
    b.models.dev->eager |= task->clock != NULL;
    snprintf(out->model, sizeof out->model, "%s", b.models.dev->model);
    rc = jobs_new(&b.runner.jobs, e);
    buf_printf(&b.folder, "%s/shoal-bench-XXXXXX", base && *base ? base : "/tmp");
    if (!rc)
        rc = mkdtemp(b.folder.data) ? run_in_folder(&b, e) : err_errno(e, "make a folder %s", b.folder.data);
    for (int k = 0; k < task->nspecs && !rc; k++)
        if (!out->share[k].steps)
            rc = err_set(e, ERR_USAGE,
                         "%s did nothing while %" PRIu64 " steps of another were done: more --steps are needed",
                         task->specs[k], task->steps);
    buf_free(&b.folder);
    if (b.runner.count) /* the device was lost: what hangs on it cannot be freed in order */
        return rc;
    jobs_free(b.runner.jobs);
    models_close(&b.models);
    dev_close(b.models.dev);
    return rc;
}
