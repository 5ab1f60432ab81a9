/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a number from works can be believed, by the limits that windows have (engine/estimate/result/result.h).
 */
#include <math.h>

#include "engine/base/number.h"
#include "engine/estimate/switching/switching.h"

/* The numbers that all estimators need of one way. */
static void judge_works(const struct switching *s, enum switch_way way, struct verdict *v)
{
    const struct switch_works *w = s->works + way;
    const char *name = switch_way_words[way];
    const double whole = (double)(w->n + w->nonfinite + w->incomplete);
    if (!switching_has(s, way)) {
        verdict_add(v, VERDICT_FAILED, "no_samples", "%s works: %zu, expected %d or more", name, w->n,
                    ESTIMATE_FEWEST_ROWS);
        return;
    }
    if (w->failed)
        verdict_add(v, VERDICT_UNCONVERGED, "walker_failed",
                    "%d %s failed, so %s works are missing: if it failed because of what it did, those that are left "
                    "are another distribution",
                    w->failed, number_word(w->failed, "walker", "walkers"), name);
    if (w->refused >= VOLUME_REFUSED_MANY)
        verdict_add(v, VERDICT_UNCONVERGED, "narrow",
                    "the box of a walker is too narrow for its pressure: its cut-off forbade %.3g %% of the volume "
                    "moves, %g %% or more, before snapshots of %s switches",
                    100 * w->refused, 100 * VOLUME_REFUSED_MANY, name);
    if ((double)w->nonfinite > ESTIMATE_NONFINITE * whole)
        verdict_add(v, VERDICT_UNCONVERGED, "nonfinite",
                    "%zu of %.0f %s works are not finite and were left out, more than %g %%: what is left is another "
                    "distribution",
                    w->nonfinite, whole, name, 100 * ESTIMATE_NONFINITE);
    if ((double)w->incomplete > ESTIMATE_NONFINITE * whole)
        verdict_add(v, VERDICT_UNCONVERGED, "incomplete",
                    "%zu of %.0f %s switches are shorter than the longest and were left out, more than %g %%: if they "
                    "ended because of their work, what is left is another distribution",
                    w->incomplete, whole, name, 100 * ESTIMATE_NONFINITE);
}

/* The integral of dH/dlambda along each switch: what rows twice as far apart change, in the mean and from switch to
 * switch. The mean of a smooth integrand is a third of that off. */
static void judge_rows(const struct switching *s, enum switch_way way, struct verdict *v)
{
    const struct switch_works *w = s->works + way;
    double sum = 0, square = 0;
    if (!w->slow_growth)
        return;
    for (size_t i = 0; i < w->n; i++) {
        sum += w->coarse[i];
        square += w->coarse[i] * w->coarse[i];
    }
    const double n = (double)w->slow_growth, off = fabs(sum / n) / 3, rough = sqrt(square / n);
    if (off > fmax(0.5 * s->bar.error, ESTIMATE_ROUNDING) && 3 * off * sqrt(n) > ESTIMATE_DISAGREE * rough)
        verdict_add(v, VERDICT_UNCONVERGED, "quadrature",
                    "rows of dH/dlambda are too far apart: the %s works are off by about %.2g kT in the mean; write it "
                    "more often (nstdhdl)",
                    switch_way_words[way], off);
    else if (rough > ESTIMATE_QUADRATURE)
        verdict_add(
            v, VERDICT_UNCONVERGED, "quadrature",
            "rows of dH/dlambda are too far apart: with every second row a %s work changes by %.2g kT, more than "
            "%g; write it more often (nstdhdl)",
            switch_way_words[way], rough, ESTIMATE_QUADRATURE);
}

/* The mean of both ways together cannot be below zero. */
static void judge_second_law(const struct switching *s, struct verdict *v)
{
    if (s->lag.value < -ESTIMATE_SIGNIFICANT * s->lag.error - ESTIMATE_ROUNDING)
        verdict_add(
            v, VERDICT_FAILED, "second_law",
            "the mean works of both ways add up to %.3g kT, below zero by %.1f standard errors, which the second "
            "law forbids: signs or directions are mixed up",
            s->lag.value, -s->lag.value / s->lag.error);
}

