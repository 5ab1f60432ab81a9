/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the CUDA device, in slabs: asking CUDA for memory, and giving it back, waits for all that runs on the GPU.
 * So whatever a lane has can grow by GROWTH without either, once until the next lane gets memory; more often where
 * slabs are not full.
 */
#include <string.h>

#include "graphs/cuda/dev.h"

#define SLAB_BYTES ((size_t)64 << 20)
#define MAPPED_SLAB_BYTES ((size_t)2 << 20)
#define GROWTH 1.3 /* lists become a fifth longer than what was too short, and are a part of a replica's memory */

/* What an allocation could still get. */
static size_t free_bytes(struct cuda_dev *d)
{
    size_t free_now, total;
    if (!dev_lost(&d->base) && cudaMemGetInfo(&free_now, &total) == cudaSuccess) {
        d->free_bytes = free_now;
        d->total_bytes = total;
    }
    const struct pool *pool = d->pools[DEV_MEMORY];
    return d->free_bytes + pool_held(pool) - pool_used(pool, NULL);
}

static int full(struct cuda_dev *d, const char *what, size_t bytes, struct err *e)
{
    (void)cudaGetLastError(); /* no failure: a condition */
    err_set(e, ERR_MEMORY, "%s: %zu bytes of %s memory: %zu of %zu bytes of device memory are free", d->name, bytes,
            what, free_bytes(d), d->total_bytes);
    return DEV_FULL;
}

static int device_slab_new(void *ctx, size_t bytes, void **device, void **host, struct err *e)
{
    struct cuda_dev *d = ctx;
    cudaError_t rc = cudaMalloc(device, bytes);
    *host = NULL;
    if (rc == cudaErrorMemoryAllocation)
        return full(d, "device", bytes, e);
    return rc == cudaSuccess ? 0 : cuda_failed(d, rc, "cudaMalloc", e);
}

static void device_slab_free(void *ctx, void *device, void *host)
{
    cuda_note(ctx, cudaFree(device), "cudaFree");
}

static int mapped_slab_new(void *ctx, size_t bytes, void **device, void **host, struct err *e)
{
    struct cuda_dev *d = ctx;
    cudaError_t rc = cudaHostAlloc(host, bytes, cudaHostAllocMapped);
    if (rc == cudaErrorMemoryAllocation)
        return full(d, "pinned host", bytes, e);
    if (rc != cudaSuccess)
        return cuda_failed(d, rc, "cudaHostAlloc", e);
    rc = cudaHostGetDevicePointer(device, *host, 0);
    if (rc == cudaSuccess)
        return 0;
    cuda_note(d, cudaFreeHost(*host), "cudaFreeHost");
    return cuda_failed(d, rc, "cudaHostGetDevicePointer", e);
}

static void mapped_slab_free(void *ctx, void *device, void *host)
{
    cuda_note(ctx, cudaFreeHost(host), "cudaFreeHost");
}

void cuda_memory_open(struct cuda_dev *d)
{
    d->pools[DEV_MEMORY] = pool_new(&(struct pool_source){.ctx = d,
                                                          .slab_new = device_slab_new,
                                                          .slab_free = device_slab_free,
                                                          .slab_bytes = SLAB_BYTES,
                                                          .growth = GROWTH});
    d->pools[DEV_MAPPED] = pool_new(&(struct pool_source){
        .ctx = d, .slab_new = mapped_slab_new, .slab_free = mapped_slab_free, .slab_bytes = MAPPED_SLAB_BYTES});
}

void cuda_memory_close(struct cuda_dev *d)
{
    pool_free(d->pools[DEV_MEMORY]);
    pool_free(d->pools[DEV_MAPPED]);
}

static int zero(struct cuda_dev *d, struct lane *lane, void *device, size_t bytes, struct err *e)
{
    TRY(cudaMemsetAsync, device, 0, bytes, lane ? lane->stream : d->own);
    if (!lane)
        TRY(cudaStreamSynchronize, d->own);
    return 0;
}

int cuda_alloc(struct dev *dev, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
               struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    void *here;
    int rc = cuda_lost(d, e);
    if (rc || (rc = pool_take(d->pools[kind], lane, bytes, device, &here, e)))
        return rc;
    if (kind == DEV_MAPPED)
        memset(here, 0, bytes); /* nobody uses it any more: a block is reused after its last lane's work */
    else if (bytes && (rc = zero(d, lane, *device, bytes, e)))
        pool_give(d->pools[kind], *device, (struct mark){0});
    if (rc == 0 && host)
        *host = here;
    return rc;
}

void cuda_free(struct dev *dev, enum dev_memory kind, void *device)
{
    struct cuda_dev *d = cuda_enter(dev);
    struct mark until = {0};
    struct err e;
    if (!device)
        return;
    struct lane *lane = (struct lane *)(uintptr_t)pool_owner(d->pools[kind], device);
    if (lane && cuda_mark(dev, lane, &until, &e)) { /* when the lane's work ends is not known: it stays given */
        until = (struct mark){lane->passed, UINT64_MAX};
        if (!dev_lost(dev))
            dev->lost = e;
    }
    pool_give(d->pools[kind], device, until);
}

void cuda_usage(struct dev *dev, struct lane *lane, struct dev_usage *out)
{
    struct cuda_dev *d = cuda_enter(dev);
    const struct pool *pool = d->pools[DEV_MEMORY];
    *out = (struct dev_usage){.free = free_bytes(d), .used = pool_used(pool, NULL), .slab = SLAB_BYTES};
    out->total = d->total_bytes;
    if (lane)
        out->lane = pool_used(pool, lane);
}

int cuda_copy_async(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, lane->stream);
    return 0;
}

int cuda_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_copy_async(dev, lane, to, from, bytes, e);
    if (rc)
        return rc;
    cudaError_t code = cudaStreamSynchronize(lane->stream);
    return code == cudaSuccess ? 0 : cuda_failed_late(d, code, "cudaStreamSynchronize", e);
}
