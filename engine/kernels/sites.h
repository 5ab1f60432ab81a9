/* SPDX-License-Identifier: Apache-2.0
 *
 * One virtual site's force, taken to the atoms that place it. Each device brings the loops.
 */
#ifndef SHOAL_ENGINE_KERNELS_SITES_H
#define SHOAL_ENGINE_KERNELS_SITES_H

#include "engine/math/accumulate.h"
#include "engine/prepare/sites.h"

/* The first atom gets what the others leave, so that no momentum is lost by rounding. */
MATH_FN void site_give(struct accumulate *sum, int64_t (*f)[3], int32_t to, int64_t rest[3], const double force[3])
{
    for (int d = 0; d < 3; d++) {
        const int64_t share = fixed_clamped(force[d], FIXED_TOTAL_LIMIT);
        acc_add(&f[to][d], share);
        rest[d] = (int64_t)((uint64_t)rest[d] - (uint64_t)share);
        acc_clamped(sum, CLAMPED_FORCE, fixed_beyond(force[d], FIXED_TOTAL_LIMIT));
    }
}

/* virial: counts what the virial of forces on atoms is more than that of the force on the site, of which the terms
 * knew. */
MATH_FN void site_take(const struct site_table *t, const struct virtual_site *s, const double (*x)[3], int64_t (*f)[3],
                       bool virial, struct accumulate *sum)
{
    const int32_t *from = t->from + s->first;
    double r[3][3] = {{0}}, out[3][3] = {{0}}, force[3], back[3];
    int64_t rest[3];
    for (int d = 0; d < 3; d++) {
        rest[d] = f[s->atom][d];
        force[d] = fixed_value(rest[d]);
        back[d] = -force[d];
        f[s->atom][d] = 0;
    }
    if (s->kind == SITE_LINEAR) {
        for (uint32_t k = 1; k < s->count; k++) {
            const double w = t->weight[s->first + k], share[3] = {w * force[0], w * force[1], w * force[2]};
            site_give(sum, f, from[k], rest, share);
        }
    } else {
        site_arms(t, s, x, r);
        site_spread((enum site_kind)s->kind, s->c, (const double(*)[3])r, force, out);
        for (uint32_t k = 1; k < s->count && k < SITE_ATOMS_MOST; k++) {
            site_give(sum, f, from[k], rest, out[k - 1]);
            if (virial)
                acc_virial(sum, r[k - 1], out[k - 1]);
        }
        vec_sub(x[s->atom], x[from[0]], r[0]);
        if (virial)
            acc_virial(sum, r[0], back);
    }
    for (int d = 0; d < 3; d++)
        acc_add(&f[from[0]][d], rest[d]);
}

#endif
