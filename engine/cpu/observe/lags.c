/* SPDX-License-Identifier: Apache-2.0
 *
 * Over lags of time: what each particle does now, against every origin of time that is kept.
 */
#include "engine/kernels/lags.h"

#include "engine/cpu/kernels.h"

static void move(const struct args_observe_lags *a, const struct lag_frame *f)
{
    const struct lag_table *own = f->own;
    double center[3] = {0};
    for (uint32_t i = 0; i < f->t->natoms[0] && !own->velocities; i++)
        lag_follow(f, a->x, i);
    for (uint32_t p = 0; p < own->particles; p++) {
        lag_place(f, a->v, p);
        if (own->share)
            vec_add(center, own->share[p], f->now[p]);
    }
    for (uint32_t p = 0; p < own->particles; p++)
        lag_keep(f, center, p);
}

void cpu_observe_lags(const struct launch *launch, const struct args_observe_lags *a)
{
    struct lag_frame f;
    if (!lag_begin(a->ctl, a->table, a->seen, &f))
        return;
    move(a, &f);
    int64_t lag;
    for (int64_t back = 0; (lag = lag_to(&f, back)) >= 0; back++) {
        double sum = 0;
        for (uint32_t p = 0; p < f.own->particles; p++)
            sum += lag_product(&f, lag, p);
        lag_add(&f, lag, sum);
    }
    lag_add_box(&f);
}
