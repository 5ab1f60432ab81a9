/* SPDX-License-Identifier: Apache-2.0
 *
 * What observables of an ensemble came to, a line for each window's.
 */
#include "client/results/observed.h"

#include <string.h>

#include "client/ask/answer.h"
#include "client/results/cells.h"

static bool has_reason(const json_t *observable, const char *name, const char *text)
{
    const json_t *reason;
    size_t k;
    bool has = false;
    json_array_foreach (json_object_get(json_object_get(observable, "verdict"), "reasons"), k, reason)
        has |= !strcmp(answer_text(reason, "text"), text);
    return has && !strcmp(answer_text(observable, "name"), name);
}

/* "msd unconverged (window 0, 2): its error is from 2 blocks, .." for all that have this reason, from number `first`
 * on, unless an earlier one has it. */
static void put_observable_reason(struct buf *out, const json_t *observables, size_t first, const char *text)
{
    const json_t *observable, *said = json_array_get(observables, first);
    const char *name = answer_text(said, "name");
    size_t i;
    for (i = 0; i < first; i++)
        if (has_reason(json_array_get(observables, i), name, text))
            return;
    buf_printf(out, "%s %s (window", name, answer_text(json_object_get(said, "verdict"), "verdict"));
    json_array_foreach (observables, i, observable)
        if (has_reason(observable, name, text))
            buf_printf(out, "%s %lld", i > first ? "," : "", answer_whole(observable, "window"));
    buf_printf(out, "): %s\n", text);
}

static void put_observable_reasons(const json_t *observables, const struct out *s)
{
    const json_t *observable, *reason;
    struct buf text = {0};
    size_t i, k;
    buf_add(&text, "", 0);
    json_array_foreach (observables, i, observable)
        json_array_foreach (json_object_get(json_object_get(observable, "verdict"), "reasons"), k, reason)
            put_observable_reason(&text, observables, i, answer_text(reason, "text"));
    if (text.len)
        out_put(s, "\n%s", text.data);
    buf_free(&text);
}

void observed_put(const json_t *results, const struct out *s)
{
    const json_t *observables = json_object_get(results, "observables"), *observable;
    const bool repeats = json_is_array(json_object_get(results, "repeats"));
    struct table t;
    size_t i;
    if (!json_array_size(observables))
        return;
    table_setup(&t, "r l= r l~~~ l l1");
    static const char *const heads[] = {"window", "observable", "frames", "value", "verdict", "file"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (observables, i, observable) {
        results_window(&t, observable, repeats);
        table_cell(&t, "%s", answer_text(observable, "name"));
        table_cell(&t, "%lld", answer_whole(observable, "frames"));
        table_cell(&t, "%s", answer_text(observable, "summary"));
        table_cell(&t, "%s", answer_text(json_object_get(observable, "verdict"), "verdict"));
        table_cell(&t, "%s", answer_text(observable, "file"));
    }
    out_put(s, "\n");
    out_table(s, &t);
    put_observable_reasons(observables, s);
}
