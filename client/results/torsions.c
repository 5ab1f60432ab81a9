/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/torsions.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "engine/base/number.h"

enum { SHOWN = 10, WINDOWS_SHOWN = 12 };

static int fewest_first(const void *a, const void *b)
{
    long long x = answer_whole(*(json_t *const *)a, "transitions"),
              y = answer_whole(*(json_t *const *)b, "transitions");
    return (x > y) - (x < y);
}

/* "C1-C2-C3-C4 of LIG" */
static void name_torsion(struct buf *out, const json_t *torsion)
{
    const json_t *name;
    size_t i;
    json_array_foreach (json_object_get(torsion, "names"), i, name)
        buf_printf(out, "%s%s", i ? "-" : "", json_string_value(name));
    buf_printf(out, " of %s", answer_text(torsion, "molecule"));
}

static void put_table(json_t **sorted, size_t n, const json_t *torsions, const struct out *s)
{
    struct table t;
    long long frames = answer_whole(torsions, "frames"), windows = answer_whole(torsions, "windows");
    const double interval = answer_number(torsions, "interval");
    char every[60] = "";
    if (interval > 0)
        snprintf(every, sizeof every, ", one every %.4g ps", interval);
    table_setup(&t, "l r r");
    table_cell(&t, "torsion");
    table_cell(&t, "transitions");
    table_cell(&t, "windows without");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        struct buf name = {0};
        name_torsion(&name, sorted[i]);
        table_cell(&t, "%s", name.data);
        table_cell(&t, "%lld", answer_whole(sorted[i], "transitions"));
        table_cell(&t, "%lld of %lld", answer_whole(sorted[i], "windows_without"), windows);
        buf_free(&name);
    }
    out_put(s, "\ntorsions in %lld %s%s, %s:\n\n", frames, number_word(frames, "frame", "frames"), every,
            n > SHOWN ? "the ten with the fewest transitions" : "the fewest transitions first");
    out_table(s, &t);
}

/* "0, 1, 2 near 178 degrees"; with repeats "0.1", the repeat first. */
static void name_well(struct buf *out, const json_t *well, bool repeats)
{
    const json_t *window, *windows = json_object_get(well, "windows");
    size_t i;
    json_array_foreach (windows, i, window) {
        if (i == WINDOWS_SHOWN) {
            buf_printf(out, " and %zu more", json_array_size(windows) - i);
            break;
        }
        buf_printf(out, i ? ", " : "");
        if (repeats)
            buf_printf(out, "%lld.", answer_whole(window, "repeat"));
        buf_printf(out, "%lld", answer_whole(window, "window"));
    }
    buf_printf(out, " near %.0f degrees", answer_number(well, "angle"));
}

/* Whether a repeat has windows in both. */
static bool share_repeat(const json_t *one, const json_t *other)
{
    const json_t *a, *b;
    size_t i, k;
    json_array_foreach (json_object_get(one, "windows"), i, a)
        json_array_foreach (json_object_get(other, "windows"), k, b)
            if (answer_whole(a, "repeat") == answer_whole(b, "repeat"))
                return true;
    return false;
}

/* Whether windows of one repeat are in different wells; else they differ between repeats alone. */
static bool splits_repeat(const json_t *wells)
{
    const json_t *one;
    size_t i;
    json_array_foreach (wells, i, one)
        for (size_t k = 0; k < i; k++)
            if (share_repeat(one, json_array_get(wells, k)))
                return true;
    return false;
}

/* Windows that cannot have sampled the same conformations. */
static void put_wells(json_t **sorted, size_t n, bool repeats, const struct out *s)
{
    bool any = false, within = false;
    for (size_t i = 0; i < n; i++) {
        const json_t *well, *wells = json_object_get(sorted[i], "wells");
        struct buf text = {0};
        size_t k;
        if (json_array_size(wells) < 2)
            continue;
        name_torsion(&text, sorted[i]);
        buf_printf(&text, ": windows stay in different wells without a transition: ");
        json_array_foreach (wells, k, well) {
            buf_printf(&text, k ? "; " : "");
            name_well(&text, well, repeats);
        }
        out_put(s, "%storsion %s\n", any ? "" : "\n", text.data);
        buf_free(&text);
        any = true;
        within |= splits_repeat(wells);
    }
    if (within)
        out_put(s,
                "windows in different wells are samples of different conformations: the free energy between them "
                "is wrong unless the wells are equivalent. Start all windows in one well, let replicas exchange "
                "windows, or sample until the torsion turns\n");
    else if (any)
        out_put(s, "repeats in different wells are samples of different conformations: compare their free energies\n");
}

/* What nothing in the samples tells about. */
static void put_still(json_t **sorted, size_t n, const struct out *s)
{
    size_t still = 0;
    for (; still < n && !answer_whole(sorted[still], "transitions"); still++) {
        struct buf name = {0};
        name_torsion(&name, sorted[still]);
        out_put(s, "%storsion %s: 0 transitions in all windows: not seen to move\n", still ? "" : "\n", name.data);
        buf_free(&name);
    }
    if (still)
        out_put(s,
                "errors and verdicts know nothing of what was not seen to move: start repeats from different "
                "conformations (other system.coordinates) and compare them\n");
}

void torsions_put(const json_t *results, const struct out *s)
{
    const json_t *torsions = json_object_get(results, "torsions"), *list = json_object_get(torsions, "list");
    size_t n = json_array_size(list);
    json_t **sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = json_array_get(list, i);
    qsort(sorted, n, sizeof *sorted, fewest_first);
    if (n && answer_whole(torsions, "windows")) {
        put_table(sorted, n, torsions, s);
        put_still(sorted, n, s);
        put_wells(sorted, n, json_array_size(json_object_get(results, "repeats")) > 1, s);
    } else if (n) {
        out_put(s,
                "\n%zu %s not watched, for want of trajectories: with frames-every in the spec transitions are "
                "counted; start repeats from different conformations to see what does not move\n",
                n, number_word((int64_t)n, "torsion was", "torsions were"));
    }
    free(sorted);
}
