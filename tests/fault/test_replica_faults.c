/* SPDX-License-Identifier: Apache-2.0
 *
 * Two replicas on a device whose k-th call fails, for k = 0, 1, 2, ... until a run sees no fault. The replica that met
 * the fault fails alone and says so, or the runner does when it was the runner's own call; nothing on the device leaks;
 * and the next attempt ends with the bytes of a run without any fault. When the device is lost with the call, the
 * runner says so. When the tables that both read change under them, both say so, and the next attempt in the same
 * process gets new ones.
 */
#undef NDEBUG
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/device/device.h"
#include "engine/run/model.h"
#include "tests/lib/dev_fault.h"
#include "tests/lib/replica_task.h"

enum { REPLICAS = 2, SIDE = 3, FILES = 5 };
/* How a child process ended. */
enum { ALL_DONE, ONE_FAILED, RUNNER_FAILED, WRONG };

static const char *const file_names[FILES] = {"dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro", "rdf.xvg"};
static char directory[64];

/* Lennard-Jones spheres; one of them is decoupled. */
static const char spec_text[] =
    "name: spheres\n"
    "system: {topology: a.top, coordinates: a.gro}\n"
    "nonbonded: {cutoff: 0.5 nm, list-buffer: 0.05 nm}\n"
    "alchemy: {decouple: ONE, windows: {vdw: [0, 1]}}\n"
    "integrator: {timestep: 2 fs, temperature: 120 K, friction: 1 /ps, seed: 9}\n"
    "barostat: {method: monte-carlo, pressure: 100 bar, every: 7 steps}\n"
    "observables: [{rdf: {between: [AR, AR], max: 0.48 nm, bin: 0.02 nm, every: 3 steps}}]\n"
    "protocol:\n"
    "  - minimize: {steps: 5, defines: [APART]}\n"
    "  - equilibrate: {time: 10 steps, ensemble: nvt}\n"
    "  - produce: {time: 30 steps, ensemble: npt, sample-every: 10 steps, frames-every: 15 steps}\n"
    "run: {checkpoint-every: 10 steps, graph-check-every: 8 steps}\n";

