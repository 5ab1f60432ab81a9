/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"

void result_warn(struct result *r, const char *fmt, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->warnings = xrealloc(r->warnings, (size_t)r->nwarnings + 1, sizeof *r->warnings);
    r->warnings[r->nwarnings++] = xstrdup(text);
}

/* The components in the order of dhdl.xvg. */
static void ladder_init(struct ladder *l, const struct alchemy_settings *a)
{
    static const struct {
        enum lambda lambda;
        enum dhdl_component file;
        const char *name;
    } order[] = {{LAMBDA_MASS, DHDL_MASS, "mass"},
                 {LAMBDA_COULOMB, DHDL_COUL, "coulomb"},
                 {LAMBDA_VDW, DHDL_VDW, "vdw"},
                 {LAMBDA_BONDED, DHDL_BONDED, "bonded"}};
    enum lambda column[LAMBDA_COUNT];
    l->nstates = a->nwindows;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!a->given[order[i].lambda])
            continue;
        column[l->ncomponents] = order[i].lambda;
        l->name[l->ncomponents] = order[i].name;
        l->file[l->ncomponents++] = order[i].file;
    }
    l->lambda = xcalloc((size_t)l->nstates * (size_t)l->ncomponents, sizeof *l->lambda);
    for (int k = 0; k < l->nstates; k++)
        for (int c = 0; c < l->ncomponents; c++)
            l->lambda[k * l->ncomponents + c] = a->lambda[k][column[c]];
}

/* Bit c is set when component c changes from window k to the next. */
static unsigned changes(const struct ladder *l, int k)
{
    unsigned set = 0;
    for (int c = 0; c < l->ncomponents; c++)
        set |= (unsigned)(l->lambda[(k + 1) * l->ncomponents + c] != l->lambda[k * l->ncomponents + c]) << c;
    return set;
}

void ladder_leg_name(const struct ladder *l, int from, struct buf *out)
{
    unsigned set = changes(l, from);
    const char *join = "";
    for (int c = 0; c < l->ncomponents; c++)
        if (set >> c & 1) {
            buf_printf(out, "%s%s", join, l->name[c]);
            join = "+";
        }
}

/* Runs of steps along which the same components change: the charging leg, the vdw leg. */
static void find_legs(struct result *r)
{
    const struct ladder *l = &r->ladder;
    r->legs = xcalloc((size_t)l->nstates, sizeof *r->legs);
    for (int k = 0; k + 1 < l->nstates; k++) {
        if (!k || changes(l, k) != changes(l, k - 1))
            r->legs[r->nlegs++].from = k;
        r->legs[r->nlegs - 1].to = k + 1;
    }
}

/* The differences that every estimator reports. */
static void ranges_init(struct estimator_result *x, const struct result *r)
{
    int n = r->ladder.nstates;
    x->total = (struct range){.from = 0, .to = n - 1};
    x->nlegs = r->nlegs;
    x->nsteps = n - 1;
    x->ncumulative = n;
    x->legs = xcalloc((size_t)n, sizeof *x->legs);
    x->steps = xcalloc((size_t)n, sizeof *x->steps);
    x->cumulative = xcalloc((size_t)n, sizeof *x->cumulative);
    memcpy(x->legs, r->legs, (size_t)r->nlegs * sizeof *x->legs);
    for (int k = 0; k < n; k++) {
        x->steps[k] = (struct range){.from = k, .to = k + 1};
        x->cumulative[k] = (struct range){.from = 0, .to = k};
    }
}

static void fill(struct estimator_result *x, void (*range)(const void *, struct range *), const void *solution)
{
    range(solution, &x->total);
    for (int i = 0; i < x->nlegs; i++)
        range(solution, x->legs + i);
    for (int i = 0; i < x->nsteps; i++)
        range(solution, x->steps + i);
    for (int i = 0; i < x->ncumulative; i++)
        range(solution, x->cumulative + i);
    x->ok = x->total.ok;
    if (!x->ok)
        snprintf(x->reason, sizeof x->reason, "the first or the last window has no samples");
}

