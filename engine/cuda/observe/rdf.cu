/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of two groups by their distance: all pairs. A block counts in its own memory where that has room for the bins.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/cuda/observe/observe.h"
#include "engine/kernels/observe.h"
#include "engine/kernels/rdf.h"

enum { OWN_BINS = 4096 };

/* A pair counts. */
static __device__ inline bool counts(const struct observe_table *t, const struct rdf_table *own, uint32_t i, uint32_t j)
{
    return !(own->overlapping && t->atom[0][i] == t->atom[1][j]) &&
           (own->within || own->molecule[0][i] != own->molecule[1][j]);
}

KERNEL(observe_rdf, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    __shared__ unsigned own_bins[OWN_BINS];
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct rdf_table *own = (const struct rdf_table *)t->own;
    const struct observed *s = (const struct observed *)a.seen;
    const double(*x)[3] = (const double(*)[3])a.x;
    if (c->halt || !s->now)
        return;
    unsigned long long *pairs = (unsigned long long *)observed_counts(t, s, s->blocks - 1);
    const bool here = own->bins <= OWN_BINS;
    BLOCK_LOOP(k, here ? own->bins : 0)
    own_bins[k] = 0;
    __syncthreads();
    const double per_edge[3] = {1 / c->box[BOX_XX], 1 / c->box[BOX_YY], 1 / c->box[BOX_ZZ]};
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * RDF_PIECE;
    const uint32_t end = min(from + (uint32_t)RDF_PIECE, t->natoms[1]), n = i < t->natoms[0] ? end : 0;
    for (uint32_t j = own->same ? max(from, i + 1) : from; j < n; j++) {
        const double *p = x[t->atom[0][i]], *q = x[t->atom[1][j]];
        const uint32_t bin = (uint32_t)rdf_bin(q[0] - p[0], q[1] - p[1], q[2] - p[2], c->box, per_edge, own->bin);
        if (bin >= own->bins || !counts(t, own, i, j))
            continue;
        if (here)
            atomicAdd(&own_bins[bin], 1u);
        else
            atomicAdd(&pairs[bin], 1ull);
    }
    __syncthreads();
    BLOCK_LOOP(k, here ? own->bins : 0)
    if (own_bins[k])
        atomicAdd(&pairs[k], (unsigned long long)own_bins[k]);
    if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0)
        observed_reals(t, s, s->blocks - 1)[0] += 1 / box_volume(c->box);
}