static const char topology_text[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 18 39.948 0 A 0.34 0.996\n"
    "[ moleculetype ]\nONE 1\n[ atoms ]\n1 AR 1 ONE AR 1 0 39.948\n"
    "[ moleculetype ]\nALL 1\n[ atoms ]\n1 AR 1 ALL AR 1 0 39.948\n"
    "[ system ]\nspheres\n[ molecules ]\nONE 1\nALL 26\n";

static void put(const char *name, const char *text)
{
    char path[128];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/input/%s", directory, name);
    if (buf_write_file(path, text, strlen(text), &e))
        fail_msg("%s", e.msg);
}

static int make_ensemble(void **state)
{
    (void)state;
    struct buf gro = {0};
    char path[128];
    snprintf(directory, sizeof directory, "%s/shoal-fault-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/input", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    put("spec.yaml", spec_text);
    put("a.top", topology_text);
    buf_printf(&gro, "spheres\n%d\n", SIDE * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        buf_printf(&gro, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", i + 1, i ? "ALL" : "ONE", "AR", i + 1,
                   0.4 * (i % SIDE) + 0.2, 0.4 * (i / SIDE % SIDE) + 0.21, 0.4 * (i / SIDE / SIDE) + 0.19);
    buf_printf(&gro, "1.2 1.2 1.2\n");
    put("a.gro", gro.data);
    buf_free(&gro);
    return 0;
}

static void remove_files(const char *which)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s%s", directory, which);
    assert_int_equal(system(command), 0);
}

static int remove_ensemble(void **state)
{
    (void)state;
    remove_files("");
    return 0;
}

struct told {
    struct replica *replica;
    struct models *models;
    int ends;
    enum report_kind end;
    struct err why;
};

/* On the CPU device: a bit of the shared tables flips when a replica has equilibrated. */
static bool plant_damage;

static void hear(void *ctx, const struct replica *r, const struct replica_report *what)
{
    struct told *t = ctx;
    (void)r;
    if (plant_damage && what->kind == REPORT_SEGMENT && what->step == 15) {
        unsigned char *tables = (unsigned char *)(uintptr_t)t->models->first->model->shared.span.start;
        tables[7] ^= 0x10; /* of the ladder */
        plant_damage = false;
    }
    if (what->kind < REPORT_DONE)
        return;
    t->ends++;
    t->end = what->kind;
    if (what->why)
        t->why = *what->why;
}

static bool is_planted(const struct err *e)
{
    return e->code == ERR_DEVICE && (strstr(e->msg, "planted fault in ") || strstr(e->msg, "planted loss of"));
}

static int judge(const struct told told[REPLICAS], bool fired)
{
    int failed = 0;
    for (int i = 0; i < REPLICAS; i++) {
        bool clean = told[i].end == REPORT_DONE || (told[i].end == REPORT_FAILED && is_planted(&told[i].why));
        if (told[i].ends != 1 || !clean) {
            fprintf(stderr, "replica %d: end %d %s\n", i, (int)told[i].end, told[i].why.msg);
            return WRONG;
        }
        failed += told[i].end == REPORT_FAILED;
    }
    if (failed != fired)
        fprintf(stderr, "%d replicas failed of %d faults\n", failed, (int)fired);
    return failed != fired ? WRONG : failed ? ONE_FAILED : ALL_DONE;
}

/* All replicas from their start to their ends. */
static int run_all(struct runner *runner, struct models *models, struct told told[REPLICAS], struct err *e)
{
    int rc = 0;
    for (int i = 0; i < REPLICAS && !rc; i++) {
        told[i] = (struct told){.models = models};
        told[i].replica = replica_new(&(struct replica_setup){.models = models,
                                                              .jobs = runner->jobs,
                                                              .directory = directory,
                                                              .window = i,
                                                              .replica = (uint32_t)i,
                                                              .report = hear,
                                                              .ctx = &told[i]});
        rc = replica_task_add(runner, told[i].replica, e);
    }
    while (!rc && runner->count)
        rc = runner_turn(runner, NULL, 0, 1000, e);
    return rc;
}

/* The whole of a worker's life; `call` as in dev_fault_fail or, `lost`, dev_fault_lose; negative: no fault. */
static int worker_life(int64_t call, bool lost)
{
    struct err e = {0};
    struct dev *inner;
    struct dev *idle;
    if (engine_open(&inner, "cpu:2", &e) || engine_open(&idle, "cpu:1", &e))
        return WRONG;
    struct dev *d = dev_fault_new(inner);
    if (call >= 0 && lost)
        dev_fault_lose(d, (uint64_t)call);
    else if (call >= 0)
        dev_fault_fail(d, (uint64_t)call);
    struct models models = {.dev = d};
    struct runner runner = {.dev = {idle, d}}; /* a lost device ends a worker that has another one, too */
    if (jobs_new(&runner.jobs, &e))
        return WRONG;
    struct told told[REPLICAS];
    if (run_all(&runner, &models, told, &e))
        return is_planted(&e) ? RUNNER_FAILED : WRONG;
    jobs_free(runner.jobs);
    models_close(&models);
    uint32_t alive = dev_fault_alive(d);
    int end = judge(told, dev_fault_fired(d));
    dev_close(d);
    dev_close(inner);
    dev_close(idle);
    if (alive)
        fprintf(stderr, "%u things on the device are not given back\n", alive);
    return alive ? WRONG : end;
}

static int in_a_child(int64_t call, bool lost)
{
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int end = worker_life(call, lost);
        fflush(NULL);
        if (end ==
            RUNNER_FAILED) /* replicas in the middle of their story cannot be unwound; a worker ends like this too */
            _exit(end);
        exit(end);
    }
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

static void read_files(struct buf files[REPLICAS][FILES])
{
    for (int i = 0; i < REPLICAS * FILES; i++) {
        char path[128];
        struct err e = {0};
        struct buf *b = &files[i / FILES][i % FILES];
        snprintf(path, sizeof path, "%s/lambda_%02d/%s", directory, i / FILES, file_names[i % FILES]);
        b->len = 0;
        if (buf_read_file(b, path, &e))
            fail_msg("%s", e.msg);
    }
}

static void every_call_fails_once(void **state)
{
    (void)state;
    struct buf wanted[REPLICAS][FILES] = {0}, got[REPLICAS][FILES] = {0};
    assert_int_equal(in_a_child(-1, false), ALL_DONE);
    read_files(wanted);
    int64_t call = 0;
    int ends[WRONG + 1] = {0};
    for (;; call++) {
        remove_files("/lambda_*");
        int end = in_a_child(call, false);
        ends[end]++;
        if (end == WRONG)
            fail_msg("call %d", (int)call);
        if (end == ALL_DONE)
            break;
        assert_int_equal(in_a_child(-1, false), ALL_DONE);
        read_files(got);
        for (int i = 0; i < REPLICAS * FILES; i++) {
            assert_int_equal(got[i / FILES][i % FILES].len, wanted[i / FILES][i % FILES].len);
            assert_memory_equal(got[i / FILES][i % FILES].data, wanted[i / FILES][i % FILES].data,
                                wanted[i / FILES][i % FILES].len);
        }
    }
    print_message("%d calls failed: %d times a replica, %d times the runner\n", (int)call, ends[ONE_FAILED],
                  ends[RUNNER_FAILED]);
    assert_true(ends[ONE_FAILED] > 50);
    for (int i = 0; i < REPLICAS * FILES; i++) {
        buf_free(&got[i / FILES][i % FILES]);
        buf_free(&wanted[i / FILES][i % FILES]);
    }
}

/* Both in one process: what was damaged serves no one any more. */
static void the_tables_change(void **state)
{
    (void)state;
    struct err e = {0};
    struct models models = {0};
    struct told told[REPLICAS];
    assert_int_equal(engine_open(&models.dev, "cpu:2", &e), 0);
    struct runner runner = {.dev = {models.dev}};
    assert_int_equal(jobs_new(&runner.jobs, &e), 0);
    plant_damage = true;
    assert_int_equal(run_all(&runner, &models, told, &e), 0);
    assert_false(plant_damage);
    for (int i = 0; i < REPLICAS; i++) {
        assert_int_equal(told[i].end, REPORT_FAILED);
        assert_int_equal(told[i].why.code, ERR_DRIFT);
        assert_non_null(strstr(told[i].why.msg, "lambda, byte 7 of "));
    }
    assert_int_equal(run_all(&runner, &models, told, &e), 0);
    for (int i = 0; i < REPLICAS; i++)
        assert_int_equal(told[i].end, REPORT_DONE);
    jobs_free(runner.jobs);
    models_close(&models);
    dev_close(models.dev);
}

/* A lost device is never a replica's failure, whoever met it. */
static void the_device_is_lost(void **state)
{
    (void)state;
    int lost = 0;
    for (int64_t call = 0;; call += 5) {
        remove_files("/lambda_*");
        int end = in_a_child(call, true);
        if (end == ALL_DONE)
            break;
        assert_int_equal(end, RUNNER_FAILED);
        lost++;
    }
    assert_true(lost > 10);
    assert_int_equal(in_a_child(-1, false), ALL_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_call_fails_once, make_ensemble, remove_ensemble),
        cmocka_unit_test_setup_teardown(the_tables_change, make_ensemble, remove_ensemble),
        cmocka_unit_test_setup_teardown(the_device_is_lost, make_ensemble, remove_ensemble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
