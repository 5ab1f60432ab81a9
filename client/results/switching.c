/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/switching.h"

#include <math.h>
#include <stdio.h>

#include "client/ask/answer.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"

/* An energy in kJ/mol with its error, "-" where there is none. */
static void put_energy(struct buf *out, const json_t *energy)
{
    const json_t *pair = json_object_get(energy, "kJ/mol");
    number_with_error(out, number_from_json(json_object_get(pair, "value")),
                      number_from_json(json_object_get(pair, "error")));
}

static void energy_cell(struct table *t, const json_t *energy)
{
    struct buf text = {0};
    put_energy(&text, energy);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

/* A plain number, "-" where there is none. */
static void number_cell(struct table *t, const json_t *way, const char *key)
{
    const double value = number_from_json(json_object_get(way, key));
    table_cell(t, isfinite(value) ? "%.1f" : "-", value);
}

static void way_row(struct table *t, const json_t *switching, const char *name)
{
    const json_t *way = json_object_get(switching, name);
    const double deviation =
        number_from_json(json_object_get(json_object_get(json_object_get(way, "deviation"), "kJ/mol"), "value"));
    table_cell(t, "%s", name);
    table_cell(t, "%lld", answer_whole(way, "works"));
    energy_cell(t, json_object_get(way, "mean"));
    table_cell(t, isfinite(deviation) ? "%.2f" : "-", deviation);
    energy_cell(t, json_object_get(way, "dissipated"));
    number_cell(t, way, "inefficiency");
    number_cell(t, way, "effective");
}

static void put_both(const json_t *switching, const struct out *s)
{
    const json_t *slope = json_object_get(switching, "slope");
    struct buf text = {0};
    if (!json_is_object(json_object_get(switching, "hysteresis")))
        return;
    put_energy(&text, json_object_get(switching, "hysteresis"));
    out_put(s, "\nhysteresis, the sum of both means: %s kJ/mol; overlap of the works of both ways: %.3g\n", text.data,
            number_from_json(json_object_get(switching, "overlap")));
    text.len = 0;
    if (json_is_object(slope)) {
        number_with_error(&text, answer_number(slope, "value"), answer_number(slope, "error"));
        out_put(s, "slope of Crooks' relation: %s, expected 1\n", text.data);
    }
    buf_free(&text);
}

/* What the walkers of both ends say of the error. */
static void put_spread(const json_t *spread, const struct out *s)
{
    if (json_is_object(spread))
        out_put(s, "%lld walkers: by their spread %.1f works count for one, and the error is %.2g kcal/mol\n",
                answer_whole(spread, "walkers"), answer_number(spread, "inefficiency"),
                answer_magnitude(json_object_get(spread, "error")));
}

/* A member that says itself as a sentence; NULL: there is none. */
static void put_text(const json_t *member, const struct out *s)
{
    if (json_is_object(member))
        out_put(s, "%s\n", answer_text(member, "text"));
}

void switching_put(const json_t *results, const struct out *s)
{
    static const char *const heads[] = {"switches",   "works", "mean/(kJ/mol)", "deviation",
                                        "dissipated", "g",     "effective"};
    const json_t *switching = json_object_get(results, "switching");
    struct table t;
    if (!json_is_object(switching))
        return;
    table_setup(&t, "l r r r r r r");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    way_row(&t, switching, "forward");
    way_row(&t, switching, "backward");
    out_table(s, &t);
    put_both(switching, s);
    put_spread(json_object_get(switching, "spread"), s);
    put_text(json_object_get(switching, "advice"), s);
    put_text(json_object_get(switching, "lengthened"), s);
}
