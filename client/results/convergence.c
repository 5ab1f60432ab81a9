/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/convergence.h"

#include "client/ask/answer.h"
#include "engine/base/buf.h"
#include "engine/base/json/number_json.h"
#include "engine/plot/plot.h"

void results_convergence(const json_t *list, struct plot_series *series)
{
    static const char *const names[] = {"forward", "backward"};
    const json_t *one;
    size_t i;
    for (int k = 0; k < 2; k++) {
        series[k] = (struct plot_series){
            .name = names[k], .points = xcalloc(json_array_size(list), sizeof(struct plot_point)), .joined = true};
        json_array_foreach (list, i, one) {
            const json_t *energy = json_object_get(json_object_get(one, names[k]), "kcal/mol");
            series[k].points[series[k].n++] =
                (struct plot_point){number_from_json(json_object_get(one, "data_fraction")),
                                    number_from_json(json_object_get(energy, "value")),
                                    number_from_json(json_object_get(energy, "error")), NULL};
        }
    }
}
