/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU device: a pool of threads that execute lanes' jobs.
 *
 *  1. A lane is a queue of jobs. It is idle (no jobs), ready (in the ready queue) or running (on exactly one thread).
 *  2. One mutex guards all queues; kernels run without it. A job is a whole replay(n), so it is taken rarely.
 *  3. A thread takes one job from a lane, then puts the lane at the end of the ready queue: lanes share threads fairly.
 *  4. A graph is an immutable deep copy of its tape, counted: by its owner and by every job that replays it.
 *  5. When a job ends, the eventfd is written unless it is readable already (`signalled`); poll() drains it.
 *
 * Memory is host memory. No floating-point mode is touched: what kernels compute depends on the kernels alone.
 */
#include "graphs/dev_open.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/buf.h"

enum { MEMORY_ALIGN = 64 };

struct graph {
    struct tape tape;
    uint32_t refs; /* under the device's mutex */
};

struct job {
    struct job *next;
    struct graph *graph;
    uint32_t times;
};

struct lane {
    struct job *first, **last;
    struct lane *ready_next;
    bool busy; /* ready or running */
};

struct cpu_dev {
    struct dev base;
    pthread_t *threads;
    uint32_t nthreads;
    pthread_mutex_t mutex;
    pthread_cond_t work; /* a lane became ready, or stop */
    pthread_cond_t idle; /* a lane became idle */
    struct lane *ready_first, **ready_last;
    uint32_t nbusy; /* lanes */
    bool stop;
    bool signalled; /* the eventfd is readable */
    int fd;
};

static struct cpu_dev *cpu(struct dev *d)
{
    return (struct cpu_dev *)d;
}

/* --- executing, on the pool's threads --- */

static void execute(const struct kernel_table *kernels, const struct job *job)
{
    const struct tape *t = &job->graph->tape;
    for (uint32_t n = 0; n < job->times; n++)
        for (uint32_t i = 0; i < t->count; i++)
            kernels->kernels[t->launches[i].kernel].cpu(&t->launches[i], tape_args(t, &t->launches[i]));
}

/* With the mutex. */
static void make_ready(struct cpu_dev *d, struct lane *lane)
{
    lane->ready_next = NULL;
    *d->ready_last = lane;
    d->ready_last = &lane->ready_next;
}

static struct lane *take_ready(struct cpu_dev *d)
{
    struct lane *lane = d->ready_first;
    d->ready_first = lane->ready_next;
    if (!d->ready_first)
        d->ready_last = &d->ready_first;
    return lane;
}

static void graph_unref(struct graph *g)
{
    if (--g->refs > 0)
        return;
    tape_free(&g->tape);
    free(g);
}

static void signal_host(struct cpu_dev *d)
{
    uint64_t one = 1;
    if (d->signalled)
        return;
    d->signalled = true;
    while (write(d->fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

static void job_done(struct cpu_dev *d, struct lane *lane, struct job *job)
{
    graph_unref(job->graph);
    free(job);
    if (lane->first) {
        make_ready(d, lane);
    } else {
        lane->busy = false;
        d->nbusy--;
        pthread_cond_broadcast(&d->idle);
    }
    signal_host(d);
}

static void *pool_thread(void *arg)
{
    struct cpu_dev *d = arg;
    pthread_mutex_lock(&d->mutex);
    for (;;) {
        while (!d->ready_first && !d->stop)
            pthread_cond_wait(&d->work, &d->mutex);
        if (!d->ready_first)
            break;
        struct lane *lane = take_ready(d);
        struct job *job = lane->first;
        lane->first = job->next;
        if (!lane->first)
            lane->last = &lane->first;
        pthread_mutex_unlock(&d->mutex);
        execute(&d->base.kernels, job);
        pthread_mutex_lock(&d->mutex);
        job_done(d, lane, job);
    }
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

/* --- the device's functions, on the host's thread --- */

static int cpu_alloc(struct dev *dev, enum dev_memory kind, size_t bytes, void **device, void **host, struct err *e)
{
    size_t size = (bytes + MEMORY_ALIGN) / MEMORY_ALIGN * MEMORY_ALIGN;
    void *p = size > bytes ? aligned_alloc(MEMORY_ALIGN, size) : NULL;
    if (!p)
        return err_set(e, ERR_MEMORY, "cpu: %zu bytes of device memory", bytes);
    memset(p, 0, size);
    *device = p;
    if (host)
        *host = p;
    return 0;
}

static void cpu_free(struct dev *dev, enum dev_memory kind, void *device)
{
    free(device);
}

static int cpu_lane_new(struct dev *dev, struct lane **out, struct err *e)
{
    struct lane *lane = xcalloc(1, sizeof *lane);
    lane->last = &lane->first;
    *out = lane;
    return 0;
}

static void wait_idle(struct cpu_dev *d, struct lane *lane)
{
    pthread_mutex_lock(&d->mutex);
    while (lane->busy)
        pthread_cond_wait(&d->idle, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
}

static void cpu_lane_free(struct dev *dev, struct lane *lane)
{
    if (!lane)
        return;
    wait_idle(cpu(dev), lane);
    free(lane);
}

static int cpu_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    wait_idle(cpu(dev), lane);
    memmove(to, from, bytes);
    return 0;
}

static int graph_new(struct dev *dev, const struct tape *t, struct graph **out, struct err *e)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t k = t->launches[i].kernel;
        if (k >= dev->kernels.count || !dev->kernels.kernels[k].cpu)
            return err_set(e, ERR_DEVICE, "cpu: launch %u: kernel %u (%s) is not available", i, k,
                           k < dev->kernels.count ? dev->kernels.kernels[k].name : "unknown");
        if (t->launches[i].args_size != dev->kernels.kernels[k].args_size)
            return err_set(e, ERR_DEVICE, "cpu: launch %u: kernel %s takes %u bytes of arguments, not %u", i,
                           dev->kernels.kernels[k].name, dev->kernels.kernels[k].args_size, t->launches[i].args_size);
    }
    struct graph *g = xcalloc(1, sizeof *g);
    g->refs = 1;
    tape_copy(&g->tape, t);
    *out = g;
    return 0;
}

static void submit(struct cpu_dev *d, struct lane *lane, struct graph *g, uint32_t times)
{
    struct job *job = xcalloc(1, sizeof *job);
    job->graph = g;
    job->times = times;
    pthread_mutex_lock(&d->mutex);
    g->refs++;
    *lane->last = job;
    lane->last = &job->next;
    if (!lane->busy) {
        lane->busy = true;
        d->nbusy++;
        make_ready(d, lane);
        pthread_cond_signal(&d->work);
    }
    pthread_mutex_unlock(&d->mutex);
}

static void cpu_drop(struct dev *dev, struct graph *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&cpu(dev)->mutex);
    graph_unref(g);
    pthread_mutex_unlock(&cpu(dev)->mutex);
}

static int cpu_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e)
{
    struct graph *g;
    int rc = graph_new(dev, t, &g, e);
    if (rc)
        return rc;
    submit(cpu(dev), lane, g, 1);
    cpu_drop(dev, g);
    return 0;
}

