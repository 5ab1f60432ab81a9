/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of umbrella windows: the free energy along each coordination, and where each window sampled.
 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/report/report.h"
#include "engine/base/json/number_json.h"
#include "engine/plot/plot.h"

static double middle_of(const json_t *bin)
{
    return 0.5 * (answer_number(bin, "from") + answer_number(bin, "to"));
}

static struct plot_point energy_at(const json_t *bin, const json_t *energy)
{
    const json_t *pair = json_object_get(energy, "kcal/mol");
    return (struct plot_point){middle_of(bin), number_from_json(json_object_get(pair, "value")),
                               number_from_json(json_object_get(pair, "error")), NULL};
}

static void put_free_energy(struct buf *out, const json_t *profile)
{
    const json_t *bins = json_object_get(profile, "bins"), *bin;
    const size_t repeats = json_array_size(json_object_get(json_array_get(bins, 0), "repeats"));
    struct plot_series *series = xcalloc(1 + repeats, sizeof *series);
    char title[80];
    size_t i;
    for (size_t k = 0; k <= repeats; k++) {
        series[k] = (struct plot_series){.joined = true, .dashed = k > 0, .like = (int)k};
        series[k].points = xcalloc(json_array_size(bins), sizeof *series[k].points);
        json_array_foreach (bins, i, bin)
            series[k].points[series[k].n++] = energy_at(bin, k ? json_array_get(json_object_get(bin, "repeats"), k - 1)
                                                               : json_object_get(bin, "free_energy"));
    }
    snprintf(title, sizeof title, "Profile along coordination %lld", answer_whole(profile, "coordination"));
    plot_series(
        out,
        &(struct plot){.title = title,
                       .note = repeats ? "free energy without the biases, with one standard error; dashed: each repeat"
                                       : "free energy without the biases, with one standard error",
                       .x = "coordination",
                       .y = "free energy, kcal/mol",
                       .level = NAN,
                       .equal = NAN},
        series, (int)(1 + repeats));
    for (size_t k = 0; k <= repeats; k++)
        free(series[k].points);
    free(series);
}

static void put_histograms(struct buf *out, const json_t *profile)
{
    enum { LABEL = 32 };
    const json_t *bins = json_object_get(profile, "bins"), *bin;
    const size_t windows = json_array_size(json_object_get(json_array_get(bins, 0), "rows_of_windows"));
    struct plot_series *series = xcalloc(windows + 1, sizeof *series);
    char(*label)[LABEL] = xcalloc(windows + 1, sizeof *label), title[80], note[120];
    size_t i;
    for (size_t k = 0; k < windows; k++) {
        snprintf(label[k], sizeof label[k], "window %zu", k);
        series[k] = (struct plot_series){.name = label[k], .joined = true, .band = true};
        series[k].points = xcalloc(json_array_size(bins), sizeof *series[k].points);
        json_array_foreach (bins, i, bin)
            series[k].points[series[k].n++] = (struct plot_point){
                middle_of(bin), number_from_json(json_array_get(json_object_get(bin, "rows_of_windows"), k)), NAN,
                NULL};
    }
    snprintf(title, sizeof title, "Histograms along coordination %lld", answer_whole(profile, "coordination"));
    snprintf(note, sizeof note, "rows of each window in each bin; neighbours have to overlap%s",
             windows > PLOT_KEYS ? "; pale: the first window, dark: the last" : "");
    plot_series(out,
                &(struct plot){.title = title,
                               .note = note,
                               .x = "coordination",
                               .y = "rows",
                               .zero = true,
                               .ordered = true,
                               .level = NAN,
                               .equal = NAN},
                series, (int)windows);
    for (size_t k = 0; k < windows; k++)
        free(series[k].points);
    free(series);
    free(label);
}

void report_profiles(struct buf *out, const json_t *results)
{
    const json_t *profile;
    size_t i;
    json_array_foreach (json_object_get(results, "profiles"), i, profile) {
        put_free_energy(out, profile);
        put_histograms(out, profile);
    }
}
