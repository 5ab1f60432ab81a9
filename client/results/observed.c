/* SPDX-License-Identifier: Apache-2.0
 *
 * What observables of an ensemble came to, a line for each window's.
 */
#include "client/results/observed.h"
#include "client/ask/answer.h"
#include "client/results/cells.h"

void observed_put(const json_t *results, const struct out *s)
{
    const json_t *observables = json_object_get(results, "observables"), *observable;
    const bool repeats = json_is_array(json_object_get(results, "repeats"));
    struct table t;
    size_t i;
    if (!json_array_size(observables))
        return;
    table_setup(&t, "r l r l l");
    static const char *const heads[] = {"window", "observable", "frames", "value", "file"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (observables, i, observable) {
        results_window(&t, observable, repeats);
        table_cell(&t, "%s", answer_text(observable, "name"));
        table_cell(&t, "%lld", answer_whole(observable, "frames"));
        table_cell(&t, "%s", answer_text(observable, "summary"));
        table_cell(&t, "%s", answer_text(observable, "file"));
    }
    out_put(s, "\n");
    out_table(s, &t);
}
