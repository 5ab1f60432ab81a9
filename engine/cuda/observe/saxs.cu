/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering on a GPU, see engine/observe/saxs_frame.h: atoms to a mesh in 32-bit fixed point, so that their
 * order does not matter, and I(q) to bins in 64-bit fixed point. The transform is cuFFT's, in single precision
 * (saxs_fft.cu).
 */
#include "engine/cuda/device/device.cuh"
#include "engine/cuda/observe/saxs.h"
#include "engine/kernels/observe.h"
#include "engine/math/spline.h"
#include "engine/observe/saxs_frame.h"

static __device__ inline const struct saxs_table *own_of(const void *table)
{
    return (const struct saxs_table *)((const struct observe_table *)table)->own;
}

static __device__ inline bool idle(const void *seen)
{
    return !((const struct observed *)seen)->now;
}

static __device__ inline void empty_bin(struct saxs_bin *bin)
{
    bin->intensity.low = bin->intensity.wraps = bin->q = bin->count = 0;
}

KERNEL(saxs_place, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const struct saxs_table *t = own_of(a.table);
    const struct ctl *c = (const struct ctl *)a.ctl;
    if (idle(a.seen))
        return;
    GRID_LOOP(k, (uint32_t)t->nchains)
    saxs_place_chain(t, c->box, (const double(*)[3])a.x, (int32_t)k, (double(*)[3])a.place);
    GRID_LOOP(k, (uint32_t)t->nbins)
    empty_bin((struct saxs_bin *)a.bins + k);
}

/* A thread for each point along z that an atom touches: neighbours write to one sector. */
template <int order> static __device__ inline void spread(const struct args_saxs_spread &a, const struct saxs_table *t)
{
    const struct saxs_species *e = &t->species[a.species];
    const double(*place)[3] = (const double(*)[3])a.place;
    int32_t *mesh = (int32_t *)a.mesh;
    GRID_LOOP(k, e->count * order)
    {
        const double *at = place[t->member[e->first + k / order]];
        double w[3][SPLINE_ORDER_MAX], beyond;
        int32_t first[3];
        for (int d = 0; d < 3; d++) {
            first[d] = saxs_first_point(t, at[d], d, &beyond);
            spline_weights(order, beyond, w[d]);
        }
        float wz = 0;
        for (uint32_t z = 0; z < order; z++) /* no array that is indexed by a variable */
            wz = z == k % order ? (float)w[2][z] : wz;
        const uint64_t z = (uint64_t)saxs_wrapped(first[2] + (int32_t)(k % order), t->size[2]);
        for (int x = 0; x < order; x++)
            for (int y = 0; y < order; y++) {
                const uint64_t row = (uint64_t)saxs_wrapped(first[0] + x, t->size[0]) * (uint64_t)t->size[1] +
                                     (uint64_t)saxs_wrapped(first[1] + y, t->size[1]);
                atomicAdd(&mesh[row * (uint64_t)t->size[2] + z],
                          __float2int_rn((float)w[0][x] * (float)w[1][y] * wz * SAXS_MESH_SCALE));
            }
    }
}

KERNEL(saxs_spread, a, __launch_bounds__(SAXS_BLOCK))
{
    ECHO(a);
    const struct saxs_table *t = own_of(a.table);
    if (idle(a.seen))
        return;
    switch (t->order) {
#define ORDER(n)                                                                                                       \
    case n:                                                                                                            \
        spread<n>(a, t);                                                                                               \
        break;
        SPLINE_ORDERS(ORDER)
#undef ORDER
    }
}

/* The mesh becomes what is transformed, whose rows have room for their transforms, and zero again for the next species.
 */
KERNEL(saxs_round, a, __launch_bounds__(SAXS_BLOCK))
{
    ECHO(a);
    const struct saxs_table *t = own_of(a.table);
    const uint32_t nz = (uint32_t)t->size[2], rows = (uint32_t)t->size[0] * (uint32_t)t->size[1],
                   wide = 2 * (nz / 2 + 1);
    int32_t *mesh = (int32_t *)a.mesh;
    float *spectrum = (float *)a.spectrum;
    if (idle(a.seen))
        return;
    for (uint32_t row = blockIdx.x; row < rows; row += gridDim.x)
        BLOCK_LOOP(z, nz)
        {
            spectrum[(uint64_t)row * wide + z] = (float)mesh[(uint64_t)row * nz + z] * (1 / SAXS_MESH_SCALE);
            mesh[(uint64_t)row * nz + z] = 0;
        }
}

KERNEL(saxs_add, a, __launch_bounds__(SAXS_BLOCK))
{
    ECHO(a);
    const struct saxs_table *t = own_of(a.table);
    const struct saxs_species *e = &t->species[a.species];
    const float2 *spectrum = (const float2 *)a.spectrum;
    double(*sum)[2] = (double(*)[2])a.sum;
    if (idle(a.seen))
        return;
    const struct saxs_cell c = saxs_cell_of(t, ((const struct ctl *)a.ctl)->box);
    GRID_LOOP(i, saxs_waves(&c))
    {
        const struct saxs_wave w = saxs_wave_of(&c, i);
        double s[2] = {0, 0}, share[2] = {0, 0};
        if (w.q2 <= t->max * t->max) {
            if (e->count) {
                const float2 at = spectrum[saxs_point(t, &w)];
                s[0] = at.x;
                s[1] = at.y;
            }
            saxs_share(t, &c, e, &w, s, share);
        }
        for (int k = 0; k < 2; k++)
            sum[i][k] = share[k] + (a.species ? sum[i][k] : 0);
    }
}

/* Blocks have bins of their own, in shared memory. */
KERNEL(saxs_bin, a, __launch_bounds__(SAXS_BLOCK))
{
    ECHO(a);
    extern __shared__ int32_t words[];
    struct saxs_bin *mine = (struct saxs_bin *)words, *bins = (struct saxs_bin *)a.bins;
    const struct saxs_table *t = own_of(a.table);
    const double(*sum)[2] = (const double(*)[2])a.sum;
    if (idle(a.seen))
        return;
    const struct saxs_cell c = saxs_cell_of(t, ((const struct ctl *)a.ctl)->box);
    BLOCK_LOOP(k, (uint32_t)t->nbins)
    empty_bin(&mine[k]);
    __syncthreads();
    GRID_LOOP(i, saxs_waves(&c))
    {
        const struct saxs_wave w = saxs_wave_of(&c, i);
        saxs_count(t, &w, sum[i], mine);
    }
    __syncthreads();
    BLOCK_LOOP(k, (uint32_t)t->nbins)
    {
        acc_merge(&bins[k].intensity, &mine[k].intensity);
        acc_add(&bins[k].q, mine[k].q);
        acc_add(&bins[k].count, mine[k].count);
    }
}

KERNEL(saxs_keep, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    const struct observe_table *table = (const struct observe_table *)a.table;
    const struct saxs_table *t = own_of(table);
    const struct observed *s = (const struct observed *)a.seen;
    if (idle(s))
        return;
    double *reals = observed_reals(table, s, s->blocks - 1);
    BLOCK_LOOP(k, (uint32_t)t->nbins)
    saxs_keep(t, (const struct saxs_bin *)a.bins + k, (int32_t)k, reals);
    if (threadIdx.x == 0)
        reals[SAXS_VOLUME * t->nbins] += box_volume(((const struct ctl *)a.ctl)->box);
}
