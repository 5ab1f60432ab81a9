/* SPDX-License-Identifier: Apache-2.0
 *
 * What particles do over lags of time, mean square displacements and autocorrelations of velocities: what is done to
 * one atom, one particle, one origin of time.
 */
#ifndef SHOAL_ENGINE_KERNELS_LAGS_H
#define SHOAL_ENGINE_KERNELS_LAGS_H

#include "engine/kernels/observe.h"

/* The frame at hand, and the state, see struct lag_table. */
struct lag_frame {
    const struct ctl *c;
    const struct observe_table *t;
    const struct lag_table *own;
    int64_t number;                /* of the frame, from 0 */
    double (*last)[3], (*free)[3]; /* of an msd alone */
    double (*now)[3], (*origin)[3];
    int64_t *counts; /* of the block */
    double *reals;   /* of the block */
};

/* 0: no frame is at hand. */
MATH_FN int lag_begin(const void *ctl, const void *table, const void *seen, struct lag_frame *f)
{
    const struct observed *s = (const struct observed *)seen;
    f->c = (const struct ctl *)ctl;
    f->t = (const struct observe_table *)table;
    f->own = (const struct lag_table *)f->t->own;
    if (f->c->halt || !s->now)
        return 0;
    f->number = s->frames - 1;
    f->last = (double(*)[3])observed_state(f->t, s);
    f->free = f->last + f->t->natoms[0];
    f->now = f->own->velocities ? f->last : f->free + f->t->natoms[0];
    f->origin = f->now + f->own->particles;
    f->counts = observed_counts(f->t, s, s->blocks - 1);
    f->reals = observed_reals(f->t, s, s->blocks - 1);
    return 1;
}

/* Atom i of the group goes on to the nearest image. */
MATH_FN void lag_follow(const struct lag_frame *f, const double (*x)[3], uint32_t i)
{
    const double *to = x[f->t->atom[0][i]];
    const int begins = f->number == 0;
    double d[3];
    box_image(to, begins ? to : f->last[i], f->c->box, d);
    for (int k = 0; k < 3; k++) {
        f->free[i][k] = begins ? to[k] : f->free[i][k] + d[k];
        f->last[i][k] = to[k];
    }
}

/* Where particle p is, with all its atoms there, or how fast. */
MATH_FN void lag_place(const struct lag_frame *f, const double (*v)[3], uint32_t p)
{
    const struct lag_table *own = f->own;
    double at[3] = {0, 0, 0};
    for (int32_t i = own->first[p]; i < own->first[p + 1]; i++)
        vec_add(at, own->weight[i], own->velocities ? v[f->t->atom[0][i]] : f->free[i]);
    for (int k = 0; k < 3; k++)
        f->now[p][k] = at[k];
}

/* What is kept of the particles at an origin of time. */
MATH_FN double (*lag_kept(const struct lag_frame *f, int64_t origin))[3]
{
    return f->origin + (size_t)(origin / f->own->restart % f->own->origins) * f->own->particles;
}

/* Without the center's motion; it becomes an origin where the frame is one. */
MATH_FN void lag_keep(const struct lag_frame *f, const double center[3], uint32_t p)
{
    vec_add(f->now[p], -1, center);
    for (int k = 0; k < 3 && f->number % f->own->restart == 0; k++)
        lag_kept(f, f->number)[p][k] = f->now[p][k];
}

/* The lag to the origin before which there are `back` later ones; negative: there is none. */
MATH_FN int64_t lag_to(const struct lag_frame *f, int64_t back)
{
    const int64_t from = (f->number / f->own->restart - back) * f->own->restart, lag = f->number - from;
    return from >= 0 && lag < f->own->lags ? lag : -1;
}

/* Of particle p: what it has come over a lag, squared; or the product of its velocities then and now. */
MATH_FN double lag_product(const struct lag_frame *f, int64_t lag, uint32_t p)
{
    const double *now = f->now[p], *then = lag_kept(f, f->number - lag)[p];
    double d[3];
    if (f->own->velocities)
        return vec_dot(now, then);
    vec_sub(now, then, d);
    return vec_dot(d, d);
}

/* To the block: a lag's sum over all particles. */
MATH_FN void lag_add(const struct lag_frame *f, int64_t lag, double sum)
{
    f->counts[lag]++;
    f->reals[lag] += sum / f->own->particles;
}

MATH_FN void lag_add_box(const struct lag_frame *f)
{
    f->reals[f->own->lags] += cbrt(box_volume(f->c->box));
}

#endif
