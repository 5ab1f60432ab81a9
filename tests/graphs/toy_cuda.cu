/* SPDX-License-Identifier: Apache-2.0 */
#include <cooperative_groups.h>
#include <stdio.h>

#include "tests/graphs/toy_kernels.h"

#include "graphs/cuda/echo.cuh"

#define FOR_EACH(i, n) for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

KERNEL(fill, args)
{
    ECHO(args);
    double *x = (double *)args.x;
    FOR_EACH(i, args.n)
    x[i] = args.value;
}

KERNEL(axpy, args)
{
    ECHO(args);
    const double *x = (const double *)args.x;
    double *y = (double *)args.y;
    FOR_EACH(i, args.n)
    y[i] += args.a * x[i];
}

KERNEL(axpy_less, args)
{
    ECHO(args);
    const double *x = (const double *)args.x;
    double *y = (double *)args.y;
    FOR_EACH(i, args.n)
    y[i] -= args.a * x[i];
}

/* May begin early, before the step before it has ended. */
KERNEL(chain, args)
{
    ECHO(args);
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    const struct toy_ctl *ctl = (const struct toy_ctl *)args.ctl;
    double *x = (double *)args.x;
    FOR_EACH(i, args.n)
    x[i] = toy_next(x[i], ctl->step, args.scale[1]);
}

/* May begin early: it waits for its predecessors itself. Each block shows its part of x to the other of its cluster. */
KERNEL(swap, args)
{
    ECHO(args);
    double *z = (double *)args.z;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    __shared__ double mine[TOY_BLOCK];
    auto cluster = cooperative_groups::this_cluster();
    cudaGridDependencySynchronize();
    mine[threadIdx.x] = i < args.n ? ((const double *)args.x)[i] : 0;
    cluster.sync();
    if (i < args.n && cluster.num_blocks() == 2)
        z[i] += cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
#else
    if (i < args.n)
        z[i] += toy_partner(i) < args.n ? ((const double *)args.x)[toy_partner(i)] : 0;
#endif
}

/* A library's own kernels, which are in no table. The struct has a hole, as those of cuFFT have: anything may be in it.
 */
struct library_by {
    uint32_t n;
    double a;
};

__global__ void library_scale(double *z, struct library_by by)
{
    FOR_EACH(i, by.n)
    z[i] *= by.a;
}

__global__ void library_add(double *z, uint32_t n)
{
    FOR_EACH(i, n)
    z[i] += 1;
}

extern "C" int cuda_shrink(void *stream, const void *args, struct err *e)
{
    const struct args_shrink *a = (const struct args_shrink *)args;
    struct library_by by;
    by.n = a->n;
    by.a = a->a;
    library_scale<<<4, TOY_BLOCK, 0, (cudaStream_t)stream>>>((double *)a->z, by);
    library_add<<<4, TOY_BLOCK, 0, (cudaStream_t)stream>>>((double *)a->z, a->n);
    cudaError_t rc = cudaGetLastError();
    if (rc == cudaSuccess)
        return 0;
    e->code = ERR_DEVICE;
    snprintf(e->msg, sizeof e->msg, "%s", cudaGetErrorString(rc));
    return -ERR_DEVICE;
}

KERNEL(advance, args)
{
    ECHO(args);
    struct toy_ctl *ctl = (struct toy_ctl *)args.ctl;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ctl->step++;
}

/* The fence: what the host reads after the ticket (other mapped memory) is what was written before it. */
KERNEL(ticket, args)
{
    ECHO(args);
    struct toy_ctl *ctl = (struct toy_ctl *)args.ctl;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __threadfence_system();
        *(volatile uint64_t *)args.ticket = ++ctl->tickets;
    }
}
