/* SPDX-License-Identifier: Apache-2.0
 *
 * The dipole of a frame (engine/kernels/dielectric.h), by one block. Sums are of a fixed order.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/dielectric.h"

KERNEL(observe_dielectric, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct dielectric_table *own = (const struct dielectric_table *)t->own;
    const struct observed *s = (const struct observed *)a.seen;
    double all[3] = {0, 0, 0}, absolute = 0, one[3];
    if (c->halt || !s->now)
        return;
    BLOCK_LOOP(m, own->molecules)
    {
        absolute += dielectric_dipole(t, own, c, (const double(*)[3])a.x, m, one);
        vec_add(all, 1, one);
    }
    for (int d = 0; d < 3; d++)
        all[d] = block_sum(all[d]);
    absolute = block_sum(absolute);
    if (threadIdx.x == 0)
        dielectric_keep(own, c, all, absolute, observed_reals(t, s, s->blocks - 1));
}
