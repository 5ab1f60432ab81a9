/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/report/report.h"
#include "engine/base/json/number_json.h"
#include "engine/plot/plot.h"

/* The density of works of one way at the middle of each bin. */
static void density(const json_t *bins, const char *way, struct plot_series *s)
{
    const json_t *counts = json_object_get(bins, way), *count;
    const double from = answer_number(bins, "from"), width = answer_number(bins, "width");
    double all = 0;
    size_t i;
    json_array_foreach (counts, i, count)
        all += json_number_value(count);
    s->points = xcalloc(json_array_size(counts), sizeof *s->points);
    s->n = all > 0 ? (int)json_array_size(counts) : 0;
    for (int k = 0; k < s->n; k++)
        s->points[k] = (struct plot_point){
            from + (k + 0.5) * width, json_number_value(json_array_get(counts, (size_t)k)) / all / width, NAN, NULL};
}

void report_switching(struct buf *out, const json_t *results)
{
    const json_t *bins = json_object_get(json_object_get(results, "switching"), "distributions");
    struct plot_series series[2] = {{.name = "forward, W", .joined = true}, {.name = "backward, -W", .joined = true}};
    if (!json_is_object(bins))
        return;
    density(bins, "forward", &series[0]);
    density(bins, "backward", &series[1]);
    plot_series(out,
                &(struct plot){.title = "Works of switches",
                               .note = "forward works, and backward ones with the other sign: by Crooks' relation the "
                                       "curves cross at the free energy",
                               .x = "work, kJ/mol",
                               .y = "density, mol/kJ",
                               .zero = true,
                               .level = NAN,
                               .equal = NAN},
                series, 2);
    free(series[0].points);
    free(series[1].points);
}
