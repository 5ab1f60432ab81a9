/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of observables on a GPU, a block each.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/observe.h"

KERNEL(observe_begin, a, __launch_bounds__(2 * CUDA_BLOCK))
{
    ECHO(a);
    __shared__ int due, full;
    const struct observe_table *t = (const struct observe_table *)a.table;
    struct observed *s = (struct observed *)a.seen;
    if (threadIdx.x == 0) {
        due = observe_due((const struct ctl *)a.ctl, t, s);
        full = due && observe_full(s);
    }
    __syncthreads();
    if (full) {
        BLOCK_LOOP(i, (uint32_t)t->counts)
        observe_fold_counts(observed_counts(t, s, 0), t->counts, i);
        BLOCK_LOOP(i, (uint32_t)t->reals)
        observe_fold_reals(observed_reals(t, s, 0), t->reals, i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (full)
            observe_folded(s);
        if (due)
            observe_count(s);
    }
}

KERNEL(observe_end, a)
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    if (threadIdx.x == 0 && !c->halt)
        c->done++;
}
