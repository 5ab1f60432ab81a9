/* SPDX-License-Identifier: Apache-2.0 */
#include "client/torsions.h"

#include <stdlib.h>

#include "client/commands.h"
#include "engine/base/number.h"

enum { SHOWN = 10 };

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

static void table_show(json_t **sorted, size_t n, const json_t *torsions, const struct sheet *s)
{
    struct table t;
    long long frames = answer_whole(torsions, "frames"), windows = answer_whole(torsions, "windows");
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
    sheet_say(s, "\ntorsions in %lld %s, %s:\n\n", frames, number_word(frames, "frame", "frames"),
              n > SHOWN ? "the ten with the fewest transitions" : "the fewest transitions first");
    sheet_table(s, &t);
}

/* What nothing in the samples tells about. */
static void still_show(json_t **sorted, size_t n, const struct sheet *s)
{
    size_t still = 0;
    for (; still < n && !answer_whole(sorted[still], "transitions"); still++) {
        struct buf name = {0};
        name_torsion(&name, sorted[still]);
        sheet_say(s, "%storsion %s: 0 transitions in all windows: not seen to move\n", still ? "" : "\n", name.data);
        buf_free(&name);
    }
    if (still)
        sheet_say(s,
                  "errors and verdicts know nothing of what was not seen to move: start repeats from different "
                  "conformations (other system.coordinates) and compare them\n");
}

void torsions_show(const json_t *results, const struct sheet *s)
{
    const json_t *torsions = json_object_get(results, "torsions"), *list = json_object_get(torsions, "list");
    size_t n = json_array_size(list);
    json_t **sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = json_array_get(list, i);
    qsort(sorted, n, sizeof *sorted, fewest_first);
    if (n && answer_whole(torsions, "windows")) {
        table_show(sorted, n, torsions, s);
        still_show(sorted, n, s);
    } else if (n) {
        sheet_say(s,
                  "\n%zu %s not watched, for want of trajectories: with frames-every in the spec transitions are "
                  "counted; start repeats from different conformations to see what does not move\n",
                  n, number_word((int64_t)n, "torsion was", "torsions were"));
    }
    free(sorted);
}
