/* SPDX-License-Identifier: Apache-2.0
 *
 * results.json, as schemas/results.schema.json describes it. Equal results, equal bytes.
 */
#include "engine/estimate/output/output.h"
#include "engine/estimate/profiles/profiles.h"
#include "engine/estimate/rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/units.h"
#include "engine/base/json/json_writer.h"

void report_energy(struct writer *w, const char *key, double beta, const struct range *x)
{
    if (x->ok)
        jw_energy(w, key, beta, x->value, x->error);
    else
        jw_null(w, key);
}

static void range(struct writer *w, const struct ladder *l, const struct range *x, const char *name)
{
    jw_begin(w, NULL, '{');
    if (name)
        jw_text(w, "name", name);
    jw_integer(w, "from", (size_t)x->from);
    jw_integer(w, "to", (size_t)x->to);
    report_energy(w, "free_energy", l->beta, x);
    jw_text(w, "verdict", verdict_words[x->verdict]);
    jw_end(w, '}');
}

void report_verdict(struct writer *w, const struct verdict *v)
{
    jw_begin(w, "verdict", '{');
    jw_text(w, "verdict", verdict_words[v->kind]);
    jw_begin(w, "reasons", '[');
    for (int i = 0; i < v->nreasons; i++) {
        jw_begin(w, NULL, '{');
        jw_text(w, "code", v->reasons[i].code);
        jw_text(w, "text", v->reasons[i].text);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    jw_end(w, '}');
}

/* The part of the error that is due to the trapezoid; null where the estimator has none. */
static void quadrature(struct writer *w, const struct ladder *l, const struct range *x, enum estimator which)
{
    if (which == ESTIMATOR_TI && x->ok)
        jw_quantity(w, "quadrature_error", x->quadrature / l->beta / UNIT_KCAL, "kilocalorie_per_mole");
    else
        jw_null(w, "quadrature_error");
}

static void estimator(struct writer *w, const struct result *r, enum estimator which)
{
    const struct estimator_result *x = r->estimators + which;
    const struct ladder *l = r->ladder;
    struct buf reason = {0};
    if (!x->total.ok)
        verdict_failure(&x->verdict, &reason);
    jw_begin(w, NULL, '{');
    jw_text(w, "name", estimator_names[which]);
    jw_text(w, "status", x->total.ok ? "ok" : "failed");
    jw_text(w, "reason", reason.data);
    report_energy(w, "total", l->beta, &x->total);
    report_verdict(w, &x->verdict);
    quadrature(w, l, &x->total, which);
    jw_begin(w, "legs", '[');
    for (int i = 0; x->legs && i < l->nlegs; i++) {
        struct buf leg = {0};
        ladder_leg_name(l, x->legs[i].from, &leg);
        range(w, l, x->legs + i, leg.data);
        buf_free(&leg);
    }
    jw_end(w, ']');
    jw_begin(w, "steps", '[');
    for (int i = 0; x->steps && i + 1 < l->nstates; i++)
        range(w, l, x->steps + i, NULL);
    jw_end(w, ']');
    jw_begin(w, "cumulative", '[');
    for (int i = 0; x->cumulative && i < l->nstates; i++)
        range(w, l, x->cumulative + i, NULL);
    jw_end(w, ']');
    jw_end(w, '}');
    buf_free(&reason);
}

static void averages(struct writer *w, const char *key, const struct average *a, int n)
{
    jw_begin(w, key, '{');
    for (int i = 0; i < n; i++) {
        jw_item(w, a[i].name);
        buf_printf(w->out, "{\"value\": ");
        jw_number(w->out, a[i].value);
        buf_printf(w->out, ", \"error\": ");
        jw_number(w->out, a[i].error);
        buf_printf(w->out, ", \"unit\": \"%s\"}", a[i].unit);
    }
    jw_end(w, '}');
}

static void samples(struct writer *w, const struct window_result *x)
{
    if (!x->read) {
        jw_null(w, "samples");
        return;
    }
    jw_begin(w, "samples", '{');
    jw_integer(w, "read", x->rows);
    jw_integer(w, "stride", x->stride);
    jw_integer(w, "nonfinite", x->nonfinite);
    jw_integer(w, "discarded", x->discarded);
    jw_quantity(w, "discarded_time", x->discarded_ps * 1e-3, "nanosecond");
    jw_integer(w, "used", x->used);
    jw_real(w, "inefficiency", x->inefficiency);
    jw_real(w, "uncorrelated", x->uncorrelated);
    jw_real(w, "variance", x->part.dof > 0 ? x->part.variance : NAN);
    jw_real(w, "variance_freedom", x->part.dof > 0 ? x->part.dof : NAN);
    frames_write(w, &x->frames);
    jw_end(w, '}');
}

const char *const estimate_status[] = {[ESTIMATE_DONE] = "ok",
                                       [ESTIMATE_PARTIAL] = "partial",
                                       [ESTIMATE_RUNNING] = "running",
                                       [ESTIMATE_FAILED] = "failed",
                                       [ESTIMATE_WAITS] = "waits"};

void report_waters(struct writer *w, const struct water_moves *m)
{
    if (!m->batches)
        return;
    jw_begin(w, "water_exchange", '{');
    jw_integer(w, "tried", m->tried);
    jw_integer(w, "moved", m->moved);
    jw_integer(w, "kept", m->kept);
    jw_integer(w, "batches", m->batches);
    jw_integer(w, "changed", m->changed);
    jw_integer(w, "undone", m->undone);
    jw_real(w, "inside", (double)m->inside / (double)m->batches);
    jw_end(w, '}');
}

static void window(struct writer *w, const struct result *r, int repeat, int k)
{
    const struct window_result *x = r->windows + k;
    const struct ladder *l = r->ladder;
    jw_begin(w, NULL, '{');
    jw_integer(w, "repeat", (size_t)repeat);
    jw_integer(w, "window", (size_t)k);
    jw_begin(w, "lambda", '{');
    for (int c = 0; c < l->ncomponents; c++)
        jw_real(w, lambda_names[l->component[c]].ours, l->lambda[k * l->ncomponents + c]);
    jw_end(w, '}');
    jw_text(w, "status", estimate_status[x->status]);
    jw_text(w, "reason", x->reason);
    if (x->seeded)
        jw_integer(w, "seed", x->seed);
    else
        jw_null(w, "seed");
    jw_quantity(w, "sampled", x->sampled_ps * 1e-3, "nanosecond");
    samples(w, x);
    averages(w, "dhdl", x->dhdl, x->ndhdl);
    averages(w, "averages", x->averages, x->naverages);
    averages(w, "fluctuations", x->fluctuations, x->nfluctuations);
    report_waters(w, &x->waters);
    jw_end(w, '}');
}

static void neighbours(struct writer *w, const struct result *r)
{
    jw_begin(w, "neighbours", '[');
    for (int i = 0; i < r->nneighbours; i++) {
        jw_begin(w, NULL, '{');
        jw_integer(w, "from", (size_t)r->neighbours[i].from);
        jw_integer(w, "to", (size_t)r->neighbours[i].to);
        jw_real(w, "overlap", r->neighbours[i].overlap);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

static void overlap(struct writer *w, const struct result *r)
{
    double least = INFINITY;
    if (!r->overlap) {
        jw_null(w, "overlap");
        return;
    }
    for (int i = 0; i < r->nneighbours; i++)
        least = fmin(least, r->neighbours[i].overlap);
    jw_begin(w, "overlap", '{');
    jw_real(w, "threshold", ESTIMATE_OVERLAP);
    jw_real(w, "minimum", least);
    neighbours(w, r);
    jw_matrix(w, "matrix", r->overlap, (size_t)r->ladder->nstates, 1);
    jw_end(w, '}');
}

static void thermodynamic_length(struct writer *w, const struct result *r)
{
    double total = 0;
    if (!r->nlengths) {
        jw_null(w, "thermodynamic_length");
        return;
    }
    jw_begin(w, "thermodynamic_length", '{');
    for (int i = 0; i < r->nlengths; i++)
        total += 0.5 * (r->lengths[i].deviation[0] + r->lengths[i].deviation[1]);
    jw_real(w, "total", total);
    jw_begin(w, "steps", '[');
    for (int i = 0; i < r->nlengths; i++) {
        const struct step_length *x = r->lengths + i;
        jw_begin(w, NULL, '{');
        jw_integer(w, "from", (size_t)x->from);
        jw_integer(w, "to", (size_t)x->to);
        jw_real(w, "length", 0.5 * (x->deviation[0] + x->deviation[1]));
        jw_real(w, "deviation_from", x->deviation[0]);
        jw_real(w, "deviation_to", x->deviation[1]);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    jw_end(w, '}');
}

static void convergence(struct writer *w, const struct result *r)
{
    bool has = r->nestimators && r->estimators[ESTIMATOR_MBAR].total.ok;
    jw_begin(w, "convergence", '[');
    for (int i = 0; has && i < ESTIMATE_FRACTIONS; i++) {
        const struct convergence *c = r->convergence + i;
        jw_begin(w, NULL, '{');
        jw_real(w, "data_fraction", (i + 1.0) / ESTIMATE_FRACTIONS);
        report_energy(w, "forward", r->ladder->beta, &c->forward);
        report_energy(w, "backward", r->ladder->beta, &c->backward);
        jw_text(w, "reason", c->reason);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

/* ---- the head */

enum estimator report_headline(const struct report *r)
{
    for (int i = 0; i < r->nrepeats; i++)
        if (r->repeats[i].stretched)
            return ESTIMATOR_TI;
    return ESTIMATOR_MBAR;
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
        buf_printf(out, "%s%s %s %s", out->len ? "; " : "", number_word(n, "window", "windows"), list.data, what);
    buf_free(&list);
}

/* Status and reason of the whole; whether there is a value. */
static bool status_of(const struct report *r, const char **status, struct buf *reason)
{
    const struct estimator_result *best = report_whole(r)->estimators + report_headline(r);
    list_windows(r, ESTIMATE_FAILED, "took no part", reason);
    list_windows(r, ESTIMATE_PARTIAL, "stopped early", reason);
    list_windows(r, ESTIMATE_RUNNING, "still running", reason);
    if (r->ladder->nstates == 1 || best->total.ok) /* else the verdict says so */
        list_windows(r, ESTIMATE_WAITS, "without samples yet", reason);
    if (r->ladder->nstates == 1) {
        *status = "failed";
        for (int i = 0; i < r->nrepeats; i++)
            if (r->repeats[i].windows[0].status < ESTIMATE_FAILED)
                *status = "averages";
        return false;
    }
    if (!best->total.ok)
        verdict_failure(&best->verdict, reason);
    *status = !best->total.ok ? "failed" : reason->len ? "partial" : "ok";
    return best->total.ok;
}

static void head(struct writer *w, const struct report *r)
{
    const struct estimator_result *best = report_whole(r)->estimators + report_headline(r);
    const struct ladder *l = r->ladder;
    double kcal = 1 / (l->beta * UNIT_KCAL);
    struct buf reason = {0}, what = {0};
    const char *status;
    const struct range *total = status_of(r, &status, &reason) ? &best->total : NULL;
    if (total) {
        jw_quantity(w, "estimate", total->value * kcal, "kilocalorie_per_mole");
        jw_quantity(w, "uncertainty", total->error * kcal, "kilocalorie_per_mole");
    } else {
        jw_null(w, "estimate");
        jw_null(w, "uncertainty");
    }
    if (l->nstates == 1)
        jw_null(w, "verdict");
    else
        report_verdict(w, &best->verdict);
    if (l->nstates == 1)
        buf_printf(&what, "none: a single window");
    else
        buf_printf(&what, "G(window %d) - G(window 0)", l->nstates - 1);
    jw_text(w, "status", status);
    jw_text(w, "reason", reason.data);
    jw_text(w, "estimator", total ? estimator_names[report_headline(r)] : NULL);
    jw_text(w, "quantity", what.data);
    jw_quantity(w, "temperature", l->temperature, "kelvin");
    if (isnan(r->pressure))
        jw_null(w, "pressure");
    else
        jw_quantity(w, "pressure", r->pressure, "bar");
    report_meaning(w, r, total);
    buf_free(&reason);
    buf_free(&what);
}

void report_about(struct writer *w, const struct estimate_about *a)
{
    jw_text(w, "version", SHOAL_VERSION);
    jw_begin(w, "ensemble", '{');
    jw_text(w, "id", a->id);
    jw_text(w, "key", a->key);
    jw_text(w, "name", a->name);
    jw_begin(w, "labels", '{');
    for (int i = 0; i < a->nlabels; i++) {
        jw_item(w, a->labels[i].key);
        jw_string(w->out, a->labels[i].value);
    }
    jw_end(w, '}');
    jw_text(w, "spec_hash", a->spec_hash);
    if (a->revision)
        jw_integer(w, "revision", a->revision);
    else
        jw_null(w, "revision");
    if (a->placed) {
        jw_item(w, "placed");
        buf_printf(w->out, "%s", a->placed);
    }
    if (a->ns_per_day > 0)
        jw_quantity(w, "speed", a->ns_per_day, "nanosecond_per_day");
    else
        jw_null(w, "speed");
    if (a->running > 0)
        jw_quantity(w, "running", a->running, "second");
    else
        jw_null(w, "running");
    jw_begin(w, "devices", '[');
    for (int i = 0; i < a->ndevices; i++)
        jw_text(w, NULL, a->devices[i]);
    jw_end(w, ']');
    jw_end(w, '}');
}

/* The totals of the repeats, one by one. */
static void repeats(struct writer *w, const struct report *r)
{
    if (r->nrepeats < 2 || r->ladder->nstates < 2) {
        jw_null(w, "repeats");
        return;
    }
    jw_begin(w, "repeats", '[');
    for (int i = 0; i < r->nrepeats; i++) {
        const struct estimator_result *x = r->repeats[i].estimators + report_headline(r);
        jw_begin(w, NULL, '{');
        jw_integer(w, "repeat", (size_t)i);
        report_energy(w, "free_energy", r->ladder->beta, &x->total);
        report_verdict(w, &x->verdict);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

static void warnings(struct writer *w, const struct report *r)
{
    jw_begin(w, "warnings", '[');
    if (r->remark)
        jw_text(w, NULL, r->remark);
    if (r->fold_remark)
        jw_text(w, NULL, r->fold_remark);
    if (ladder_moves(r->ladder, LAMBDA_MASS, 0, r->ladder->nstates - 1))
        jw_text(w, NULL,
                "the ladder has masses: free energies are without the kinetic part of those that change, -3/2 RT "
                "ln(mB/mA) for "
                "each free atom, which is the same in every leg and cancels between legs");
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->repeats[i].nwarnings; k++) {
            struct buf line = {0};
            if (r->nrepeats > 1)
                buf_printf(&line, "repeat %d: ", i);
            buf_printf(&line, "%s", r->repeats[i].warnings[k]);
            jw_text(w, NULL, line.data);
            buf_free(&line);
        }
    jw_end(w, ']');
}

/* Steps of production that windows are to make. */
static void production(struct writer *w, struct report *r)
{
    if (!r->production)
        return;
    if (!report_allocate(r)) {
        jw_null(w, "production");
        return;
    }
    jw_begin(w, "production", '[');
    for (int k = 0; k < r->ladder->nstates; k++)
        jw_integer(w, NULL, (size_t)r->production->windows[k].target);
    jw_end(w, ']');
}

void report_methods(struct writer *w, const struct report *r)
{
    if (r->methods) {
        jw_begin(w, "methods", '[');
        r->methods(r->observables_of, w);
        jw_end(w, ']');
    }
    if (r->split) {
        jw_item(w, "split");
        buf_printf(w->out, "%s", r->split);
    }
}

void report_watched(struct writer *w, const struct report *r)
{
    if (r->observables) {
        jw_begin(w, "observables", '[');
        r->observables(r->observables_of, w);
        jw_end(w, ']');
    }
    if (r->torsions) {
        jw_begin(w, "torsions", '{');
        r->torsions(r->observables_of, w);
        jw_end(w, '}');
    }
    if (r->fold) {
        jw_begin(w, "fold", '{');
        r->fold(r->observables_of, w);
        jw_end(w, '}');
    }
}

void report_write(struct report *r, struct buf *json)
{
    const struct result *whole = report_whole(r);
    struct writer w = {.out = json, .first = true};
    jw_begin(&w, NULL, '{');
    head(&w, r);
    report_about(&w, r->about);
    report_methods(&w, r);
    repeats(&w, r);
    jw_begin(&w, "estimators", '[');
    for (int i = 0; i < whole->nestimators; i++)
        estimator(&w, whole, (enum estimator)i);
    jw_end(&w, ']');
    jw_begin(&w, "windows", '[');
    for (int i = 0; i < r->nrepeats; i++)
        for (int k = 0; k < r->ladder->nstates; k++)
            window(&w, r->repeats + i, i, k);
    jw_end(&w, ']');
    overlap(&w, whole);
    thermodynamic_length(&w, whole);
    report_exchanges(&w, r);
    convergence(&w, whole);
    profiles_write(&w, r);
    production(&w, r);
    report_watched(&w, r);
    warnings(&w, r);
    jw_end(&w, '}');
    buf_add(json, "\n", 1);
}
