/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements: what is done to one atom, one particle, one origin of time.
 */
#ifndef SHOAL_ENGINE_KERNELS_MSD_H
#define SHOAL_ENGINE_KERNELS_MSD_H

#include "engine/kernels/observe.h"

/* The state, see struct msd_table. */
struct msd_trace {
    double (*last)[3], (*free)[3], (*now)[3], (*origin)[3];
};

MATH_FN struct msd_trace msd_trace_of(const struct observe_table *t, const struct msd_table *own,
                                      const struct observed *s)
{
    double(*first)[3] = (double(*)[3])observed_state(t, s);
    const size_t n = t->natoms[0];
    struct msd_trace r = {first, first + n, first + 2 * n, first + 2 * n + own->particles};
    return r;
}

/* Atom i of the group goes on to the nearest image. */
MATH_FN void msd_follow(const struct observe_table *t, const double box[BOX_SIZE], const double (*x)[3], int begins,
                        const struct msd_trace *r, uint32_t i)
{
    const double *to = x[t->atom[0][i]];
    double d[3];
    box_image(to, begins ? to : r->last[i], box, d);
    for (int k = 0; k < 3; k++) {
        r->free[i][k] = begins ? to[k] : r->free[i][k] + d[k];
        r->last[i][k] = to[k];
    }
}

/* Where particle p is, with all its atoms there. */
MATH_FN void msd_place(const struct msd_table *own, const struct msd_trace *r, uint32_t p)
{
    double at[3] = {0, 0, 0};
    for (int32_t i = own->first[p]; i < own->first[p + 1]; i++)
        vec_add(at, own->weight[i], r->free[i]);
    for (int k = 0; k < 3; k++)
        r->now[p][k] = at[k];
}

/* Where the particles of an origin of time are kept. */
MATH_FN double (*msd_kept(const struct msd_table *own, const struct msd_trace *r, int64_t origin))[3]
{
    return r->origin + (size_t)(origin / own->restart % own->origins) * own->particles;
}

/* Without the center's motion; it becomes an origin where the frame is one. */
MATH_FN void msd_keep(const struct msd_table *own, const struct msd_trace *r, const double center[3], int64_t frame,
                      uint32_t p)
{
    vec_add(r->now[p], -1, center);
    for (int k = 0; k < 3 && frame % own->restart == 0; k++)
        msd_kept(own, r, frame)[p][k] = r->now[p][k];
}

/* The origin before which there are `back` later ones; negative: there is none. */
MATH_FN int64_t msd_origin(const struct msd_table *own, int64_t frame, int64_t back)
{
    return (frame / own->restart - back) * own->restart;
}

/* What particle p has come since an origin, squared. */
MATH_FN double msd_square(const struct msd_table *own, const struct msd_trace *r, int64_t origin, uint32_t p)
{
    double d[3];
    vec_sub(r->now[p], msd_kept(own, r, origin)[p], d);
    return vec_dot(d, d);
}

#endif