static void range_of_mbar(const void *solution, struct range *r)
{
    mbar_range(solution, r);
}

static void range_of_bar(const void *solution, struct range *r)
{
    bar_range(solution, r);
}

static void range_of_ti(const void *solution, struct range *r)
{
    ti_range(solution, r);
}

static void failed(struct estimator_result *x, const struct err *e)
{
    snprintf(x->reason, sizeof x->reason, "%s", e->msg);
}

/* MBAR total from parts of the data; a part that has no answer leaves ok false. */
static void part(const struct sampling *s, const double *guess, double from, double to, struct range *r)
{
    struct sampling some;
    struct mbar m = {0};
    struct err e = {0};
    sampling_part(&some, s, from, to);
    *r = (struct range){.from = 0, .to = s->nstates - 1};
    if (!mbar_solve(&m, &some, guess, &e))
        mbar_range(&m, r);
    mbar_close(&m);
    sampling_close(&some);
}

static void find_neighbours(struct result *r)
{
    int n = r->ladder.nstates, before = -1;
    r->neighbours = xcalloc((size_t)n, sizeof *r->neighbours);
    for (int k = 0; k < n; k++) {
        if (!r->windows[k].used)
            continue;
        if (before >= 0) {
            double o = fmin(r->overlap[before * n + k], r->overlap[k * n + before]);
            r->neighbours[r->nneighbours++] = (struct neighbours){.from = before, .to = k, .overlap = o};
            if (o < ESTIMATE_OVERLAP)
                result_warn(r, "windows %d and %d overlap by %.2g only, below %.2f: put a window between them", before,
                            k, o, ESTIMATE_OVERLAP);
        }
        before = k;
    }
}

static void run_mbar(struct result *r, const struct sampling *s, const double *guess)
{
    struct estimator_result *x = r->estimators + ESTIMATOR_MBAR;
    struct mbar m = {0};
    struct err e = {0};
    size_t square = (size_t)s->nstates * (size_t)s->nstates;
    if (mbar_solve(&m, s, guess, &e)) {
        failed(x, &e);
    } else {
        fill(x, range_of_mbar, &m);
        r->overlap = xcalloc(square, sizeof *r->overlap);
        memcpy(r->overlap, m.overlap, square * sizeof *r->overlap);
        find_neighbours(r);
        for (int i = 0; i < ESTIMATE_FRACTIONS; i++) {
            double fraction = (i + 1.0) / ESTIMATE_FRACTIONS;
            part(s, m.f, 0, fraction, &r->convergence[i].forward);
            part(s, m.f, 1 - fraction, 1, &r->convergence[i].backward);
        }
    }
    mbar_close(&m);
}

/* Also the start of MBAR's search: `guess`, G of each window where BAR has one. */
static void run_bar(struct result *r, const struct sampling *s, double *guess)
{
    struct estimator_result *x = r->estimators + ESTIMATOR_BAR;
    struct bar b = {0};
    struct err e = {0};
    if (bar_solve(&b, s, &e)) {
        failed(x, &e);
    } else {
        fill(x, range_of_bar, &b);
        for (int p = 0; p < b.npairs; p++)
            guess[b.state[p + 1]] = guess[b.state[p]] + b.df[p];
    }
    bar_close(&b);
}

static void run_ti(struct result *r, const struct sampling *s)
{
    struct estimator_result *x = r->estimators + ESTIMATOR_TI, *gauss = r->estimators + ESTIMATOR_TI_GAUSS;
    struct ti t = {0};
    struct err e = {0};
    if (ti_solve(&t, s, &e)) {
        failed(x, &e);
    } else {
        fill(x, range_of_ti, &t);
        gauss->ok = ti_gauss(&t, &gauss->total.value, &gauss->total.error);
        if (gauss->ok) {
            gauss->total.to = s->nstates - 1;
            gauss->total.ok = true;
            r->nestimators = ESTIMATOR_TI_GAUSS + 1;
        }
    }
    ti_close(&t);
}

