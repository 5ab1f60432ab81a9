/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters on the CPU device.
 */
#include "engine/kernels/waters.h"

#include "engine/cpu/clones.h"
#include "engine/cpu/kernels.h"
#include "engine/kernels/motion.h"

CPU_CLONES void cpu_waters_weigh(const struct launch *launch, const struct args_waters_weigh *a)
{
    struct ctl *c = a->ctl;
    const struct water_table *t = a->table;
    const struct water_states s = waters_states(a->states, t->nwaters);
    const double(*x)[3] = a->x;
    double center[3];
    struct water_box box;
    if (c->halt)
        return;
    waters_center(t, x, c->box, center);
    waters_box(c->box, &box);
    for (uint32_t w = 0; w < t->nwaters; w++) {
        const struct water_place place = waters_place(t, x, w);
        s.energy[w] = waters_energy(t, &box, c, x, w, &place, 0, 1);
        s.weight[w] = waters_weight(s.energy[w], a->kt);
        s.inside[w] = waters_inside(t, place.site[0], center, c->box);
    }
}

/* Of the weights outside and inside. */
static void sum_weights(const struct water_states *s, uint32_t n, double sums[2])
{
    sums[0] = sums[1] = 0;
    for (uint32_t w = 0; w < n; w++)
        sums[s->inside[w]] += s->weight[w];
}

/* The water of a side where the sum of weights comes to the mark; the last one of it where rounding keeps it from that.
 * False: there is none. */
static bool pick(const struct water_states *s, uint32_t n, uint32_t side, double mark, uint32_t *water)
{
    bool found = false;
    double sum = 0;
    for (uint32_t w = 0; w < n && sum < mark; w++)
        if (s->inside[w] == side) {
            found = true;
            *water = w;
            sum += s->weight[w];
        }
    return found;
}

static uint32_t count_inside(const struct water_states *s, uint32_t n)
{
    uint32_t inside = 0;
    for (uint32_t w = 0; w < n; w++)
        inside += s->inside[w];
    return inside;
}

CPU_CLONES void cpu_waters_try(const struct launch *launch, const struct args_waters_try *a)
{
    struct ctl *c = a->ctl;
    const struct water_table *t = a->table;
    const struct water_states s = waters_states(a->states, t->nwaters);
    const double(*x)[3] = a->x;
    double center[3], sums[2];
    struct water_box box;
    if (c->halt)
        return;
    memcpy(a->x_old, a->x, (size_t)a->natoms * 3 * sizeof(double));
    waters_center(t, x, c->box, center);
    waters_box(c->box, &box);
    waters_begin(c, count_inside(&s, t->nwaters));
    sum_weights(&s, t->nwaters, sums);
    for (uint32_t move = 0; move < a->tries && waters_fit(t, c->box); move++) {
        struct water_trial trial;
        double p[3], m[3][3];
        waters_propose(t, c, center, move, p, m, &trial);
        const uint32_t side = 1 - trial.into;
        if (!trial.valid || !pick(&s, t->nwaters, side, waters_mark(c, move, sums[side]), &trial.water))
            continue;
        waters_lead(t, x, p, (const double(*)[3])m, &trial);
        const struct water_change change = waters_change(t, &box, c, x, &s, &trial, a->kt, 0, 1);
        if (!waters_trial_accepted(&trial, &s, &change, sums, a->kt))
            continue;
        const double rise = change.energy - s.energy[trial.water];
        waters_follow(t, &box, x, &s, &trial, change.energy, a->kt, 0, 1);
        waters_carry_out(t, c, &s, &trial, rise, a->x);
        sum_weights(&s, t->nwaters, sums);
    }
}

void cpu_waters_decide(const struct launch *launch, const struct args_waters_decide *a)
{
    struct ctl *c = a->ctl;
    const struct water_table *t = a->table;
    if (c->halt)
        return;
    const bool yes = waters_accepted(c, a->tries, a->kt);
    if (!yes)
        memcpy(a->x, a->x_old, (size_t)a->natoms * 3 * sizeof(double));
    for (uint32_t w = 0; w < t->nwaters && yes; w++)
        waters_turn_velocities(t->waters[w], a->x_old, a->x, a->v);
    waters_end(c, a->tries, yes);
}
