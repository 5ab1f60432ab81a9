/* SPDX-License-Identifier: Apache-2.0
 *
 * Volume moves on the CPU device.
 */
#include <string.h>

#include "engine/cpu/kernels.h"
#include "engine/kernels/volume.h"

void cpu_volume_try(const struct launch *launch, const struct args_volume_try *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    if (!c->halt && c->sum.overflow)
        ctl_halt(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    if (c->halt)
        return;
    struct masses masses = masses_of(m, c);
    memcpy(a->x_old, a->x, m->natoms * 3 * sizeof(double));
    double along[3];
    volume_begin(c, m->nunits, a->coupling, (struct box_limits){.edge = a->min_edge}, along);
    for (uint32_t u = 0; u < m->nunits; u++)
        volume_move_unit(m, u, &masses, a->x, along);
    volume_scale_box(c->box, along);
}

void cpu_volume_decide(const struct launch *launch, const struct args_volume_decide *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    if (c->halt)
        return;
    bool refused = volume_refused(c), yes = volume_accepted(c, m->nunits, a->pressure, a->kt);
    if (!yes) {
        memcpy(a->x, a->x_old, m->natoms * 3 * sizeof(double));
        memcpy(c->box, c->box_old, sizeof c->box);
    }
    volume_end(c, yes, refused);
}
