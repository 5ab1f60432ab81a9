/* SPDX-License-Identifier: Apache-2.0
 *
 * The dipole of a frame.
 */
#include "engine/kernels/dielectric.h"

#include "engine/cpu/kernels.h"

void cpu_observe_dielectric(const struct launch *launch, const struct args_observe_dielectric *a)
{
    const struct ctl *c = a->ctl;
    const struct observe_table *t = a->table;
    const struct dielectric_table *own = t->own;
    const struct observed *s = a->seen;
    double all[3] = {0, 0, 0}, absolute = 0, one[3];
    if (c->halt || !s->now)
        return;
    for (uint32_t m = 0; m < own->molecules; m++) {
        absolute += dielectric_dipole(t, own, c, a->x, m, one);
        vec_add(all, 1, one);
    }
    dielectric_keep(own, c, all, absolute, observed_reals(t, s, s->blocks - 1));
}
