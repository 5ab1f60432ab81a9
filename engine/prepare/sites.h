/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a virtual site is. Positions are those of whole molecules, so that no images are needed.
 */
#ifndef SHOAL_ENGINE_PREPARE_SITES_H
#define SHOAL_ENGINE_PREPARE_SITES_H

#include "engine/math/bodies/sites.h"
#include "engine/prepare/device_tables.h"

/* Positions of the others relative to the first. */
MATH_FN void site_arms(const struct site_table *t, const struct virtual_site *s, const double (*x)[3], double r[3][3])
{
    const int32_t *from = t->from + s->first;
    for (uint32_t k = 1; k < s->count && k < SITE_ATOMS_MOST; k++)
        vec_sub(x[from[k]], x[from[0]], r[k - 1]);
}

MATH_FN void site_place(const struct site_table *t, const struct virtual_site *s, double (*x)[3])
{
    const int32_t *from = t->from + s->first;
    double r[3][3] = {{0}}, off[3] = {0, 0, 0};
    if (s->kind == SITE_LINEAR) {
        for (uint32_t k = 1; k < s->count; k++) {
            vec_sub(x[from[k]], x[from[0]], r[0]);
            vec_add(off, t->weight[s->first + k], r[0]);
        }
    } else {
        site_arms(t, s, (const double(*)[3])x, r);
        site_at((enum site_kind)s->kind, s->c, (const double(*)[3])r, off);
    }
    for (int d = 0; d < 3; d++)
        x[s->atom][d] = x[from[0]][d] + off[d];
}

#endif
