/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device. A lane is a non-blocking stream. What holds:
 *
 *  1. A graph keeps three things that must agree: the captured cudaGraph_t, the executable made or updated from it, and
 *     `held`, a copy of the tape that was captured. CUDA can read back the captured graph but not the executable, so
 * the captured graph is never touched after it made the executable, and readback compares it with `held`.
 *  2. Capture is thread-local, begins and ends inside build(), and nothing but launches happens in between: kernel
 *     attributes are set before, memory is never allocated then.
 *  3. Replays in flight keep the parameters they were launched with, so an executable may be updated at any time; it is
 *     destroyed only after its lane is idle.
 *  4. Kernels take one parameter, the argument struct; open() checks its size against what the compiled kernel says.
 *  5. Every code is checked. Functions that return nothing keep the first failure for the next run, replay or poll.
 */
#include "graphs/dev_open.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include "engine/base/buf.h"
#include "graphs/check.h"

/* Dynamic shared memory that needs no opt-in, bytes (CUDA programming guide, compute capabilities). */
enum { SHARED_PLAIN = 48 * 1024 };
/* poll() asks the streams without pause for this long, then sleeps in between. Microseconds. */
enum { POLL_SPIN = 50, POLL_SLEEP = 20 };

struct lane {
    cudaStream_t stream;
    bool busy; /* something was submitted since the stream was last seen idle */
    struct lane *next;
};

struct graph {
    struct lane *lane;
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    struct tape held;
};

struct cuda_kernel {
    cudaFunction_t handle; /* NULL: the kernel is not available here */
    uint32_t shared_limit; /* dynamic shared memory allowed so far, bytes */
};

struct cuda_dev {
    struct dev base;
    int ordinal;
    char model[sizeof((struct cudaDeviceProp){0}.name)];
    cudaStream_t own; /* for zeroing new memory */
    struct cuda_kernel *kernels;
    struct lane *lanes;
    struct err late; /* the first failure of a function that could not report it */
};

static struct cuda_dev *cuda(struct dev *d)
{
    return (struct cuda_dev *)d;
}

static int failed(const struct cuda_dev *d, cudaError_t rc, const char *call, struct err *e)
{
    (void)cudaGetLastError(); /* reported here; later calls must not see it again */
    return err_set(e, ERR_DEVICE, "cuda:%d: %s: %s", d->ordinal, call, cudaGetErrorString(rc));
}

/* Names the call that failed: `return` from an int function with struct cuda_dev *d and struct err *e in scope. */
#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        cudaError_t try_rc = function(__VA_ARGS__);                                                                    \
        if (try_rc != cudaSuccess)                                                                                     \
            return failed(d, try_rc, #function, e);                                                                    \
    } while (0)

static void note(struct cuda_dev *d, cudaError_t rc, const char *call)
{
    struct err *e = &d->late, ignored;
    if (rc != cudaSuccess)
        failed(d, rc, call, e->code == ERR_NONE ? e : &ignored);
}

static int report_late(struct cuda_dev *d, struct err *e)
{
    if (d->late.code == ERR_NONE)
        return 0;
    *e = d->late;
    return -(int)e->code;
}

/* --- memory --- */

static int cuda_alloc(struct dev *dev, enum dev_memory kind, size_t bytes, void **device, void **host, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    void *p, *on_device;
    if (bytes == 0)
        bytes = 1;
    if (kind == DEV_MEMORY) {
        TRY(cudaMalloc, &p, bytes);
        cudaError_t rc = cudaMemsetAsync(p, 0, bytes, d->own);
        if (rc == cudaSuccess)
            rc = cudaStreamSynchronize(d->own);
        if (rc != cudaSuccess) {
            note(d, cudaFree(p), "cudaFree");
            return failed(d, rc, "cudaMemsetAsync", e);
        }
        *device = p;
        if (host)
            *host = NULL;
        return 0;
    }
    TRY(cudaHostAlloc, &p, bytes, cudaHostAllocMapped);
    memset(p, 0, bytes);
    cudaError_t rc = cudaHostGetDevicePointer(&on_device, p, 0);
    if (rc != cudaSuccess) {
        note(d, cudaFreeHost(p), "cudaFreeHost");
        return failed(d, rc, "cudaHostGetDevicePointer", e);
    }
    *device = on_device;
    if (host)
        *host = p;
    return 0;
}

