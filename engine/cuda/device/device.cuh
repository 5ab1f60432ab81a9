/* SPDX-License-Identifier: Apache-2.0
 *
 * What the CUDA kernels share: loops, sums whose order is fixed, the last block of a grid, halting.
 */
#ifndef SHOAL_ENGINE_CUDA_DEVICE_DEVICE_CUH
#define SHOAL_ENGINE_CUDA_DEVICE_DEVICE_CUH

#include "engine/cuda/device/arch.cuh"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "graphs/cuda/echo.cuh"
#include "engine/run/ctl.h"

/* Over the whole grid, and over the threads of one block. */
#define GRID_LOOP(i, n) for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)
#define BLOCK_LOOP(i, n) for (uint32_t i = threadIdx.x; i < (n); i += blockDim.x)

/* Like ctl_halt, for any number of threads at once: one of those that meet an error says which. */
static __device__ inline void halt_once(struct ctl *c, uint32_t why, uint32_t where0, uint32_t where1, double value)
{
    if (atomicCAS(&c->halt, (uint32_t)HALT_NONE, why) != HALT_NONE)
        return;
    c->where[0] = where0;
    c->where[1] = where1;
    c->value = value;
}

/* Sum over the threads of a warp, the same in every thread, always added in the same order. For whole warps. */
template <class T> static __device__ __forceinline__ T warp_sum(T v)
{
    for (int step = WARP / 2; step > 0; step >>= 1)
        v += __shfl_xor_sync(WARP_ALL, v, step);
    return v;
}

/* Sum over the threads of a block, the same in every thread, always added in the same order. For the whole block. */
template <class T> static __device__ inline T block_sum(T v)
{
    __shared__ T part[CUDA_ONE_BLOCK / WARP];
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = v;
    __syncthreads();
    T sum = 0;
    for (uint32_t w = 0; w < blockDim.x / WARP; w++)
        sum += part[w];
    return sum;
}

/* Largest over the threads of a block, the same in every thread; NaN where some v is NaN. For the whole block. */
static __device__ inline double block_largest(double v)
{
    __shared__ double part[CUDA_ONE_BLOCK / WARP];
    for (int step = WARP / 2; step > 0; step >>= 1) {
        double other = __shfl_xor_sync(WARP_ALL, v, step);
        v = v >= other || isnan(v) ? v : other;
    }
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = v;
    __syncthreads();
    double largest = part[0];
    for (uint32_t w = 1; w < blockDim.x / WARP; w++)
        largest = largest >= part[w] || isnan(largest) ? largest : part[w];
    return largest;
}

/* For the whole block, when its part of some work is done that `blocks` have parts of: true in the block that comes
 * last, and then everything that the others wrote is seen by reads that go past the first-level cache (__ldcg,
 * atomics). `arrived` is zero again then. */
static __device__ inline bool last_of(uint32_t *arrived, uint32_t blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(arrived, blocks - 1) == blocks - 1;
    __syncthreads();
    if (last)
        __threadfence();
    return last;
}

/* The same of the grid's work. */
static __device__ inline bool last_block(uint32_t *arrived)
{
    return last_of(arrived, gridDim.x);
}

/* Waits until all threads of the block have come here. Whether the replica goes on. */
static __device__ inline bool block_goes_on(const struct ctl *c)
{
    return !__syncthreads_or(*(volatile const uint32_t *)&c->halt != HALT_NONE);
}

/* The last act of a piece of work, for a whole block: the host gets the control block and the next ticket. The fence
 * comes after all threads have met: who sees the ticket sees what all of them wrote. */
static __device__ inline void publish(struct ctl *c, struct sim_report *r)
{
    __syncthreads();
    if (threadIdx.x == 0)
        c->tickets++;
    __syncthreads();
    BLOCK_LOOP(k, (uint32_t)(sizeof *c / sizeof(uint64_t)))
    ((uint64_t *)&r->ctl)[k] = ((const uint64_t *)c)[k];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *(volatile uint64_t *)&r->ticket = c->tickets;
    }
}

#endif
