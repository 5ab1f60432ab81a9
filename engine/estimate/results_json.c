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

/* value and error in kT */
static void energy(struct writer *w, const char *key, const struct result *r, double value, double error)
{
    double kj = 1 / r->beta, kcal = kj / UNIT_KCAL;
    begin(w, key, '{');
    value_error(w, "kJ/mol", value * kj, error * kj);
    value_error(w, "kcal/mol", value * kcal, error * kcal);
    value_error(w, "kT", value, error);
    end(w, '}');
}

static void maybe_energy(struct writer *w, const char *key, const struct result *r, const struct range *x)
{
    if (x->ok)
        energy(w, key, r, x->value, x->error);
    else
        null(w, key);
}

static void range(struct writer *w, const struct result *r, const struct range *x, const char *name)
{
    begin(w, NULL, '{');
    if (name)
        text(w, "name", name);
    integer(w, "from", (size_t)x->from);
    integer(w, "to", (size_t)x->to);
    maybe_energy(w, "free_energy", r, x);
    end(w, '}');
}

static void estimator(struct writer *w, const struct result *r, const struct estimator_result *x, const char *name)
{
    begin(w, NULL, '{');
    text(w, "name", name);
    text(w, "status", x->ok ? "ok" : "failed");
    text(w, "reason", x->reason);
    maybe_energy(w, "total", r, &x->total);
    begin(w, "legs", '[');
    for (int i = 0; i < x->nlegs; i++) {
        struct buf leg = {0};
        ladder_leg_name(&r->ladder, x->legs[i].from, &leg);
        range(w, r, x->legs + i, leg.data);
        buf_free(&leg);
    }
    end(w, ']');
    begin(w, "steps", '[');
    for (int i = 0; i < x->nsteps; i++)
        range(w, r, x->steps + i, NULL);
    end(w, ']');
    begin(w, "cumulative", '[');
    for (int i = 0; i < x->ncumulative; i++)
        range(w, r, x->cumulative + i, NULL);
    end(w, ']');
    end(w, '}');
}

static void averages(struct writer *w, const char *key, const struct average *a, int n)
{
    begin(w, key, '{');
    for (int i = 0; i < n; i++)
        value_error(w, a[i].name, a[i].value, a[i].error);
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
    integer(w, "nonfinite", x->nonfinite);
    integer(w, "equilibration", x->equilibration);
    real(w, "equilibration_ps", x->equilibration_ps);
    real(w, "inefficiency", x->inefficiency);
    integer(w, "used", x->used);
    end(w, '}');
}

static void window(struct writer *w, const struct result *r, int k)
{
    static const char *const status[] = {[ESTIMATE_DONE] = "ok",
                                         [ESTIMATE_PARTIAL] = "partial",
                                         [ESTIMATE_RUNNING] = "running",
                                         [ESTIMATE_FAILED] = "failed"};
    const struct window_result *x = r->windows + k;
    const struct ladder *l = &r->ladder;
    begin(w, NULL, '{');
    integer(w, "window", (size_t)k);
    begin(w, "lambda", '{');
    for (int c = 0; c < l->ncomponents; c++)
        real(w, l->name[c], l->lambda[k * l->ncomponents + c]);
    end(w, '}');
    text(w, "status", status[x->status]);
    text(w, "reason", x->reason);
    if (x->replica->seeded)
        integer(w, "seed", x->replica->seed);
    else
        null(w, "seed");
    samples(w, x);
    averages(w, "dhdl", x->dhdl, x->ndhdl);
    averages(w, "averages", x->averages, x->naverages);
    end(w, '}');
}

static void overlap(struct writer *w, const struct result *r)
{
    int n = r->ladder.nstates;
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
    begin(w, "neighbours", '[');
    for (int i = 0; i < r->nneighbours; i++) {
        begin(w, NULL, '{');
        integer(w, "from", (size_t)r->neighbours[i].from);
        integer(w, "to", (size_t)r->neighbours[i].to);
        real(w, "overlap", r->neighbours[i].overlap);
        end(w, '}');
    }
    end(w, ']');
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
    double kj = 1 / r->beta;
    begin(w, "convergence", '[');
    for (int i = 0; r->overlap && i < ESTIMATE_FRACTIONS; i++) {
        const struct convergence *c = r->convergence + i;
        begin(w, NULL, '{');
        real(w, "data_fraction", (i + 1.0) / ESTIMATE_FRACTIONS);
        real(w, "forward", c->forward.ok ? c->forward.value * kj : NAN);
        real(w, "forward_error", c->forward.ok ? c->forward.error * kj : NAN);
        real(w, "backward", c->backward.ok ? c->backward.value * kj : NAN);
        real(w, "backward_error", c->backward.ok ? c->backward.error * kj : NAN);
        end(w, '}');
    }
    end(w, ']');
}

static double lambda_at(const struct ladder *l, int window, enum dhdl_component component)
{
    for (int c = 0; c < l->ncomponents; c++)
        if (l->file[c] == component)
            return l->lambda[window * l->ncomponents + c];
    return 0;
}

/* The free energy of solvation is minus the estimate when the path runs from fully coupled to fully decoupled and the
 * molecule's inner pairs stay (couple-intramol = no): the last window is then the molecule in vacuum beside the
 * solvent. */