static void cuda_free(struct dev *dev, enum dev_memory kind, void *device)
{
    struct cuda_dev *d = cuda(dev);
    struct cudaPointerAttributes at;
    if (!device)
        return;
    if (kind == DEV_MEMORY) {
        note(d, cudaFree(device), "cudaFree");
        return;
    }
    cudaError_t rc = cudaPointerGetAttributes(&at, device);
    note(d, rc, "cudaPointerGetAttributes");
    if (rc == cudaSuccess)
        note(d, cudaFreeHost(at.hostPointer), "cudaFreeHost");
}

static int cuda_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, lane->stream);
    TRY(cudaStreamSynchronize, lane->stream);
    return 0;
}

/* --- lanes --- */

static int cuda_lane_new(struct dev *dev, struct lane **out, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    cudaStream_t stream;
    TRY(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
    struct lane *lane = xcalloc(1, sizeof *lane);
    lane->stream = stream;
    lane->next = d->lanes;
    d->lanes = lane;
    *out = lane;
    return 0;
}

static void cuda_lane_free(struct dev *dev, struct lane *lane)
{
    struct cuda_dev *d = cuda(dev);
    if (!lane)
        return;
    struct lane **at = &d->lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    note(d, cudaStreamSynchronize(lane->stream), "cudaStreamSynchronize");
    note(d, cudaStreamDestroy(lane->stream), "cudaStreamDestroy");
    free(lane);
}

/* --- launching --- */

/* Before a tape is launched or captured: its kernels exist, fit their declaration, and may use the shared memory. */
static int admit(struct cuda_dev *d, const struct tape *t, struct err *e)
{
    const struct kernel_table *table = &d->base.kernels;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct launch *l = &t->launches[i];
        const char *name = l->kernel < table->count ? table->kernels[l->kernel].name : "unknown";
        if (l->kernel >= table->count || !d->kernels[l->kernel].handle)
            return err_set(e, ERR_DEVICE, "cuda:%d: launch %u: kernel %u (%s) is not available", d->ordinal, i,
                           l->kernel, name);
        if (l->args_size != table->kernels[l->kernel].args_size)
            return err_set(e, ERR_DEVICE, "cuda:%d: launch %u: kernel %s takes %u bytes of arguments, not %u",
                           d->ordinal, i, name, table->kernels[l->kernel].args_size, l->args_size);
        struct cuda_kernel *k = &d->kernels[l->kernel];
        if (l->shared_bytes > k->shared_limit) {
            TRY(cudaFuncSetAttribute, table->kernels[l->kernel].cuda, cudaFuncAttributeMaxDynamicSharedMemorySize,
                (int)l->shared_bytes);
            k->shared_limit = l->shared_bytes;
        }
    }
    return 0;
}

static int launch_all(struct cuda_dev *d, struct lane *lane, const struct tape *t, struct err *e)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct launch *l = &t->launches[i];
        cudaLaunchConfig_t config = {.gridDim = {l->grid[0], l->grid[1], l->grid[2]},
                                     .blockDim = {l->block[0], l->block[1], l->block[2]},
                                     .dynamicSmemBytes = l->shared_bytes,
                                     .stream = lane->stream};
        void *args[] = {(void *)(uintptr_t)tape_args(t, l)};
        cudaError_t rc = cudaLaunchKernelExC(&config, d->base.kernels.kernels[l->kernel].cuda, args);
        if (rc != cudaSuccess) {
            failed(d, rc, "cudaLaunchKernelExC", e);
            return err_prefix(e, "launch %u (%s)", i, d->base.kernels.kernels[l->kernel].name);
        }
    }
    return 0;
}

static int cuda_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    int rc = report_late(d, e);
    if (rc || (rc = admit(d, t, e)))
        return rc;
    lane->busy = true;
    return launch_all(d, lane, t, e);
}

/* --- graphs --- */

