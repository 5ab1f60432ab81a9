/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a number can be believed. Failed: there is no number, because samples that it would rest on are missing or do
 * not connect. Unconverged: there is one, but its error cannot be trusted. Reasons have codes, for machines.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/estimate/trust/trust.h"

/* Its own samples, or those of a window with the same lambdas. */
static bool sampled(const struct result *r, int k)
{
    for (int j = 0; j < r->ladder->nstates; j++)
        if (r->windows[j].used && states_equal(r->ladder->lambda, r->ladder->ncomponents, j, k))
            return true;
    return false;
}

/* Windows from .. to of the range that have no samples: `to` is the last of the run that begins at `from`. */
static int run_end(const struct result *r, int from, int last)
{
    int to = from;
    while (to < last && !sampled(r, to + 1))
        to++;
    return to;
}

/* An end, two windows in a row or all windows inside a leg without samples: what lies there would be made up. */
static void judge_gaps(const struct result *r, const struct range *x, struct verdict *v)
{
    const struct ladder *l = r->ladder;
    for (int k = x->from; k <= x->to; k++) {
        if (sampled(r, k))
            continue;
        int to = run_end(r, k, x->to);
        if (to > k)
            verdict_add(v, VERDICT_FAILED, "no_samples", "windows %d to %d have no samples", k, to);
        else if (k == x->from || k == x->to)
            verdict_add(v, VERDICT_FAILED, "no_samples", "window %d, an end, has no samples", k);
        else
            verdict_add(v, VERDICT_UNCONVERGED, "window_missing", "window %d has no samples", k);
        k = to;
    }
    for (int i = 0; i < l->nlegs; i++) { /* where it has two windows or more inside, the above has said so */
        int from = l->legs[i].from, to = l->legs[i].to;
        bool lone = to - from == 2 && sampled(r, from) && !sampled(r, from + 1) && sampled(r, to);
        if (lone && from >= x->from && to <= x->to)
            verdict_add(v, VERDICT_FAILED, "no_samples", "no window between %d and %d has samples", from, to);
    }
}

static void judge_overlap(int from, int to, double overlap, const struct range *x, struct verdict *v)
{
    if (from < x->from || to > x->to || overlap >= ESTIMATE_OVERLAP)
        return;
    if (overlap < ESTIMATE_APART)
        verdict_add(v, VERDICT_FAILED, "disconnected",
                    "windows %d and %d overlap by %.2g, below %g: put windows between", from, to, overlap,
                    ESTIMATE_APART);
    else
        verdict_add(v, VERDICT_UNCONVERGED, "overlap",
                    "windows %d and %d overlap by %.2g, below %g: put a window between them", from, to, overlap,
                    ESTIMATE_OVERLAP);
}

/* TI needs no overlap: its quadrature error grows instead. */
static void judge_overlaps(const struct result *r, const struct bar *b, enum estimator which, const struct range *x,
                           struct verdict *v)
{
    for (int i = 0; which == ESTIMATOR_MBAR && i < r->nneighbours; i++)
        judge_overlap(r->neighbours[i].from, r->neighbours[i].to, r->neighbours[i].overlap, x, v);
    for (int p = 0; which == ESTIMATOR_BAR && b && p < b->npairs; p++)
        judge_overlap(b->state[p], b->state[p + 1], b->overlap[p], x, v);
}

static int windows_used(const struct result *r, const struct range *x)
{
    int n = 0;
    for (int k = x->from; k <= x->to; k++)
        n += r->windows[k].used > 0;
    return n;
}

/* Uncorrelated samples of a window are known to some 30 % where there are 30, those of all windows better. So it is
 * all together that need as many, and by their standard error more; each needs a third of that, where it was sampled
 * as the others were. */
static bool few_together(const struct range *x)
{
    return !(x->freedom > 0) || x->uncorrelated < ESTIMATE_UNCORRELATED * (1 + sqrt(2 / x->freedom));
}

static double mean_used(const struct result *r, const struct range *x)
{
    double sum = 0;
    for (int k = x->from; k <= x->to; k++)
        sum += (double)r->windows[k].used;
    return sum / fmax(windows_used(r, x), 1);
}

