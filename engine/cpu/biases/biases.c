/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations and biases on the CPU device: every pair, or, of a function that ends, those of cells about each other.
 * The other atoms of an atom's pairs are taken some at a time, in passes that the compiler turns into vectors:
 * distances, which of them are in reach, the function, the sums. One thread adds in one order, so gradients are sums of
 * doubles here, in the memory where a GPU has whole numbers.
 */
#include "engine/kernels/biases.h"

#include <string.h>

#include "engine/cpu/biases/cells.h"
#include "engine/cpu/isa.h"

enum { AT_A_TIME = 64 };

/* One evaluation of one coordination. */
struct pass {
    struct accumulate sum;
    struct ctl *ctl;
    const struct bias_table *t;
    const double (*x)[3];
    double (*gradient)[3];
    struct fixed_sum *virial; /* [9] */
    struct cells cells;
    bool wants_gradient, sample, triclinic;
};

/* Pairs of one atom: r from the other to it; `other`: the place of that in the second group. */
struct bias_pairs {
    double r[3][AT_A_TIME], r2[AT_A_TIME], s[AT_A_TIME], over[AT_A_TIME];
    uint32_t other[AT_A_TIME];
};

/* What one atom's pairs add up to. */
struct bias_row {
    double s, gradient[3], virial[9];
};

/* Shortest images in a box with right angles. */
static inline void nearest(const double box[BOX_SIZE], struct bias_pairs *q, uint32_t n)
{
    for (int d = 0; d < 3; d++) {
        const double edge = box[d], inverse = 1 / edge;
        for (uint32_t k = 0; k < n; k++)
            q->r[d][k] -= edge * rint(q->r[d][k] * inverse);
    }
}

static void shortest(const double box[BOX_SIZE], struct bias_pairs *q, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        double r[3] = {q->r[0][k], q->r[1][k], q->r[2][k]};
        box_shortest(box, r);
        for (int d = 0; d < 3; d++)
            q->r[d][k] = r[d];
    }
}

/* Pairs of the atom at x with n of others from `first` on. */
static inline void separate(const struct pass *p, const struct coordination *c, const double x[3],
                            const struct cell_atoms *others, uint32_t first, uint32_t n, struct bias_pairs *q)
{
    for (int d = 0; d < 3; d++)
        for (uint32_t k = 0; k < n; k++)
            q->r[d][k] = x[d] - others->x[d][first + k];
    if (c->periodic && p->triclinic)
        shortest(p->ctl->box, q, n);
    else if (c->periodic)
        nearest(p->ctl->box, q, n);
    for (uint32_t k = 0; k < n; k++)
        q->r2[k] = q->r[0][k] * q->r[0][k] + q->r[1][k] * q->r[1][k] + q->r[2][k] * q->r[2][k];
}

/* Those in reach of atom a move up. Returns how many they are. */
static inline uint32_t keep_near(const struct coordination *c, int32_t a, const struct cell_atoms *others,
                                 uint32_t first, uint32_t n, struct bias_pairs *q)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        q->other[kept] = k;
        kept += q->r2[k] < c->f.farthest2 && others->atom[first + k] != a;
    }
    for (uint32_t k = 0; k < kept; k++) {
        const uint32_t from = q->other[k];
        for (int d = 0; d < 3; d++)
            q->r[d][k] = q->r[d][from];
        q->r2[k] = q->r2[from];
        q->other[k] = others->place[first + from];
    }
    return kept;
}

static inline void add(const struct pass *p, const struct coordination *c, const struct bias_pairs *q, uint32_t n,
                       struct bias_row *row)
{
    for (uint32_t k = 0; k < n; k++)
        row->s += q->s[k];
    for (uint32_t k = 0; k < n && p->wants_gradient; k++) {
        const double g[3] = {q->over[k] * q->r[0][k], q->over[k] * q->r[1][k], q->over[k] * q->r[2][k]};
        vec_add(row->gradient, 1, g);
        vec_add(p->gradient[c->first[1] + q->other[k]], -1, g);
        for (int d = 0; d < 9 && p->sample; d++)
            row->virial[d] += 0.5 * q->r[d / 3][k] * g[d % 3];
    }
}

/* Pairs of the i-th atom of the first group, in the order of its cells, with others in [first, end). Inlined where n
 * and m are constants, loops over the function become vectors. */