static int capture(struct cuda_dev *d, struct lane *lane, const struct tape *t, cudaGraph_t *out, struct err *e)
{
    cudaGraph_t g = NULL;
    TRY(cudaStreamBeginCapture, lane->stream, cudaStreamCaptureModeThreadLocal);
    int launched = launch_all(d, lane, t, e);
    cudaError_t rc = cudaStreamEndCapture(lane->stream, &g); /* also after a failure: it ends the capture */
    if (launched || rc != cudaSuccess) {
        if (g)
            note(d, cudaGraphDestroy(g), "cudaGraphDestroy");
        if (launched) {
            (void)cudaGetLastError(); /* the capture says so a second time */
            return launched;
        }
        return failed(d, rc, "cudaStreamEndCapture", e);
    }
    *out = g;
    return 0;
}

/* Waits for the lane: replays in flight still use the executable. */
static void exec_destroy(struct cuda_dev *d, struct graph *g)
{
    if (!g->exec)
        return;
    note(d, cudaStreamSynchronize(g->lane->stream), "cudaStreamSynchronize");
    note(d, cudaGraphExecDestroy(g->exec), "cudaGraphExecDestroy");
    g->exec = NULL;
}

/* Updates g->exec from `captured`, or replaces it where CUDA cannot: another chain of kernels, say. */
static int make_exec(struct cuda_dev *d, struct graph *g, cudaGraph_t captured, struct err *e)
{
    double start = dev_now();
    if (g->exec) {
        cudaGraphExecUpdateResultInfo info;
        cudaError_t rc = cudaGraphExecUpdate(g->exec, captured, &info);
        d->base.build_cost.update = dev_now() - start;
        if (rc == cudaSuccess)
            return 0;
        if (rc != cudaErrorGraphExecUpdateFailure)
            return failed(d, rc, "cudaGraphExecUpdate", e);
        (void)cudaGetLastError();
        exec_destroy(d, g);
        start = dev_now();
    }
    TRY(cudaGraphInstantiate, &g->exec, captured, 0);
    d->base.build_cost.instantiate = dev_now() - start;
    return 0;
}

static void cuda_drop(struct dev *dev, struct graph *g)
{
    struct cuda_dev *d = cuda(dev);
    if (!g)
        return;
    exec_destroy(d, g);
    if (g->captured)
        note(d, cudaGraphDestroy(g->captured), "cudaGraphDestroy");
    tape_free(&g->held);
    free(g);
}

/* On failure *graph is dropped and NULL: what it would replay is not known any more. */
static int cuda_build(struct dev *dev, struct lane *lane, const struct tape *t, struct graph **graph, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    cudaGraph_t captured = NULL;
    int rc = admit(d, t, e);
    dev->build_cost = (struct build_cost){0};
    double start = dev_now();
    if (rc || (rc = capture(d, lane, t, &captured, e)))
        return rc;
    dev->build_cost.capture = dev_now() - start;

    struct graph *g = *graph ? *graph : xcalloc(1, sizeof *g);
    g->lane = lane;
    rc = make_exec(d, g, captured, e);
    if (g->captured)
        note(d, cudaGraphDestroy(g->captured), "cudaGraphDestroy");
    g->captured = captured;
    if (rc) {
        cuda_drop(dev, g);
        *graph = NULL;
        return rc;
    }
    tape_copy(&g->held, t);
    *graph = g;
    return 0;
}

static int cuda_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    int rc = report_late(d, e);
    if (rc)
        return rc;
    lane->busy = true;
    for (uint32_t i = 0; i < times; i++)
        TRY(cudaGraphLaunch, g->exec, lane->stream);
    return 0;
}

/* --- reading a graph back --- */

/* Row of the kernel table, or its count when the function is in no row. */
static uint32_t kernel_number(const struct cuda_dev *d, const void *func)
{
    uint32_t k = 0;
    while (k < d->base.kernels.count && !(d->kernels[k].handle && (func == d->base.kernels.kernels[k].cuda ||
                                                                   func == (const void *)d->kernels[k].handle)))
        k++;
    return k;
}

