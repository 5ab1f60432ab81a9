/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered, as JSON.
 */
#include <math.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"
#include "engine/base/json/number_json.h"

json_t *gather_energy_json(struct number x)
{
    if (isnan(x.value))
        return json_null();
    return json_pack("{s:{s:o,s:o},s:{s:o,s:o}}", "kJ/mol", "value", number_json(x.value), "error",
                     number_json(x.error), "kcal/mol", "value", number_json(x.value / GATHER_KCAL), "error",
                     number_json(x.error / GATHER_KCAL));
}

static json_t *rows_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->nrows; i++) {
        const struct gathered_ensemble *r = &g->rows[i];
        json_t *one = json_pack("{s:O,s:O,s:O,s:O}", "key", json_object_get(r->planned, "key"), "item",
                                json_object_get(r->planned, "item"), "leg", json_object_get(r->planned, "leg"),
                                "repeat", json_object_get(r->planned, "repeat"));
        json_object_set_new(one, "id", r->present ? json_string(answer_text(r->present, "id")) : json_null());
        json_object_set_new(one, "state", r->present ? json_string(answer_text(r->present, "state")) : json_null());
        json_object_set_new(one, "estimate", gather_energy_json(r->estimate));
        json_object_set_new(one, "standard_state", gather_energy_json((struct number){r->standard_state, 0}));
        json_object_set_new(one, "finite_size", gather_energy_json((struct number){r->finite_size, 0}));
        json_object_set_new(one, "verdict", json_string(verdict_word(r->verdict)));
        json_object_set_new(one, "so_far", json_boolean(r->so_far));
        json_object_set_new(one, "reason", *r->reason ? json_string(r->reason) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *legs_json(const struct gathered_item *item)
{
    json_t *list = json_array();
    for (int i = 0; i < item->nlegs; i++) {
        const struct leg_sum *leg = &item->legs[i];
        json_t *one = json_pack("{s:O,s:O,s:i,s:i,s:o,s:s}", "leg", json_object_get(leg->leg, "name"), "sign",
                                json_object_get(leg->leg, "sign"), "planned", leg->planned, "repeats", leg->got,
                                "free_energy", gather_energy_json(leg->mean), "verdict", verdict_word(leg->verdict));
        json_object_set_new(one, "standard_deviation", gather_energy_json((struct number){leg->deviation, NAN}));
        json_object_set_new(one, "so_far", json_boolean(leg->so_far));
        json_object_set_new(one, "reason", *leg->reason ? json_string(leg->reason) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *item_json(const struct gathered *g, const struct gathered_item *item)
{
    json_t *one = item->is_edge ? json_pack("{s:s,s:s}", "ligand_i", gather_system(g, item->i), "ligand_j",
                                            gather_system(g, item->j))
                                : json_pack("{s:s}", "system", item->name);
    json_object_set_new(one, "legs", legs_json(item));
    json_object_set_new(one, "free_energy", gather_energy_json(item->sum));
    json_object_set_new(one, "experiment",
                        gather_energy_json((struct number){item->experiment, item->experiment_error}));
    json_object_set_new(one, "verdict", item->verdict ? json_string(verdict_word(item->verdict)) : json_null());
    json_object_set_new(one, "so_far", json_boolean(item->so_far));
    return one;
}

static json_t *items_json(const struct gathered *g, bool edges)
{
    json_t *list = json_array();
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge == edges)
            json_array_append_new(list, item_json(g, &g->items[i]));
    return list;
}

static json_t *loops_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->nloops; i++) {
        const struct loop *l = &g->loops[i];
        json_t *way = json_array();
        for (int k = 0; k < l->length; k++) {
            const struct measurement *m = &g->measured[l->edges[k]];
            json_array_append_new(way, json_string(gather_system(g, l->signs[k] > 0 ? m->i : m->j)));
        }
        json_array_append_new(list, json_pack("{s:o,s:o,s:b}", "systems", way, "closure",
                                              gather_energy_json((struct number){l->closure, l->error}), "so_far",
                                              (int)gather_loop_so_far(g, l)));
    }
    return list;
}

static json_t *contradictions_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->ncontradictions; i++) {
        const struct contradiction *c = &g->contradictions[i];
        json_t *names = json_array();
        for (int k = 0; k < c->length; k++)
            json_array_append_new(names, json_string(g->of_item[c->edges[k]]->name));
        json_array_append_new(list, json_pack("{s:i,s:i,s:f,s:o,s:o}", "part", c->part, "loops", c->loops, "chi_square",
                                              c->chi_square, "named", names, "off",
                                              gather_energy_json((struct number){c->length ? c->off : NAN, c->error})));
    }
    return list;
}

static json_t *values_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; g->nedges && i < g->nsystems; i++) {
        json_t *part = gather_apart(g, i) ? json_null() : json_integer(g->network.part[i]);
        json_t *one =
            json_pack("{s:s,s:o,s:o,s:o,s:b}", "system", gather_system(g, i), "free_energy",
                      gather_energy_json(gather_value(g, i)), "experiment", gather_energy_json(g->experiments[i]),
                      "part", part, "anchored", (int)g->network.anchored[i]);
        json_object_set_new(one, "shift", gather_energy_json((struct number){g->shift[i], 0}));
        json_object_set_new(one, "verdict", g->verdicts[i] ? json_string(verdict_word(g->verdicts[i])) : json_null());
        json_object_set_new(one, "so_far", json_boolean(g->values_so_far[i]));
        json_array_append_new(list, one);
    }
    return list;
}

static double covariance(const struct gathered *g, int i, int j)
{
    bool none = gather_apart(g, i) || gather_apart(g, j);
    return none ? NAN : g->network.covariance[(size_t)i * (size_t)g->nsystems + (size_t)j];
}

/* Rows and columns as the values, (kJ/mol)^2. */
static json_t *covariance_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; g->nedges && i < g->nsystems; i++) {
        json_t *row = json_array();
        for (int j = 0; j < g->nsystems; j++)
            json_array_append_new(row, number_json(covariance(g, i, j)));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *measure_json(const struct measure *m, double unit)
{
    return json_pack("{s:o,s:o,s:o}", "value", number_json(m->value / unit), "low", number_json(m->low / unit), "high",
                     number_json(m->high / unit));
}

static json_t *comparison_json(const struct comparison *c, bool with_tau)
{
    if (c->values < COMPARE_LEAST)
        return json_null();
    json_t *out = json_pack("{s:i,s:o,s:o}", "pairs", c->values, "rmse", measure_json(&c->rmse, GATHER_KCAL), "mue",
                            measure_json(&c->mue, GATHER_KCAL));
    if (with_tau)
        json_object_set_new(out, "kendall_tau", measure_json(&c->tau, 1));
    return out;
}

json_t *gather_json(const struct gathered *g)
{
    json_t *experiment = json_pack("{s:s,s:o,s:o}", "unit", "kcal/mol", "values", comparison_json(&g->absolute, true),
                                   "edges", comparison_json(&g->relative, false));
    json_t *out = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "name", answer_text(g->campaign->plan, "name"), "ensembles",
                            rows_json(g), "systems", items_json(g, false), "edges", items_json(g, true), "loops",
                            loops_json(g), "contradictions", contradictions_json(g));
    json_object_set_new(out, "so_far", json_boolean(gather_so_far(g)));
    json_object_set_new(out, "values", values_json(g));
    json_object_set_new(out, "covariance", covariance_json(g));
    json_object_set_new(out, "experiment", experiment);
    json_object_set(out, "remarks", g->remarks);
    return out;
}
