/* SPDX-License-Identifier: Apache-2.0
 *
 * The pressure tensor of a frame (engine/kernels/pressure.h), by one block. Sums are of a fixed order.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/pressure.h"

KERNEL(observe_pressure, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    const struct observed *s = (const struct observed *)a.seen;
    double kinetic[PRESSURE_REALS] = {0};
    if (c->halt || !s->now)
        return;
    const struct masses masses = masses_of(m, c);
    BLOCK_LOOP(i, m->natoms)
    pressure_kinetic(&masses, (int)i, ((const double(*)[3])a.v_out)[i], kinetic);
    for (int k = 0; k < PRESSURE_REALS; k++)
        kinetic[k] = block_sum(kinetic[k]);
    const struct center_rule center = {a.freedom, a.kt, a.regain, a.every, 0};
    if (threadIdx.x == 0)
        pressure_keep(c, &center, kinetic, observed_reals((const struct observe_table *)a.table, s, s->blocks - 1));
}
