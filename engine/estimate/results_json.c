/* SPDX-License-Identifier: Apache-2.0
 *
 * results.json, as schemas/results.schema.json describes it. Fixed order, fixed number format: equal results, equal
 * bytes.
 */
#include "engine/estimate/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"

/* ---- JSON text */

struct writer {
    struct buf *out;
    int depth;
    bool first; /* nothing stands yet in the innermost object or array */
};

static void string(struct buf *out, const char *s)
{
    buf_add(out, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f) /* our texts are ASCII; bytes of damaged files are shown as Latin-1 */
            buf_printf(out, "\\u%04x", c);
        else
            buf_add(out, s, 1);
    }
    buf_add(out, "\"", 1);
}

static void number(struct buf *out, double x)
{
    if (!isfinite(x))
        buf_printf(out, "null");
    else
        buf_printf(out, "%.12g", x == 0 ? 0.0 : x); /* no -0 */
}

/* Begins a member (or an element: key NULL) on a line of its own. */
static void item(struct writer *w, const char *key)
{
    buf_printf(w->out, "%s\n%*s", w->first ? "" : ",", w->depth, "");
    w->first = false;
    if (!key)
        return;
    string(w->out, key);
    buf_add(w->out, ": ", 2);
}

static void begin(struct writer *w, const char *key, char bracket)
{
    if (w->depth)
        item(w, key);
    buf_add(w->out, &bracket, 1);
    w->depth++;
    w->first = true;
}

static void end(struct writer *w, char bracket)
{
    w->depth--;
    if (!w->first)
        buf_printf(w->out, "\n%*s", w->depth, "");
    buf_add(w->out, &bracket, 1);
    w->first = false;
}

/* A text or null. */
static void text(struct writer *w, const char *key, const char *value)
{
    item(w, key);
    if (value && *value)
        string(w->out, value);
    else
        buf_printf(w->out, "null");
}

static void integer(struct writer *w, const char *key, size_t value)
{
    item(w, key);
    buf_printf(w->out, "%zu", value);
}

static void real(struct writer *w, const char *key, double value)
{
    item(w, key);
    number(w->out, value);
}

static void null(struct writer *w, const char *key)
{
    item(w, key);
    buf_printf(w->out, "null");
}

static void quantity(struct writer *w, const char *key, double magnitude, const char *unit)
{
    item(w, key);
    buf_printf(w->out, "{\"magnitude\": ");
    number(w->out, magnitude);
    buf_printf(w->out, ", \"unit\": \"%s\"}", unit);
}

static void value_error(struct writer *w, const char *key, double value, double error)
{
    item(w, key);
    buf_printf(w->out, "{\"value\": ");
    number(w->out, value);
    buf_printf(w->out, ", \"error\": ");
    number(w->out, error);
    buf_printf(w->out, "}");
}

/* ---- the result */

static const char *const verdicts[] = {
    [VERDICT_CONVERGED] = "converged", [VERDICT_UNCONVERGED] = "unconverged", [VERDICT_FAILED] = "failed"};

/* value and error in kT */
static void energy(struct writer *w, const char *key, const struct ladder *l, double value, double error)
{
    double kj = 1 / l->beta, kcal = kj / UNIT_KCAL;
    begin(w, key, '{');
    value_error(w, "kJ/mol", value * kj, error * kj);
    value_error(w, "kcal/mol", value * kcal, error * kcal);
    value_error(w, "kT", value, error);
    end(w, '}');
}

static void maybe_energy(struct writer *w, const char *key, const struct ladder *l, const struct range *x)
{
    if (x->ok)
        energy(w, key, l, x->value, x->error);
    else
        null(w, key);
}

static void range(struct writer *w, const struct ladder *l, const struct range *x, const char *name)
{
    begin(w, NULL, '{');
    if (name)
        text(w, "name", name);
    integer(w, "from", (size_t)x->from);
    integer(w, "to", (size_t)x->to);
    maybe_energy(w, "free_energy", l, x);
    text(w, "verdict", verdicts[x->verdict]);
    end(w, '}');
}

static void verdict(struct writer *w, const struct verdict *v)
{
    begin(w, "verdict", '{');
    text(w, "verdict", verdicts[v->kind]);
    begin(w, "reasons", '[');
    for (int i = 0; i < v->nreasons; i++) {
        begin(w, NULL, '{');
        text(w, "code", v->reasons[i].code);
        text(w, "text", v->reasons[i].text);
        end(w, '}');
    }
    end(w, ']');
    end(w, '}');
}

