/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered, as JSON, as one table of lines alike, and in the forms that OpenFE's gather writes and cinnabar reads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/gather.h"
#include "engine/base/path.h"

/* ---- JSON ---- */

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* As in results.json. */
static json_t *energy(struct number x)
{
    if (isnan(x.value))
        return json_null();
    return json_pack("{s:{s:o,s:o},s:{s:o,s:o}}", "kJ/mol", "value", real(x.value), "error", real(x.error), "kcal/mol",
                     "value", real(x.value / GATHER_KCAL), "error", real(x.error / GATHER_KCAL));
}

static json_t *rows_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->nrows; i++) {
        const struct row *r = &g->rows[i];
        json_t *one = json_pack("{s:O,s:O,s:O,s:O}", "key", json_object_get(r->planned, "key"), "item",
                                json_object_get(r->planned, "item"), "leg", json_object_get(r->planned, "leg"),
                                "repeat", json_object_get(r->planned, "repeat"));
        json_object_set_new(one, "id", r->present ? json_string(answer_text(r->present, "id")) : json_null());
        json_object_set_new(one, "state", r->present ? json_string(answer_text(r->present, "state")) : json_null());
        json_object_set_new(one, "estimate", energy(r->estimate));
        json_object_set_new(one, "standard_state", energy((struct number){r->standard_state, 0}));
        json_object_set_new(one, "finite_size", energy((struct number){r->finite_size, 0}));
        json_object_set_new(one, "verdict", json_string(verdict_word(r->verdict)));
        json_object_set_new(one, "reason", *r->reason ? json_string(r->reason) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *legs_json(const struct item *item)
{
    json_t *list = json_array();
    for (int i = 0; i < item->nlegs; i++) {
        const struct leg_sum *leg = &item->legs[i];
        json_t *one = json_pack("{s:O,s:O,s:i,s:i,s:o,s:s}", "leg", json_object_get(leg->leg, "name"), "sign",
                                json_object_get(leg->leg, "sign"), "planned", leg->planned, "repeats", leg->got,
                                "free_energy", energy(leg->mean), "verdict", verdict_word(leg->verdict));
        json_object_set_new(one, "standard_deviation", energy((struct number){leg->deviation, NAN}));
        json_object_set_new(one, "reason", *leg->reason ? json_string(leg->reason) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *item_json(const struct gathered *g, const struct item *item)
{
    json_t *one = item->is_edge ? json_pack("{s:s,s:s}", "ligand_i", gather_system(g, item->i), "ligand_j",
                                            gather_system(g, item->j))
                                : json_pack("{s:s}", "system", item->name);
    json_object_set_new(one, "legs", legs_json(item));
    json_object_set_new(one, "free_energy", energy(item->sum));
    json_object_set_new(one, "experiment", energy((struct number){item->experiment, item->experiment_error}));
    json_object_set_new(one, "verdict", item->verdict ? json_string(verdict_word(item->verdict)) : json_null());
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
            const struct measured *m = &g->measured[l->edges[k]];
            json_array_append_new(way, json_string(gather_system(g, l->signs[k] > 0 ? m->i : m->j)));
        }
        json_array_append_new(
            list, json_pack("{s:o,s:o}", "systems", way, "closure", energy((struct number){l->closure, l->error})));
    }
    return list;
}

static json_t *values_json(const struct gathered *g)
{
    json_t *list = json_array();
    for (int i = 0; g->nedges && i < g->nsystems; i++) {
        json_t *part = gather_apart(g, i) ? json_null() : json_integer(g->network.part[i]);
        json_t *one =
            json_pack("{s:s,s:o,s:o,s:o,s:b}", "system", gather_system(g, i), "free_energy", energy(gather_value(g, i)),
                      "experiment", energy(g->experiments[i]), "part", part, "anchored", (int)g->network.anchored[i]);
        json_object_set_new(one, "shift", energy((struct number){g->shift[i], 0}));
        json_object_set_new(one, "verdict", g->verdicts[i] ? json_string(verdict_word(g->verdicts[i])) : json_null());
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
            json_array_append_new(row, real(covariance(g, i, j)));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *measure_json(const struct measure *m, double unit)
{
    return json_pack("{s:o,s:o,s:o}", "value", real(m->value / unit), "low", real(m->low / unit), "high",
                     real(m->high / unit));
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
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:O}", "name", answer_text(g->campaign->plan, "name"),
                     "ensembles", rows_json(g), "systems", items_json(g, false), "edges", items_json(g, true), "loops",
                     loops_json(g), "values", values_json(g), "covariance", covariance_json(g), "experiment",
                     experiment, "remarks", g->remarks);
}

/* ---- lines ---- */

/* To the second digit of the error, which stands beside it. */
static int places(double error)
{
    double digits = error > 0 ? 1 - floor(log10(error)) : 3;
    return digits < 0 ? 0 : digits > 6 ? 6 : (int)digits;
}

/* "\tvalue\terror" in kcal/mol, with `none` in place of both where there is no value. */
static void pair(struct buf *out, struct number x, const char *separator, const char *none)
{
    double value = x.value / GATHER_KCAL, error = x.error / GATHER_KCAL;
    if (isnan(value))
        buf_printf(out, "%s%s%s%s", separator, none, separator, none);
    else if (isnan(error))
        buf_printf(out, "%s%.3f%s", separator, value, separator);
    else
        buf_printf(out, "%s%.*f%s%.*f", separator, places(error), value, separator, places(error), error);
}

static void line(struct buf *out, const char *kind, const char *item, const char *leg, const char *repeat,
                 struct number x, const char *verdict)
{
    buf_printf(out, "%s\t%s\t%s\t%s", kind, item, leg, repeat);
    pair(out, x, "\t", "");
    buf_printf(out, "\t%s", verdict);
}

static void rows_tsv(const struct gathered *g, struct buf *out)
{
    for (int i = 0; i < g->nrows; i++) {
        const struct row *r = &g->rows[i];
        char repeat[24];
        snprintf(repeat, sizeof repeat, "%lld", answer_whole(r->planned, "repeat"));
        line(out, "ensemble", answer_text(r->planned, "item"), answer_text(r->planned, "leg"), repeat, r->estimate,
             verdict_word(r->verdict));
        if (isnan(gather_corrections(r)))
            buf_printf(out, "\t");
        else
            buf_printf(out, "\t%.3f", gather_corrections(r) / GATHER_KCAL);
        buf_printf(out, "\t%s\t\n", r->present ? answer_text(r->present, "id") : "");
    }
}

static void items_tsv(const struct gathered *g, struct buf *out)
{
    for (int i = 0; i < g->nitems; i++) {
        const struct item *item = &g->items[i];
        for (int k = 0; k < item->nlegs; k++) {
            line(out, "leg", item->name, answer_text(item->legs[k].leg, "name"), "", item->legs[k].mean,
                 verdict_word(item->legs[k].verdict));
            buf_printf(out, "\t\t\t\n");
        }
        line(out, item->is_edge ? "edge" : "system", item->name, "", "", item->sum, verdict_word(item->verdict));
        buf_printf(out, "\t\t\t");
        if (!isnan(item->experiment))
            buf_printf(out, "%.3f", item->experiment / GATHER_KCAL);
        buf_printf(out, "\n");
    }
}

void gather_tsv(const struct gathered *g, bool headings, struct buf *out)
{
    if (headings)
        buf_printf(
            out,
            "kind\titem\tleg\trepeat\tfree energy (kcal/mol)\terror (kcal/mol)\tverdict\tcorrections (kcal/mol)\tid\t"
            "experiment (kcal/mol)\n");
    rows_tsv(g, out);
    items_tsv(g, out);
    for (int i = 0; i < g->nloops; i++) {
        char number[24];
        snprintf(number, sizeof number, "%d", i + 1);
        line(out, "loop", number, "", "", (struct number){g->loops[i].closure, g->loops[i].error}, "");
        buf_printf(out, "\t\t\t\n");
    }
    for (int i = 0; g->nedges && i < g->nsystems; i++) {
        line(out, "value", gather_system(g, i), "", "", gather_value(g, i), verdict_word(g->verdicts[i]));
        buf_printf(out, "\t\t\t");
        if (!isnan(g->experiments[i].value))
            buf_printf(out, "%.3f", g->experiments[i].value / GATHER_KCAL);
        buf_printf(out, "\n");
    }
}

/* ---- what others read ---- */

/* OpenFE's uncertainties are standard deviations of repeats: beside ours, in a column of their own behind its columns. */
#define DEVIATION_HEADING "\tstandard deviation of repeats (kcal/mol)\n"

/* The last cell of a line. */
static void deviation_cell(struct buf *out, double deviation)
{
    if (isnan(deviation))
        buf_printf(out, "\t\n");
    else
        buf_printf(out, "\t%.*f\n", places(deviation / GATHER_KCAL), deviation / GATHER_KCAL);
}

/* What values of the systems would have for errors if edges had their standard deviations; NAN without repeats. The caller frees it. */
static double *deviations_of_values(const struct gathered *g)
{
    double *out = xcalloc((size_t)g->nsystems, sizeof *out);
    struct measured *m = xcalloc((size_t)g->nmeasured, sizeof *m);
    struct network net;
    for (int k = 0; k < g->nmeasured; k++) {
        m[k] = g->measured[k];
        m[k].error = g->of_item[k]->deviation;
    }
    network_solve(&net, g->nsystems, m, g->nmeasured);
    for (int i = 0; i < g->nsystems; i++)
        out[i] = !g->nedges        ? g->items[i].deviation
                 : net.part[i] < 0 ? NAN
                                   : sqrt(net.covariance[(size_t)i * (size_t)(g->nsystems + 1)]);
    network_free(&net);
    free(m);
    return out;
}

static void dg_tsv(const struct gathered *g, struct buf *out)
{
    double *deviations = deviations_of_values(g);
    buf_printf(out, "ligand\tDG%s (kcal/mol)\tuncertainty (kcal/mol)" DEVIATION_HEADING, g->nedges ? "(MLE)" : "");
    for (int i = 0; i < g->nsystems; i++) {
        buf_printf(out, "%s", gather_system(g, i));
        pair(out, gather_value(g, i), "\t", "Error");
        deviation_cell(out, deviations[i]);
    }
    free(deviations);
}

static void ddg_tsv(const struct gathered *g, struct buf *out)
{
    buf_printf(out, "ligand_i\tligand_j\tDDG(i->j) (kcal/mol)\tuncertainty (kcal/mol)\n");
    for (int i = 0; i < g->nitems; i++) {
        const struct item *item = &g->items[i];
        if (!item->is_edge)
            continue;
        buf_printf(out, "%s\t%s", gather_system(g, item->i), gather_system(g, item->j));
        pair(out, item->sum, "\t", "Error");
        buf_printf(out, "\n");
    }
}

static double deviation_of_leg(const struct item *item, const char *leg)
{
    for (int i = 0; i < item->nlegs; i++)
        if (!strcmp(answer_text(item->legs[i].leg, "name"), leg))
            return item->legs[i].deviation;
    return NAN;
}

/* Of edges, or where there are none of systems: then there is no ligand_j. */
static void raw_tsv(const struct gathered *g, struct buf *out)
{
    buf_printf(out, "leg\t%s (kcal/mol)\tMBAR uncertainty (kcal/mol)" DEVIATION_HEADING,
               g->nedges ? "ligand_i\tligand_j\tDG(i->j)" : "ligand\tDG");
    for (int k = 0; k < g->nrows; k++) {
        const struct row *r = &g->rows[k];
        const struct item *item = gather_item(g, r->planned);
        if (item->is_edge != (g->nedges > 0))
            continue;
        buf_printf(out, "%s\t%s", answer_text(r->planned, "leg"), gather_system(g, item->i));
        if (item->is_edge)
            buf_printf(out, "\t%s", gather_system(g, item->j));
        pair(out, r->estimate, "\t", "Error");
        deviation_cell(out, deviation_of_leg(item, answer_text(r->planned, "leg")));
    }
}

/* Values that are not there are left out: the reader has no word for them. */
static void cinnabar_csv(const struct gathered *g, struct buf *out)
{
    buf_printf(out, "# Experimental block\n# Ligand, expt_DG, expt_dDG\n");
    for (int i = 0; i < g->nsystems; i++) {
        struct number x = g->experiments[i];
        if (isnan(x.value))
            continue;
        x.error = isnan(x.error) ? 0 : x.error;
        buf_printf(out, "%s", gather_system(g, i));
        pair(out, x, ",", "");
        buf_printf(out, "\n");
    }
    buf_printf(out, "# Calculated block\n# Ligand1, Ligand2, calc_DDG, calc_dDDG(MBAR), calc_dDDG(additional)\n");
    for (int i = 0; i < g->nitems; i++) {
        const struct item *item = &g->items[i];
        if (!item->is_edge || isnan(item->sum.value))
            continue;
        buf_printf(out, "%s,%s", gather_system(g, item->i), gather_system(g, item->j));
        pair(out, item->sum, ",", "");
        buf_printf(out, ",0.0\n");
    }
}

static int write_file(const char *folder, const char *name, struct buf *text, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, name);
    int rc = path_make_parents(path.data, 0777, e);
    if (!rc)
        rc = buf_write_file(path.data, text->data, text->len, e);
    buf_free(&path);
    text->len = 0;
    return rc;
}

int gather_files(const struct gathered *g, const char *folder, struct err *e)
{
    static const struct {
        const char *name;
        void (*write)(const struct gathered *g, struct buf *out);
        bool of_edges;
    } files[] = {{"dg.tsv", dg_tsv, false},
                 {"raw.tsv", raw_tsv, false},
                 {"ddg.tsv", ddg_tsv, true},
                 {"cinnabar.csv", cinnabar_csv, true}};
    struct buf text = {0};
    json_t *all = gather_json(g);
    char *json = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(15));
    buf_printf(&text, "%s\n", json);
    free(json);
    json_decref(all);
    int rc = write_file(folder, "gather.json", &text, e);
    gather_tsv(g, true, &text);
    if (!rc)
        rc = write_file(folder, "gather.tsv", &text, e);
    gather_page(g, &text);
    if (!rc)
        rc = write_file(folder, "report.html", &text, e);
    for (size_t i = 0; !rc && i < sizeof files / sizeof *files; i++) {
        if (files[i].of_edges && !g->nedges)
            continue;
        files[i].write(g, &text);
        rc = write_file(folder, files[i].name, &text, e);
    }
    buf_free(&text);
    return rc;
}
