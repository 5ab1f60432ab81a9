/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/load.h"

void load_add(struct load *l, unsigned *period, uint32_t steps, double ps, int atoms)
{
    l->steps += steps;
    l->ps += ps;
    l->work += (double)steps * atoms;
    l->descents += ps > 0 ? 0 : steps;
    l->stepped += *period != l->period;
    *period = l->period;
}

bool load_due(const struct load_meter *m, double now)
{
    return now - m->began >= LOAD_SECONDS;
}

void load_take(struct load_meter *m, double now, double busy, unsigned changes, struct load_period *out)
{
    double seconds = now - m->began, steps = (double)(m->sum.steps - m->then.steps), work = m->sum.work - m->then.work;
    changes += m->sum.stages;
    bool moved = changes != m->changes;
    double share = (busy - m->busy) / seconds; /* two clocks are read */
    *out = (struct load_period){.busy = share < 1 ? share : 1,
                                .us_per_replica_step = steps > 0 ? 1e6 * seconds / steps : 0,
                                .ns_per_day = (m->sum.ps - m->then.ps) * 1e-3 / seconds * 86400,
                                .rate = work / seconds,
                                .stepped = m->sum.stepped,
                                .size = steps > 0 ? work / steps : 0,
                                .steady = !moved && !m->moved,
                                .moves = m->sum.descents == m->then.descents};
    m->sum.period++;
    m->sum.stepped = 0;
    *m = (struct load_meter){
        .sum = m->sum, .then = m->sum, .began = now, .busy = busy, .changes = changes, .moved = moved};
}
