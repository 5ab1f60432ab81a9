/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the protein keeps its fold and the ligand its place: RMSD of every window over production.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/report/report.h"
#include "client/show/page.h"
#include "engine/base/json/number_json.h"
#include "engine/plot/plot.h"

static void take_points(struct plot_series *s, const json_t *points, const char *key)
{
    const json_t *one;
    size_t i;
    s->points = xcalloc(json_array_size(points) + 1, sizeof *s->points);
    json_array_foreach (points, i, one)
        s->points[s->n++] = (struct plot_point){number_from_json(json_object_get(one, "time_ps")) * 1e-3,
                                                number_from_json(json_object_get(one, key)), NAN, NULL};
}

static void put_fold_group(struct buf *out, const json_t *fold, const char *group, bool repeats)
{
    const json_t *windows = json_object_get(fold, "windows"), *one;
    const size_t n = json_array_size(windows);
    struct plot_series *series = xcalloc(n, sizeof *series);
    struct buf *names = xcalloc(n, sizeof *names), title = {0}, note = {0}, key = {0};
    size_t i;
    buf_printf(&key, "%s_nm", group);
    json_array_foreach (windows, i, one) {
        buf_printf(&names[i], "window ");
        if (repeats)
            buf_printf(&names[i], "%lld.", answer_whole(one, "repeat"));
        buf_printf(&names[i], "%lld", answer_whole(one, "window"));
        series[i] = (struct plot_series){.name = names[i].data, .joined = true};
        take_points(&series[i], json_object_get(one, "points"), key.data);
    }
    buf_printf(&title, "RMSD of the %s", group);
    buf_printf(&note, "%s, from the start structure, after the backbone was laid over the backbone there",
               answer_text(json_object_get(fold, group), "text"));
    if (n > PLOT_KEYS)
        buf_printf(&note, "; pale: %s, dark: %s", names[0].data, names[n - 1].data);
    plot_series(out,
                &(struct plot){.title = title.data,
                               .note = note.data,
                               .x = "time of production, ns",
                               .y = "RMSD, nm",
                               .zero = true,
                               .ordered = true,
                               .level = NAN,
                               .equal = NAN},
                series, (int)n);
    for (i = 0; i < n; i++) {
        free(series[i].points);
        buf_free(&names[i]);
    }
    free(series);
    free(names);
    buf_free(&title);
    buf_free(&note);
    buf_free(&key);
}

void report_fold(struct buf *out, const json_t *results)
{
    static const char *const groups[] = {"backbone", "ligand"};
    const json_t *fold = json_object_get(results, "fold"), *warning = json_object_get(fold, "warning");
    if (!json_array_size(json_object_get(fold, "windows")))
        return;
    page_element(out, "h2", "", "The protein's fold and the ligand's place");
    page_element(out, "p", json_is_string(warning) ? "warn" : "soft",
                 json_is_string(warning) ? json_string_value(warning) : "No window drifts.");
    buf_printf(out, "<div class=\"figures\">\n");
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        if (json_object_get(fold, groups[g]))
            put_fold_group(out, fold, groups[g], json_is_array(json_object_get(results, "repeats")));
    buf_printf(out, "</div>\n");
}
