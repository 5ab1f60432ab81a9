/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU device. Memory is host memory, every block of it from the allocator of its own, so that tools which watch
 * heap memory see its bounds. No floating-point mode is touched: what kernels compute depends on the kernels alone.
 */
#include "graphs/cpu/dev.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "graphs/check.h"

struct cpu_dev {
    struct dev base;
    struct cpu_queue queue;
    struct pool *pools[2]; /* by enum dev_memory */
    struct lane *lanes;
    size_t total; /* bytes of memory of the machine */
};

static struct cpu_dev *cpu(struct dev *d)
{
    return (struct cpu_dev *)d;
}

/* --- memory --- */

static size_t held(const struct cpu_dev *d)
{
    return pool_held(d->pools[DEV_MEMORY]) + pool_held(d->pools[DEV_MAPPED]);
}

static int slab_new(void *ctx, size_t bytes, void **device, void **host, struct err *e)
{
    struct cpu_dev *d = ctx;
    size_t left = d->total - held(d);
    void *p = bytes <= left ? aligned_alloc(POOL_ALIGN, bytes) : NULL;
    if (!p) {
        err_set(e, ERR_MEMORY, "cpu: %zu bytes of device memory: %zu of %zu are free", bytes, left, d->total);
        return DEV_FULL;
    }
    *device = *host = p;
    return 0;
}

static void slab_free(void *ctx, void *device, void *host)
{
    free(device);
}

static int cpu_alloc(struct dev *dev, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                     struct err *e)
{
    void *here;
    int rc = pool_take(cpu(dev)->pools[kind], lane, bytes, device, &here, e);
    if (rc)
        return rc;
    memset(here, 0, bytes);
    if (host)
        *host = here;
    return 0;
}

static struct mark lane_mark(struct cpu_dev *d, struct lane *lane)
{
    struct mark m = {&lane->passed, ++lane->marked};
    cpu_queue_submit(&d->queue, lane, &(struct lane_job){.mark = m.target});
    return m;
}

static void cpu_free(struct dev *dev, enum dev_memory kind, void *device)
{
    struct pool *pool = cpu(dev)->pools[kind];
    if (!device)
        return;
    struct lane *lane = (struct lane *)(uintptr_t)pool_owner(pool, device);
    pool_give(pool, device, lane ? lane_mark(cpu(dev), lane) : (struct mark){0});
}

static void cpu_usage(struct dev *dev, struct lane *lane, struct dev_usage *out)
{
    struct cpu_dev *d = cpu(dev);
    const struct pool *pool = d->pools[DEV_MEMORY];
    *out = (struct dev_usage){.total = d->total, .free = d->total - held(d), .used = pool_used(pool, NULL)};
    if (lane)
        out->lane = pool_used(pool, lane);
}

/* --- lanes --- */

static int cpu_lane_new(struct dev *dev, struct lane **out, struct err *e)
{
    struct lane *lane = xcalloc(1, sizeof *lane);
    cpu_lane_open(lane);
    lane->next = cpu(dev)->lanes;
    *out = cpu(dev)->lanes = lane;
    dev->lanes++;
    return 0;
}

static void cpu_lane_free(struct dev *dev, struct lane *lane)
{
    struct cpu_dev *d = cpu(dev);
    if (!lane)
        return;
    cpu_queue_wait(&d->queue, lane);
    pool_leave(d->pools[DEV_MEMORY], lane);
    pool_leave(d->pools[DEV_MAPPED], lane);
    struct lane **at = &d->lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    cpu_lane_close(lane);
    dev->lanes--;
}

static int cpu_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    cpu_queue_wait(&cpu(dev)->queue, lane);
    memmove(to, from, bytes);
    return 0;
}

static int cpu_copy_async(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    cpu_queue_submit(&cpu(dev)->queue, lane, &(struct lane_job){.to = to, .from = from, .bytes = bytes});
    return 0;
}

static int cpu_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e)
{
    *out = lane_mark(cpu(dev), lane);
    return 0;
}

static int cpu_follow(struct dev *dev, struct lane *lane, struct lane *before, struct err *e)
{
    const struct mark m = lane_mark(cpu(dev), before);
    cpu_queue_submit(&cpu(dev)->queue, lane, &(struct lane_job){.after = m});
    return 0;
}

/* --- tapes and graphs --- */

static int admit(struct dev *dev, const struct tape *t, struct err *e)
{
    int rc = check_launches(&dev->kernels, t, e);
    if (rc)
        return err_prefix(e, "cpu");
    for (uint32_t i = 0; i < t->count; i++) {
        const struct kernel *k = &dev->kernels.kernels[t->launches[i].kernel];
        if (!k->cpu)
            return err_set(e, ERR_DEVICE, "cpu: launch %u: kernel %s is not available", i, k->name);
    }
    return 0;
}