/* The part of the error that is due to the trapezoid; null where the estimator has none. */
static void quadrature(struct writer *w, const struct ladder *l, const struct range *x, enum estimator which)
{
    if (which == ESTIMATOR_TI && x->ok)
        quantity(w, "quadrature_error", x->quadrature / l->beta / UNIT_KCAL, "kilocalorie_per_mole");
    else
        null(w, "quadrature_error");
}

static void estimator(struct writer *w, const struct result *r, enum estimator which)
{
    const struct estimator_result *x = r->estimators + which;
    const struct ladder *l = r->ladder;
    struct buf reason = {0};
    if (!x->total.ok)
        verdict_failure(&x->verdict, &reason);
    begin(w, NULL, '{');
    text(w, "name", estimator_names[which]);
    text(w, "status", x->total.ok ? "ok" : "failed");
    text(w, "reason", reason.data);
    maybe_energy(w, "total", l, &x->total);
    verdict(w, &x->verdict);
    quadrature(w, l, &x->total, which);
    begin(w, "legs", '[');
    for (int i = 0; x->legs && i < l->nlegs; i++) {
        struct buf leg = {0};
        ladder_leg_name(l, x->legs[i].from, &leg);
        range(w, l, x->legs + i, leg.data);
        buf_free(&leg);
    }
    end(w, ']');
    begin(w, "steps", '[');
    for (int i = 0; x->steps && i + 1 < l->nstates; i++)
        range(w, l, x->steps + i, NULL);
    end(w, ']');
    begin(w, "cumulative", '[');
    for (int i = 0; x->cumulative && i < l->nstates; i++)
        range(w, l, x->cumulative + i, NULL);
    end(w, ']');
    end(w, '}');
    buf_free(&reason);
}

static void averages(struct writer *w, const char *key, const struct average *a, int n)
{
    begin(w, key, '{');
    for (int i = 0; i < n; i++) {
        item(w, a[i].name);
        buf_printf(w->out, "{\"value\": ");
        number(w->out, a[i].value);
        buf_printf(w->out, ", \"error\": ");
        number(w->out, a[i].error);
        buf_printf(w->out, ", \"unit\": \"%s\"}", a[i].unit);
    }
    end(w, '}');
}

static void samples(struct writer *w, const struct window_result *x)
{
    if (!x->read) {
        null(w, "samples");
        return;
    }
    begin(w, "samples", '{');
    integer(w, "read", x->rows);
    integer(w, "stride", x->stride);
    integer(w, "nonfinite", x->nonfinite);
    integer(w, "discarded", x->discarded);
    quantity(w, "discarded_time", x->discarded_ps * 1e-3, "nanosecond");
    integer(w, "used", x->used);
    real(w, "inefficiency", x->inefficiency);
    real(w, "uncorrelated", x->uncorrelated);
    end(w, '}');
}

static void window(struct writer *w, const struct result *r, int repeat, int k)
{
    static const char *const status[] = {[ESTIMATE_DONE] = "ok",
                                         [ESTIMATE_PARTIAL] = "partial",
                                         [ESTIMATE_RUNNING] = "running",
                                         [ESTIMATE_FAILED] = "failed"};
    const struct window_result *x = r->windows + k;
    const struct ladder *l = r->ladder;
    begin(w, NULL, '{');
    integer(w, "repeat", (size_t)repeat);
    integer(w, "window", (size_t)k);
    begin(w, "lambda", '{');
    for (int c = 0; c < l->ncomponents; c++)
        real(w, lambda_names[l->component[c]].ours, l->lambda[k * l->ncomponents + c]);
    end(w, '}');
    text(w, "status", status[x->status]);
    text(w, "reason", x->reason);
    if (x->seeded)
        integer(w, "seed", x->seed);
    else
        null(w, "seed");
    quantity(w, "sampled", x->sampled_ps * 1e-3, "nanosecond");
    samples(w, x);
    averages(w, "dhdl", x->dhdl, x->ndhdl);
    averages(w, "averages", x->averages, x->naverages);
    end(w, '}');
}

