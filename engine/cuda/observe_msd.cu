/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements (engine/kernels/msd.h): one block moves particles on, a block for each origin adds up what they have come.
 * Sums are of a fixed order.
 */
#include "engine/cuda/device.cuh"
#include "engine/cuda/observe.h"
#include "engine/kernels/msd.h"

/* The center of the group, the same in every thread. For the whole block. */
static __device__ inline void center_of(const struct msd_table *own, const struct msd_trace *r, double center[3])
{
    for (int d = 0; d < 3; d++) {
        double sum = 0;
        BLOCK_LOOP(p, own->share ? own->particles : 0)
        sum += own->share[p] * r->now[p][d];
        center[d] = block_sum(sum);
    }
}

KERNEL(observe_msd_move, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct msd_table *own = (const struct msd_table *)t->own;
    const struct observed *s = (const struct observed *)a.seen;
    if (c->halt || !s->now)
        return;
    const int64_t frame = s->frames - 1;
    const struct msd_trace r = msd_trace_of(t, own, s);
    BLOCK_LOOP(i, t->natoms[0])
    msd_follow(t, c->box, (const double(*)[3])a.x, frame == 0, &r, i);
    __syncthreads();
    BLOCK_LOOP(p, own->particles)
    msd_place(own, &r, p);
    __syncthreads();
    double center[3];
    center_of(own, &r, center);
    BLOCK_LOOP(p, own->particles)
    msd_keep(own, &r, center, frame, p);
    if (threadIdx.x == 0)
        observed_reals(t, s, s->blocks - 1)[own->lags] += cbrt(box_volume(c->box));
}

KERNEL(observe_msd_lags, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct msd_table *own = (const struct msd_table *)t->own;
    const struct observed *s = (const struct observed *)a.seen;
    if (c->halt || !s->now)
        return;
    const int64_t frame = s->frames - 1;
    const struct msd_trace r = msd_trace_of(t, own, s);
    for (int64_t back = blockIdx.x;; back += gridDim.x) {
        const int64_t from = msd_origin(own, frame, back), lag = frame - from;
        if (from < 0 || lag >= own->lags)
            break;
        double sum = 0;
        BLOCK_LOOP(p, own->particles)
        sum += msd_square(own, &r, from, p);
        sum = block_sum(sum);
        if (threadIdx.x == 0) {
            observed_counts(t, s, s->blocks - 1)[lag]++;
            observed_reals(t, s, s->blocks - 1)[lag] += sum / own->particles;
        }
    }
}
