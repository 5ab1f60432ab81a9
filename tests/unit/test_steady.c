/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the first step of production and the last the thread that drives a device waits for no copy, asks for no
 * memory and gives none back, makes no lane and writes no file, whatever there is between steps: samples, observables,
 * frames, volume moves, exchanges, checks of all graphs and tables, checkpoints. Nor does it take memory of the host's;
 * the device itself, once it has done each kind of work some times and has the graphs. Of a worker that serves the same
 * holds, with what it tells shoald of progress, checkpoints and load. The CPU's queue keeps what it takes, and takes
 * more only when its threads are further behind than they ever were.
 */
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/processes/frames.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "tests/lib/dev_count.h"
#include "tests/lib/replica_task.h"

enum { WINDOWS = 3, STEPS = 240, BEFORE = 20, GRAPHS = 100 /* steps of production until all are there */ };
enum { BEHIND = 40 /* times that the CPU's queue may take memory after that: a tenth of the steps of all windows */ };

static const char spec_format[] =
    "name: spheres\n"
    "system: {topology: a.top, coordinates: a.gro}\n"
    "nonbonded: {cutoff: 0.5 nm, list-buffer: 0.05 nm, coulomb: {method: pme, grid-spacing: 0.3 nm}}\n"
    "alchemy: {decouple: ONE, windows: {vdw: [0, 0.01, 0.02]}}\n"
    "integrator: {timestep: 2 fs, temperature: 120 K, friction: 1 /ps, seed: 9}\n"
    "barostat: {method: monte-carlo, pressure: 100 bar, every: 5 steps}\n"
    "exchange: {every: 10 steps}\n"
    "observables: [{rdf: {between: [AR, AR], max: 0.48 nm, bin: 0.02 nm, every: 5 steps}}]\n"
    "protocol:\n"
    "  - equilibrate: {time: 20 steps, ensemble: nvt}\n"
    "  - produce: {time: %d steps, ensemble: npt, sample-every: 5 steps, frames-every: 20 steps}\n"
    "run: {checkpoint-every: 40 steps, graph-check-every: 30 steps}\n";

/* For no gang. */
static const char bias_text[] =
    "biases: [{coordination: {between: [{resname: ONE}, {resname: ALL}], r0: 0.3 nm, d-max: 0.6 nm}, "
    "harmonic: {at: 2, force-constant: 5 kJ/mol}}]\n";

static const char topology_format[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 18 39.948 0 A 0.34 0.996\n"
    "[ moleculetype ]\nONE 1\n[ atoms ]\n1 AR 1 ONE AR 1 0.1 39.948\n2 AR 1 ONE AR 2 -0.1 39.948\n"
    "[ moleculetype ]\nALL 1\n[ atoms ]\n1 AR 1 ALL AR 1 0.1 39.948\n2 AR 1 ALL AR 2 -0.1 39.948\n"
    "[ system ]\nspheres\n[ molecules ]\nONE 1\nALL %d\n";

static char directory[64];
static struct replica *replicas[WINDOWS];
static int producing, ended, checkpoints, exchanges;
static pthread_t driver;

/* ---- what is counted ---- */

/* All have so many steps of production behind them, and none has all. */
static bool steady_since(uint64_t steps)
{
    if (producing < WINDOWS || ended)
        return false;
    for (int w = 0; w < WINDOWS; w++) {
        const struct sim *sim = replica_sim(replicas[w]);
        if (!sim || sim_step_number(sim) < BEFORE + steps || sim_step_number(sim) >= BEFORE + STEPS)
            return false;
    }
    return true;
}

static bool steady(void)
{
    return steady_since(0);
}

static bool serving, counting; /* serving: shoald says when */
/* Times that memory of the host was asked for or given back: outside of the device, inside, and in the CPU's queue. */
static unsigned of_host, of_device, of_queue;
static __thread bool queueing;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void __wrap_free(void *p);

static bool counts_here(void)
{
    if (__atomic_load_n(&serving, __ATOMIC_ACQUIRE))
        return __atomic_load_n(&counting, __ATOMIC_ACQUIRE) && pthread_equal(pthread_self(), driver);
    return pthread_equal(pthread_self(), driver) && steady();
}

static void note(void)
{
    if (!counts_here())
        return;
    if (queueing)
        of_queue += serving || steady_since(GRAPHS);
    else if (!dev_count_inside())
        of_host++; /* of a worker that serves, all */
    else
        of_device += steady_since(GRAPHS);
}

struct cpu_queue; /* graphs/cpu/dev.h, whose jobs are others than the runner's */
struct graph *__real_cpu_graph_new(struct cpu_queue *q, struct lane *lane, const struct tape *t, uint32_t repeat);
void __real_cpu_queue_submit(struct cpu_queue *q, struct lane *lane, const void *job);
struct graph *__wrap_cpu_graph_new(struct cpu_queue *q, struct lane *lane, const struct tape *t, uint32_t repeat);
void __wrap_cpu_queue_submit(struct cpu_queue *q, struct lane *lane, const void *job);

struct graph *__wrap_cpu_graph_new(struct cpu_queue *q, struct lane *lane, const struct tape *t, uint32_t repeat)
{
    queueing = true;
    struct graph *g = __real_cpu_graph_new(q, lane, t, repeat);
    queueing = false;
    return g;
}

void __wrap_cpu_queue_submit(struct cpu_queue *q, struct lane *lane, const void *job)
{
    queueing = true;
    __real_cpu_queue_submit(q, lane, job);
    queueing = false;
}

/* Of files; descriptors that wake the thread are written by others. */
static unsigned writes;

static void note_file(void)
{
    if (counts_here())
        writes++;
}

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
int __real_fsync(int fd);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);
int __wrap_fsync(int fd);

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    note_file();
    return __real_write(fd, data, bytes);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    note_file();
    return __real_pwrite(fd, data, bytes, at);
}

