/* SPDX-License-Identifier: Apache-2.0
 *
 * The pressure tensor of a frame.
 */
#include "engine/kernels/pressure.h"

#include "engine/cpu/kernels.h"

void cpu_observe_pressure(const struct launch *launch, const struct args_observe_pressure *a)
{
    const struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    const struct observed *s = a->seen;
    const double(*v)[3] = a->v_out;
    double kinetic[PRESSURE_REALS] = {0};
    if (c->halt || !s->now)
        return;
    const struct masses masses = masses_of(m, c);
    for (uint32_t i = 0; i < m->natoms; i++)
        pressure_kinetic(&masses, (int)i, v[i], kinetic);
    pressure_keep(c, &(struct center_rule){a->freedom, a->kt, a->regain, a->every, 0}, kinetic,
                  observed_reals(a->table, s, s->blocks - 1));
}
