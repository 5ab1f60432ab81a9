/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble's results come to, and the figures of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/page.h"
#include "client/plot.h"
#include "client/report.h"

double report_number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double magnitude(const json_t *quantity)
{
    return report_number(json_object_get(quantity, "magnitude"));
}

/* ---- the answer ---- */

/* "-2.31 +- 0.12 kcal/mol" */
static void put_energy(struct buf *out, const json_t *energy, const char *unit)
{
    const json_t *one = json_object_get(energy, unit);
    show_value(out, report_number(json_object_get(one, "value")), report_number(json_object_get(one, "error")));
    buf_printf(out, " %s", unit);
}

static void energy_fact(struct buf *out, const char *what, const json_t *energy)
{
    struct buf text = {0};
    if (!json_is_object(energy))
        return;
    put_energy(&text, energy, "kcal/mol");
    page_fact(out, what, "", "%s", text.data);
    buf_free(&text);
}

static void solvation_fact(struct buf *out, const json_t *solvation)
{
    char what[120];
    if (!json_is_object(solvation))
        return;
    snprintf(what, sizeof what, "free energy of solvation of %.64s", answer_text(solvation, "molecule"));
    energy_fact(out, what, json_object_get(solvation, "free_energy"));
}

struct sampled {
    double ns, fewest; /* of all windows; uncorrelated samples of the window that has the fewest, NAN: not known */
    size_t windows, took_part;
};

static struct sampled count_samples(const json_t *windows)
{
    struct sampled sum = {0, NAN, json_array_size(windows), 0};
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        double ns = magnitude(json_object_get(window, "sampled"));
        sum.ns += isfinite(ns) ? ns : 0;
        sum.fewest =
            fmin(sum.fewest, report_number(json_object_get(json_object_get(window, "samples"), "uncorrelated")));
        sum.took_part += strcmp(answer_text(window, "status"), "failed") != 0;
    }
    return sum;
}

static void facts(struct buf *out, const json_t *results)
{
    const json_t *overlap = json_object_get(results, "overlap");
    double least = report_number(json_object_get(overlap, "minimum"));
    char enough[64];
    snprintf(enough, sizeof enough, "%g is enough", answer_number(overlap, "threshold"));
    struct sampled sampled = count_samples(json_object_get(results, "windows"));
    page_facts_begin(out);
    solvation_fact(out, json_object_get(results, "solvation"));
    energy_fact(out, "to add for 1 mol/l", json_object_get(json_object_get(results, "standard_state"), "correction"));
    energy_fact(out, "to add for no periodic images",
                json_object_get(json_object_get(results, "finite_size"), "correction"));
    page_fact(out, "windows with samples", "", "%zu of %zu", sampled.took_part, sampled.windows);
    page_fact(out, "simulated, all windows", "", "%.4g ns", sampled.ns);
    if (isfinite(sampled.fewest))
        page_fact(out, "fewest uncorrelated samples", "", "%.0f", sampled.fewest);
    if (isfinite(least))
        page_fact(out, "least overlap of neighbours", enough, "%.2f", least);
    page_facts_end(out);
}

/* Why it is not to be believed, or not there. */
static void put_reasons(struct buf *out, const json_t *results)
{
    enum { SHOWN = 4 };
    const json_t *reasons = json_object_get(json_object_get(results, "verdict"), "reasons"), *one;
    size_t i;
    buf_printf(out, "%s", answer_text(results, "reason"));
    json_array_foreach (reasons, i, one)
        if (i < SHOWN)
            buf_printf(out, "%s%s", out->len ? "\n" : "", answer_text(one, "text"));
    if (json_array_size(reasons) > SHOWN)
        buf_printf(out, "\nand %zu more reasons, at the end of the page", json_array_size(reasons) - SHOWN);
}

void report_answer(struct buf *out, const json_t *ensemble, const json_t *results)
{
    const json_t *estimator = json_array_get(json_object_get(results, "estimators"), 0);
    struct buf number = {0}, what = {0}, sentences = {0};
    const char *state = answer_text(ensemble, "state");
    bool known = json_is_object(json_object_get(results, "estimate"));
    buf_printf(&what, "%s", answer_text(results, "quantity"));
    if (!ensemble_ended(state))
        buf_printf(&what, "; so far: the ensemble is %s, %.0f %% of all steps are done", state,
                   floor(100 * answer_number(ensemble, "progress")));
    if (known)
        put_energy(&number, json_object_get(estimator, "total"), "kcal/mol");
    else
        buf_printf(&number, "no free energy");
    buf_add(&sentences, "", 0);
    put_reasons(&sentences, results);
    page_answer(out, what.data, number.data, answer_text(json_object_get(results, "verdict"), "verdict"),
                sentences.data);
    facts(out, results);
    buf_free(&number);
    buf_free(&what);
    buf_free(&sentences);
}

/* ---- figures ---- */

