/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations (engine/math/potentials/coordination.h) and the biases along them. First each pair adds to its
 * coordination, in the control block, and to that one's gradient, which has a place for every atom of every group; then
 * biases turn gradients into forces. Sums are in fixed point. The thread that reads a gradient sets it to zero for the
 * next evaluation.
 */
#ifndef SHOAL_ENGINE_KERNELS_BIASES_H
#define SHOAL_ENGINE_KERNELS_BIASES_H

#include "engine/observe/device_tables.h"
#include "engine/run/program.h"

#define GRADIENT_UNITS 16.0 /* of a gradient, 1/nm, and of its virial, in one of math/fixed.h */

/* ---- pairs ---- */

/* Whether atom a of the first group and b of the second are a pair in reach; r: from the second to the first. */
MATH_FN bool coordination_reaches(const struct coordination *c, const double box[BOX_SIZE], const double (*x)[3],
                                  int32_t a, int32_t b, double r[3])
{
    if (a == b)
        return false;
    vec_sub(x[a], x[b], r);
    if (c->periodic)
        box_shortest(box, r);
    return vec_dot(r, r) < c->f.farthest2;
}

/* gradient: of the first of them, the second's is opposite */
MATH_FN double coordination_of(const struct coordination *c, const double r[3], double gradient[3])
{
    const double distance = sqrt(vec_dot(r, r));
    const struct rational_value v = rational_at(&c->f, distance);
    const double over = distance > 0 ? v.ds_dr / distance : 0;
    for (int d = 0; d < 3; d++)
        gradient[d] = over * r[d];
    return v.s;
}

/* ---- sums ---- */

MATH_FN void coordination_add(struct fixed_sum *sum, double s)
{
    acc_sum(sum, fixed_clamped(COORDINATION_UNITS * s, FIXED_TOTAL_LIMIT));
}

MATH_FN void gradient_add(struct accumulate *a, int64_t gradient[3], const double g[3])
{
    const double force[3] = {GRADIENT_UNITS * g[0], GRADIENT_UNITS * g[1], GRADIENT_UNITS * g[2]};
    acc_force(a, gradient, force);
}

MATH_FN void gradient_virial_add(struct accumulate *a, struct fixed_sum *element, double xi)
{
    acc_sum(element, fixed_clamped(GRADIENT_UNITS * xi, FIXED_TOTAL_LIMIT));
    acc_clamped(a, CLAMPED_VIRIAL, fixed_beyond(GRADIENT_UNITS * xi, FIXED_TOTAL_LIMIT));
}

/* ---- as an observable ---- */

/* What it came to in a frame; for one thread. */
MATH_FN void coordination_observe(const struct observe_table *t, const struct coordination_table *own,
                                  struct observed *s, double value)
{
    const double bin = floor(value / own->bin);
    double *reals = observed_reals(t, s, s->blocks - 1);
    observed_counts(t, s, s->blocks - 1)[bin < own->bins ? (uint32_t)bin : own->bins]++;
    reals[0] += value;
    reals[1] += value * value;
}

/* ---- biases ---- */

/* c now. */
MATH_FN void bias_numbers(const struct bias_table *t, const struct bias *b, double step, double c[2][2])
{
    const struct bias_knot *knot = t->knots + b->first;
    uint32_t k = 0;
    for (int state = 0; state < 2; state++)
        for (int n = 0; n < 2; n++)
            c[state][n] = b->c[state][n];
    if (!b->count)
        return;
    while (k + 1 < b->count && knot[k + 1].step <= step)
        k++;
    const struct bias_knot *next = k + 1 < b->count ? knot + k + 1 : knot + k;
    const double span = next->step - knot[k].step,
                 part = span > 0 && step > knot[k].step ? (step - knot[k].step) / span : 0;
    for (int state = 0; state < 2; state++) {
        c[state][0] = knot[k].at + part * (next->at - knot[k].at);
        c[state][1] = knot[k].k + part * (next->k - knot[k].k);
    }
}

/* dU/dq of all biases along one coordination. */
MATH_FN double bias_slope(const struct bias_table *t, const struct ctl *c, uint32_t coordination)
{
    double slope = 0, numbers[2][2];
    for (uint32_t i = 0; i < t->nbiases; i++) {
        const struct bias *b = &t->biases[i];
        if (b->coordination != coordination)
            continue;
        bias_numbers(t, b, (double)c->step, numbers);
        slope += bias_value((enum bias_kind)b->kind, coordination_value(c, coordination), numbers,
                            c->lambda[LAMBDA_RESTRAINT])
                     .du_dq;
    }
    return slope;
}

/* The force on one atom of a group, the k-th of all. */
MATH_FN void bias_pull(const struct bias_table *t, uint32_t k, double slope, const double gradient[3], int64_t (*f)[3],
                       struct accumulate *sum)
{
    const double force[3] = {-slope * gradient[0], -slope * gradient[1], -slope * gradient[2]};
    acc_force(sum, f[t->atoms[k]], force);
}

/* The same of the virial. */
MATH_FN void bias_virial(const struct bias_sums *s, uint32_t coordination, double slope, struct accumulate *sum)
{
    const struct fixed_sum none = {0, 0};
    for (int k = 0; k < 9; k++) {
        struct fixed_sum *v = &s->virial[coordination][k];
        acc_virial_within(sum, k, slope * fixed_total(*v) / GRADIENT_UNITS, FIXED_TOTAL_LIMIT);
        *v = none;
    }
}

/* Energies of all biases, now and at foreign rows, as mode asks for. */
MATH_FN void bias_energies(const struct bias_table *t, const struct ctl *c, uint32_t mode, struct accumulate *sum,
                           struct fixed_sum *energy_at_window)
{
    const struct foreign_rows rows = foreign_rows_of(mode, c, t->lambda, t->nwindows);
    double numbers[2][2];
    for (uint32_t i = 0; i < t->nbiases; i++) {
        const struct bias *b = &t->biases[i];
        const enum bias_kind kind = (enum bias_kind)b->kind;
        const double q = coordination_value(c, b->coordination);
        bias_numbers(t, b, (double)c->step, numbers);
        const struct bonded_value v = bias_value(kind, q, numbers, c->lambda[LAMBDA_RESTRAINT]);
        if (evaluates_energies(mode)) {
            acc_energy_within(sum, TERM_BIAS, v.u, FIXED_TOTAL_LIMIT);
            acc_dvdl_within(sum, LAMBDA_RESTRAINT, v.du_dl, FIXED_TOTAL_LIMIT);
        }
        if (numbers[0][0] == numbers[1][0] && numbers[0][1] == numbers[1][1])
            continue;
        for (uint32_t w = 0; w < rows.n; w++)
            acc_window(&energy_at_window[w], bias_value(kind, q, numbers, rows.lambda[w][LAMBDA_RESTRAINT]).u,
                       FIXED_TOTAL_LIMIT);
    }
}

#endif
