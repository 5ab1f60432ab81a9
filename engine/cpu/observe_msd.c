/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements: where each particle is without the box, against where it was at every origin of time that is kept.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/kernels.h"
#include "engine/kernels/observe.h"

/* The state, see struct msd_table. */
struct trace {
    double (*last)[3], (*free)[3], (*now)[3], (*origin)[3];
};

static struct trace trace_of(const struct observe_table *t, const struct msd_table *own, struct observed *s)
{
    double(*first)[3] = observed_state(t, s);
    const size_t n = t->natoms[0];
    return (struct trace){first, first + n, first + 2 * n, first + 2 * n + own->particles};
}

/* Each atom goes on to the nearest image. */
static void follow(const struct observe_table *t, const struct ctl *c, const double (*x)[3], int begins,
                   struct trace *r)
{
    for (uint32_t i = 0; i < t->natoms[0]; i++) {
        const double *to = x[t->atom[0][i]];
        double d[3];
        if (begins)
            memcpy(r->free[i], to, sizeof d);
        box_image(to, begins ? to : r->last[i], c->box, d);
        vec_add(r->free[i], 1, d);
        memcpy(r->last[i], to, sizeof d);
    }
}

/* Particles, without their center's motion where that is asked for. */
static void place(const struct msd_table *own, struct trace *r)
{
    double center[3] = {0};
    for (uint32_t p = 0; p < own->particles; p++) {
        memset(r->now[p], 0, sizeof r->now[p]);
        for (int32_t i = own->first[p]; i < own->first[p + 1]; i++)
            vec_add(r->now[p], own->weight[i], r->free[i]);
        if (own->share)
            vec_add(center, own->share[p], r->now[p]);
    }
    for (uint32_t p = 0; p < own->particles; p++)
        vec_add(r->now[p], -1, center);
}

static double displaced(const struct msd_table *own, const double (*from)[3], const double (*to)[3])
{
    double sum = 0;
    for (uint32_t p = 0; p < own->particles; p++) {
        double d[3];
        vec_sub(to[p], from[p], d);
        sum += vec_dot(d, d);
    }
    return sum / own->particles;
}

void cpu_observe_msd(const struct launch *launch, const struct args_observe_msd *a)
{
    const struct ctl *c = a->ctl;
    const struct observe_table *t = a->table;
    const struct msd_table *own = t->own;
    struct observed *s = a->seen;
    if (c->halt || !s->now)
        return;
    const int64_t frame = s->frames - 1, most = own->lags - 1, restart = own->restart;
    struct trace r = trace_of(t, own, s);
    int64_t *counts = observed_counts(t, s, s->blocks - 1);
    double *reals = observed_reals(t, s, s->blocks - 1);
    follow(t, c, a->x, frame == 0, &r);
    place(own, &r);
    if (frame % restart == 0)
        memcpy(r.origin + (size_t)(frame / restart % own->origins) * own->particles, r.now,
               own->particles * sizeof *r.now);
    for (int64_t from = frame / restart * restart; from >= 0 && frame - from <= most; from -= restart) {
        const size_t slot = (size_t)(from / restart % own->origins);
        counts[frame - from]++;
        reals[frame - from] +=
            displaced(own, (const double(*)[3])r.origin + slot * own->particles, (const double(*)[3])r.now);
    }
    reals[own->lags] += cbrt(box_volume(c->box));
}
