/* SPDX-License-Identifier: Apache-2.0
 *
 * From works of both ways. Crooks, Phys. Rev. E 60, 2721 (1999), doi 10.1103/PhysRevE.60.2721: P_forward(W) /
 * P_backward(-W) = exp(W - dG) in kT, of which BAR is the most likely dG (Shirts et al., Phys. Rev. Lett. 91, 140601
 * (2003), doi 10.1103/PhysRevLett.91.140601). The two ways are two states whose energy differences are works.
 *
 * Where the logarithm of that ratio rises by W with a slope of its own, the most likely slope is 1 for works that obey
 * the relation (Shirts, J. Chem. Theory Comput. 9, 909 (2013), doi 10.1021/ct300688p, tests ensembles so). Works with
 * the wrong unit, sign or temperature, or of two protocols, have another.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/bar.h"
#include "engine/estimate/switching/switching.h"

/* The works of each way as samples of two states. */
static void sample_works(struct sampling *to, const struct switching *s)
{
    static const double ends[SWITCH_WAYS] = {0, 1};
    *to = (struct sampling){.nstates = SWITCH_WAYS, .ncomponents = 1, .lambda = ends};
    to->start = xcalloc(SWITCH_WAYS + 1, sizeof *to->start);
    to->u = xcalloc(2 * (s->works[0].n + s->works[1].n), sizeof *to->u);
    for (int way = 0, other = 1; way < SWITCH_WAYS; way++, other--) {
        const struct switch_works *w = s->works + way;
        to->start[way + 1] = to->start[way] + w->n;
        for (size_t i = 0; i < w->n; i++)
            to->u[2 * (to->start[way] + i) + (size_t)other] = w->w[i];
    }
}

static int find_bar(struct switching *s, struct err *e)
{
    struct sampling works;
    struct bar b = {0};
    sample_works(&works, s);
    int rc = bar_solve(&b, &works, e);
    if (!rc) {
        s->bar = (struct range){.from = 0, .to = 1};
        solution_range(&b.solution, &s->bar);
        s->overlap = b.overlap[0];
    }
    bar_close(&b);
    sampling_close(&works);
    return rc;
}

/* Sums over all works of the likelihood's gradient and curvature by slope and offset. */
struct logistic {
    double gradient[2], curvature[3]; /* by slope; both; by offset */
};

static void add_logistic(struct logistic *l, const struct switch_works *w, double sign, double slope, double offset,
                         double m)
{
    for (size_t i = 0; i < w->n; i++) {
        double x = sign * w->w[i], z = m + slope * x - offset, p = 1 / (1 + exp(-z));
        double miss = (sign > 0) - p, weight = p * (1 - p);
        l->gradient[0] += miss * x;
        l->gradient[1] -= miss;
        l->curvature[0] += weight * x * x;
        l->curvature[1] -= weight * x;
        l->curvature[2] += weight;
    }
}

/* Newton's steps from slope 1 and BAR; the likelihood is concave. The error is that of works whose slope is 1. Works
 * whose distributions do not overlap have no most likely slope. */
static void find_slope(struct switching *s)
{
    const struct switch_works *f = s->works + SWITCH_FORWARD, *b = s->works + SWITCH_BACKWARD;
    const double m = log((double)f->n / (double)b->n);
    double slope = 1, offset = s->bar.value, variance = NAN;
    s->slope = (struct value_error){NAN, NAN};
    for (int pass = 0; pass < 100; pass++) {
        struct logistic l = {0};
        add_logistic(&l, f, 1, slope, offset, m);
        add_logistic(&l, b, -1, slope, offset, m);
        const double *c = l.curvature, *g = l.gradient, determinant = c[0] * c[2] - c[1] * c[1];
        if (!(determinant > 1e-12 * c[0] * c[2]))
            return;
        if (!pass)
            variance = c[2] / determinant;
        double step = (c[2] * g[0] - c[1] * g[1]) / determinant, aside = (c[0] * g[1] - c[1] * g[0]) / determinant;
        double damp = fmin(1, 0.5 / fabs(step));
        slope += damp * step;
        offset += damp * aside;
        if (!(fabs(slope) < 100))
            return;
        if (fabs(step) > 1e-8)
            continue;
        double g_most = fmax(stats_inefficiency(f->w, f->n), stats_inefficiency(b->w, b->n));
        s->slope = (struct value_error){slope, sqrt(g_most * variance)};
        return;
    }
}

void switching_crooks(struct switching *s)
{
    struct err e = {0};
    s->overlap = s->lag.value = s->lag.error = s->slope.value = s->slope.error = NAN;
    if (!switching_has(s, SWITCH_FORWARD) || !switching_has(s, SWITCH_BACKWARD))
        return;
    if (find_bar(s, &e))
        snprintf(s->reason, sizeof s->reason, "%s", e.msg);
    else
        find_slope(s);
    const struct switch_works *f = s->works + SWITCH_FORWARD, *b = s->works + SWITCH_BACKWARD;
    s->lag.value = stats_mean(f->w, f->n) + stats_mean(b->w, b->n);
    s->lag.error = hypot(stats_mean_error(f->w, f->n), stats_mean_error(b->w, b->n));
}
