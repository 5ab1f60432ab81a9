/* SPDX-License-Identifier: Apache-2.0
 *
 * Over lags of time (engine/kernels/lags.h): one block finds what particles do now, a block for each origin adds up
 * what that is against then. Sums are of a fixed order.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/cuda/observe/observe.h"
#include "engine/kernels/lags.h"

/* The center of the group, the same in every thread. For the whole block. */
static __device__ inline void center_of(const struct lag_frame *f, double center[3])
{
    for (int d = 0; d < 3; d++) {
        double sum = 0;
        BLOCK_LOOP(p, f->own->share ? f->own->particles : 0)
        sum += f->own->share[p] * f->now[p][d];
        center[d] = block_sum(sum);
    }
}

KERNEL(observe_lags_move, a, __launch_bounds__(2 * CUDA_BLOCK))
{
    ECHO(a);
    struct lag_frame f;
    if (!lag_begin(a.ctl, a.table, a.seen, &f))
        return;
    BLOCK_LOOP(i, f.own->velocities ? 0 : f.t->natoms[0])
    lag_follow(&f, (const double(*)[3])a.x, i);
    __syncthreads();
    BLOCK_LOOP(p, f.own->particles)
    lag_place(&f, (const double(*)[3])a.v, p);
    __syncthreads();
    double center[3];
    center_of(&f, center);
    BLOCK_LOOP(p, f.own->particles)
    lag_keep(&f, center, p);
    if (threadIdx.x == 0)
        lag_add_box(&f);
}

KERNEL(observe_lags_add, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct lag_frame f;
    if (!lag_begin(a.ctl, a.table, a.seen, &f))
        return;
    int64_t lag;
    for (int64_t back = blockIdx.x; (lag = lag_to(&f, back)) >= 0; back += gridDim.x) {
        double sum = 0;
        BLOCK_LOOP(p, f.own->particles)
        sum += lag_product(&f, lag, p);
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            lag_add(&f, lag, sum);
    }
}