void report_convergence(const json_t *list, struct plot_series *series)
{
    static const char *const names[] = {"forward", "backward"};
    const json_t *one;
    size_t i;
    for (int k = 0; k < 2; k++) {
        series[k] = (struct plot_series){
            .name = names[k], .points = xcalloc(json_array_size(list), sizeof(struct plot_point)), .joined = true};
        json_array_foreach (list, i, one) {
            const json_t *energy = json_object_get(json_object_get(one, names[k]), "kcal/mol");
            series[k].points[series[k].n++] = (struct plot_point){
                report_number(json_object_get(one, "data_fraction")), report_number(json_object_get(energy, "value")),
                report_number(json_object_get(energy, "error")), NULL};
        }
    }
}

static void convergence_show(struct buf *out, const json_t *results)
{
    struct plot_series series[2];
    report_convergence(json_object_get(results, "convergence"), series);
    plot_series(out,
                &(struct plot){.title = "Convergence",
                               .note =
                                   "free energy from the first part of the samples and from the last; in the band is "
                                   "the answer with its error",
                               .x = "part of the samples",
                               .y = "free energy, kcal/mol",
                               .level = magnitude(json_object_get(results, "estimate")),
                               .spread = magnitude(json_object_get(results, "uncertainty")),
                               .equal = NAN},
                series, 2);
    free(series[0].points);
    free(series[1].points);
}

/* A number of every window: of its object at a path of two keys. */
static void window_points(const json_t *windows, const char *first, const char *second, struct plot_series *s)
{
    const json_t *one;
    size_t i;
    s->points = xcalloc(json_array_size(windows), sizeof *s->points);
    json_array_foreach (windows, i, one) {
        const json_t *inner = json_object_get(json_object_get(one, first), second);
        bool pair = json_is_object(inner);
        s->points[s->n++] = (struct plot_point){report_number(json_object_get(one, "window")),
                                                report_number(pair ? json_object_get(inner, "value") : inner),
                                                pair ? report_number(json_object_get(inner, "error")) : NAN, NULL};
    }
}

static void derivatives_show(struct buf *out, const json_t *windows)
{
    enum { COMPONENTS = 8 };
    struct plot_series series[COMPONENTS] = {0};
    const json_t *of = json_object_get(json_array_get(windows, 0), "dhdl"), *value;
    const char *component;
    int n = 0;
    json_object_foreach ((json_t *)of, component, value)
        if (n < COMPONENTS) {
            series[n].name = component;
            window_points(windows, "dhdl", component, &series[n++]);
        }
    plot_series(out,
                &(struct plot){.title = "dH/dlambda along the ladder",
                               .note = "",
                               .x = "window",
                               .y = "dH/dlambda, kJ/mol",
                               .zero = true,
                               .level = NAN,
                               .equal = NAN},
                series, n);
    for (int k = 0; k < n; k++)
        free(series[k].points);
}

static void inefficiency_show(struct buf *out, const json_t *windows)
{
    struct plot_series rows = {.name = "g"};
    window_points(windows, "samples", "inefficiency", &rows);
    plot_series(out,
                &(struct plot){.title = "Statistical inefficiency g",
                               .note = "rows for each uncorrelated sample",
                               .x = "window",
                               .y = "g",
                               .zero = true,
                               .level = NAN,
                               .equal = NAN},
                &rows, 1);
    free(rows.points);
}

static void matrix_show(struct buf *out, const char *title, const char *note, const json_t *rows, double least)
{
    size_t n = json_array_size(rows);
    if (!n)
        return;
    double *matrix = xcalloc(n * n, sizeof *matrix);
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = report_number(json_array_get(json_array_get(rows, i / n), i % n));
    plot_matrix(out, title, note, matrix, (int)n, least);
    free(matrix);
}

static void overlap_show(struct buf *out, const json_t *overlap)
{
    matrix_show(out, "Overlap of windows",
                "the chance that a sample of the window of a row could be of the window of a column; red: neighbours "
                "with too little",
                json_object_get(overlap, "matrix"), report_number(json_object_get(overlap, "threshold")));
}

/* Of every repeat whose replicas exchange windows. */
static void exchange_show(struct buf *out, const json_t *results)
{
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(results, "exchange"), i, one) {
        char title[64];
        snprintf(title, sizeof title, "Exchanges of repeat %lld", answer_whole(one, "repeat"));
        matrix_show(out, title, "the chance that the replica in the window of a row came to the window of a column",
                    json_object_get(one, "transitions"), NAN);
    }
}

void report_figures(struct buf *out, const json_t *results)
{
    const json_t *windows = json_object_get(results, "windows");
    buf_printf(out, "<div class=\"figures\">\n");
    convergence_show(out, results);
    overlap_show(out, json_object_get(results, "overlap"));
    derivatives_show(out, windows);
    inefficiency_show(out, windows);
    exchange_show(out, results);
    buf_printf(out, "</div>\n");
}