static int read_node(struct cuda_dev *d, cudaGraphNode_t node, struct tape *t, struct err *e)
{
    enum cudaGraphNodeType type;
    struct cudaKernelNodeParams p;
    TRY(cudaGraphNodeGetType, node, &type);
    if (type != cudaGraphNodeTypeKernel)
        return err_set(e, ERR_DRIFT, "cuda:%d: graph node %u is not a kernel (type %d)", d->ordinal, t->count,
                       (int)type);
    TRY(cudaGraphKernelNodeGetParams, node, &p);
    uint32_t k = kernel_number(d, p.func);
    if (k == d->base.kernels.count)
        return err_set(e, ERR_DRIFT, "cuda:%d: graph node %u launches a function that is in no kernel table",
                       d->ordinal, t->count);
    if (!p.kernelParams)
        return err_set(e, ERR_DRIFT, "cuda:%d: graph node %u has no argument list", d->ordinal, t->count);
    uint32_t grid[3] = {p.gridDim.x, p.gridDim.y, p.gridDim.z}, block[3] = {p.blockDim.x, p.blockDim.y, p.blockDim.z};
    tape_add(t, k, grid, block, p.sharedMemBytes, p.kernelParams[0], d->base.kernels.kernels[k].args_size);
    return 0;
}

/* The node after `node`, NULL at the end of the chain. */
static int next_node(struct cuda_dev *d, cudaGraphNode_t node, cudaGraphNode_t *next, struct err *e)
{
    size_t n = 0;
    TRY(cudaGraphNodeGetDependentNodes, node, NULL, NULL, &n);
    if (n > 1)
        return err_set(e, ERR_DRIFT, "cuda:%d: the graph is not a chain", d->ordinal);
    *next = NULL;
    if (n == 1)
        TRY(cudaGraphNodeGetDependentNodes, node, next, NULL, &n);
    return 0;
}

/* Captured from one stream, so the nodes are one chain; they are read in its order. */
static int read_chain(struct cuda_dev *d, cudaGraph_t g, struct tape *t, struct err *e)
{
    size_t nodes = 0, roots = 0;
    cudaGraphNode_t node = NULL;
    TRY(cudaGraphGetNodes, g, NULL, &nodes);
    TRY(cudaGraphGetRootNodes, g, NULL, &roots);
    if (roots > 1)
        return err_set(e, ERR_DRIFT, "cuda:%d: the graph is not a chain", d->ordinal);
    if (roots == 1)
        TRY(cudaGraphGetRootNodes, g, &node, &roots);
    while (node) {
        int rc = read_node(d, node, t, e);
        if (rc || (rc = next_node(d, node, &node, e)))
            return rc;
    }
    if (t->count != nodes)
        return err_set(e, ERR_DRIFT, "cuda:%d: the graph has %zu nodes, %u of them in its chain", d->ordinal, nodes,
                       t->count);
    return 0;
}

static int cuda_readback(struct dev *dev, struct graph *g, struct tape *t, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    tape_clear(t);
    int rc = read_chain(d, g->captured, t, e);
    if (rc)
        return rc;
    rc = check_tapes(&dev->kernels, &g->held, t, e);
    return rc ? err_prefix(e, "cuda:%d: the captured graph changed after it was instantiated", d->ordinal) : 0;
}

/* --- waiting --- */

/* *waiting: some lane has work left and none has become idle since the last call. */
static int look(struct cuda_dev *d, bool *waiting, struct err *e)
{
    bool busy = false, finished = false;
    for (struct lane *lane = d->lanes; lane; lane = lane->next) {
        if (!lane->busy)
            continue;
        cudaError_t rc = cudaStreamQuery(lane->stream);
        if (rc == cudaErrorNotReady) {
            busy = true;
            continue;
        }
        if (rc != cudaSuccess)
            return failed(d, rc, "cudaStreamQuery", e);
        lane->busy = false;
        finished = true;
    }
    (void)cudaGetLastError(); /* "not ready" is no error */
    *waiting = busy && !finished;
    return 0;
}

static int cuda_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct cuda_dev *d = cuda(dev);
    double start = dev_now();
    bool waiting;
    int rc = report_late(d, e);
    if (rc)
        return rc;
    for (;;) {
        if ((rc = look(d, &waiting, e)))
            return rc;
        double passed = dev_now() - start;
        if (!waiting || (timeout_ms >= 0 && passed >= 1e3 * timeout_ms))
            return 0;
        if (passed > POLL_SPIN)
            nanosleep(&(struct timespec){.tv_nsec = POLL_SLEEP * 1000}, NULL);
    }
}

