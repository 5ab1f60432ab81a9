/* SPDX-License-Identifier: Apache-2.0
 *
 * How a CUDA kernel of a kernels.def is written, and how it says what it is (graphs/echo.h):
 *
 *   KERNEL(axpy, a)                               or KERNEL(axpy, a, __launch_bounds__(128))
 *   {
 *       ECHO(a);
 *       ... a.x ...
 *   }
 *
 * ECHO comes first, before anything that may return, on a launch that begins early too. While nobody listens, it costs
 * one thread of the grid one load. A kernel without it is heard as one that did not run.
 */
#ifndef SHOAL_GRAPHS_CUDA_ECHO_CUH
#define SHOAL_GRAPHS_CUDA_ECHO_CUH

#include "graphs/echo.h"

/* The arguments stay where the launch put them: no thread has a copy of its own. */
#define KERNEL(name, args, ...)                                                                                        \
    extern "C" __global__ void __VA_ARGS__ cuda_##name(const __grid_constant__ struct args_##name args)

static __device__ void echo_shape(struct echo_record *r)
{
    r->grid[0] = gridDim.x, r->grid[1] = gridDim.y, r->grid[2] = gridDim.z;
    r->block[0] = blockDim.x, r->block[1] = blockDim.y, r->block[2] = blockDim.z;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r->shared_bytes));
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r->cluster[0]));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r->cluster[1]));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(r->cluster[2]));
#else
    r->cluster[0] = r->cluster[1] = r->cluster[2] = 1;
#endif
}

static __device__ __noinline__ void echo_write(struct echo_ring *ring, uint32_t kernel, const void *args,
                                               uint32_t args_size)
{
    struct echo_record r;
    r.bytes = ECHO_RECORD_BYTES(args_size);
    r.kernel = kernel;
    echo_shape(&r);
    uint64_t at = atomicAdd((unsigned long long *)&ring->used, (unsigned long long)r.bytes);
    if (at + r.bytes > ring->capacity)
        return;
    uint32_t *to = (uint32_t *)(ring->records + at);
    for (uint32_t i = 0; i < sizeof r / 4; i++)
        to[i] = ((const uint32_t *)&r)[i];
    for (uint32_t i = 0; i < args_size / 4; i++)
        to[sizeof r / 4 + i] = ((const uint32_t *)args)[i];
}

/* By the last thread of a row: its warp has the least to do where work does not come out even. */
template <class Args> static __device__ __forceinline__ void echo_note(const Args &args)
{
    struct echo_ring *ring = (struct echo_ring *)args.head.echo;
    if ((blockIdx.x | blockIdx.y | blockIdx.z | threadIdx.y | threadIdx.z) == 0 && threadIdx.x == blockDim.x - 1 &&
        ring && ring->on)
        echo_write(ring, kernel_number<Args>::value, &args, sizeof args);
}

#define ECHO(args) echo_note(args)

#endif
