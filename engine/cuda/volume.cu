/* SPDX-License-Identifier: Apache-2.0
 *
 * Volume moves on a GPU, one block.
 */
#include "engine/cuda/device.cuh"
#include "engine/kernels/volume.h"

KERNEL(volume_try, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    __shared__ double along[3];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    double *x = (double *)a.x, *x_old = (double *)a.x_old;
    if (threadIdx.x == 0 && c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    if (!block_goes_on(c))
        return;
    struct masses masses = masses_of(m, c);
    BLOCK_LOOP(i, 3 * m->natoms)
    x_old[i] = x[i];
    if (threadIdx.x == 0)
        volume_begin(c, m->nunits, a.coupling, {a.min_edge, a.min_width}, along);
    __syncthreads();
    BLOCK_LOOP(u, m->nunits)
    volume_move_unit(m, u, &masses, (double(*)[3])a.x, along);
    if (threadIdx.x == 0)
        volume_scale_box(c->box, along);
}

KERNEL(volume_decide, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    __shared__ bool yes;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    double *x = (double *)a.x;
    const double *x_old = (const double *)a.x_old;
    if (c->halt)
        return;
    const bool refused = volume_refused(c); /* asked before the box changes */
    if (threadIdx.x == 0)
        yes = volume_accepted(c, m->nunits, a.pressure, a.kt);
    __syncthreads();
    if (!yes)
        BLOCK_LOOP(i, 3 * m->natoms)
    x[i] = x_old[i];
    if (threadIdx.x != 0)
        return;
    for (int k = 0; k < BOX_SIZE && !yes; k++)
        c->box[k] = c->box_old[k];
    volume_end(c, yes, refused);
}
