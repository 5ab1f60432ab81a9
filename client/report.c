/* SPDX-License-Identifier: Apache-2.0
 *
 * report: results.json as one page that needs no other file and no network.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/plot.h"

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* ---- what the figures show ---- */

static void convergence_show(struct buf *out, const json_t *results)
{
    static const char *const names[] = {"forward", "backward"};
    const json_t *list = json_object_get(results, "convergence"), *one;
    struct plot_series series[2];
    size_t i;
    for (int k = 0; k < 2; k++) {
        series[k] = (struct plot_series){
            .name = names[k], .points = xcalloc(json_array_size(list), sizeof(struct plot_point)), .joined = true};
        json_array_foreach (list, i, one) {
            const json_t *energy = json_object_get(json_object_get(one, names[k]), "kcal/mol");
            series[k].points[series[k].n++] =
                (struct plot_point){number(json_object_get(one, "data_fraction")),
                                    number(json_object_get(energy, "value")), number(json_object_get(energy, "error"))};
        }
    }
    plot_series(out, "Free energy from the first and from the last part of the samples", "part of the samples",
                "kcal/mol", series, 2, false);
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
        s->points[s->n++] = (struct plot_point){number(json_object_get(one, "window")),
                                                number(pair ? json_object_get(inner, "value") : inner),
                                                pair ? number(json_object_get(inner, "error")) : NAN};
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
    plot_series(out, "dH/dlambda along the ladder", "window", "kJ/mol", series, n, true);
    for (int k = 0; k < n; k++)
        free(series[k].points);
}

static void inefficiency_show(struct buf *out, const json_t *windows)
{
    struct plot_series rows = {.name = "g"};
    window_points(windows, "samples", "inefficiency", &rows);
    plot_series(out, "Rows for each uncorrelated sample", "window", "g", &rows, 1, true);
    free(rows.points);
}

static void matrix_show(struct buf *out, const char *title, const char *below, const json_t *rows)
{
    size_t n = json_array_size(rows);
    if (!n)
        return;
    double *matrix = xcalloc(n * n, sizeof *matrix);
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = number(json_array_get(json_array_get(rows, i / n), i % n));
    plot_matrix(out, title, below, matrix, (int)n);
    free(matrix);
}

static void overlap_show(struct buf *out, const json_t *results)
{
    matrix_show(out, "Overlap of windows",
                "rows: windows that were sampled; columns: windows that the samples could be of",
                json_object_get(json_object_get(results, "overlap"), "matrix"));
}

/* Of every repeat whose replicas exchange windows. */
static void exchange_show(struct buf *out, const json_t *results)
{
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(results, "exchange"), i, one) {
        char title[64];
        snprintf(title, sizeof title, "Exchanges of repeat %lld", answer_whole(one, "repeat"));
        matrix_show(out, title, "rows: windows that replicas were in; columns: windows that they came to",
                    json_object_get(one, "transitions"));
    }
}

/* ---- the page ---- */

static void page(struct buf *out, const json_t *ensemble, const json_t *results)
{
    const json_t *windows = json_object_get(results, "windows");
    struct buf text = {0}, title = {0};
    buf_printf(&title, "%s (%s, %s)", answer_text(ensemble, "name"), answer_text(ensemble, "id"),
               answer_text(ensemble, "state"));
    plot_page_begin(out, title.data);
    results_text(results, 0, &text);
    buf_printf(out, "<pre>");
    plot_text(out, text.data);
    buf_printf(out, "</pre>\n");
    convergence_show(out, results);
    overlap_show(out, results);
    exchange_show(out, results);
    derivatives_show(out, windows);
    inefficiency_show(out, windows);
    plot_page_end(out);
    buf_free(&text);
    buf_free(&title);
}

int report_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf path = {0}, out = {0};
    client_path(&path, argv[0], "");
    json_t *ensemble = client_get(c, path.data, &e);
    const char *state = answer_text(ensemble, "state");
    json_t *results = ensemble ? results_get(c, answer_text(ensemble, "id"), !ensemble_ended(state), NULL, &e) : NULL;
    int rc = results_exit(state, results);
    if (results) {
        page(&out, ensemble, results);
        if (!c->output)
            fwrite(out.data, 1, out.len, stdout);
        else if (!buf_write_file(c->output, out.data, out.len, &e))
            client_say(c, "%s shows %s", c->output, answer_text(ensemble, "name"));
    }
    if (e.code)
        rc = client_fail(c, &e);
    buf_free(&path);
    buf_free(&out);
    json_decref(results);
    json_decref(ensemble);
    return rc;
}
