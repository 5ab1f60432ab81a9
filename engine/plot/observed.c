/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json/number_json.h"
#include "engine/plot/observed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A straight line beside a curve, from what the results say: its two ends. False: there is none. */
typedef bool beside(const json_t *about, struct plot_point ends[2]);
static beside diffusion_line;

static const struct figure {
    const char *kind;
    const char *value, *error; /* legends of columns; error NULL: the values have none */
    const char *y;             /* NULL: what the file says */
    bool log_x, log_y;
    bool sparse; /* of few counts here and there: what these give does not set the scale */
    beside *line;
    const char *note; /* of the line */
} figures[] = {
#define FIGURE(word, ...) {.kind = #word, __VA_ARGS__},
#include "engine/system/observables.def"
};

static double number_of(const json_t *o, const char *key)
{
    return number_from_json(json_object_get(o, key));
}

static bool diffusion_line(const json_t *about, struct plot_point ends[2])
{
    const json_t *d = json_object_get(about, "diffusion");
    const char *const keys[] = {"from_ps", "to_ps"};
    for (int i = 0; i < 2; i++) {
        const double t = number_of(d, keys[i]);
        ends[i] =
            (struct plot_point){t, number_of(d, "intercept_nm2") + number_of(d, "slope_nm2_per_ps") * t, NAN, NULL};
    }
    return isfinite(ends[0].y) && isfinite(ends[1].y);
}

static void take_points(struct plot_series *s, const struct figure *f, const struct xvg *x)
{
    const size_t value = xvg_column(x, f->value), error = f->error ? xvg_column(x, f->error) : 0;
    const size_t width = 1 + (size_t)x->nlegends;
    s->points = xcalloc(x->nrows + 1, sizeof *s->points);
    for (size_t i = 0; value && i < x->nrows; i++) {
        const double *row = x->v + i * width;
        s->points[s->n++] = (struct plot_point){row[0], row[value], error ? row[error] : NAN, NULL};
    }
}

/* The most, with its error, of values that are known to better than half of themselves; false: none is above it, or no
 * such value is known. */
static bool cut_above(const struct figure *f, const struct plot_series *series, int n, double *most)
{
    double sure = -INFINITY, all = -INFINITY;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            const struct plot_point *p = &series[k].points[i];
            if (p->error < 0.5 * p->y)
                sure = fmax(sure, p->y + p->error);
            all = fmax(all, p->y);
        }
    *most = sure;
    return f->sparse && isfinite(sure) && all > sure;
}

/* What the file is, what the bands or shades are, and the line. */
static void add_note(struct buf *out, const struct figure *f, const struct observed_curve *curves, int n, bool lines)
{
    xvg_plain(out, curves->table.title ? curves->table.title : "");
    if (n > PLOT_KEYS)
        buf_printf(out, "; pale: %s, dark: %s", curves[0].label, curves[n - 1].label);
    else if (f->error)
        buf_printf(out, "; in the %s one standard error to either side", n > 1 ? "bands" : "band");
    if (lines)
        buf_printf(out, "; %s", f->note);
}

static void put_figure(struct plot_sheet *to, const struct figure *f, const struct observed_curve *curves, int n,
                       const char *which)
{
    struct plot_series *series = xcalloc(2 * (size_t)n, sizeof *series);
    struct plot_point(*ends)[2] = xcalloc((size_t)n, sizeof *ends);
    struct buf title = {0}, note = {0}, x = {0}, y = {0};
    double most;
    const struct xvg *first = &curves->table;
    int all = n;
    for (int k = 0; k < n; k++) {
        series[k] = (struct plot_series){.name = curves[k].label, .joined = true, .band = true};
        take_points(&series[k], f, &curves[k].table);
        if (f->line && f->line(curves[k].about, ends[k]))
            series[all++] = (struct plot_series){.points = ends[k], .n = 2, .joined = true, .dashed = true, .like = k};
    }
    buf_printf(&title, "%s: %s", json_string_value(json_object_get(curves->about, "name")), f->value);
    add_note(&note, f, curves, n, all > n);
    if (which)
        buf_printf(&note, "; %s", which);
    const bool cut = cut_above(f, series, n, &most);
    if (cut)
        buf_printf(&note, "; values above %.3g, each with an error of half of it or more, are cut off", most);
    xvg_plain(&x, first->x_label ? first->x_label : "");
    xvg_plain(&y, f->y ? f->y : first->y_label ? first->y_label : "");
    plot_put(to,
             &(struct plot){.title = title.data,
                            .note = note.data,
                            .x = x.data,
                            .y = y.data,
                            .log_x = f->log_x,
                            .log_y = f->log_y,
                            .cut = cut,
                            .most = most,
                            .ordered = true,
                            .level = NAN,
                            .equal = NAN},
             series, all);
    for (int k = 0; k < n; k++)
        free(series[k].points);
    free(series);
    free(ends);
    buf_free(&title);
    buf_free(&note);
    buf_free(&x);
    buf_free(&y);
}

void observed_plot(struct plot_sheet *to, const struct observed_curve *curves, int n, const char *which)
{
    const char *kind = n ? json_string_value(json_object_get(curves->about, "kind")) : NULL;
    for (size_t i = 0; kind && i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].kind, kind) && xvg_column(&curves->table, figures[i].value))
            put_figure(to, &figures[i], curves, n, which);
}
