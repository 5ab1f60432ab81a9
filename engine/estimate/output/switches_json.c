/* SPDX-License-Identifier: Apache-2.0
 *
 * results.json of works of switches: what schemas/results.schema.json has as `switching`, and the members that every
 * results.json has, with no windows.
 */
#include <math.h>
#include <stdio.h>

#include "engine/base/json/json_writer.h"
#include "engine/base/number.h"
#include "engine/base/units.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/switching/switching.h"

#define MUCH_BETTER 0.9 /* of the error of more switches, which an ensemble need not begin anew for */

/* A number with its verdict, as it is in the list of estimators. */
struct named {
    const char *name;
    const struct range *total;
    const struct verdict *verdict;
};

enum { NAMED = 4 };

static void list_named(const struct switching *s, struct named *out)
{
    const struct one_way *f = s->way + SWITCH_FORWARD, *b = s->way + SWITCH_BACKWARD;
    out[0] = (struct named){"BAR", &s->bar, &s->bar_verdict};
    out[1] = (struct named){"Jarzynski forward", &f->jarzynski, &f->verdict};
    out[2] = (struct named){"Jarzynski backward", &b->jarzynski, &b->verdict};
    out[3] = (struct named){"Gaussian intersection", &s->gaussian, &s->gaussian_verdict};
}

/* BAR; where only one way was given, Jarzynski's of that way. */
static const struct named *headline(const struct switching *s, const struct named *all)
{
    const bool forward = switching_has(s, SWITCH_FORWARD), backward = switching_has(s, SWITCH_BACKWARD);
    return forward == backward ? all : forward ? all + 1 : all + 2;
}

static void named_estimator(struct writer *w, const struct switching *s, const struct named *x)
{
    struct buf reason = {0};
    if (!x->total->ok)
        verdict_failure(x->verdict, &reason);
    jw_begin(w, NULL, '{');
    jw_text(w, "name", x->name);
    jw_text(w, "status", x->total->ok ? "ok" : "failed");
    jw_text(w, "reason", reason.data);
    report_energy(w, "total", s->beta, x->total);
    report_verdict(w, x->verdict);
    jw_null(w, "quadrature_error");
    static const char *const none[] = {"legs", "steps", "cumulative"};
    for (int i = 0; i < 3; i++) {
        jw_begin(w, none[i], '[');
        jw_end(w, ']');
    }
    jw_end(w, '}');
    buf_free(&reason);
}

/* What the number is of, and what is to be said beside it. */
static void meaning(struct writer *w, const struct switching *s, const struct walkers_report *of,
                    const struct range *total)
{
    static const char *const none[] = {"pressure", "solvation", "change", "standard_state", "finite_size"};
    jw_text(w, "quantity", of ? "G(end B) - G(end A)" : "G(1) - G(0)");
    jw_quantity(w, "temperature", s->temperature, "kelvin");
    if (!of) {
        for (int i = 0; i < 5; i++)
            jw_null(w, none[i]);
        report_about(w, &(struct estimate_about){0});
        return;
    }
    if (isnan(of->report->pressure))
        jw_null(w, "pressure");
    else
        jw_quantity(w, "pressure", of->report->pressure, "bar");
    report_meaning(w, of->report, total);
    report_about(w, of->report->about);
    report_methods(w, of->report);
}

