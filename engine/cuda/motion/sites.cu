/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual sites on a GPU, a thread each.
 */
#include "engine/cuda/lists/place.cuh"
#include "engine/kernels/sites.h"
#include "engine/run/program.h"

KERNEL(sites_place, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const struct site_table *t = (const struct site_table *)a.sites;
    double(*x)[3] = (double(*)[3])a.x, (*v)[3] = (double(*)[3])a.v;
    __shared__ struct placing placing;
    if (threadIdx.x == 0)
        placing = placing_of(a);
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    GRID_LOOP(i, a.nsites)
    {
        const int32_t atom = t->sites[i].atom;
        site_place(t, &t->sites[i], x);
        for (int d = 0; d < 3; d++)
            v[atom][d] = 0;
        place_atom(&placing, read_slot(&placing, atom), atom, x[atom]);
    }
}

KERNEL(sites_take, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct site_table *t = (const struct site_table *)a.sites;
    struct accumulate sum = {};
    if (c->halt)
        return;
    GRID_LOOP(i, a.nsites)
    site_take(t, &t->sites[i], (const double(*)[3])a.x, (int64_t(*)[3])a.f, a.mode == EVALUATE_SAMPLE, &sum);
    acc_finish(&sum, &c->sum);
}
