/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements: where each particle is without the box, against where it was at every origin of time that is kept.
 */
#include "engine/kernels/msd.h"

#include "engine/cpu/kernels.h"

static void move(const struct args_observe_msd *a, const struct msd_table *own, int64_t frame,
                 const struct msd_trace *r)
{
    const struct observe_table *t = a->table;
    const struct ctl *c = a->ctl;
    double center[3] = {0};
    for (uint32_t i = 0; i < t->natoms[0]; i++)
        msd_follow(t, c->box, a->x, frame == 0, r, i);
    for (uint32_t p = 0; p < own->particles; p++) {
        msd_place(own, r, p);
        if (own->share)
            vec_add(center, own->share[p], r->now[p]);
    }
    for (uint32_t p = 0; p < own->particles; p++)
        msd_keep(own, r, center, frame, p);
}

void cpu_observe_msd(const struct launch *launch, const struct args_observe_msd *a)
{
    const struct ctl *c = a->ctl;
    const struct observe_table *t = a->table;
    const struct msd_table *own = t->own;
    struct observed *s = a->seen;
    if (c->halt || !s->now)
        return;
    const int64_t frame = s->frames - 1;
    const struct msd_trace r = msd_trace_of(t, own, s);
    int64_t *counts = observed_counts(t, s, s->blocks - 1);
    double *reals = observed_reals(t, s, s->blocks - 1);
    move(a, own, frame, &r);
    for (int64_t from = msd_origin(own, frame, 0); from >= 0 && frame - from < own->lags; from -= own->restart) {
        double sum = 0;
        for (uint32_t p = 0; p < own->particles; p++)
            sum += msd_square(own, &r, from, p);
        counts[frame - from]++;
        reals[frame - from] += sum / own->particles;
    }
    reals[own->lags] += cbrt(box_volume(c->box));
}