static int cuda_poll_fd(struct dev *dev)
{
    return -1;
}

static void cuda_close(struct dev *dev)
{
    struct cuda_dev *d = cuda(dev);
    if (d->own)
        (void)cudaStreamDestroy(d->own); /* nobody is left to be told */
    free(d->kernels);
    free(d);
}

static const struct dev_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .lane_new = cuda_lane_new,
    .lane_free = cuda_lane_free,
    .copy = cuda_copy,
    .run = cuda_run,
    .build = cuda_build,
    .replay = cuda_replay,
    .readback = cuda_readback,
    .drop = cuda_drop,
    .poll = cuda_poll,
    .poll_fd = cuda_poll_fd,
};

/* --- opening --- */

/* The kernel's handle, and that it takes exactly the declared struct. */
static int open_kernel(struct cuda_dev *d, PFN_cuFuncGetParamInfo_v12040 param_info, uint32_t number, struct err *e)
{
    const struct kernel *k = &d->base.kernels.kernels[number];
    struct cuda_kernel *c = &d->kernels[number];
    size_t offset, size;
    if (!k->cuda)
        return 0;
    TRY(cudaGetFuncBySymbol, &c->handle, k->cuda);
    c->shared_limit = SHARED_PLAIN;
    if (param_info((CUfunction)c->handle, 0, &offset, &size) != CUDA_SUCCESS || offset != 0 || size != k->args_size)
        return err_set(e, ERR_DEVICE, "cuda:%d: kernel %s does not take its %u bytes of arguments", d->ordinal, k->name,
                       k->args_size);
    if (param_info((CUfunction)c->handle, 1, &offset, &size) == CUDA_SUCCESS)
        return err_set(e, ERR_DEVICE, "cuda:%d: kernel %s takes more than one parameter", d->ordinal, k->name);
    return 0;
}

static int open_kernels(struct cuda_dev *d, struct err *e)
{
    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult found;
    TRY(cudaGetDriverEntryPointByVersion, "cuFuncGetParamInfo", &entry, 12040, cudaEnableDefault, &found);
    if (found != cudaDriverEntryPointSuccess || !entry)
        return err_set(e, ERR_DEVICE, "cuda:%d: the driver has no cuFuncGetParamInfo (CUDA 12.4 or later is needed)",
                       d->ordinal);
    PFN_cuFuncGetParamInfo_v12040 param_info = (PFN_cuFuncGetParamInfo_v12040)entry;
    for (uint32_t k = 0; k < d->base.kernels.count; k++) {
        int rc = open_kernel(d, param_info, k, e);
        if (rc)
            return err_prefix(e, "kernel %s", d->base.kernels.kernels[k].name);
    }
    return 0;
}

static int open_device(struct cuda_dev *d, struct err *e)
{
    struct cudaDeviceProp properties;
    TRY(cudaSetDevice, d->ordinal);
    TRY(cudaGetDeviceProperties, &properties, d->ordinal);
    memcpy(d->model, properties.name, sizeof d->model);
    TRY(cudaStreamCreateWithFlags, &d->own, cudaStreamNonBlocking);
    return open_kernels(d, e);
}

int dev_cuda_open(struct dev **out, uint32_t ordinal, struct kernel_table kernels, struct err *e)
{
    /* As many hardware queues as there can be; read when the context is made. Lanes that share one would wait for one
     * another. */
    if (setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1))
        return err_errno(e, "cuda:%u: setenv", ordinal);
    struct cuda_dev *d = xcalloc(1, sizeof *d);
    d->base = (struct dev){.ops = &cuda_ops, .kernels = kernels, .model = d->model};
    d->ordinal = (int)ordinal;
    d->kernels = xcalloc(kernels.count, sizeof *d->kernels);
    int rc = open_device(d, e);
    if (rc) {
        cuda_close(&d->base);
        return rc;
    }
    *out = &d->base;
    return 0;
}
