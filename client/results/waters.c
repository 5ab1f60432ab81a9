/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/waters.h"

#include "client/ask/answer.h"

/* what: a replica is called, a window or a walker. */
static void head(struct table *t, const char *what)
{
    const char *const columns[] = {"repeat", what, "inside", "moves tried", "kept", "batches that moved", "undone"};
    table_setup(t, "r r r r r r r");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_cell(t, "%s", columns[i]);
}

static void row(struct table *t, const json_t *replica, const json_t *moves)
{
    table_cell(t, "%lld", answer_whole(replica, "repeat"));
    if (json_object_get(replica, "walker"))
        table_cell(t, "%s %lld", answer_text(replica, "end"), answer_whole(replica, "walker"));
    else
        table_cell(t, "%lld", answer_whole(replica, "window"));
    table_cell(t, "%.2f", answer_number(moves, "inside"));
    table_cell(t, "%lld", answer_whole(moves, "tried"));
    table_cell(t, "%lld", answer_whole(moves, "kept"));
    table_cell(t, "%lld", answer_whole(moves, "changed"));
    table_cell(t, "%lld", answer_whole(moves, "undone"));
}

/* Of those that have any. */
static void put(const json_t *replicas, const char *what, const struct out *s)
{
    const json_t *replica, *moves;
    struct table t;
    size_t i, n = 0;
    json_array_foreach (replicas, i, replica) {
        moves = json_object_get(replica, "water_exchange");
        if (!moves)
            continue;
        if (!n++)
            head(&t, what);
        row(&t, replica, moves);
    }
    if (!n)
        return;
    out_put(s, "\nexchange of waters with the sphere, in production:\n\n");
    out_table(s, &t);
}

void waters_put(const json_t *results, const struct out *s)
{
    put(json_object_get(results, "windows"), "window", s);
    put(json_object_get(json_object_get(results, "switching"), "walkers"), "walker", s);
}
