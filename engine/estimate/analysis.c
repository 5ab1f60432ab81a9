/* SPDX-License-Identifier: Apache-2.0
 *
 * The three estimators on the rows of one repeat.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/analysis.h"
#include "engine/estimate/estimators/bar.h"
#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/estimators/ti.h"
#include "engine/estimate/profiles/profiles.h"
#include "engine/estimate/rows/rows.h"
#include "engine/estimate/trust/trust.h"

/* What begins at the first window is in x->cumulative already. */
static void fill_range(const struct estimator_result *x, const struct solution *solution, struct range *r)
{
    if (r->from == 0)
        *r = x->cumulative[r->to];
    else
        solution_range(solution, r);
}

static void fill(const struct ladder *l, struct estimator_result *x, const struct solution *solution)
{
    for (int i = 0; i < l->nstates; i++)
        solution_range(solution, x->cumulative + i);
    fill_range(x, solution, &x->total);
    for (int i = 0; i < l->nlegs; i++)
        fill_range(x, solution, x->legs + i);
    for (int i = 0; i + 1 < l->nstates; i++)
        fill_range(x, solution, x->steps + i);
}

static void failed(struct estimator_result *x, const struct err *e)
{
    snprintf(x->reason, sizeof x->reason, "%s", e->msg);
}

static void find_neighbours(struct result *r, const struct sampling *s, const struct mbar *m)
{
    int n = r->ladder->nstates, before = -1;
    size_t square = (size_t)n * (size_t)n;
    r->overlap = xcalloc(square, sizeof *r->overlap);
    memcpy(r->overlap, m->overlap, square * sizeof *r->overlap);
    r->neighbours = xcalloc((size_t)n, sizeof *r->neighbours);
    for (int k = 0; k < n; k++) {
        if (!r->windows[k].used)
            continue;
        if (before >= 0) {
            double o = bar_overlap(s, before, k, m->solution.g[k] - m->solution.g[before]);
            r->neighbours[r->nneighbours++] = (struct neighbours){.from = before, .to = k, .overlap = o};
        }
        before = k;
    }
}

/* What windows bring to the variance of the estimate, and would with more rows. */
static void find_parts(struct result *r, const struct sampling *s, const struct mbar *m)
{
    int last = s->nstates - 1;
    struct longrun *part = xcalloc((size_t)s->nstates, sizeof *part);
    solution_parts(&m->solution, 0, last, part);
    for (int k = 0; k < s->nstates; k++)
        r->windows[k].part = part[k];
    if (r->forecasts && sampling_count(s, 0) && sampling_count(s, last))
        r->forecast = forecast_new(s, m->solution.g, part, 0, last);
    free(part);
}

static void solve_part(const struct mbar *m, double from, double to, const char *name, struct range *x,
                       struct convergence *c)
{
    struct err e = {0};
    *x = (struct range){.from = 0, .to = m->solution.nstates - 1};
    mbar_part(m, NULL, from, to, x, &e);
    if (!x->ok)
        convergence_lacks(c, name, e.msg);
}

/* From the first and from the last part of the rows. */
static void solve_parts(const struct mbar *m, double fraction, struct convergence *c)
{
    solve_part(m, 0, fraction, "forward", &c->forward, c);
    solve_part(m, 1 - fraction, 1, "backward", &c->backward, c);
}

static bool run_mbar(struct result *r, const struct sampling *s, struct mbar *m, const double *guess)
{
    struct err e = {0};
    if (mbar_solve(m, s, guess, &e)) {
        failed(r->estimators + ESTIMATOR_MBAR, &e);
        return false;
    }
    fill(r->ladder, r->estimators + ESTIMATOR_MBAR, &m->solution);
    result_foreign(r, s, m);
    find_neighbours(r, s, m);
    if (!s->together && !s->place)
        find_parts(r, s, m);
    profiles_find(r, s, m->solution.g);
    for (int i = 0; i + 1 < ESTIMATE_FRACTIONS; i++)
        solve_parts(m, (i + 1.0) / ESTIMATE_FRACTIONS, r->convergence + i);
    struct convergence *whole = r->convergence + ESTIMATE_FRACTIONS - 1;
    whole->forward = whole->backward = r->estimators[ESTIMATOR_MBAR].total;
    return true;
}

/* Also the start of MBAR's search: `guess`, as bar_guess. */
static bool run_bar(struct result *r, const struct sampling *s, struct bar *b, double *guess)
{
    struct err e = {0};
    if (bar_solve(b, s, &e)) {
        failed(r->estimators + ESTIMATOR_BAR, &e);
        return false;
    }
    fill(r->ladder, r->estimators + ESTIMATOR_BAR, &b->solution);
    bar_guess(b, guess);
    return true;
}

static bool run_ti(struct result *r, const struct sampling *s, struct ti *t)
{
    struct err e = {0};
    struct range gauss;
    if (ti_solve(t, s, &e)) {
        failed(r->estimators + ESTIMATOR_TI, &e);
        return false;
    }
    fill(r->ladder, r->estimators + ESTIMATOR_TI, &t->solution);
    ti_gauss(t, s, &gauss);
    if (gauss.ok) {
        r->nestimators = ESTIMATOR_TI_GAUSS + 1;
        r->estimators[ESTIMATOR_TI_GAUSS].total = gauss;
    }
    return true;
}

void result_analyse(struct result *r, struct sampling *s)
{
    struct mbar m = {0};
    struct bar b = {0};
    struct ti t = {0};
    struct solutions x = {0};
    double *guess = xcalloc((size_t)s->nstates, sizeof *guess);
    result_discard(r, s);
    result_estimators(r, ESTIMATOR_TI + 1);
    if (run_bar(r, s, &b, guess)) {
        x.of[ESTIMATOR_BAR] = &b.solution;
        x.bar = &b;
    }
    if (run_mbar(r, s, &m, x.bar ? guess : NULL))
        x.of[ESTIMATOR_MBAR] = &m.solution;
    if (run_ti(r, s, &t))
        x.of[ESTIMATOR_TI] = &t.solution;
    result_find_changes(r, s);
    result_judge(r, &x);
    for (int k = 0; !r->estimators[ESTIMATOR_MBAR].total.ok && k < s->nstates; k++)
        r->windows[k].part = (struct longrun){0}; /* of no total */
    result_warn_no_change(r);
    result_lengths(r, s);
    mbar_close(&m);
    bar_close(&b);
    ti_close(&t);
    free(guess);
}

struct report report_of_ensemble(const struct estimate_ensemble *q, const struct ladder *l)
{
    return (struct report){.about = &q->about,
                           .held = q->held,
                           .finite_size = q->finite_size,
                           .remark = q->remark,
                           .pressure = q->npt ? q->set->barostat.pressure : NAN,
                           .production = q->production,
                           .methods = q->methods,
                           .split = q->split,
                           .observables = q->observables,
                           .torsions = q->torsions,
                           .fold = q->fold,
                           .fold_remark = q->fold_remark,
                           .observables_of = q->observables_of,
                           .ladder = l};
}