static void disagreement(struct result *r, enum estimator which, const char *name, const char *advice)
{
    const struct estimator_result *m = r->estimators + ESTIMATOR_MBAR, *x = r->estimators + which;
    if (!m->ok || !x->ok)
        return;
    double difference = fabs(x->total.value - m->total.value), error = fmax(x->total.error, m->total.error);
    if (difference > 3 * error)
        result_warn(r, "%s and MBAR differ by %.1f standard errors: %s", name, difference / error, advice);
}

/* Bennett's error levels off near 1 kT when states do not overlap at all: it must not pass for an error bar then. */
static void bar_alone(struct result *r)
{
    const struct estimator_result *x = r->estimators + ESTIMATOR_BAR;
    for (int i = 0; x->ok && !r->overlap && i < x->nsteps; i++)
        if (x->steps[i].ok && x->steps[i].error > 0.5)
            result_warn(r,
                        "windows %d and %d hardly overlap: put a window between them; BAR's error is too small there",
                        i, i + 1);
}

static void run_estimators(struct result *r, const struct sampling *s)
{
    double *guess = xcalloc((size_t)s->nstates, sizeof *guess);
    r->nestimators = ESTIMATOR_TI + 1;
    for (int i = 0; i < r->nestimators; i++)
        ranges_init(r->estimators + i, r);
    run_bar(r, s, guess);
    run_mbar(r, s, guess);
    run_ti(r, s);
    bar_alone(r);
    disagreement(r, ESTIMATOR_BAR, "BAR", "some windows may lack overlap or equilibration");
    disagreement(r, ESTIMATOR_TI, "TI", "the windows are too far apart for a trapezoid");
    free(guess);
}

static void averages_close(struct average *a, int n)
{
    for (int i = 0; i < n; i++)
        free(a[i].name);
    free(a);
}

static void result_close(struct result *r)
{
    for (int k = 0; k < r->ladder.nstates; k++) {
        averages_close(r->windows[k].dhdl, r->windows[k].ndhdl);
        averages_close(r->windows[k].averages, r->windows[k].naverages);
    }
    for (int i = 0; i < ESTIMATORS; i++) {
        free(r->estimators[i].legs);
        free(r->estimators[i].steps);
        free(r->estimators[i].cumulative);
    }
    for (int i = 0; i < r->nwarnings; i++)
        free(r->warnings[i]);
    free(r->warnings);
    free(r->windows);
    free(r->legs);
    free(r->overlap);
    free(r->neighbours);
    free(r->ladder.lambda);
}

int estimate_ensemble(const struct estimate_ensemble *q, struct buf *json, struct err *e)
{
    struct result r = {.set = q->set, .about = &q->about, .beta = 1 / (UNIT_R * q->set->integrator.temperature)};
    if (q->repeats != 1)
        return err_set(e, ERR_UNSUPPORTED, "estimate: %d repeats, expected 1", q->repeats);
    ladder_init(&r.ladder, &q->set->alchemy);
    size_t n = (size_t)r.ladder.nstates;
    struct sampling s = {.nstates = r.ladder.nstates, .ncomponents = r.ladder.ncomponents, .lambda = r.ladder.lambda};
    s.start = xcalloc(n + 1, sizeof *s.start);
    s.dhdl = xcalloc(1, sizeof *s.dhdl);
    r.windows = xcalloc(n, sizeof *r.windows);
    find_legs(&r);
    for (int k = 0; k < r.ladder.nstates; k++) {
        r.windows[k].replica = q->replicas + k;
        estimate_read_window(&r, q->directory, k, &s);
    }
    if (n > 1)
        run_estimators(&r, &s);
    estimate_report(&r, json);
    sampling_close(&s);
    result_close(&r);
    return 0;
}
