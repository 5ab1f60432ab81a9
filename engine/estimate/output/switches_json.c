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

static void switches_head(struct writer *w, const struct switching *s, const struct named *best,
                          const struct named *bar)
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
    if (best != bar || !best->total->ok)
        verdict_failure(bar->verdict, &reason);
    report_verdict(w, best->verdict);
    jw_text(w, "status", !best->total->ok ? "failed" : best == bar ? "ok" : "partial");
    jw_text(w, "reason", reason.data);
    jw_text(w, "estimator", best->total->ok ? best->name : NULL);
    jw_text(w, "quantity", "G(1) - G(0)");
    jw_quantity(w, "temperature", s->temperature, "kelvin");
    static const char *const none[] = {"pressure", "solvation", "change", "standard_state", "finite_size"};
    for (int i = 0; i < 5; i++)
        jw_null(w, none[i]);
    report_about(w, &(struct estimate_about){0});
    jw_null(w, "repeats");
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

static void switching(struct writer *w, const struct switching *s)
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
    jw_end(w, '}');
}

static void switches_warnings(struct writer *w, const struct switching *s)
{
    char text[400];
    jw_begin(w, "warnings", '[');
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

bool switches_write(const struct switching *s, struct buf *json)
{
    struct named all[NAMED];
    list_named(s, all);
    const struct named *best = headline(s, all);
    struct writer w = {.out = json, .first = true};
    jw_begin(&w, NULL, '{');
    switches_head(&w, s, best, all);
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
    switching(&w, s);
    switches_warnings(&w, s);
    jw_end(&w, '}');
    buf_add(json, "\n", 1);
    return best->total->ok;
}