static void neighbours(struct writer *w, const struct result *r)
{
    begin(w, "neighbours", '[');
    for (int i = 0; i < r->nneighbours; i++) {
        begin(w, NULL, '{');
        integer(w, "from", (size_t)r->neighbours[i].from);
        integer(w, "to", (size_t)r->neighbours[i].to);
        real(w, "overlap", r->neighbours[i].overlap);
        end(w, '}');
    }
    end(w, ']');
}

static void overlap(struct writer *w, const struct result *r)
{
    int n = r->ladder->nstates;
    double least = INFINITY;
    if (!r->overlap) {
        null(w, "overlap");
        return;
    }
    for (int i = 0; i < r->nneighbours; i++)
        least = fmin(least, r->neighbours[i].overlap);
    begin(w, "overlap", '{');
    real(w, "threshold", ESTIMATE_OVERLAP);
    real(w, "minimum", least);
    neighbours(w, r);
    begin(w, "matrix", '[');
    for (int i = 0; i < n; i++) {
        item(w, NULL);
        for (int j = 0; j < n; j++) {
            buf_printf(w->out, "%s", j ? ", " : "[");
            number(w->out, r->overlap[i * n + j]);
        }
        buf_printf(w->out, "]");
    }
    end(w, ']');
    end(w, '}');
}

static void convergence(struct writer *w, const struct result *r)
{
    bool has = r->nestimators && r->estimators[ESTIMATOR_MBAR].total.ok;
    begin(w, "convergence", '[');
    for (int i = 0; has && i < ESTIMATE_FRACTIONS; i++) {
        const struct convergence *c = r->convergence + i;
        begin(w, NULL, '{');
        real(w, "data_fraction", (i + 1.0) / ESTIMATE_FRACTIONS);
        maybe_energy(w, "forward", r->ladder, &c->forward);
        maybe_energy(w, "backward", r->ladder, &c->backward);
        end(w, '}');
    }
    end(w, ']');
}

/* ---- the head */

static double lambda_at(const struct ladder *l, int window, enum lambda component)
{
    for (int c = 0; c < l->ncomponents; c++)
        if (l->component[c] == component)
            return l->lambda[window * l->ncomponents + c];
    return 0;
}

/* The free energy of solvation is minus the estimate when the path runs from fully coupled to fully decoupled and the
 * molecule's inner pairs stay (couple-intramol = no): the last window is then the molecule in vacuum beside the
 * solvent. */
static void solvation(struct writer *w, const struct ladder *l, const struct range *total)
{
    int last = l->nstates - 1;
    bool whole = lambda_at(l, 0, LAMBDA_COULOMB) == 0 && lambda_at(l, 0, LAMBDA_VDW) == 0 &&
                 lambda_at(l, last, LAMBDA_COULOMB) == 1 && lambda_at(l, last, LAMBDA_VDW) == 1;
    if (!total || !l->molecule || !whole) {
        null(w, "solvation");
        return;
    }
    begin(w, "solvation", '{');
    text(w, "molecule", l->molecule);
    text(w, "meaning", "from vacuum into the surroundings: minus the estimate, which takes the molecule out");
    energy(w, "free_energy", l, -total->value, total->error);
    text(w, "verdict", verdicts[total->verdict]);
    end(w, '}');
}

/* "windows 1, 2 took no part" and the like; nothing when all is well. */
static void list_windows(const struct report *r, enum estimate_kind status, const char *what, struct buf *out)
{
    struct buf list = {0};
    int n = 0;
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->ladder->nstates; k++) {
            if (r->repeats[i].windows[k].status != status)
                continue;
            buf_printf(&list, "%s%d", n++ ? ", " : "", k);
            if (r->nrepeats > 1)
                buf_printf(&list, " of repeat %d", i);
        }
    if (n)
        buf_printf(out, "%swindow%s %s %s", out->len ? "; " : "", n > 1 ? "s" : "", list.data, what);
    buf_free(&list);
}

/* Status and reason of the whole; whether there is a value. */
static bool status_of(const struct report *r, const char **status, struct buf *reason)
{
    const struct estimator_result *mbar = report_whole(r)->estimators + ESTIMATOR_MBAR;
    list_windows(r, ESTIMATE_FAILED, "took no part", reason);
    list_windows(r, ESTIMATE_PARTIAL, "stopped early", reason);
    list_windows(r, ESTIMATE_RUNNING, "still running", reason);
    if (r->ladder->nstates == 1) {
        *status = "failed";
        for (int i = 0; i < r->nrepeats; i++)
            if (r->repeats[i].windows[0].status != ESTIMATE_FAILED)
                *status = "averages";
        return false;
    }
    if (!mbar->total.ok)
        verdict_failure(&mbar->verdict, reason);
    *status = !mbar->total.ok ? "failed" : reason->len ? "partial" : "ok";
    return mbar->total.ok;
}