static void judge_samples(const struct result *r, const struct range *x, struct verdict *v)
{
    const bool few = few_together(x);
    const double half = 0.5 * mean_used(r, x);
    int before = v->nreasons;
    for (int k = x->from; k <= x->to; k++) {
        const struct window_result *w = r->windows + k;
        double least = few || (double)w->used < half ? ESTIMATE_UNCORRELATED : ESTIMATE_UNCORRELATED / 3.0;
        if (w->used && w->uncorrelated < least)
            verdict_add(v, VERDICT_UNCONVERGED, "few_samples",
                        "window %d has %.0f uncorrelated %s (%zu %s, g = %.1f), below %d: it needs longer", k,
                        floor(w->uncorrelated), number_word((int64_t)w->uncorrelated, "sample", "samples"), w->used,
                        number_word((int64_t)w->used, "row", "rows"), w->inefficiency, ESTIMATE_UNCORRELATED);
    }
    if (v->nreasons > before || !(x->freedom > 0))
        return;
    if (few || x->freedom < ESTIMATE_FREEDOM)
        verdict_add(v, VERDICT_UNCONVERGED, "few_samples",
                    "windows %d to %d have %.0f uncorrelated samples %s, "
                    "and the error is known to %.0f degrees of freedom: "
                    "%d of the first, with their standard error, and %d of the second are needed; they need longer",
                    x->from, x->to, floor(x->uncorrelated), r->one_run ? "together" : "each on average",
                    floor(x->freedom), ESTIMATE_UNCORRELATED, ESTIMATE_FREEDOM);
}

static void judge_windows(const struct result *r, const struct range *x, struct verdict *v)
{
    for (int k = x->from; k <= x->to; k++) {
        const struct window_result *w = r->windows + k;
        if (!w->used)
            continue;
        if (w->visit * windows_used(r, x) < ESTIMATE_VISIT)
            verdict_add(v, VERDICT_UNCONVERGED, "slow",
                        "window %d was somewhere else once, for a 32nd of its %.4g ps or less: "
                        "it needs longer, until it has been there many times",
                        k, w->sampled_ps - w->discarded_ps);
        if (w->drifted)
            verdict_add(v, VERDICT_UNCONVERGED, "discarded",
                        "the first %.4g ps of window %d lie off the rest and were left out, "
                        "which moves the result by %.2g kT (its error is %.2g): "
                        "a state that was visited once looks like that, too; it needs longer",
                        w->discarded_ps, k, r->moved, r->allowed);
        if (w->foreign > ESTIMATE_SIGNIFICANT && !r->stretched) /* computed from energies at other windows */
            verdict_add(v, VERDICT_UNCONVERGED, "foreign",
                        "samples of window %d are not those that the other windows expect of its lambdas, "
                        "by %.1f standard errors: "
                        "files are mixed up, or it is in another conformation than the others",
                        k, w->foreign);
        size_t taken = w->nonfinite + w->discarded + w->used; /* of the file, every `stride` of them */
        if ((double)w->nonfinite > ESTIMATE_NONFINITE * (double)taken)
            verdict_add(v, VERDICT_UNCONVERGED, "nonfinite",
                        "%zu of %zu rows of window %d are not finite and were left out, more than %g %%: "
                        "what is left is another ensemble",
                        w->nonfinite, taken, k, 100 * ESTIMATE_NONFINITE);
        if (volume_refused_share(&w->moves) >= VOLUME_REFUSED_MANY)
            verdict_add(v, VERDICT_UNCONVERGED, "narrow",
                        "the box of window %d is too narrow for its pressure: "
                        "its cut-off forbade %.3g %% of the volume moves, %g %% or more",
                        k, 100 * volume_refused_share(&w->moves), 100 * VOLUME_REFUSED_MANY);
    }
}

/* Of TI: how far off its quadrature is decides its error, so that it says nothing of others. */
static bool blunt(const struct range *x)
{
    return x->quadrature * x->quadrature > 0.5 * x->error * x->error;
}