static void submit(struct cpu_dev *d, struct lane *lane, struct graph *g, uint64_t steps, double *seconds)
{
    cpu_queue_submit(
        &d->queue, lane,
        &(struct lane_job){
            .graph = g, .steps = steps, .order = d->base.shuffle ? lane->jobs + 1 : 0, .seconds = seconds});
}

/* A lane is on one thread. */
static void tell_clock(struct cpu_dev *d, const struct tape *t, const double *seconds)
{
    struct launch_time times[TAPE_LAUNCHES_MAX];
    for (uint32_t i = 0; i < t->count; i++)
        times[i] = (struct launch_time){seconds[i], 1.0 / d->queue.nthreads};
    d->base.clock->ran(d->base.clock, &d->base, t, times);
}

static int cpu_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e)
{
    int rc = admit(dev, t, e);
    if (rc)
        return rc;
    double seconds[TAPE_LAUNCHES_MAX] = {0};
    struct graph *g = cpu_graph_new(&cpu(dev)->queue, lane, t, 1);
    submit(cpu(dev), lane, g, 1, dev->clock ? seconds : NULL);
    cpu_graph_unref(&cpu(dev)->queue, g);
    if (!dev->clock)
        return 0;
    cpu_queue_wait(&cpu(dev)->queue, lane);
    tell_clock(cpu(dev), t, seconds);
    return 0;
}

/* Here a library function is one call, with nothing inside that could differ. */
static int cpu_trace(struct dev *dev, struct lane *lane, struct tape *t, struct err *e)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->launches[i].nodes = t->launches[i].kind == LAUNCH_LIBRARY;
    return 0;
}

static int cpu_build(struct dev *dev, struct lane *lane, const struct tape *t, uint32_t repeat, struct graph **graph,
                     struct err *e)
{
    double start = dev_now();
    int rc = admit(dev, t, e);
    if (rc)
        return rc;
    struct graph *g = cpu_graph_new(&cpu(dev)->queue, lane, t, repeat);
    cpu_graph_unref(&cpu(dev)->queue, *graph);
    *graph = g;
    dev->build_cost = (struct build_cost){.capture = dev_now() - start};
    return 0;
}

static int cpu_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e)
{
    submit(cpu(dev), lane, g, (uint64_t)times * g->repeat, NULL);
    return 0;
}

static int cpu_readback(struct dev *dev, struct graph *g, uint32_t repetition, struct tape *t, struct err *e)
{
    tape_copy(t, &g->tape);
    return 0;
}

static void cpu_drop(struct dev *dev, struct graph *g)
{
    cpu_graph_unref(&cpu(dev)->queue, g);
}

/* --- waiting --- */

static void cpu_watch(struct dev *dev, struct lane *lane, const uint64_t *word, uint64_t target)
{
    lane->watched = (struct mark){word, target};
}

/* Some watched word has not reached its target, and none has since the last call. */
static bool waits(struct cpu_dev *d)
{
    bool waiting = false, reached = false;
    for (struct lane *lane = d->lanes; lane; lane = lane->next) {
        if (!lane->watched.word)
            continue;
        if (mark_passed(&lane->watched)) {
            lane->watched = (struct mark){0};
            reached = true;
        } else {
            waiting = true;
        }
    }
    return waiting && !reached;
}

static int cpu_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct cpu_dev *d = cpu(dev);
    int rc = waits(d) ? cpu_queue_poll(&d->queue, timeout_ms, e) : 0;
    cpu_queue_drain(&d->queue);
    return rc;
}

static int cpu_poll_fd(struct dev *dev)
{
    return cpu(dev)->queue.fd;
}

static void cpu_close(struct dev *dev)
{
    struct cpu_dev *d = cpu(dev);
    cpu_queue_close(&d->queue);
    pool_free(d->pools[DEV_MEMORY]);
    pool_free(d->pools[DEV_MAPPED]);
    free(d);
}

static const struct dev_ops cpu_ops = {
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .usage = cpu_usage,
    .lane_new = cpu_lane_new,
    .lane_free = cpu_lane_free,
    .copy = cpu_copy,
    .copy_async = cpu_copy_async,
    .mark = cpu_mark,
    .follow = cpu_follow,
    .run = cpu_run,
    .trace = cpu_trace,
    .build = cpu_build,
    .replay = cpu_replay,
    .readback = cpu_readback,
    .drop = cpu_drop,
    .watch = cpu_watch,
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

int dev_cpu_open(struct dev **out, const char *name, uint32_t threads, struct kernel_table kernels, struct err *e)
{
    struct cpu_dev *d = xcalloc(1, sizeof *d);
    d->base = (struct dev){.ops = &cpu_ops, .kernels = kernels, .model = model()};
    d->total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    for (int kind = 0; kind < 2; kind++)
        d->pools[kind] = pool_new(&(struct pool_source){.ctx = d, .slab_new = slab_new, .slab_free = slab_free});
    int rc = cpu_queue_open(&d->queue, threads, kernels, e);
    if (rc) {
        cpu_close(&d->base);
        return rc;
    }
    *out = &d->base;
    return 0;
}
