/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/fold.h"

#include <math.h>

#include "client/ask/answer.h"
#include "engine/base/number.h"

static const char *const groups[] = {"backbone", "ligand"};

/* Frames of all windows, the mean over all of these, and the window whose mean is largest. */
struct fold_sum {
    long long frames;
    double mean, largest, most;
    const json_t *window;
};

static struct fold_sum sum_of(const json_t *windows, const char *group)
{
    struct fold_sum sum = {0};
    const json_t *one;
    size_t i;
    json_array_foreach (windows, i, one) {
        const json_t *g = json_object_get(one, group);
        const long long frames = answer_whole(one, "frames");
        const double mean = answer_number(g, "mean_nm");
        sum.mean += mean * (double)frames;
        sum.frames += frames;
        sum.most = fmax(sum.most, answer_number(g, "most_nm"));
        if (sum.window && mean <= sum.largest)
            continue;
        sum.largest = mean;
        sum.window = one;
    }
    sum.mean /= sum.frames ? (double)sum.frames : 1;
    return sum;
}

static void put_row(struct table *t, const json_t *fold, const char *group, const struct fold_sum *sum, bool repeats)
{
    const json_t *about = json_object_get(fold, group);
    table_cell(t, "%s", group);
    table_cell(t, "%s", answer_text(about, "text"));
    table_cell(t, "%lld", answer_whole(about, "atoms"));
    table_cell(t, "%.3f", sum->mean);
    if (repeats)
        table_cell(t, "%.3f (window %lld.%lld)", sum->largest, answer_whole(sum->window, "repeat"),
                   answer_whole(sum->window, "window"));
    else
        table_cell(t, "%.3f (window %lld)", sum->largest, answer_whole(sum->window, "window"));
    table_cell(t, "%.3f", sum->most);
}

void fold_put(const json_t *results, const struct out *s)
{
    static const char *const heads[] = {"group", "which", "atoms", "mean", "largest of a window", "of a frame"};
    const json_t *fold = json_object_get(results, "fold"), *windows = json_object_get(fold, "windows");
    const bool repeats = json_is_array(json_object_get(results, "repeats"));
    struct table t;
    if (!fold)
        return;
    if (!json_array_size(windows)) {
        out_put(s,
                "\nthe protein's fold was not followed, for want of trajectories: no frame of production is stored "
                "(so far); with frames-every in the spec results have the RMSD of backbone and ligand\n");
        return;
    }
    table_setup(&t, "l l~ r r r r");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        table_cell(&t, "%s", heads[i]);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        const struct fold_sum sum = sum_of(windows, groups[g]);
        if (json_object_get(fold, groups[g]))
            put_row(&t, fold, groups[g], &sum, repeats);
    }
    const struct fold_sum all = sum_of(windows, groups[0]);
    out_put(s, "\nRMSD from the start structure, backbone laid over backbone, in %lld %s of production, nm:\n\n",
            all.frames, number_word(all.frames, "frame", "frames"));
    out_table(s, &t);
}
