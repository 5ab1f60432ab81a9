/* SPDX-License-Identifier: Apache-2.0
 *
 * Several repeats of an ensemble: every number is the mean over them, with the error that repeats_error gives it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/result/result.h"

/* One number of every repeat. */
struct repeats_number {
    int n; /* of repeats that have it */
    double *value, *error;
    bool missing, unconverged;
};

static bool disagree(const struct repeats_number *m)
{
    return repeats_disagree(m->value, m->error, m->n, ESTIMATE_DISAGREE, ESTIMATE_ROUNDING);
}

static void number_add(struct repeats_number *m, const struct range *x)
{
    m->missing = m->missing || !x->ok;
    m->unconverged = m->unconverged || x->verdict != VERDICT_CONVERGED;
    if (!x->ok)
        return;
    m->value[m->n] = x->value;
    m->error[m->n++] = x->error;
}

void repeats_combine(const struct report *r, struct range *out,
                     const struct range *(*pick)(const struct result *, int, int), int a, int b)
{
    struct repeats_number m = {.value = xcalloc((size_t)r->nrepeats, sizeof *m.value),
                               .error = xcalloc((size_t)r->nrepeats, sizeof *m.error)};
    double quadrature = 0;
    for (int i = 0; i < r->nrepeats; i++) {
        const struct range *x = pick(r->repeats + i, a, b);
        number_add(&m, x);
        quadrature = fmax(quadrature, x->ok ? x->quadrature : 0);
    }
    out->ok = m.n > 0;
    out->verdict = !m.n                                         ? VERDICT_FAILED
                   : m.missing || m.unconverged || disagree(&m) ? VERDICT_UNCONVERGED
                                                                : VERDICT_CONVERGED;
    if (m.n) {
        /* every repeat has the same quadrature error: it is no smaller in the mean */
        for (int i = 0; i < m.n; i++)
            m.error[i] = sqrt(fmax(m.error[i] * m.error[i] - quadrature * quadrature, 0));
        out->value = stats_mean(m.value, (size_t)m.n);
        out->quadrature = quadrature;
        out->error = hypot(repeats_error(m.value, m.error, m.n), quadrature);
    }
    free(m.value);
    free(m.error);
}

static const struct range *pick_total(const struct result *r, int estimator, int index)
{
    (void)index;
    return &r->estimators[estimator].total;
}

static const struct range *pick_leg(const struct result *r, int estimator, int index)
{
    return r->estimators[estimator].legs + index;
}

static const struct range *pick_step(const struct result *r, int estimator, int index)
{
    return r->estimators[estimator].steps + index;
}

static const struct range *pick_cumulative(const struct result *r, int estimator, int index)
{
    return r->estimators[estimator].cumulative + index;
}

static const struct range *pick_forward(const struct result *r, int estimator, int index)
{
    (void)estimator;
    return &r->convergence[index].forward;
}

static const struct range *pick_backward(const struct result *r, int estimator, int index)
{
    (void)estimator;
    return &r->convergence[index].backward;
}

/* The reasons of the repeats, and what only their comparison shows. */
static void judge(const struct report *r, int estimator, struct estimator_result *out)
{
    struct repeats_number m = {.value = xcalloc((size_t)r->nrepeats, sizeof *m.value),
                               .error = xcalloc((size_t)r->nrepeats, sizeof *m.error)};
    for (int i = 0; i < r->nrepeats; i++)
        number_add(&m, &r->repeats[i].estimators[estimator].total);
    for (int i = 0; i < r->nrepeats; i++) {
        const struct verdict *v = &r->repeats[i].estimators[estimator].verdict;
        for (int k = 0; k < v->nreasons; k++)
            verdict_add(&out->verdict, m.n ? VERDICT_UNCONVERGED : v->reasons[k].kind, v->reasons[k].code,
                        "repeat %d: %s", i, v->reasons[k].text);
    }
    if (disagree(&m))
        verdict_add(&out->verdict, VERDICT_UNCONVERGED, "repeats",
                    "the repeats spread by %.2g kT, their own errors are %.2g",
                    sqrt(stats_variance(m.value, (size_t)m.n)), repeats_own_error(m.error, m.n));
    if (!m.n)
        snprintf(out->reason, sizeof out->reason, "no repeat has a value");
    out->total.verdict = out->verdict.kind;
    free(m.value);
    free(m.error);
}

/* Mean overlap over the repeats where MBAR has one, least neighbours. */
static void combine_overlap(struct report *r)
{
    struct result *out = &r->whole;
    size_t n = (size_t)r->ladder->nstates;
    int found = 0;
    for (int i = 0; i < r->nrepeats; i++)
        found += r->repeats[i].overlap != NULL;
    if (!found)
        return;
    out->overlap = xcalloc(n * n, sizeof *out->overlap);
    for (int i = 0; i < r->nrepeats; i++)
        for (size_t k = 0; r->repeats[i].overlap && k < n * n; k++)
            out->overlap[k] += r->repeats[i].overlap[k] / found;
    out->neighbours = xcalloc(n, sizeof *out->neighbours);
    for (int k = 0; k + 1 < (int)n; k++) {
        double least = INFINITY;
        for (int i = 0; i < r->nrepeats; i++)
            for (int p = 0; p < r->repeats[i].nneighbours; p++)
                if (r->repeats[i].neighbours[p].from <= k && r->repeats[i].neighbours[p].to > k)
                    least = fmin(least, r->repeats[i].neighbours[p].overlap);
        if (isfinite(least))
            out->neighbours[out->nneighbours++] = (struct neighbours){k, k + 1, least};
    }
}

/* Why repeats have no value of one part of the rows. */
static void tell_lacking(struct report *r, int part)
{
    for (int i = 0; i < r->nrepeats; i++) {
        const char *why = r->repeats[i].convergence[part].reason;
        char name[24];
        snprintf(name, sizeof name, "repeat %d", i);
        if (*why)
            convergence_lacks(&r->whole.convergence[part], name, why);
    }
}

void report_combine(struct report *r)
{
    struct result *out = &r->whole;
    int n = r->ladder->nstates, estimators = ESTIMATORS;
    out->ladder = r->ladder;
    for (int i = 0; i < r->nrepeats; i++)
        estimators = r->repeats[i].nestimators < estimators ? r->repeats[i].nestimators : estimators;
    result_estimators(out, estimators);
    for (int e = 0; e < estimators; e++) {
        struct estimator_result *x = out->estimators + e;
        x->total.to = n - 1;
        repeats_combine(r, &x->total, pick_total, e, 0);
        judge(r, e, x);
        for (int k = 0; x->legs && k < n; k++) {
            repeats_combine(r, x->cumulative + k, pick_cumulative, e, k);
            if (k + 1 < n)
                repeats_combine(r, x->steps + k, pick_step, e, k);
            if (k < r->ladder->nlegs)
                repeats_combine(r, x->legs + k, pick_leg, e, k);
        }
    }
    for (int i = 0; estimators && i < ESTIMATE_FRACTIONS; i++) {
        repeats_combine(r, &out->convergence[i].forward, pick_forward, 0, i);
        repeats_combine(r, &out->convergence[i].backward, pick_backward, 0, i);
        tell_lacking(r, i);
    }
    combine_overlap(r);
    report_lengths(r);
}
