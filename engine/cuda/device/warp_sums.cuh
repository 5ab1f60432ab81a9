/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of the kernels that compute a pair a thread: whole warps add up before they go to memory.
 */
#ifndef SHOAL_ENGINE_CUDA_DEVICE_WARP_SUMS_CUH
#define SHOAL_ENGINE_CUDA_DEVICE_WARP_SUMS_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/math/accumulate.h"
#include "engine/run/program.h"

/* For whole warps. */
static __device__ inline void add_warp(struct fixed_sum *sum, int64_t v)
{
    const int64_t most = INT64_MAX / WARP;
    if (!__any_sync(WARP_ALL, v != 0))
        return;
    if (__any_sync(WARP_ALL, v > most || v < -most)) {
        acc_sum(sum, v);
        return;
    }
    v = warp_sum(v);
    if (threadIdx.x % WARP == 0)
        acc_sum(sum, v);
}

/* Lanes next to each other with the same key: whether the lane is the first of them, and the lane behind the last. */
struct lane_run {
    bool first;
    uint32_t end;
};

/* For whole warps. */
static __device__ inline struct lane_run lane_run_of(int32_t key)
{
    const uint32_t lane = threadIdx.x % WARP;
    const int32_t before = __shfl_sync(WARP_ALL, key, lane ? (int)lane - 1 : 0);
    const bool first = lane == 0 || key != before;
    const uint32_t later = __ballot_sync(WARP_ALL, first) & ~1u << lane;
    return {first, later ? (uint32_t)__ffs((int)later) - 1 : WARP};
}

/* v of the lanes from this one to the end of its run, modulo 2^64. For whole warps. */
static __device__ inline int64_t run_sum(struct lane_run run, int64_t v)
{
    for (uint32_t step = 1; step < WARP; step *= 2) {
        const uint64_t more = __shfl_down_sync(WARP_ALL, (uint64_t)v, step);
        v = (int64_t)((uint64_t)v + (threadIdx.x % WARP + step < run.end ? more : 0));
    }
    return v;
}

/* A force on i, the opposite on j. */
static __device__ inline void add_pair(struct accumulate *acc, int64_t (*f)[3], int32_t i, int32_t j,
                                       const double force[3])
{
    const double minus[3] = {-force[0], -force[1], -force[2]};
    acc_force(acc, f[i], force);
    acc_force(acc, f[j], minus);
}

/* Everything in acc, which one contribution each has been added to, to the replica's sums. For whole warps. */
static __device__ inline void finish_warp(const struct accumulate *acc, struct accumulate *total, uint32_t mode)
{
    if (acc->overflow) {
        acc_add((int64_t *)&total->overflow, (int64_t)acc->overflow);
        atomicOr(&total->clamped, acc->clamped);
    }
    if (!evaluates_energies(mode))
        return;
    add_warp(&total->energy[TERM_LJ], acc->energy[TERM_LJ].low);
    add_warp(&total->energy[TERM_COULOMB], acc->energy[TERM_COULOMB].low);
    if (!evaluates_slopes(mode))
        return;
    add_warp(&total->dvdl[LAMBDA_COULOMB], acc->dvdl[LAMBDA_COULOMB].low);
    add_warp(&total->dvdl[LAMBDA_VDW], acc->dvdl[LAMBDA_VDW].low);
    for (int k = 0; k < 9; k++)
        add_warp(&total->virial[k], acc->virial[k].low);
}

#endif
