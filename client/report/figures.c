/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of an ensemble's results.
 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/report/report.h"
#include "client/results/convergence.h"
#include "engine/base/json/number_json.h"
#include "engine/plot/plot.h"

static void put_convergence(struct buf *out, const json_t *results)
{
    struct plot_series series[2];
    results_convergence(json_object_get(results, "convergence"), series);
    plot_series(out,
                &(struct plot){.title = "Convergence",
                               .note =
                                   "free energy from the first part of the samples and from the last; in the band: the "
                                   "answer, with the error that so many samples have",
                               .x = "part of the samples",
                               .y = "free energy, kcal/mol",
                               .level = answer_magnitude(json_object_get(results, "estimate")),
                               .spread = answer_magnitude(json_object_get(results, "uncertainty")),
                               .widens = true,
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
        s->points[s->n++] = (struct plot_point){number_from_json(json_object_get(one, "window")),
                                                number_from_json(pair ? json_object_get(inner, "value") : inner),
                                                pair ? number_from_json(json_object_get(inner, "error")) : NAN, NULL};
    }
}

static double lambda_of(const json_t *window, const char *component)
{
    return number_from_json(json_object_get(json_object_get(window, "lambda"), component));
}

/* Whether a component changes from or to the window of entry i, of the same repeat. */
static bool changes_at(const json_t *windows, size_t i, const char *component)
{
    const json_t *one = json_array_get(windows, i);
    bool any = false;
    for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < json_array_size(windows); k++) {
        const json_t *other = json_array_get(windows, k);
        any |= answer_whole(other, "repeat") == answer_whole(one, "repeat") &&
               lambda_of(other, component) != lambda_of(one, component);
    }
    return any;
}

/* Over lambda, in windows with samples where the component changes: what TI integrates. */
static void put_derivative(struct buf *out, const json_t *results, const char *component)
{
    const json_t *windows = json_object_get(results, "windows"), *one;
    struct plot_series s = {.points = xcalloc(json_array_size(windows) + 1, sizeof *s.points),
                            .joined = !json_is_array(json_object_get(results, "repeats"))};
    struct buf title = {0}, x = {0};
    size_t i;
    json_array_foreach (windows, i, one) {
        const json_t *slope = json_object_get(json_object_get(one, "dhdl"), component);
        if (json_is_object(json_object_get(one, "samples")) && changes_at(windows, i, component))
            s.points[s.n++] =
                (struct plot_point){lambda_of(one, component), number_from_json(json_object_get(slope, "value")),
                                    number_from_json(json_object_get(slope, "error")), NULL};
    }
    buf_printf(&title, "dH/dlambda of %s", component);
    buf_printf(&x, "lambda of %s", component);
    plot_series(out,
                &(struct plot){.title = title.data,
                               .note = "where it changes: TI integrates this curve",
                               .x = x.data,
                               .y = "dH/dlambda, kJ/mol",
                               .zero = true,
                               .level = NAN,
                               .equal = NAN},
                &s, 1);
    free(s.points);
    buf_free(&title);
    buf_free(&x);
}

static void put_derivatives(struct buf *out, const json_t *results)
{
    const json_t *value;
    const char *component;
    json_object_foreach (json_object_get(json_array_get(json_object_get(results, "windows"), 0), "lambda"), component,
                         value)
        put_derivative(out, results, component);
}

static void put_inefficiency(struct buf *out, const json_t *windows)
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

static void put_matrix(struct buf *out, const char *title, const char *note, const json_t *rows, double least)
{
    size_t n = json_array_size(rows);
    if (!n)
        return;
    double *matrix = xcalloc(n * n, sizeof *matrix);
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = number_from_json(json_array_get(json_array_get(rows, i / n), i % n));
    plot_matrix(out, title, note, matrix, (int)n, least);
    free(matrix);
}

/* Whether a window has samples in any repeat. */
static bool has_samples(const json_t *windows, size_t window)
{
    const json_t *one;
    bool any = false;
    size_t i;
    json_array_foreach (windows, i, one)
        any |= answer_whole(one, "window") == (long long)window && json_is_object(json_object_get(one, "samples"));
    return any;
}

/* Rows and columns of windows without samples are empty. */
static void put_overlap(struct buf *out, const json_t *results)
{
    const json_t *overlap = json_object_get(results, "overlap"), *windows = json_object_get(results, "windows"), *row,
                 *cell;
    json_t *rows = json_array();
    size_t i, k;
    json_array_foreach (json_object_get(overlap, "matrix"), i, row) {
        const bool sampled = has_samples(windows, i);
        json_t *kept = json_array();
        json_array_foreach (row, k, cell)
            json_array_append_new(kept, sampled && has_samples(windows, k) ? json_incref((json_t *)cell) : json_null());
        json_array_append_new(rows, kept);
    }
    put_matrix(out, "Overlap of windows",
               "the chance that a sample of the window of a row could be of the window of a column; red: neighbours "
               "with too little",
               rows, number_from_json(json_object_get(overlap, "threshold")));
    json_decref(rows);
}

/* Of every repeat whose replicas exchange windows. */
static void put_exchange(struct buf *out, const json_t *results)
{
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(results, "exchange"), i, one) {
        char title[64];
        snprintf(title, sizeof title, "Exchanges of repeat %lld", answer_whole(one, "repeat"));
        put_matrix(out, title, "the chance that the replica in the window of a row came to the window of a column",
                   json_object_get(one, "transitions"), NAN);
    }
}

void report_figures(struct buf *out, const json_t *ensemble, const json_t *results)
{
    const json_t *windows = json_object_get(results, "windows");
    buf_printf(out, "<div class=\"figures\">\n");
    put_convergence(out, results);
    report_profiles(out, results);
    put_overlap(out, results);
    put_derivatives(out, results);
    put_inefficiency(out, windows);
    report_shares(out, ensemble, results);
    put_exchange(out, results);
    buf_printf(out, "</div>\n");
}
