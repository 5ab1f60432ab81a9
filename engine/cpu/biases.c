/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations and biases on the CPU device: every pair.
 */
#include "engine/kernels/biases.h"

#include "engine/cpu/isa.h"

/* One evaluation of one coordination. */
struct pass {
    struct accumulate sum;
    struct ctl *ctl;
    const struct bias_table *t;
    const double (*x)[3];
    struct bias_sums sums;
    bool gradient, sample;
};

/* The pairs of the i-th atom of the first group. */
static void add_row(struct pass *p, uint32_t which, uint32_t i)
{
    const struct coordination *c = &p->t->coordinations[which];
    const bool paired = c->pairs == COORDINATION_PAIRED, within = c->pairs == COORDINATION_WITHIN;
    const uint32_t end = paired ? i + 1 : c->count[1];
    double s = 0, all[3] = {0}, virial[9] = {0}, r[3], g[3];
    for (uint32_t k = paired ? i : within ? i + 1 : 0; k < end; k++) {
        if (!coordination_reaches(c, p->ctl->box, p->t->atoms, p->x, i, k, r))
            continue;
        s += coordination_of(c, r, g);
        if (!p->gradient)
            continue;
        const double other[3] = {-g[0], -g[1], -g[2]};
        vec_add(all, 1, g);
        gradient_add(&p->sum, p->sums.gradient[c->first[1] + k], other);
        for (int d = 0; d < 9 && p->sample; d++)
            virial[d] += 0.5 * r[d / 3] * g[d % 3];
    }
    coordination_add(&p->ctl->coordination[which], s);
    if (p->gradient)
        gradient_add(&p->sum, p->sums.gradient[c->first[0] + i], all);
    for (int d = 0; d < 9 && p->sample; d++)
        gradient_virial_add(&p->sum, &p->sums.virial[which][d], virial[d]);
}

/* What biases along one coordination do to its atoms. */
static void pull(struct pass *p, uint32_t which, int64_t (*f)[3])
{
    const struct coordination *c = &p->t->coordinations[which];
    const double slope = bias_slope(p->t, p->ctl, which);
    const int groups = c->pairs == COORDINATION_WITHIN ? 1 : 2;
    for (int g = 0; g < groups; g++)
        for (uint32_t k = 0; k < c->count[g]; k++)
            bias_pull(p->t, &p->sums, c->first[g] + k, slope, f, &p->sum);
    if (p->sample)
        bias_virial(&p->sums, which, slope, &p->sum);
}

ISA_FN(biases)
{
    struct ctl *c = a->ctl;
    const struct bias_table *t = a->table;
    if (c->halt)
        return;
    struct pass p = {.ctl = c,
                     .t = t,
                     .x = a->x,
                     .sums = bias_sums_at(a->sums, t->ncoordinations),
                     .gradient = a->mode != EVALUATE_POTENTIAL,
                     .sample = a->mode == EVALUATE_SAMPLE};
    for (uint32_t which = 0; which < t->ncoordinations; which++)
        for (uint32_t i = 0; i < t->coordinations[which].count[0]; i++)
            add_row(&p, which, i);
    for (uint32_t which = 0; which < t->ncoordinations && p.gradient; which++)
        pull(&p, which, a->f);
    if (a->mode != EVALUATE_STEP)
        bias_energies(t, c, p.sample, &p.sum, a->energy_at_window);
    acc_finish(&p.sum, &c->sum);
}
