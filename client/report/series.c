/* SPDX-License-Identifier: Apache-2.0
 *
 * Every window's temperature, pressure, volume, energies and coordinations over time: small figures on the same axes,
 * means with their errors from the results, and what they should be.
 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/report/energy_series.h"
#include "client/report/report.h"
#include "client/show/page.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"
#include "engine/plot/plot.h"

#define OFF 4.0 /* errors by which a mean may differ from its target before it is marked */

struct table_of_series {
    const json_t *windows; /* of the results */
    bool repeats;
    struct energy_series *series; /* [n] */
    int n;
    double target[SERIES_KINDS]; /* NAN: none */
    struct plot_small axes[SERIES_KINDS];
};

static int fetch_all(struct table_of_series *t, const struct client *c, const json_t *ensemble, struct err *e)
{
    const json_t *window;
    size_t i;
    json_array_foreach (t->windows, i, window) {
        char path[80], repeat[40] = "";
        if (t->repeats)
            snprintf(repeat, sizeof repeat, "repeat_%02lld/", answer_whole(window, "repeat"));
        snprintf(path, sizeof path, "%slambda_%02lld/energy.xvg", repeat, answer_whole(window, "window"));
        if (series_fetch(&t->series[t->n++], c, answer_text(ensemble, "id"), path, e))
            return -(int)e->code;
    }
    return 0;
}

/* The same for all windows: all of time, and upwards from the least to the most of production. */
static void find_axes(struct table_of_series *t)
{
    for (int k = 0; k < SERIES_KINDS; k++) {
        struct plot_small *axes = &t->axes[k];
        *axes = (struct plot_small){INFINITY, -INFINITY, INFINITY, -INFINITY, t->target[k]};
        for (int i = 0; i < t->n; i++) {
            const struct energy_series *s = &t->series[i];
            if (!s->n)
                continue;
            axes->a = fmin(axes->a, s->bins[0].from);
            axes->b = fmax(axes->b, s->bins[s->n - 1].to);
            axes->low = fmin(axes->low, s->least[k]);
            axes->high = fmax(axes->high, s->most[k]);
        }
    }
}

/* Whether any window has it. */
static bool is_there(const struct table_of_series *t, int kind)
{
    return t->axes[kind].low <= t->axes[kind].high;
}

static void put_heads(struct buf *out, const struct table_of_series *t)
{
    buf_printf(out, "<tr><th>window</th>");
    for (int k = 0; k < SERIES_KINDS; k++) {
        const struct series_name *name = &series_names[k];
        if (!is_there(t, k))
            continue;
        buf_printf(out, "<th>%s%s%s<br/>", name->legend, *name->unit ? ", " : "", name->unit);
        if (isfinite(t->target[k]))
            buf_printf(out, "target %g<br/>", t->target[k]);
        buf_printf(out, "%.5g to %.5g</th>", t->axes[k].low, t->axes[k].high);
    }
    buf_printf(out, "</tr>\n");
}

static void put_mean(struct buf *out, const json_t *average, double target)
{
    double mean = number_from_json(json_object_get(average, "value")),
           error = number_from_json(json_object_get(average, "error"));
    bool off = fabs(mean - target) > OFF * error;
    struct buf text = {0};
    number_with_error(&text, mean, error);
    page_element(out, "span", off ? "warn" : "", text.data);
    buf_free(&text);
}

static void put_row(struct buf *out, const struct table_of_series *t, int i)
{
    const struct energy_series *s = &t->series[i];
    const json_t *window = json_array_get(t->windows, (size_t)i), *averages = json_object_get(window, "averages");
    char name[64], repeat[32] = "";
    if (t->repeats)
        snprintf(repeat, sizeof repeat, "%lld.", answer_whole(window, "repeat"));
    snprintf(name, sizeof name, "%s%lld", repeat, answer_whole(window, "window"));
    buf_printf(out, "<tr><td class=\"r\">%s</td>", name);
    for (int k = 0; k < SERIES_KINDS; k++) {
        struct plot_bin bins[SERIES_BINS];
        char title[120];
        if (!is_there(t, k))
            continue;
        for (int b = 0; b < s->n; b++)
            bins[b] = (struct plot_bin){s->bins[b].from, s->bins[b].to, s->bins[b].least[k], s->bins[b].most[k],
                                        s->bins[b].sum[k] / (double)s->bins[b].rows};
        snprintf(title, sizeof title, "%s of window %s", series_names[k].legend, name);
        buf_printf(out, "<td>");
        if (s->n && s->column[k])
            plot_small(out, title, &t->axes[k], bins, s->n);
        put_mean(out, json_object_get(averages, series_names[k].legend), t->target[k]);
        buf_printf(out, "</td>");
    }
    buf_printf(out, "</tr>\n");
}

static void put_table(struct buf *out, struct table_of_series *t)
{
    enum { BINS_IN_ALL = 2400, BINS_LEAST = 16 };
    int most = BINS_IN_ALL / t->n;
    page_element(out, "h2", "",
                 is_there(t, SERIES_COORDINATION) ? "Temperature, pressure, volume, energies and coordinations"
                                                  : "Temperature, pressure, volume and energies");
    page_element(
        out, "p", "soft",
        "Lines are means and bands go from the least to the most of the rows that a pixel stands for; on one scale "
        "for all windows, from the first row (before production: shaded) to the last. Below them production's mean "
        "with its error, which knows of correlation; amber where it is more than four errors from the target "
        "(dashed).");
    buf_printf(out, "<div class=\"wide\"><table class=\"small\">\n");
    put_heads(out, t);
    for (int i = 0; i < t->n; i++) {
        series_thin(&t->series[i], most > BINS_LEAST ? most : BINS_LEAST);
        put_row(out, t, i);
    }
    buf_printf(out, "</table></div>\n");
}

int report_series(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results, struct err *e)
{
    const json_t *windows = json_object_get(results, "windows");
    struct table_of_series t = {.windows = windows,
                                .repeats = json_is_array(json_object_get(results, "repeats")),
                                .series = xcalloc(json_array_size(windows), sizeof *t.series)};
    for (int k = 0; k < SERIES_KINDS; k++)
        t.target[k] = NAN;
    t.target[SERIES_TEMPERATURE] = answer_magnitude(json_object_get(results, "temperature"));
    t.target[SERIES_PRESSURE] = answer_magnitude(json_object_get(results, "pressure"));
    int rc = fetch_all(&t, c, ensemble, e);
    if (!rc) {
        find_axes(&t);
        if (is_there(&t, SERIES_TEMPERATURE))
            put_table(out, &t);
    }
    free(t.series);
    return rc;
}
