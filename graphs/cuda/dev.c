/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device: opening and closing. Every code is checked.
 */
#include "graphs/cuda/dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "engine/base/buf.h"
#include "graphs/cuda/ids.h"
#include "graphs/cuda/needs.h"
#include "graphs/kinds.h"

#define TIMER_SLACK_NS 1000UL
#define QUEUES 32 /* of the hardware, at most */

static void cuda_close(struct dev *dev)
{
    struct cuda_dev *d = cuda_enter(dev);
    cuda_memory_close(d);
    gpu_energy_close(&d->energy);
    if (d->own)
        (void)cudaStreamDestroy(d->own); /* nobody is left to be told */
    cuda_ticks_free(d);
    free(d->scratch.from);
    free(d->scratch.data);
    free(d->scratch.after.at);
    buf_free(&d->scratch.hashed);
    cuda_capture_free(d, &d->scratch.traced);
    free(d->kernels);
    free(d);
}

static bool cuda_energy(struct dev *dev, uint64_t *millijoules)
{
    struct cuda_dev *d = cuda_enter(dev);
    char place[32];
    if (!d->energy_asked && cudaDeviceGetPCIBusId(place, sizeof place, d->ordinal) == cudaSuccess)
        gpu_energy_open(&d->energy, place);
    (void)cudaGetLastError(); /* a card without a place has no counter */
    d->energy_asked = true;
    return gpu_energy_read(&d->energy, millijoules);
}

static const struct dev_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .usage = cuda_usage,
    .energy = cuda_energy,
    .lane_new = cuda_lane_new,
    .lane_free = cuda_lane_free,
    .copy = cuda_copy,
    .copy_async = cuda_copy_async,
    .mark = cuda_mark,
    .follow = cuda_follow,
    .run = cuda_run,
    .trace = cuda_trace,
    .build = cuda_build,
    .replay = cuda_replay,
    .readback = cuda_readback,
    .drop = cuda_drop,
    .watch = cuda_watch,
    .poll = cuda_poll,
    .poll_fd = cuda_poll_fd,
};

/* A function of the driver, as it was in that version of CUDA. */
static int driver_function(struct cuda_dev *d, const char *name, unsigned version, void **out, struct err *e)
{
    enum cudaDriverEntryPointQueryResult found;
    TRY(cudaGetDriverEntryPointByVersion, name, out, version, cudaEnableDefault, &found);
    if (found != cudaDriverEntryPointSuccess || !*out)
        return err_set(e, ERR_DEVICE, "%s: the driver has no %s (CUDA 12.4 or later is needed)", d->name, name);
    return 0;
}

static int open_driver(struct cuda_dev *d, struct err *e)
{
    const struct {
        const char *name;
        unsigned version;
        void **at;
    } wanted[] = {{"cuFuncGetParamInfo", 12040, (void **)&d->driver.function_parameter},
                  {"cuKernelGetParamInfo", 12040, (void **)&d->driver.kernel_parameter},
                  {"cuGraphKernelNodeGetParams", 12000, (void **)&d->driver.kernel_node},
                  {"cuStreamWriteValue64", 11070, (void **)&d->driver.write_value}};
    int rc = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !rc; i++)
        rc = driver_function(d, wanted[i].name, wanted[i].version, wanted[i].at, e);
    return rc;
}

static void set_limits(struct dev_limits *l, const struct cudaDeviceProp *p)
{
    *l = (struct dev_limits){.processors = (uint32_t)p->multiProcessorCount,
                             .block_shared = (uint32_t)p->sharedMemPerBlockOptin,
                             .processor_shared = (uint32_t)p->sharedMemPerMultiprocessor,
                             .reserved_shared = (uint32_t)p->reservedSharedMemPerBlock,
                             .queues = QUEUES,
                             .clusters = p->major >= 9};
}

/* Marks are written by streams, which not every driver of a virtual machine can do. */
static int try_lane(struct cuda_dev *d, struct err *e)
{
    struct lane *lane;
    struct mark mark;
    int rc = cuda_lane_new(&d->base, &lane, e);
    if (rc)
        return rc;
    rc = cuda_mark(&d->base, lane, &mark, e);
    cuda_lane_free(&d->base, lane);
    return rc ? rc : cuda_lost(d, e);
}

/* Whether CUDA found the device that it was given by its id. */
static bool is_there(void)
{
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    (void)cudaGetLastError(); /* reported here */
    return (code == cudaSuccess && count > 0) || (code != cudaSuccess && code != cudaErrorNoDevice);
}

static int open_device(struct cuda_dev *d, struct err *e)
{
    int version;
    if (prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS)) /* this thread's short sleeps, in poll(), end when they should */
        return err_errno(e, "%s: prctl", d->name);
    TRY(cudaDriverGetVersion, &version);
    if (gpu_needs_driver(version, CUDART_VERSION, e))
        return err_prefix(e, "%s", d->name);
    if (device_id(d->name) && !is_there())
        return gpu_ids_missing(d->name, e);
    TRY(cudaGetDeviceProperties, &d->properties, d->ordinal);
    if (gpu_needs_kernels(GPU_ARCHS, d->properties.major, d->properties.minor, e))
        return err_prefix(e, "%s: %s", d->name, d->properties.name);
    const cudaError_t code = cuda_set_current(d->ordinal);
    if (code != cudaSuccess)
        return cuda_failed(d, code, "cudaSetDevice", e);
    set_limits(&d->base.limits, &d->properties);
    TRY(cudaMemGetInfo, &d->free_bytes, &d->total_bytes);
    TRY(cudaStreamCreateWithFlags, &d->own, cudaStreamNonBlocking);
    int rc = open_driver(d, e);
    if (rc == 0)
        rc = cuda_open_kernels(d, e);
    return rc ? rc : try_lane(d, e);
}

int dev_cuda_count(uint32_t *out, struct err *e)
{
    int version, count = 0;
    *out = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess || !version)
        return gpu_needs_library(gpu_needs_listed(GPU_LIST), e);
    int rc = gpu_needs_driver(version, CUDART_VERSION, e);
    if (rc)
        return rc;
    cudaError_t code = cudaGetDeviceCount(&count);
    (void)cudaGetLastError(); /* reported here */
    if (code != cudaSuccess && code != cudaErrorNoDevice)
        return err_set(e, ERR_DEVICE, "cudaGetDeviceCount: %s (%s)", cudaGetErrorName(code), cudaGetErrorString(code));
    *out = (uint32_t)count;
    return count ? 0 : gpu_needs_access(gpu_needs_listed(GPU_LIST), e);
}

int dev_cuda_open(struct dev **out, const char *name, uint32_t ordinal, struct kernel_table kernels, struct err *e)
{
    if (gpu_ids_choose(name, e))
        return -(int)e->code;
    /* As many hardware queues as there can be, unless the user says otherwise; read when the context is made. Lanes
     * that share one wait for one another. */
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%d", QUEUES);
    if (setenv("CUDA_DEVICE_MAX_CONNECTIONS", wanted, 0))
        return err_errno(e, "%s: setenv", name);
    struct cuda_dev *d = xcalloc(1, sizeof *d);
    d->base = (struct dev){.ops = &cuda_ops, .kernels = kernels, .model = d->properties.name};
    snprintf(d->name, sizeof d->name, "%s", name);
    d->ordinal = (int)ordinal;
    d->kernels = xcalloc(kernels.count, sizeof *d->kernels);
    cuda_memory_open(d);
    int rc = open_device(d, e);
    if (rc) {
        cuda_close(&d->base);
        return rc;
    }
    *out = &d->base;
    return 0;
}