static void judge_quadrature(const struct range *x, struct verdict *v)
{
    if (x->ok && blunt(x) && x->quadrature > ESTIMATE_QUADRATURE)
        verdict_add(v, VERDICT_UNCONVERGED, "quadrature",
                    "dH/dlambda bends so much between windows that its integral is off by about %.2g kT, more than %g: "
                    "put windows where it is steep",
                    x->quadrature, ESTIMATE_QUADRATURE);
}

/* What is slow to change wherever the run is in the ladder is seen once on each way through it. */
static void judge_crossings(const struct result *r, const struct range *x, struct verdict *v)
{
    if (r->one_run && x->to - x->from == r->ladder->nstates - 1 && r->crossings < ESTIMATE_CROSSINGS)
        verdict_add(v, VERDICT_UNCONVERGED, "slow",
                    "the run went from one end of the ladder to the other %zu %s, and %d are needed: it needs longer, "
                    "or windows that are easier to leave",
                    r->crossings, number_word((int64_t)r->crossings, "time", "times"), ESTIMATE_CROSSINGS);
}

/* What windows add to the number, seen together. */
static void judge_motions(const struct range *x, struct verdict *v)
{
    if (x->slow > ESTIMATE_SLOW)
        verdict_add(
            v, VERDICT_UNCONVERGED, "slow",
            "windows %d to %d move too slowly for their length: "
            "means over each 32nd of a run are correlated by %.1f standard errors more than fast motions explain, "
            "above %.2g: it needs longer",
            x->from, x->to, x->slow, ESTIMATE_SLOW);
    if (x->drift > ESTIMATE_DRIFT)
        verdict_add(
            v, VERDICT_UNCONVERGED, "drift",
            "windows %d to %d drift together: "
            "what they add to the number changes along the run by %.1f standard errors, above %.2g: it needs longer",
            x->from, x->to, x->drift, ESTIMATE_DRIFT);
}

/* BAR and MBAR see the same rows, so the error of their difference is known and is small; but it is of first order, and
 * a difference within one of their errors does no harm. TI and MBAR differ by quadrature too. */
static void judge_agreement(const struct solutions *s, enum estimator which, enum estimator other,
                            const struct range *a, const struct range *b, struct verdict *v)
{
    if (which == other || !a->ok || !b->ok || !s->of[which] || !s->of[other])
        return;
    double difference = fabs(a->value - b->value), limit = ESTIMATE_DISAGREE * hypot(a->error, b->error);
    if (other == ESTIMATOR_TI && blunt(b))
        return;
    if (which != ESTIMATOR_TI && other != ESTIMATOR_TI)
        limit = fmax(ESTIMATE_DISAGREE * solution_difference_error(s->of[which], s->of[other], a->from, a->to),
                     fmax(a->error, b->error));
    if (difference > fmax(limit, ESTIMATE_ROUNDING))
        verdict_add(v, VERDICT_UNCONVERGED, "estimators",
                    "%s and %s differ by %.2g kT, more than %.2g that errors allow", estimator_names[which],
                    estimator_names[other], difference, limit);
}

/* The difference of two halves has twice the error of the whole. */
static void judge_halves(const struct result *r, const struct range *x, struct verdict *v)
{
    const struct convergence *half = r->convergence + ESTIMATE_FRACTIONS / 2 - 1;
    if (!half->forward.ok || !half->backward.ok)
        return;
    double difference = fabs(half->forward.value - half->backward.value), limit = ESTIMATE_DISAGREE * 2 * x->error;
    if (difference > fmax(limit, ESTIMATE_ROUNDING))
        verdict_add(v, VERDICT_UNCONVERGED, "halves",
                    "first and second half differ by %.2g kT, more than %.2g that errors allow", difference, limit);
}

/* Where a constraint's length changes, energies at windows with another length are known to first order only, which
 * MBAR and BAR cannot do with. TI has the constraint's force, if there are velocities. */
