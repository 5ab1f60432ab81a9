/* SPDX-License-Identifier: Apache-2.0 */
#include "client/division/units.h"

#include <stdlib.h>

#include "client/ask/answer.h"

static bool has_families(const json_t *plan)
{
    return json_is_object(json_object_get(plan, "ladder"));
}

void units_key(struct buf *out, const json_t *plan, const json_t *planned)
{
    if (has_families(plan))
        buf_printf(out, "%s/%s", answer_text(planned, "leg"), answer_text(planned, "item"));
    else
        buf_printf(out, "%s", answer_text(planned, "key"));
}

/* A family as the ensemble that it would be if its repeats were one. */
static json_t *family_unit(const json_t *planned, const char *key)
{
    json_t *unit = json_pack("{s:s}", "key", key), *family = json_object_get(planned, "family");
    if (family) {
        json_object_update(unit, family);
        json_object_set(unit, "atoms", json_object_get(planned, "atoms"));
    }
    return unit;
}

json_t *units_of(const json_t *plan)
{
    json_t *ensembles = json_object_get(plan, "ensembles");
    if (!has_families(plan))
        return json_incref(ensembles);
    json_t *units = json_array(), *seen = json_object();
    const json_t *one;
    size_t i;
    json_array_foreach (ensembles, i, one) {
        struct buf key = {0};
        units_key(&key, plan, one);
        if (!json_object_get(seen, key.data))
            json_array_append_new(units, family_unit(one, key.data));
        json_object_set_new(seen, key.data, json_true());
        buf_free(&key);
    }
    json_decref(seen);
    return units;
}

static double production(const json_t *unit)
{
    return answer_number(json_object_get(unit, "production"), "ns") * (double)answer_whole(unit, "replicas");
}

json_t *units_budgets(const json_t *plan, const json_t *units, const int64_t *share, int64_t shares)
{
    const double budget = answer_number(json_object_get(plan, "budget"), "ns");
    double *part = xcalloc((size_t)shares, sizeof *part), all = 0;
    json_t *budgets = json_array();
    const json_t *unit;
    size_t i;
    json_array_foreach (units, i, unit) {
        part[share[i]] += production(unit);
        all += production(unit);
    }
    for (int64_t s = 0; s < shares; s++)
        json_array_append_new(budgets, json_real(budget * part[s] / all));
    free(part);
    return budgets;
}