static void judge_few(const struct switching *s, enum switch_way way, double least, struct verdict *v)
{
    const struct one_way *x = s->way + way;
    const double n = (double)s->works[way].n;
    if (!switching_has(s, way) || n / x->inefficiency >= least)
        return;
    verdict_add(
        v, VERDICT_UNCONVERGED, "few_samples",
        "there are %.0f uncorrelated %s works (%.0f works, g = %.1f), below %.0f: more switches are needed, from "
        "snapshots further apart",
        floor(n / x->inefficiency), switch_way_words[way], n, x->inefficiency, least);
}

/* As trust/judge.c has it of windows. */
static void judge_number(const struct switching *s, struct verdict *v)
{
    const struct range *x = &s->bar;
    const int before = v->nreasons;
    const bool few = !(x->freedom > 0) || x->uncorrelated < ESTIMATE_UNCORRELATED * (1 + sqrt(2 / x->freedom));
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++)
        judge_few(s, way, few ? ESTIMATE_UNCORRELATED : ESTIMATE_UNCORRELATED / 3.0, v);
    if (v->nreasons == before && (few || x->freedom < ESTIMATE_FREEDOM))
        verdict_add(v, VERDICT_UNCONVERGED, "few_samples",
                    "what works add to the number is worth %.0f uncorrelated works each way, and the error is known to "
                    "%.0f degrees of freedom: %d of the first, with their standard error, and %d of the second are "
                    "needed; more switches are needed",
                    floor(x->uncorrelated), floor(x->freedom), ESTIMATE_UNCORRELATED, ESTIMATE_FREEDOM);
    if (x->slow > ESTIMATE_SLOW)
        verdict_add(
            v, VERDICT_UNCONVERGED, "slow",
            "snapshots move too slowly: means over each 32nd of the works are correlated by %.1f standard errors "
            "more than fast motions explain, above %.2g: simulate the ends for longer",
            x->slow, ESTIMATE_SLOW);
    if (x->drift > ESTIMATE_DRIFT)
        verdict_add(
            v, VERDICT_UNCONVERGED, "drift",
            "works drift along their order by %.1f standard errors, above %.2g: the ends were not in equilibrium",
            x->drift, ESTIMATE_DRIFT);
}

static void judge_overlap(const struct switching *s, struct verdict *v)
{
    if (s->overlap < ESTIMATE_APART)
        verdict_add(v, VERDICT_FAILED, "disconnected",
                    "the works of both ways overlap by %.2g, below %g: make the switches longer", s->overlap,
                    ESTIMATE_APART);
    else if (s->overlap < ESTIMATE_OVERLAP)
        verdict_add(v, VERDICT_UNCONVERGED, "overlap",
                    "the works of both ways overlap by %.2g, below %g: make the switches longer", s->overlap,
                    ESTIMATE_OVERLAP);
}

static void judge_slope(const struct switching *s, struct verdict *v)
{
    if (fabs(s->slope.value - 1) > ESTIMATE_DISAGREE * s->slope.error)
        verdict_add(v, VERDICT_UNCONVERGED, "crooks",
                    "the logarithm of the ratio of both distributions rises by %.2f for each kT of work, by Crooks' "
                    "relation it is 1, which is %.1f standard errors away: the unit, the sign or the temperature is "
                    "wrong, the protocols of both ways differ, or the ends were not in equilibrium",
                    s->slope.value, fabs(s->slope.value - 1) / s->slope.error);
}

/* Whether one estimator is off another by more than errors and known bias allow. */
static bool disagree(const struct range *a, const struct range *b, double bias)
{
    const double limit = ESTIMATE_DISAGREE * hypot(a->error, b->error) + fabs(bias);
    return a->ok && b->ok && fabs(a->value - b->value) > fmax(limit, ESTIMATE_ROUNDING);
}

static void judge_agreement(const struct range *a, const struct range *b, double bias, const char *name,
                            const char *other, struct verdict *v)
{
    if (disagree(a, b, bias))
        verdict_add(v, VERDICT_UNCONVERGED, "estimators", "%s and %s differ by %.2g kT, more than errors allow", name,
                    other, fabs(a->value - b->value));
}

static const char *const jarzynski_names[SWITCH_WAYS] = {"Jarzynski forward", "Jarzynski backward"};

