/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of an ensemble's results.
 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/report/report.h"
#include "client/results/convergence.h"
#include "engine/plot/plot.h"

static void convergence_show(struct buf *out, const json_t *results)
{
    struct plot_series series[2];
    results_convergence(json_object_get(results, "convergence"), series);
    plot_series(out,
                &(struct plot){.title = "Convergence",
                               .note =
                                   "free energy from the first part of the samples and from the last; in the band is "
                                   "the answer with its error",
                               .x = "part of the samples",
                               .y = "free energy, kcal/mol",
                               .level = answer_magnitude(json_object_get(results, "estimate")),
                               .spread = answer_magnitude(json_object_get(results, "uncertainty")),
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
        s->points[s->n++] = (struct plot_point){answer_real(json_object_get(one, "window")),
                                                answer_real(pair ? json_object_get(inner, "value") : inner),
                                                pair ? answer_real(json_object_get(inner, "error")) : NAN, NULL};
    }
}

static void derivatives_show(struct buf *out, const json_t *results)
{
    enum { COMPONENTS = 8 };
    struct plot_series series[COMPONENTS] = {0};
    const json_t *windows = json_object_get(results, "windows"),
                 *of = json_object_get(json_array_get(windows, 0), "dhdl"), *value;
    bool once = !json_is_array(json_object_get(results, "repeats")); /* each window */
    const char *component;
    int n = 0;
    json_object_foreach ((json_t *)of, component, value)
        if (n < COMPONENTS) {
            series[n] = (struct plot_series){.name = component, .joined = once};
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
        matrix[i] = answer_real(json_array_get(json_array_get(rows, i / n), i % n));
    plot_matrix(out, title, note, matrix, (int)n, least);
    free(matrix);
}

static void overlap_show(struct buf *out, const json_t *overlap)
{
    matrix_show(out, "Overlap of windows",
                "the chance that a sample of the window of a row could be of the window of a column; red: neighbours "
                "with too little",
                json_object_get(overlap, "matrix"), answer_real(json_object_get(overlap, "threshold")));
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

void report_figures(struct buf *out, const json_t *ensemble, const json_t *results)
{
    const json_t *windows = json_object_get(results, "windows");
    buf_printf(out, "<div class=\"figures\">\n");
    convergence_show(out, results);
    report_profiles(out, results);
    overlap_show(out, json_object_get(results, "overlap"));
    derivatives_show(out, results);
    inefficiency_show(out, windows);
    report_shares(out, ensemble, results);
    exchange_show(out, results);
    buf_printf(out, "</div>\n");
}
