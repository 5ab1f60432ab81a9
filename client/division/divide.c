/* SPDX-License-Identifier: Apache-2.0 */
#include "client/division/divide.h"

#include <stdlib.h>

#include "client/ask/answer.h"
#include "engine/base/mem.h"

#define FULL (48.0 * 5000) /* atoms in flight that fill a GPU */

struct costing {
    double cost;
    int at;
};

static int costlier(const void *a, const void *b)
{
    const struct costing *x = a, *y = b;
    return x->cost > y->cost ? -1 : x->cost < y->cost ? 1 : x->at - y->at;
}

static int64_t emptiest(const double *filled, int64_t shares)
{
    int64_t least = 0;
    for (int64_t s = 1; s < shares; s++)
        if (filled[s] < filled[least])
            least = s;
    return least;
}

void divide(const double *cost, int n, int64_t shares, int64_t *share)
{
    struct costing *order = xcalloc((size_t)n + 1, sizeof *order);
    double *filled = xcalloc((size_t)shares, sizeof *filled);
    for (int i = 0; i < n; i++)
        order[i] = (struct costing){cost[i], i};
    qsort(order, (size_t)n, sizeof *order, costlier);
    for (int i = 0; i < n; i++) {
        const int64_t s = emptiest(filled, shares);
        filled[s] += order[i].cost;
        share[order[i].at] = s;
    }
    free(filled);
    free(order);
}

static double atoms_in_flight(const json_t *planned)
{
    return (double)answer_whole(planned, "atoms") * (double)answer_whole(planned, "replicas");
}

double divide_cost(const json_t *planned)
{
    const double step = answer_number(json_object_get(planned, "production"), "step_ns");
    return step > 0 ? atoms_in_flight(planned) * answer_number(planned, "ns") / step : 0;
}

int64_t divide_count(const json_t *units)
{
    const json_t *one;
    double atoms = 0;
    size_t i;
    json_array_foreach (units, i, one)
        atoms += atoms_in_flight(one);
    const int64_t most = json_array_size(units) < SHARES_MOST ? (int64_t)json_array_size(units) : SHARES_MOST;
    const int64_t full = atoms / FULL < SHARES_MOST ? (int64_t)(atoms / FULL) : SHARES_MOST;
    return full < 1 ? 1 : full < most ? full : most;
}