static void judge_bar(struct switching *s)
{
    struct verdict *v = &s->bar_verdict;
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++)
        judge_works(s, way, v);
    if (s->reason[0] && v->kind != VERDICT_FAILED)
        verdict_add(v, VERDICT_FAILED, "no_answer", "%s", s->reason);
    if (s->bar.ok) {
        judge_second_law(s, v);
        judge_overlap(s, v);
        judge_slope(s, v);
        judge_number(s, v);
        for (enum switch_way way = 0; way < SWITCH_WAYS; way++) {
            judge_rows(s, way, v);
            if (s->way[way].effective >= ESTIMATE_UNCORRELATED) /* below, its own error is not known */
                judge_agreement(&s->bar, &s->way[way].jarzynski, 2 * s->way[way].bias, "BAR", jarzynski_names[way], v);
        }
    }
    s->bar.ok = s->bar.ok && v->kind != VERDICT_FAILED;
}

static void judge_unchecked(const struct switching *s, struct verdict *v)
{
    if (!s->bar.ok)
        verdict_add(
            v, VERDICT_UNCONVERGED, "unchecked",
            "there is no free energy from both ways to hold it against: a bias does not show in the works of one "
            "way; make switches of the other way, or longer ones");
}

static void judge_jarzynski(struct switching *s, enum switch_way way)
{
    struct one_way *x = s->way + way;
    struct verdict *v = &x->verdict;
    const struct one_way *other = s->way + !way;
    judge_works(s, way, v);
    judge_second_law(s, v);
    if (x->jarzynski.ok) {
        judge_few(s, way, ESTIMATE_UNCORRELATED, v);
        judge_rows(s, way, v);
        if (x->effective < ESTIMATE_UNCORRELATED)
            verdict_add(v, VERDICT_UNCONVERGED, "tail",
                        "the mean of exp(-W) rests on %.1f of %zu works, below %d: the number is too %s, by %.2g kT or "
                        "more",
                        x->effective, s->works[way].n, ESTIMATE_UNCORRELATED, x->bias > 0 ? "high" : "low",
                        fabs(x->bias));
        judge_unchecked(s, v);
        judge_agreement(&x->jarzynski, &s->bar, x->bias, jarzynski_names[way], "BAR", v);
        judge_agreement(&x->jarzynski, &other->jarzynski, fabs(x->bias) + fabs(other->bias), jarzynski_names[way],
                        jarzynski_names[!way], v);
    }
}

static void judge_gaussian(struct switching *s)
{
    struct verdict *v = &s->gaussian_verdict;
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++) {
        judge_works(s, way, v);
        judge_few(s, way, ESTIMATE_UNCORRELATED, v);
        if (fabs(s->skew[way]) > ESTIMATE_SIGNIFICANT)
            verdict_add(v, VERDICT_UNCONVERGED, "not_gaussian",
                        "%s works are skewed by %.1f standard errors, above %d: they are not Gaussian",
                        switch_way_words[way], fabs(s->skew[way]), ESTIMATE_SIGNIFICANT);
    }
    judge_second_law(s, v);
    if (!s->gaussian.ok && v->kind != VERDICT_FAILED)
        verdict_add(v, VERDICT_FAILED, "no_answer", "the Gaussians of both distributions do not intersect");
    if (!s->gaussian.ok)
        return;
    judge_unchecked(s, v);
    judge_agreement(&s->gaussian, &s->bar, 0, "Gaussian intersection", "BAR", v);
}

void switching_judge(struct switching *s)
{
    judge_bar(s);
    judge_jarzynski(s, SWITCH_FORWARD);
    judge_jarzynski(s, SWITCH_BACKWARD);
    judge_gaussian(s);
    s->bar.verdict = s->bar_verdict.kind;
    for (int way = 0; way < SWITCH_WAYS; way++) {
        struct one_way *x = s->way + way;
        x->jarzynski.ok = x->jarzynski.ok && x->verdict.kind != VERDICT_FAILED;
        x->jarzynski.verdict = x->verdict.kind;
    }
    s->gaussian.ok = s->gaussian.ok && s->gaussian_verdict.kind != VERDICT_FAILED;
}
