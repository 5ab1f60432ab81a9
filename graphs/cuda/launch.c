/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the CUDA device, and launching them. Each takes one parameter, its argument struct; opening the device
 * checks its size against what the compiled kernel says. Attributes of kernels are set before anything is captured.
 */
#include <string.h>

#include "graphs/check.h"
#include "graphs/cuda/dev.h"
#include "graphs/cuda/failed.h"

enum { PORTABLE_CLUSTER = 8 };      /* blocks of a cluster that need no opt-in */
enum { LIBRARY_STACK = 64 * 1024 }; /* bytes that calls of a library function may take */
enum { SHARED_PLAIN = 48 * 1024 };  /* bytes of shared memory, static and dynamic, that need none */

/* The kernel's handle, its limits, and that it takes exactly the declared struct. */
static int open_kernel(struct cuda_dev *d, uint32_t number, struct err *e)
{
    const struct kernel *k = &d->base.kernels.kernels[number];
    struct cuda_kernel *c = &d->kernels[number];
    struct cudaFuncAttributes is;
    size_t offset, size;
    if (k->kind != LAUNCH_KERNEL || !k->gpu)
        return 0;
    TRY(cudaGetFuncBySymbol, &c->handle, k->gpu);
    TRY(cudaFuncGetAttributes, &is, k->gpu);
    c->static_shared = is.sharedSizeBytes;
    c->shared_limit = is.sharedSizeBytes < SHARED_PLAIN ? SHARED_PLAIN - (uint32_t)is.sharedSizeBytes : 0;
    CUfunction f = (CUfunction)c->handle;
    if (d->driver.function_parameter(f, 0, &offset, &size) != CUDA_SUCCESS || offset != 0 || size != k->args_size)
        return err_set(e, ERR_DEVICE,
                       "%s: the kernel has no parameter of %u bytes, as its arguments have: was it compiled from other "
                       "sources?",
                       d->name, k->args_size);
    if (d->driver.function_parameter(f, 1, &offset, &size) == CUDA_SUCCESS)
        return err_set(e, ERR_DEVICE, "%s: the kernel has more than one parameter", d->name);
    return 0;
}

int cuda_open_kernels(struct cuda_dev *d, struct err *e)
{
    for (uint32_t k = 0; k < d->base.kernels.count; k++) {
        int rc = open_kernel(d, k, e);
        if (rc)
            return err_prefix(e, "kernel %s", d->base.kernels.kernels[k].name);
    }
    return 0;
}

static int allow_shared(struct cuda_dev *d, const struct launch *l, struct err *e)
{
    struct cuda_kernel *c = &d->kernels[l->kernel];
    if (l->shared_bytes <= c->shared_limit)
        return 0;
    if (l->shared_bytes + c->static_shared > d->base.limits.block_shared)
        return err_set(e, ERR_DEVICE, "%u bytes of dynamic shared memory beside %zu static ones: a block of %s has %u",
                       l->shared_bytes, c->static_shared, d->properties.name, d->base.limits.block_shared);
    TRY(cudaFuncSetAttribute, d->base.kernels.kernels[l->kernel].gpu, cudaFuncAttributeMaxDynamicSharedMemorySize,
        (int)l->shared_bytes);
    c->shared_limit = l->shared_bytes;
    return 0;
}

static int allow_cluster(struct cuda_dev *d, const struct launch *l, struct err *e)
{
    struct cuda_kernel *c = &d->kernels[l->kernel];
    const uint32_t blocks = l->cluster[0] * l->cluster[1] * l->cluster[2];
    if (blocks > 1 && !d->base.limits.clusters)
        return err_set(e, ERR_DEVICE, "clusters of %u blocks: %s has none", blocks, d->properties.name);
    if (c->any_cluster || blocks <= PORTABLE_CLUSTER)
        return 0;
    TRY(cudaFuncSetAttribute, d->base.kernels.kernels[l->kernel].gpu, cudaFuncAttributeNonPortableClusterSizeAllowed,
        1);
    c->any_cluster = true;
    return 0;
}

static int admit_launch(struct cuda_dev *d, const struct launch *l, struct err *e)
{
    const struct kernel *k = &d->base.kernels.kernels[l->kernel];
    if (k->kind == LAUNCH_LIBRARY ? !k->enqueue : !d->kernels[l->kernel].handle)
        return err_set(e, ERR_DEVICE, "not available");
    if (k->kind == LAUNCH_LIBRARY)
        return 0;
    int rc = allow_shared(d, l, e);
    return rc ? rc : allow_cluster(d, l, e);
}

int cuda_admit(struct cuda_dev *d, const struct tape *t, struct err *e)
{
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    if (check_launches(&d->base.kernels, t, e))
        return err_prefix(e, "%s", d->name);
    for (uint32_t i = 0; i < t->count; i++)
        if (admit_launch(d, &t->launches[i], e))
            return err_prefix(e, "%s: launch %u: kernel %s", d->name, i,
                              d->base.kernels.kernels[t->launches[i].kernel].name);
    return 0;
}

static unsigned attributes_of(const struct cuda_dev *d, const struct launch *l, bool first, cudaLaunchAttribute *to)
{
    unsigned n = 0;
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
        to[n].id = cudaLaunchAttributeClusterDimension;
        to[n].val.clusterDim.x = l->cluster[0];
        to[n].val.clusterDim.y = l->cluster[1];
        to[n++].val.clusterDim.z = l->cluster[2];
    }
    if (cuda_begins_early(d) && l->flags & LAUNCH_EARLY && (l->after || !first)) {
        to[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        to[n++].val.programmaticStreamSerializationAllowed = 1;
    }
    return n;
}

static int launch_kernel(struct cuda_dev *d, struct lane *lane, const struct tape *t, const struct launch *l,
                         bool first, struct err *e)
{
    cudaLaunchAttribute attributes[2] = {0};
    cudaLaunchConfig_t config = {.gridDim = {l->grid[0], l->grid[1], l->grid[2]},
                                 .blockDim = {l->block[0], l->block[1], l->block[2]},
                                 .dynamicSmemBytes = l->shared_bytes,
                                 .stream = lane->stream,
                                 .attrs = attributes,
                                 .numAttrs = attributes_of(d, l, first, attributes)};
    void *args[] = {(void *)(uintptr_t)tape_args(t, l)};
    TRY(cudaLaunchKernelExC, &config, d->base.kernels.kernels[l->kernel].gpu, args);
    return 0;
}

/* Zeros where the calls of a library function will have their frames: structs that cuFFT passes to its kernels have
 * holes, and what is in those would be whatever lay there before, another hash at each capture. */
static __attribute__((noinline)) void clear_stack(void)
{
    char frames[LIBRARY_STACK];
    memset(frames, 0, sizeof frames);
    __asm__ volatile("" : : "r"(frames) : "memory");
}

static int launch_library(struct cuda_dev *d, struct lane *lane, const struct tape *t, const struct launch *l,
                          const struct kernel *k, struct err *e)
{
    clear_stack();
    return k->enqueue(lane->stream, tape_args(t, l), e) ? cuda_library_failed(&d->base, e) : 0;
}

int cuda_launch(struct cuda_dev *d, struct lane *lane, const struct tape *t, uint32_t number, bool first, struct err *e)
{
    const struct launch *l = &t->launches[number];
    const struct kernel *k = &d->base.kernels.kernels[l->kernel];
    int rc = k->kind == LAUNCH_LIBRARY ? launch_library(d, lane, t, l, k, e) : launch_kernel(d, lane, t, l, first, e);
    return rc ? err_prefix(e, "launch %u (%s)", number, k->name) : 0;
}