/* The number of each repeat, from its switches alone. */
static void repeats_alone(struct writer *w, const struct walkers_report *of)
{
    if (!of || of->nrepeats < 2) {
        jw_null(w, "repeats");
        return;
    }
    jw_begin(w, "repeats", '[');
    for (int i = 0; i < of->nrepeats; i++) {
        const struct switching *s = of->repeats + i;
        jw_begin(w, NULL, '{');
        jw_integer(w, "repeat", (size_t)i);
        report_energy(w, "free_energy", s->beta, &s->bar);
        report_verdict(w, &s->bar_verdict);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

static void switches_head(struct writer *w, const struct switching *s, const struct walkers_report *of,
                          const struct named *best, const struct named *bar)
{
    const double kcal = 1 / (s->beta * UNIT_KCAL);
    struct buf reason = {0};
    if (best->total->ok) {
        jw_quantity(w, "estimate", best->total->value * kcal, "kilocalorie_per_mole");
        jw_quantity(w, "uncertainty", best->total->error * kcal, "kilocalorie_per_mole");
    } else {
        jw_null(w, "estimate");
        jw_null(w, "uncertainty");
    }
    if (of)
        walkers_list(of, &reason);
    const bool whole = best == bar && !reason.len;
    if (best != bar || !best->total->ok)
        verdict_failure(bar->verdict, &reason);
    report_verdict(w, best->verdict);
    jw_text(w, "status", !best->total->ok ? "failed" : whole ? "ok" : "partial");
    jw_text(w, "reason", reason.data);
    jw_text(w, "estimator", best->total->ok ? best->name : NULL);
    meaning(w, s, of, best->total->ok ? best->total : NULL);
    repeats_alone(w, of);
    buf_free(&reason);
}

static void maybe(struct writer *w, const char *key, double beta, double value, double error)
{
    report_energy(w, key, beta, &(struct range){.ok = isfinite(value), .value = value, .error = error});
}

static void way(struct writer *w, const struct switching *s, enum switch_way which)
{
    const struct switch_works *works = s->works + which;
    const struct one_way *x = s->way + which;
    const bool has = switching_has(s, which);
    jw_begin(w, switch_way_words[which], '{');
    jw_integer(w, "works", works->n);
    jw_integer(w, "nonfinite", works->nonfinite);
    jw_integer(w, "incomplete", works->incomplete);
    jw_integer(w, "other_length", works->other_length);
    if (works_length(works) > 0)
        jw_quantity(w, "length", works_length(works) * 1e-3, "nanosecond");
    else
        jw_null(w, "length");
    maybe(w, "mean", s->beta, has ? x->mean : NAN, x->mean_error);
    maybe(w, "deviation", s->beta, has ? x->deviation : NAN, NAN);
    maybe(w, "dissipated", s->beta, x->dissipated, x->dissipated_error);
    jw_real(w, "inefficiency", has ? x->inefficiency : NAN);
    jw_real(w, "effective", has ? x->effective : NAN);
    maybe(w, "jarzynski_bias", s->beta, has ? x->bias : NAN, NAN);
    jw_end(w, '}');
}

/* From how much walkers differ. */
static void spread(struct writer *w, const struct switching *s)
{
    const struct walker_spread *x = &s->spread;
    if (!x->walkers)
        return;
    jw_begin(w, "spread", '{');
    jw_integer(w, "walkers", (size_t)x->walkers);
    jw_quantity(w, "error", x->error / s->beta / UNIT_KCAL, "kilocalorie_per_mole");
    jw_real(w, "inefficiency", x->inefficiency);
    jw_real(w, "drift", x->drift);
    jw_end(w, '}');
}

/* What more time would do: as more switches, and as longer ones. */
static void advice(struct writer *w, const struct switching *s)
{
    const double kcal = 1 / (s->beta * UNIT_KCAL), more = s->bar.error / sqrt(2) * kcal, longer = s->longer * kcal;
    const double dissipated = 0.5 * s->lag.value;
    char text[400];
    if (!isfinite(longer))
        return;
    if (longer < MUCH_BETTER * more)
        snprintf(text, sizeof text,
                 "longer switches help more than more of them: for twice the time in switches, as many of twice the "
                 "length would have an error of %.2g kcal/mol, twice as many %.2g (a switch dissipates %.2g kT, half "
                 "as much at twice the length)",
                 longer, more, dissipated);
    else
        snprintf(text, sizeof text,
                 "more switches help as much as longer ones: for twice the time in switches, twice as many would have "
                 "an error of %.2g kcal/mol, as many of twice the length %.2g (a switch dissipates %.2g kT)",
                 more, longer, dissipated);
    jw_begin(w, "advice", '{');
    jw_text(w, "better", longer < MUCH_BETTER * more ? "longer" : "more");
    jw_quantity(w, "twice_as_many", more, "kilocalorie_per_mole");
    jw_quantity(w, "twice_as_long", longer, "kilocalorie_per_mole");
    jw_text(w, "text", text);
    jw_end(w, '}');
}

static void switching(struct writer *w, const struct switching *s, const struct walkers_report *of)
{
    jw_begin(w, "switching", '{');
    way(w, s, SWITCH_FORWARD);
    way(w, s, SWITCH_BACKWARD);
    maybe(w, "hysteresis", s->beta, s->lag.value, s->lag.error);
    jw_real(w, "overlap", s->overlap);
    if (isfinite(s->slope.value)) {
        jw_begin(w, "slope", '{');
        jw_real(w, "value", s->slope.value);
        jw_real(w, "error", s->slope.error);
        jw_end(w, '}');
    } else {
        jw_null(w, "slope");
    }
    spread(w, s);
    advice(w, s);
    lengthened_write(w, s, of);
    distributions_write(w, s);
    if (of)
        walkers_write(w, of);
    jw_end(w, '}');
}

/* Correlated snapshots. */
static void warn_spread(struct writer *w, const struct switching *s)
{
    const struct walker_spread *x = &s->spread;
    char text[400];
    if (!x->walkers || !(x->inefficiency > 1 + 3 * sqrt(2.0 / (x->walkers - 2))))
        return;
    snprintf(
        text, sizeof text,
        "works of a walker are correlated: by the spread of %d walkers %.1f works count for one, and the error says "
        "so; snapshots are too close for their number",
        x->walkers, x->inefficiency);
    jw_text(w, NULL, text);
}

static void switches_warnings(struct writer *w, const struct switching *s, const struct walkers_report *of)
{
    char text[400];
    jw_begin(w, "warnings", '[');
    if (of && of->report->remark)
        jw_text(w, NULL, of->report->remark);
    if (of && of->report->fold_remark)
        jw_text(w, NULL, of->report->fold_remark);
    warn_spread(w, s);
    if (s->works[SWITCH_BACKWARD].reversed_sign)
        jw_text(
            w, NULL,
            "backward works came in lines of a name and a work, as pmx writes them, with the sign of going from 0 to "
            "1: their sign was changed");
    for (int i = 0; i < SWITCH_WAYS; i++) {
        const struct switch_works *x = s->works + i;
        if (x->nonfinite) {
            snprintf(text, sizeof text, "%zu %s %s not finite and were left out", x->nonfinite, switch_way_words[i],
                     number_word((int64_t)x->nonfinite, "work is", "works are"));
            jw_text(w, NULL, text);
        }
        if (x->incomplete) {
            snprintf(text, sizeof text, "%zu %s %s shorter than the longest and left out", x->incomplete,
                     switch_way_words[i], number_word((int64_t)x->incomplete, "switch is", "switches are"));
            jw_text(w, NULL, text);
        }
        if (x->cut_short) {
            snprintf(text, sizeof text,
                     "%zu %s of %s works %s within a line, which was left out: copy what is not whole again",
                     x->cut_short, number_word((int64_t)x->cut_short, "table", "tables"), switch_way_words[i],
                     number_word((int64_t)x->cut_short, "ends", "end"));
            jw_text(w, NULL, text);
        }
        if (switching_has(s, (enum switch_way)i) && s->way[i].inefficiency > 2) {
            snprintf(
                text, sizeof text,
                "%s works are correlated (g = %.1f): their snapshots are too close for their number, and the error "
                "says so",
                switch_way_words[i], s->way[i].inefficiency);
            jw_text(w, NULL, text);
        }
    }
    if (s->works[SWITCH_FORWARD].slow_growth || s->works[SWITCH_BACKWARD].slow_growth)
        jw_text(w, NULL,
                "files with dH/dlambda do not say how far lambda went: it is taken to go from one end to the other, "
                "which it does where nsteps times delta-lambda is 1 or -1");
    jw_end(w, ']');
}

bool switches_write(const struct switching *s, const struct walkers_report *of, struct buf *json)
{
    struct named all[NAMED];
    list_named(s, all);
    const struct named *best = headline(s, all);
    struct writer w = {.out = json, .first = true};
    jw_begin(&w, NULL, '{');
    switches_head(&w, s, of, best, all);
    jw_begin(&w, "estimators", '[');
    for (int i = 0; i < NAMED; i++)
        named_estimator(&w, s, all + i);
    jw_end(&w, ']');
    jw_begin(&w, "windows", '[');
    jw_end(&w, ']');
    jw_null(&w, "overlap");
    jw_null(&w, "thermodynamic_length");
    static const char *const none[] = {"exchange", "convergence"};
    for (int i = 0; i < 2; i++) {
        jw_begin(&w, none[i], '[');
        jw_end(&w, ']');
    }
    if (of)
        report_watched(&w, of->report);
    switching(&w, s, of);
    switches_warnings(&w, s, of);
    jw_end(&w, '}');
    buf_add(json, "\n", 1);
    return best->total->ok;
}
