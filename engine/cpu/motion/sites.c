/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual sites on the CPU device.
 */
#include "engine/kernels/sites.h"

#include "engine/cpu/kernels.h"
#include "engine/run/ctl.h"
#include "engine/run/program.h"

void cpu_sites_place(const struct launch *launch, const struct args_sites_place *a)
{
    const struct ctl *c = a->ctl;
    const struct site_table *t = a->sites;
    double(*v)[3] = a->v;
    for (uint32_t i = 0; i < t->nsites && !c->halt; i++) {
        site_place(t, &t->sites[i], a->x);
        for (int d = 0; d < 3; d++)
            v[t->sites[i].atom][d] = 0;
    }
}

void cpu_sites_take(const struct launch *launch, const struct args_sites_take *a)
{
    struct ctl *c = a->ctl;
    const struct site_table *t = a->sites;
    struct accumulate sum = {0};
    if (c->halt)
        return;
    for (uint32_t i = 0; i < t->nsites; i++)
        site_take(t, &t->sites[i], a->x, a->f, a->mode == EVALUATE_SAMPLE, &sum);
    acc_finish(&sum, &c->sum);
}