static int cpu_build(struct dev *dev, struct lane *lane, const struct tape *t, struct graph **graph, struct err *e)
{
    double start = dev_now();
    struct graph *g;
    int rc = graph_new(dev, t, &g, e);
    if (rc)
        return rc;
    cpu_drop(dev, *graph);
    *graph = g;
    dev->build_cost = (struct build_cost){.capture = dev_now() - start};
    return 0;
}

static int cpu_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e)
{
    submit(cpu(dev), lane, g, times);
    return 0;
}

static int cpu_readback(struct dev *dev, struct graph *g, struct tape *t, struct err *e)
{
    tape_copy(t, &g->tape);
    return 0;
}

static int cpu_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct cpu_dev *d = cpu(dev);
    pthread_mutex_lock(&d->mutex);
    bool waits = d->nbusy > 0 && !d->signalled;
    pthread_mutex_unlock(&d->mutex);
    if (waits) {
        struct pollfd p = {.fd = d->fd, .events = POLLIN};
        if (poll(&p, 1, timeout_ms) < 0 && errno != EINTR)
            return err_errno(e, "cpu: poll");
    }
    pthread_mutex_lock(&d->mutex);
    if (d->signalled) {
        uint64_t count;
        d->signalled = false;
        while (read(d->fd, &count, sizeof count) < 0 && errno == EINTR) {
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return 0;
}

static int cpu_poll_fd(struct dev *dev)
{
    return cpu(dev)->fd;
}

static void cpu_close(struct dev *dev)
{
    struct cpu_dev *d = cpu(dev);
    pthread_mutex_lock(&d->mutex);
    d->stop = true;
    pthread_cond_broadcast(&d->work);
    pthread_mutex_unlock(&d->mutex);
    for (uint32_t i = 0; i < d->nthreads; i++)
        pthread_join(d->threads[i], NULL);
    if (d->fd >= 0)
        close(d->fd);
    pthread_cond_destroy(&d->idle);
    pthread_cond_destroy(&d->work);
    pthread_mutex_destroy(&d->mutex);
    free(d->threads);
    free(d);
}

static const struct dev_ops cpu_ops = {
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .lane_new = cpu_lane_new,
    .lane_free = cpu_lane_free,
    .copy = cpu_copy,
    .run = cpu_run,
    .build = cpu_build,
    .replay = cpu_replay,
    .readback = cpu_readback,
    .drop = cpu_drop,
    .poll = cpu_poll,
    .poll_fd = cpu_poll_fd,
};

/* Kernels may be compiled for several instruction sets and round differently in them, so the set names the model. */
static const char *model(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return "cpu avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "cpu avx2";
#endif
    return "cpu";
}

/* Signals are the host thread's business, so the pool starts with all of them blocked. */
static int start_threads(struct cpu_dev *d, uint32_t threads)
{
    sigset_t all, before;
    int code = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (d->nthreads < threads && !(code = pthread_create(&d->threads[d->nthreads], NULL, pool_thread, d)))
        d->nthreads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

int dev_cpu_open(struct dev **out, uint32_t threads, struct kernel_table kernels, struct err *e)
{
    struct cpu_dev *d = xcalloc(1, sizeof *d);
    d->base = (struct dev){.ops = &cpu_ops, .kernels = kernels, .model = model()};
    d->threads = xcalloc(threads, sizeof *d->threads);
    d->ready_last = &d->ready_first;
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->work, NULL);
    pthread_cond_init(&d->idle, NULL);
    d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->fd < 0) {
        int rc = err_errno(e, "cpu: eventfd");
        cpu_close(&d->base);
        return rc;
    }
    int code = start_threads(d, threads);
    if (code) {
        cpu_close(&d->base);
        return err_set(e, ERR_DEVICE, "cpu: starting %u threads: %s", threads, strerror(code));
    }
    *out = &d->base;
    return 0;
}