int __wrap_fsync(int fd)
{
    note_file();
    return __real_fsync(fd);
}

void *__wrap_malloc(size_t bytes)
{
    note();
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    note();
    return __real_calloc(n, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    note();
    return __real_realloc(p, bytes);
}

void __wrap_free(void *p)
{
    if (p)
        note();
    __real_free(p);
}

/* ---- replicas ---- */

static void put(const char *name, const char *text)
{
    char path[128];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/input/%s", directory, name);
    if (buf_write_file(path, text, strlen(text), &e))
        fail_msg("%s", e.msg);
}

/* side: of a cube of so many atoms; those of a gang are few */
static int make_cube(int side, int steps, const char *bias)
{
    struct buf spec = {0}, gro = {0}, top = {0};
    char path[128];
    const int atoms = side * side * side;
    snprintf(directory, sizeof directory, "%s/shoal-steady-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/input", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    buf_printf(&spec, spec_format, steps);
    buf_printf(&spec, "%s", bias);
    put("spec.yaml", spec.data);
    buf_printf(&top, topology_format, atoms / 2 - 1);
    put("a.top", top.data);
    buf_printf(&gro, "spheres\n%d\n", atoms);
    for (int i = 0; i < atoms; i++)
        buf_printf(&gro, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", i / 2 + 1, i < 2 ? "ONE" : "ALL", "AR", i + 1,
                   0.4 * (i % side) + 0.2, 0.4 * (i / side % side) + 0.21, 0.4 * (i / side / side) + 0.19);
    buf_printf(&gro, "%g %g %g\n", 0.4 * side, 0.4 * side, 0.4 * side);
    put("a.gro", gro.data);
    buf_free(&spec);
    buf_free(&gro);
    buf_free(&top);
    return 0;
}

static int make_ensemble(void **state)
{
    (void)state;
    return make_cube(4, STEPS, "");
}

static int make_larger(void **state)
{
    (void)state;
    return make_cube(6, STEPS, bias_text);
}

static int make_long(void **state)
{
    (void)state;
    return make_cube(4, 100 * 1000 * 1000, bias_text);
}

static int remove_ensemble(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void hear(void *ctx, const struct replica *r, const struct replica_report *what)
{
    (void)ctx, (void)r;
    if (what->kind == REPORT_EVENT)
        producing += !strcmp(what->event, "produces");
    if (what->kind == REPORT_SEGMENT)
        checkpoints += steady();
    if (what->kind == REPORT_FAILED)
        fail_msg("%s", what->why->msg);
    ended += what->kind >= REPORT_DONE;
}

static void make_replicas(struct runner *runner, struct models *models)
{
    struct err e = {0};
    struct exchange *exchange = exchange_new(WINDOWS);
    for (int w = 0; w < WINDOWS; w++) {
        replicas[w] = replica_new(&(struct replica_setup){.models = models,
                                                          .jobs = runner->jobs,
                                                          .directory = directory,
                                                          .window = w,
                                                          .replica = (uint32_t)w,
                                                          .exchange = exchange,
                                                          .report = hear});
        assert_int_equal(replica_task_add(runner, replicas[w], &e), 0);
    }
}

static const char *device(void)
{
    const char *name = getenv("SHOAL_TEST_DEVICE");
    return name ? name : "cpu:2";
}

static void the_driving_thread(void **state)
{
    (void)state;
    struct err e = {0};
    struct models models = {0};
    uint32_t walker = 0;
    driver = pthread_self();
    producing = ended = checkpoints = exchanges = 0;
    of_host = of_device = of_queue = writes = 0;
    assert_int_equal(engine_open(&models.dev, device(), &e), 0);
    struct runner runner = {.dev = {models.dev}};
    assert_int_equal(jobs_new(&runner.jobs, &e), 0);
    dev_count_begin(models.dev, steady);
    make_replicas(&runner, &models);
    while (runner.count) {
        assert_int_equal(runner_turn(&runner, NULL, 0, 1000, &e), 0);
        exchanges += steady() && replicas[0]->walker != walker;
        walker = steady() ? replicas[0]->walker : walker;
    }
    const struct dev_counts c = dev_count_end(models.dev);
    print_message(
        "%u calls, %d checkpoints, %d exchanges; %u of the host's memory outside, %u inside of the device, "
        "%u in its queue\n",
        c.calls, checkpoints, exchanges, of_host, of_device, of_queue);
    assert_true(c.calls > 1000 && checkpoints >= WINDOWS * 4 && exchanges > 4);
    assert_int_equal(c.copies, 0);
    assert_int_equal(c.allocs, 0);
    assert_int_equal(c.frees, 0);
    assert_int_equal(c.lanes, 0);
    assert_int_equal(of_host, 0);
    assert_int_equal(of_device, 0);
    assert_in_range(of_queue, 0, BEHIND);
    assert_int_equal(writes, 0);
    jobs_free(runner.jobs);
    models_close(&models);
    dev_close(models.dev);
}

/* ---- a worker that serves ---- */

enum { FRAMES_FD = 3 };

/* In place of the program's own. */
int exit_with(const char *command, const struct err *e)
{
    fprintf(stderr, "%s: %s\n", command, e->msg);
    abort();
}

static void *serve(void *arg)
{
    char *argv[] = {"serve", "--device", (char *)(uintptr_t)device(), NULL};
    (void)arg;
    assert(serve_main(3, argv) == 0);
    close(FRAMES_FD);
    return NULL;
}

static void say(int fd, json_t *message)
{
    struct buf wire = {0};
    frame_put(&wire, message);
    assert_int_equal(send(fd, wire.data, wire.len, 0), wire.len);
    json_decref(message);
    buf_free(&wire);
}

/* Reads frames until there have been so many of the type, so many steps or later; false: no more come. */
static bool listen_for(int fd, struct buf *in, int n, const char *type, json_int_t step)
{
    struct err e = {0};
    char chunk[4096];
    while (n > 0) {
        json_t *m;
        assert_int_equal(frame_take(in, &m, &e), 0);
        if (!m) {
            const ssize_t got = recv(fd, chunk, sizeof chunk, 0);
            if (got <= 0)
                return false;
            buf_add(in, chunk, (size_t)got);
            continue;
        }
        assert_string_not_equal(json_string_value(json_object_get(m, "type")), "failed");
        n -= !strcmp(json_string_value(json_object_get(m, "type")), type) &&
             json_integer_value(json_object_get(m, "step")) >= step;
        json_decref(m);
    }
    return true;
}

static void a_worker(void **state)
{
    (void)state;
    int fd[2];
    char folder[32];
    struct buf in = {0};
    json_t *list = json_array();
    of_host = of_queue = writes = 0;
    __atomic_store_n(&serving, true, __ATOMIC_RELEASE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    const int ours = fcntl(fd[0], F_DUPFD, 10), theirs = fcntl(fd[1], F_DUPFD, 10); /* either may have been 3 */
    close(fd[0]);
    close(fd[1]);
    assert_int_equal(dup2(theirs, FRAMES_FD), FRAMES_FD);
    close(theirs);
    for (int w = 0; w < WINDOWS; w++) {
        snprintf(folder, sizeof folder, "lambda_%02d", w);
        json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:s, s:i}", "number", w, "window", w, "key", w, "folder",
                                              folder, "steps", 0));
    }
    assert_int_equal(pthread_create(&driver, NULL, serve, NULL), 0);
    say(ours, json_pack("{s:s, s:i, s:s, s:s, s:o}", "type", "start", "set", 1, "ensemble", "e", "directory", directory,
                        "replicas", list));
    assert_true(listen_for(ours, &in, WINDOWS, "segment", BEFORE + GRAPHS));
    assert_true(listen_for(ours, &in, 1, "load", 0));
    __atomic_store_n(&counting, true, __ATOMIC_RELEASE);
    assert_true(listen_for(ours, &in, WINDOWS, "progress", 0));
    assert_true(listen_for(ours, &in, WINDOWS, "segment", 0));
    assert_true(listen_for(ours, &in, 1, "load", 0));
    __atomic_store_n(&counting, false, __ATOMIC_RELEASE);
    say(ours, json_pack("{s:s}", "type", "drain"));
    assert_false(listen_for(ours, &in, INT32_MAX, "nothing", 0));
    pthread_join(driver, NULL);
    __atomic_store_n(&serving, false, __ATOMIC_RELEASE);
    assert_int_equal(of_host, 0);
    assert_in_range(of_queue, 0, BEHIND);
    assert_int_equal(writes, 0);
    buf_free(&in);
    close(ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_driving_thread, make_ensemble, remove_ensemble),
        cmocka_unit_test_setup_teardown(the_driving_thread, make_larger, remove_ensemble),
        cmocka_unit_test_setup_teardown(a_worker, make_long, remove_ensemble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