static void head(struct writer *w, const struct report *r)
{
    const struct estimator_result *mbar = report_whole(r)->estimators + ESTIMATOR_MBAR;
    const struct ladder *l = r->ladder;
    double kcal = 1 / (l->beta * UNIT_KCAL);
    struct buf reason = {0}, what = {0};
    const char *status;
    const struct range *total = status_of(r, &status, &reason) ? &mbar->total : NULL;
    if (total) {
        quantity(w, "estimate", total->value * kcal, "kilocalorie_per_mole");
        quantity(w, "uncertainty", total->error * kcal, "kilocalorie_per_mole");
    } else {
        null(w, "estimate");
        null(w, "uncertainty");
    }
    if (l->nstates == 1)
        null(w, "verdict");
    else
        verdict(w, &mbar->verdict);
    if (l->nstates == 1)
        buf_printf(&what, "none: a single window");
    else
        buf_printf(&what, "G(window %d) - G(window 0)", l->nstates - 1);
    text(w, "status", status);
    text(w, "reason", reason.data);
    text(w, "estimator", total ? estimator_names[ESTIMATOR_MBAR] : NULL);
    text(w, "quantity", what.data);
    quantity(w, "temperature", l->temperature, "kelvin");
    solvation(w, l, total);
    buf_free(&reason);
    buf_free(&what);
}

static void about(struct writer *w, const struct estimate_about *a)
{
    text(w, "version", SHOAL_VERSION);
    begin(w, "ensemble", '{');
    text(w, "id", a->id);
    text(w, "key", a->key);
    text(w, "name", a->name);
    begin(w, "labels", '{');
    for (int i = 0; i < a->nlabels; i++) {
        item(w, a->labels[i].key);
        string(w->out, a->labels[i].value);
    }
    end(w, '}');
    text(w, "spec_hash", a->spec_hash);
    if (a->ns_per_day > 0)
        quantity(w, "speed", a->ns_per_day, "nanosecond_per_day");
    else
        null(w, "speed");
    end(w, '}');
}

/* MBAR's totals of the repeats, one by one. */
static void repeats(struct writer *w, const struct report *r)
{
    if (r->nrepeats < 2 || r->ladder->nstates < 2) {
        null(w, "repeats");
        return;
    }
    begin(w, "repeats", '[');
    for (int i = 0; i < r->nrepeats; i++) {
        const struct estimator_result *x = r->repeats[i].estimators + ESTIMATOR_MBAR;
        begin(w, NULL, '{');
        integer(w, "repeat", (size_t)i);
        maybe_energy(w, "free_energy", r->ladder, &x->total);
        verdict(w, &x->verdict);
        end(w, '}');
    }
    end(w, ']');
}

static void warnings(struct writer *w, const struct report *r)
{
    begin(w, "warnings", '[');
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->repeats[i].nwarnings; k++) {
            struct buf line = {0};
            if (r->nrepeats > 1)
                buf_printf(&line, "repeat %d: ", i);
            buf_printf(&line, "%s", r->repeats[i].warnings[k]);
            text(w, NULL, line.data);
            buf_free(&line);
        }
    end(w, ']');
}

void report_write(const struct report *r, struct buf *json)
{
    const struct result *whole = report_whole(r);
    struct writer w = {.out = json, .first = true};
    begin(&w, NULL, '{');
    head(&w, r);
    about(&w, r->about);
    repeats(&w, r);
    begin(&w, "estimators", '[');
    for (int i = 0; i < whole->nestimators; i++)
        estimator(&w, whole, (enum estimator)i);
    end(&w, ']');
    begin(&w, "windows", '[');
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->ladder->nstates; k++)
            window(&w, r->repeats + i, i, k);
    end(&w, ']');
    overlap(&w, whole);
    convergence(&w, whole);
    warnings(&w, r);
    end(&w, '}');
    buf_add(json, "\n", 1);
}