static inline __attribute__((always_inline)) void add_row(struct pass *p, const struct coordination *c, uint32_t i,
                                                          uint32_t first, uint32_t end, struct rational f,
                                                          struct bias_row *row)
{
    const struct cell_atoms *own = &p->cells.of[0], *others = &p->cells.near;
    const double x[3] = {own->x[0][i], own->x[1][i], own->x[2][i]};
    struct bias_pairs q;
    for (; first < end; first += AT_A_TIME) {
        const uint32_t n = end - first < AT_A_TIME ? end - first : AT_A_TIME;
        separate(p, c, x, others, first, n, &q);
        const uint32_t near = keep_near(c, own->atom[i], others, first, n, &q);
        for (uint32_t k = 0; k < near; k++) {
            const double r = sqrt(q.r2[k]);
            const struct rational_value v = rational_at(&f, r);
            q.s[k] = v.s;
            q.over[k] = r > 0 ? v.ds_dr / r : 0;
        }
        add(p, c, &q, near, row);
    }
}

/* The atoms of the first group in a cell, with those about it. */
static void add_cell(struct pass *p, const struct coordination *c, uint32_t cell, struct fixed_sum *sum)
{
    const bool paired = c->pairs == COORDINATION_PAIRED, within = c->pairs == COORDINATION_WITHIN;
    const uint32_t from = p->cells.first[0][cell];
    struct rational usual = c->f;
    usual.n = 6, usual.m = 12;
    const bool is_usual = c->f.n == 6 && c->f.m == 12;
    for (uint32_t i = from; i < p->cells.first[0][cell + 1]; i++) {
        const uint32_t first = paired ? i : within ? i - from + 1 : 0, end = paired ? i + 1 : p->cells.nnear;
        struct bias_row row = {0};
        if (is_usual)
            add_row(p, c, i, first, end, usual, &row);
        else
            add_row(p, c, i, first, end, c->f, &row);
        coordination_add(sum, row.s);
        if (p->wants_gradient)
            vec_add(p->gradient[c->first[0] + p->cells.of[0].place[i]], 1, row.gradient);
        for (int d = 0; d < 9 && p->sample; d++)
            gradient_virial_add(&p->sum, &p->virial[d], row.virial[d]);
    }
}

/* All pairs of a coordination. work: cells_bytes. */
static void add_pairs(struct pass *p, const struct coordination *c, void *work, struct fixed_sum *sum)
{
    const bool within = c->pairs == COORDINATION_WITHIN;
    p->cells = cells_at(work, c);
    cells_divide(&p->cells, c, p->ctl->box);
    for (int g = within; g < 2; g++)
        cells_fill(&p->cells, g, p->t->atoms + c->first[g], c->count[g], p->x, p->ctl->box);
    for (uint32_t cell = 0; cell < p->cells.total; cell++) {
        if (p->cells.first[0][cell] == p->cells.first[0][cell + 1])
            continue;
        cells_gather(&p->cells, cell, within);
        add_cell(p, c, cell, sum);
    }
}

/* What biases along a coordination do to its atoms. */
static void pull(struct pass *p, const struct coordination *c, double slope, int64_t (*f)[3])
{
    const double none[3] = {0, 0, 0};
    const int groups = c->pairs == COORDINATION_WITHIN ? 1 : 2;
    for (int g = 0; g < groups; g++)
        for (uint32_t k = c->first[g]; k < c->first[g] + c->count[g]; k++) {
            bias_pull(p->t, k, slope, p->gradient[k], f, &p->sum);
            memcpy(p->gradient[k], none, sizeof none);
        }
}

ISA_FN(biases)
{
    struct ctl *c = a->ctl;
    const struct bias_table *t = a->table;
    if (c->halt)
        return;
    const struct bias_sums sums = bias_sums_at(a->sums, t->ncoordinations);
    struct pass p = {.ctl = c,
                     .t = t,
                     .x = a->x,
                     .gradient = (double(*)[3])sums.gradient,
                     .wants_gradient = evaluates_forces(a->mode),
                     .sample = a->mode == EVALUATE_SAMPLE,
                     .triclinic = box_triclinic(c->box)};
    for (uint32_t which = 0; which < t->ncoordinations; which++) {
        p.virial = sums.virial[which];
        add_pairs(&p, &t->coordinations[which], a->work, &c->coordination[which]);
        const double slope = bias_slope(t, c, which);
        if (p.wants_gradient)
            pull(&p, &t->coordinations[which], slope, a->f);
        if (p.sample)
            bias_virial(&sums, which, slope, &p.sum);
    }
    if (a->mode != EVALUATE_STEP)
        bias_energies(t, c, a->mode, &p.sum, a->energy_at_window);
    acc_finish(&p.sum, &c->sum);
}

ISA_FN(observe_coordination)
{
    const struct ctl *c = a->ctl;
    const struct observe_table *t = a->table;
    const struct coordination_table *own = t->own;
    struct observed *s = a->seen;
    struct fixed_sum sum = {0, 0};
    if (c->halt || !s->now)
        return;
    struct pass p = {.ctl = a->ctl, .t = &own->of, .x = a->x, .triclinic = box_triclinic(c->box)};
    add_pairs(&p, own->of.coordinations, a->work, &sum);
    coordination_observe(t, own, s, coordination_value_of(sum));
}
