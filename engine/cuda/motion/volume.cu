/* SPDX-License-Identifier: Apache-2.0
 *
 * Volume moves on a GPU, one block.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/volume.h"

enum {
    LARGE = 96,      /* atoms of a molecule, from which on the whole block moves it */
    LARGE_MOST = 32, /* such molecules, at most; with more of them a thread moves each */
    SMALL = 3,       /* atoms of a molecule, all of which are asked for at once */
    AT_ONCE = 8,     /* numbers of a thread that are copied at a time: memory is slow */
};

/* For the whole block. */
static __device__ void copy_all(double *to, const double *from, uint32_t n)
{
    for (uint32_t first = threadIdx.x; first < n; first += AT_ONCE * blockDim.x) {
        double v[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            v[k] = from[min(first + k * blockDim.x, n - 1)];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            if (first + k * blockDim.x < n)
                to[first + k * blockDim.x] = v[k];
    }
}

/* The same; nobody else writes to it meanwhile. */
static __device__ void copy_ctl(struct ctl *to, const struct ctl *from)
{
    BLOCK_LOOP(k, (uint32_t)(sizeof *to / sizeof(uint64_t)))
    ((uint64_t *)to)[k] = ((const uint64_t *)from)[k];
}

/* volume_move_unit() of at most SMALL atoms. */
static __device__ void move_small(const struct motion_table *m, uint32_t unit, const struct masses *masses,
                                  double (*x)[3], const double along[3])
{
    const uint32_t count = m->units[unit].count;
    const int32_t *atom = m->unit_atoms + m->units[unit].first;
    double mass[SMALL], at[SMALL][3], sum[4] = {0, 0, 0, 0}, shift[3];
    int32_t which[SMALL];
#pragma unroll
    for (uint32_t k = 0; k < SMALL; k++)
        which[k] = atom[min(k, count - 1)];
#pragma unroll
    for (uint32_t k = 0; k < SMALL; k++) {
        mass[k] = k < count ? mass_of(masses, which[k]) : 0;
        for (int d = 0; d < 3; d++)
            at[k][d] = x[which[k]][d];
    }
#pragma unroll
    for (uint32_t k = 0; k < SMALL; k++) {
        vec_add(sum, mass[k], at[k]);
        sum[3] += mass[k];
    }
    for (int d = 0; d < 3; d++)
        shift[d] = (along[d] - 1) / sum[3] * sum[d];
#pragma unroll
    for (uint32_t k = 0; k < SMALL; k++)
        for (int d = 0; k < count && d < 3; d++)
            x[which[k]][d] = at[k][d] + shift[d];
}

/* A molecule of many atoms: sums in an order that depends on the size of the block alone. For the whole block. */
static __device__ void move_large(const struct motion_table *m, uint32_t unit, const struct masses *masses,
                                  double (*x)[3], const double along[3])
{
    double sum[4] = {0, 0, 0, 0};
    volume_sum_unit(m, unit, threadIdx.x, blockDim.x, masses, (const double(*)[3])x, sum);
    for (int k = 0; k < 4; k++)
        sum[k] = block_sum(sum[k]);
    volume_shift_unit(m, unit, threadIdx.x, blockDim.x, sum, along, x);
}

/* Moves all molecules. Whether one is moved by the block does not depend on how threads run: where there are too many
 * large ones, none is. For the whole block. */
static __device__ void move_units(const struct motion_table *m, const struct masses *masses, double (*x)[3],
                                  const double along[3])
{
    __shared__ uint32_t large[LARGE_MOST], nlarge;
    if (threadIdx.x == 0)
        nlarge = 0;
    __syncthreads();
    BLOCK_LOOP(u, m->nunits)
    {
        const uint32_t count = m->units[u].count;
        if (count <= SMALL)
            move_small(m, u, masses, x, along);
        else if (count < LARGE)
            volume_move_unit(m, u, masses, x, along);
        if (count < LARGE)
            continue;
        const uint32_t at = atomicAdd(&nlarge, 1u);
        if (at < LARGE_MOST)
            large[at] = u;
    }
    __syncthreads();
    if (nlarge <= LARGE_MOST) {
        for (uint32_t k = 0; k < nlarge; k++)
            move_large(m, large[k], masses, x, along);
        return;
    }
    BLOCK_LOOP(u, m->nunits)
    if (m->units[u].count >= LARGE)
        volume_move_unit(m, u, masses, x, along);
}

KERNEL(volume_try, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    __shared__ double along[3];
    __shared__ struct ctl near; /* one thread's reads of memory that is far would come one after the other */
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (threadIdx.x == 0 && c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    if (!block_goes_on(c))
        return;
    struct masses masses = masses_of(m, c);
    copy_ctl(&near, c);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) { /* of the warp that has the least to copy */
        volume_begin(&near, m->nunits, a.coupling, {a.min_edge, a.min_width}, along);
        volume_scale_box(near.box, along);
    }
    copy_all((double *)a.x_old, (const double *)a.x, 3 * m->natoms);
    __syncthreads();
    move_units(m, &masses, (double(*)[3])a.x, along);
    copy_ctl(c, &near);
}

KERNEL(volume_decide, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    __shared__ bool yes;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (c->halt)
        return;
    const bool refused = volume_refused(c); /* asked before the box changes */
    if (threadIdx.x == 0)
        yes = volume_accepted(c, m->nunits, a.pressure, a.kt);
    __syncthreads();
    if (!yes)
        copy_all((double *)a.x, (const double *)a.x_old, 3 * m->natoms);
    if (threadIdx.x != 0)
        return;
    for (int k = 0; k < BOX_SIZE && !yes; k++)
        c->box[k] = c->box_old[k];
    volume_end(c, yes, refused);
}