static void judge_constraints(const struct result *r, enum estimator which, const struct range *x, struct verdict *v)
{
    const bool energies = which == ESTIMATOR_MBAR || which == ESTIMATOR_BAR;
    if (!r->stretched)
        return;
    if (which == ESTIMATOR_MBAR || (which == ESTIMATOR_BAR && ladder_moves(r->ladder, LAMBDA_BONDED, x->from, x->to)))
        verdict_add(v, VERDICT_FAILED, "constraint",
                    "a constraint changes its length along the ladder (%s): "
                    "energies at windows with another length are known to first order only; "
                    "take TI, or a bond in place of the constraint",
                    r->stretched);
    for (int k = x->from; k <= x->to && !energies; k++)
        if (r->windows[k].frames.rows)
            verdict_add(v, VERDICT_FAILED, "constraint",
                        "window %d has rows of frames, which have no velocities: "
                        "the force of the constraint that changes its length (%s) is not known; "
                        "submit the ensemble anew with all windows",
                        k, r->stretched);
}

/* What does not need other estimators. */
static void judge_alone(const struct result *r, const struct solutions *s, enum estimator which, const struct range *x,
                        struct verdict *v)
{
    judge_gaps(r, x, v);
    judge_constraints(r, which, x, v);
    if (r->estimators[which].reason[0] && v->kind != VERDICT_FAILED)
        verdict_add(v, VERDICT_FAILED, "no_answer", "%s", r->estimators[which].reason);
    judge_overlaps(r, s->bar, which, x, v);
    judge_samples(r, x, v);
    judge_windows(r, x, v);
    judge_motions(x, v);
    judge_crossings(r, x, v);
    judge_quadrature(x, v);
    if (result_no_change(r, x->from, x->to))
        verdict_add(
            v, VERDICT_UNCONVERGED, "no_change",
            "energies are the same in windows %d to %d, in every row: the free energy is 0 whatever is sampled; "
            "expected ladders of what differs between the states (shoal validate names it), "
            "or alchemy.allow-no-change where 0 is meant",
            x->from, x->to);
}

static void settle(struct range *x, const struct verdict *v)
{
    x->verdict = v->kind;
    x->ok = x->ok && v->kind != VERDICT_FAILED;
}

static void judge_range(const struct result *r, const struct solutions *s, enum estimator which, struct range *x)
{
    struct verdict v = {0};
    judge_alone(r, s, which, x, &v);
    settle(x, &v);
    verdict_close(&v);
}

/* After every range was judged alone: MBAR against the others, the others against MBAR. */
static void judge_together(struct result *r, const struct solutions *s, enum estimator which)
{
    struct estimator_result *e = r->estimators;
    enum estimator first = which == ESTIMATOR_MBAR ? ESTIMATOR_BAR : ESTIMATOR_MBAR;
    enum estimator last = which == ESTIMATOR_MBAR ? ESTIMATOR_TI : ESTIMATOR_MBAR;
    for (enum estimator other = first; other <= last; other++) {
        judge_agreement(s, which, other, &e[which].total, &e[other].total, &e[which].verdict);
        for (int i = 0; i < r->ladder->nlegs; i++) {
            struct verdict v = {.kind = (enum verdict_kind)e[which].legs[i].verdict};
            judge_agreement(s, which, other, &e[which].legs[i], &e[other].legs[i], &v);
            e[which].legs[i].verdict = v.kind;
            verdict_close(&v);
        }
    }
    if (which == ESTIMATOR_MBAR && e[which].total.ok)
        judge_halves(r, &e[which].total, &e[which].verdict);
    e[which].total.verdict = e[which].verdict.kind;
}

void result_judge(struct result *r, const struct solutions *s)
{
    int n = r->ladder->nstates;
    for (int i = 0; i < r->nestimators; i++) {
        enum estimator which = (enum estimator)i;
        struct estimator_result *x = r->estimators + i;
        judge_alone(r, s, which, &x->total, &x->verdict);
        settle(&x->total, &x->verdict);
        for (int k = 0; x->legs && k < n; k++) {
            judge_range(r, s, which, x->cumulative + k);
            if (k + 1 < n)
                judge_range(r, s, which, x->steps + k);
            if (k < r->ladder->nlegs)
                judge_range(r, s, which, x->legs + k);
        }
    }
    for (int i = 0; i < r->nestimators && i < ESTIMATOR_TI_GAUSS; i++)
        judge_together(r, s, (enum estimator)i);
}
