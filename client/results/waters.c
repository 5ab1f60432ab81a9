/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/waters.h"

#include "client/ask/answer.h"

static void head(struct table *t)
{
    static const char *const columns[] = {"repeat", "window", "inside", "moves tried", "kept", "batches that moved",
                                          "undone"};
    table_setup(t, "r r r r r r r");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_cell(t, "%s", columns[i]);
}

static void row(struct table *t, const json_t *window, const json_t *moves)
{
    table_cell(t, "%lld", answer_whole(window, "repeat"));
    table_cell(t, "%lld", answer_whole(window, "window"));
    table_cell(t, "%.2f", answer_number(moves, "inside"));
    table_cell(t, "%lld", answer_whole(moves, "tried"));
    table_cell(t, "%lld", answer_whole(moves, "kept"));
    table_cell(t, "%lld", answer_whole(moves, "changed"));
    table_cell(t, "%lld", answer_whole(moves, "undone"));
}

void waters_put(const json_t *results, const struct out *s)
{
    const json_t *window, *moves;
    struct table t;
    size_t i, n = 0;
    json_array_foreach (json_object_get(results, "windows"), i, window) {
        moves = json_object_get(window, "water_exchange");
        if (!moves)
            continue;
        if (!n++)
            head(&t);
        row(&t, window, moves);
    }
    if (!n)
        return;
    out_put(s, "\nexchange of waters with the sphere, in production:\n\n");
    out_table(s, &t);
}