static void solvation(struct writer *w, const struct result *r, const struct range *total)
{
    const struct alchemy_settings *a = &r->set->alchemy;
    const struct ladder *l = &r->ladder;
    int last = l->nstates - 1;
    bool whole = lambda_at(l, 0, DHDL_COUL) == 0 && lambda_at(l, 0, DHDL_VDW) == 0 &&
                 lambda_at(l, last, DHDL_COUL) == 1 && lambda_at(l, last, DHDL_VDW) == 1;
    if (!total || a->kind != ALCHEMY_DECOUPLE || a->intramolecular_decouple || !whole) {
        null(w, "solvation");
        return;
    }
    begin(w, "solvation", '{');
    text(w, "molecule", a->decouple);
    text(w, "meaning", "from vacuum into the surroundings: minus the estimate, which takes the molecule out");
    energy(w, "free_energy", r, -total->value, total->error);
    end(w, '}');
}

/* "windows 1, 2 took no part" and the like; nothing when all is well. */
static void list_windows(const struct result *r, enum estimate_kind status, const char *what, struct buf *out)
{
    struct buf list = {0};
    int n = 0;
    for (int k = 0; k < r->ladder.nstates; k++)
        if (r->windows[k].status == status)
            buf_printf(&list, "%s%d", n++ ? ", " : "", k);
    if (n)
        buf_printf(out, "%swindow%s %s %s", out->len ? "; " : "", n > 1 ? "s" : "", list.data, what);
    buf_free(&list);
}

static const char *const names[ESTIMATORS] = {"MBAR", "BAR", "TI", "TI-Gauss"};

/* The estimator that gives the estimate, ESTIMATORS when none does; status and reason of the whole. */
static enum estimator verdict(const struct result *r, const char **status, struct buf *reason)
{
    enum estimator best = ESTIMATORS;
    list_windows(r, ESTIMATE_FAILED, "took no part", reason);
    list_windows(r, ESTIMATE_PARTIAL, "stopped early", reason);
    list_windows(r, ESTIMATE_RUNNING, "still running", reason);
    for (int i = ESTIMATOR_TI; r->nestimators && i >= 0; i--)
        if (r->estimators[i].ok)
            best = (enum estimator)i;
    if (r->nestimators && best != ESTIMATOR_MBAR)
        buf_printf(reason, "%s%s", reason->len ? "; " : "", r->estimators[ESTIMATOR_MBAR].reason);
    if (r->ladder.nstates == 1)
        *status = r->windows[0].status == ESTIMATE_FAILED ? "failed" : "averages";
    else if (best == ESTIMATORS)
        *status = "failed";
    else
        *status = reason->len ? "partial" : "ok";
    return best;
}

static void head(struct writer *w, const struct result *r)
{
    double kcal = 1 / (r->beta * UNIT_KCAL);
    struct buf reason = {0}, what = {0};
    const char *status;
    enum estimator best = verdict(r, &status, &reason);
    const struct range *total = best == ESTIMATORS ? NULL : &r->estimators[best].total;
    if (total) {
        quantity(w, "estimate", total->value * kcal, "kilocalorie_per_mole");
        quantity(w, "uncertainty", total->error * kcal, "kilocalorie_per_mole");
    } else {
        null(w, "estimate");
        null(w, "uncertainty");
    }
    if (r->ladder.nstates == 1)
        buf_printf(&what, "none: a single window");
    else
        buf_printf(&what, "G(window %d) - G(window 0)", r->ladder.nstates - 1);
    text(w, "status", status);
    text(w, "reason", reason.data);
    text(w, "estimator", best == ESTIMATORS ? NULL : names[best]);
    text(w, "quantity", what.data);
    quantity(w, "temperature", r->set->integrator.temperature, "kelvin");
    solvation(w, r, total);
    buf_free(&reason);
    buf_free(&what);
}

static void about(struct writer *w, const struct result *r)
{
    const struct estimate_about *a = r->about;
    text(w, "version", SHOAL_VERSION);
    begin(w, "ensemble", '{');
    text(w, "id", a->id);
    text(w, "key", a->key);
    text(w, "name", a->name);
    begin(w, "labels", '{');
    for (int i = 0; i < a->nlabels; i++)
        text(w, a->labels[i].key, a->labels[i].value);
    end(w, '}');
    text(w, "spec_hash", a->spec_hash);
    if (a->ns_per_day > 0)
        quantity(w, "speed", a->ns_per_day, "nanosecond_per_day");
    else
        null(w, "speed");
    end(w, '}');
}

void estimate_report(const struct result *r, struct buf *json)
{
    struct writer w = {.out = json, .first = true};
    begin(&w, NULL, '{');
    head(&w, r);
    about(&w, r);
    begin(&w, "estimators", '[');
    for (int i = 0; i < r->nestimators; i++)
        estimator(&w, r, r->estimators + i, names[i]);
    end(&w, ']');
    begin(&w, "windows", '[');
    for (int k = 0; k < r->ladder.nstates; k++)
        window(&w, r, k);
    end(&w, ']');
    overlap(&w, r);
    convergence(&w, r);
    begin(&w, "warnings", '[');
    for (int i = 0; i < r->nwarnings; i++)
        text(&w, NULL, r->warnings[i]);
    end(&w, ']');
    end(&w, '}');
    buf_add(json, "\n", 1);
}
