/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered, as tables in kcal/mol.
 */
#include <math.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"
#include "client/show/out.h"
#include "engine/base/number.h"

void gather_number_cell(struct table *t, struct number x)
{
    struct buf text = {0};
    buf_add(&text, "", 0);
    if (!isnan(x.value))
        number_with_error(&text, x.value / GATHER_KCAL, x.error / GATHER_KCAL);
    table_cell(t, "%s", text.len ? text.data : "-");
    buf_free(&text);
}

static void heads(struct table *t, const char *layout, const char *const *words)
{
    table_setup(t, layout);
    for (int i = 0; words[i]; i++)
        table_cell(t, "%s", words[i]);
}

static void put(const struct out *s, struct table *t, const char *title, const char *note)
{
    out_title(s, title, note);
    out_table(s, t);
    out_put(s, "\n");
}

/* To what a page shows of a row's ensemble. */
static void link_row(struct table *t, int row)
{
    char place[32];
    snprintf(place, sizeof place, "#e%d", row);
    table_link(t, place);
}

static void put_rows(const struct out *s, const struct gathered *g)
{
    static const char *const words[] = {"item",     "leg",         "repeat",  "id",     "state",
                                        "estimate", "corrections", "verdict", "reason", NULL};
    struct table t;
    heads(&t, "l~ l r l4 l r r3 l l~5", words);
    for (int i = 0; i < g->nrows; i++) {
        const struct gathered_ensemble *r = &g->rows[i];
        table_cell(&t, "%s", answer_text(r->planned, "item"));
        link_row(&t, i);
        table_cell(&t, "%s", answer_text(r->planned, "leg"));
        table_cell(&t, "%lld", answer_whole(r->planned, "repeat"));
        table_cell(&t, "%s", r->present ? answer_text(r->present, "id") : "");
        table_state(&t, r->present ? answer_text(r->present, "state") : "missing");
        gather_number_cell(&t, r->estimate);
        if (isnan(gather_corrections(r)))
            table_cell(&t, "%s", "");
        else
            table_cell(&t, "%.2f", gather_corrections(r) / GATHER_KCAL);
        table_cell(&t, "%s", verdict_text(r->verdict, r->so_far));
        table_cell(&t, "%s", r->reason);
    }
    put(s, &t, "ensembles, kcal/mol", "last window less the first");
}

/* An experiment without an error counts as exact. */
static struct number difference(struct number x, struct number experiment)
{
    return (struct number){x.value - experiment.value, hypot(x.error, isnan(experiment.error) ? 0 : experiment.error)};
}

static void put_item(struct table *t, const struct gathered_item *item)
{
    for (int k = 0; k < item->nlegs; k++) {
        const struct leg_sum *leg = &item->legs[k];
        table_cell(t, "%s", k ? "" : item->name);
        table_cell(t, "%+lld %s", answer_whole(leg->leg, "sign"), answer_text(leg->leg, "name"));
        link_row(t, leg->first);
        table_cell(t, "%d/%d", leg->got, leg->planned);
        gather_number_cell(t, leg->mean);
        table_cell(t, "%s", verdict_text(leg->verdict, leg->so_far));
        table_cell(t, "%s", "");
        table_cell(t, "%s", "");
    }
    table_cell(t, "%s", item->nlegs ? "" : item->name);
    table_cell(t, "%s", "sum");
    table_cell(t, "%s", "");
    gather_number_cell(t, item->sum);
    table_cell(t, "%s", item->verdict ? verdict_text(item->verdict, item->so_far) : "-");
    gather_number_cell(t, (struct number){item->experiment, item->experiment_error});
    gather_number_cell(t, difference(item->sum, (struct number){item->experiment, item->experiment_error}));
}

static void put_items(const struct out *s, const struct gathered *g)
{
    static const char *const words[] = {"item",    "leg",        "repeats",    "free energy",
                                        "verdict", "experiment", "difference", NULL};
    struct table t;
    heads(&t, "l~ l r2 r l r3 r4", words);
    for (int i = 0; i < g->nitems; i++)
        put_item(&t, &g->items[i]);
    put(s, &t, "sums of legs, kcal/mol", "means of repeats, each with its sign; of an edge, ligand_j less ligand_i");
}

static void loop_cell(struct table *t, const struct gathered *g, const struct loop *l)
{
    struct buf way = {0};
    for (int k = 0; k < l->length; k++) {
        const struct measurement *m = &g->measured[l->edges[k]];
        buf_printf(&way, "%s > ", gather_system(g, l->signs[k] > 0 ? m->i : m->j));
    }
    const struct measurement *last = &g->measured[l->edges[l->length - 1]];
    buf_printf(&way, "%s", gather_system(g, last->j)); /* which it passes forward */
    table_cell(t, "%s", way.data);
    buf_free(&way);
}

static void put_loops(const struct out *s, const struct gathered *g)
{
    static const char *const words[] = {"loop", "closure", "in errors", "note", NULL};
    struct table t;
    if (!g->nloops)
        return;
    heads(&t, "l~ r r l3", words);
    for (int i = 0; i < g->nloops; i++) {
        const struct loop *l = &g->loops[i];
        loop_cell(&t, g, l);
        gather_number_cell(&t, (struct number){l->closure, l->error});
        if (isnan(l->error))
            table_cell(&t, "-");
        else
            table_cell(&t, "%.1f", fabs(l->closure) / l->error);
        table_cell(&t, "%s", gather_loop_so_far(g, l) ? "so far" : "");
    }
    put(s, &t, "loops of the network, kcal/mol", "0 where all is right");
}

static void put_values(const struct out *s, const struct gathered *g)
{
    static const char *const words[] = {"system",     "value",   "offset", "experiment",
                                        "difference", "verdict", "part",   NULL};
    struct table t;
    if (!g->nedges)
        return;
    heads(&t, "l~ r r3 r r l r2", words);
    for (int i = 0; i < g->nsystems; i++) {
        struct number value = gather_value(g, i), experiment = g->experiments[i];
        double offset = gather_comparable(g, i) && !isnan(g->shift[i]) ? g->shift[i] : 0;
        value.value += offset;
        table_cell(&t, "%s", gather_system(g, i));
        gather_number_cell(&t, value);
        if (offset > 0 || offset < 0)
            table_cell(&t, "%+.2f", offset / GATHER_KCAL);
        else
            table_cell(&t, "%s", "");
        gather_number_cell(&t, experiment);
        gather_number_cell(&t, gather_comparable(g, i) ? difference(value, experiment) : (struct number){NAN, NAN});
        table_cell(&t, "%s", g->verdicts[i] ? verdict_text(g->verdicts[i], g->values_so_far[i]) : "-");
        if (gather_apart(g, i))
            table_cell(&t, "-");
        else
            table_cell(&t, "%d", g->network.part[i] + 1);
    }
    put(s, &t, "values of the systems, kcal/mol",
        "most likely by all edges; a part without a zero of its own is moved by the offset to the mean of its "
        "experiments, and has the mean 0 where there are fewer than two; an experiment without an error counts as "
        "exact");
}

static void measure_cells(struct table *t, const char *name, const struct measure *m, double unit)
{
    table_cell(t, "%s", name);
    table_cell(t, "%.2f", m->value / unit);
    if (isnan(m->low))
        table_cell(t, "-");
    else
        table_cell(t, "%.2f to %.2f", m->low / unit, m->high / unit);
}

static void put_comparison(const struct out *s, const struct comparison *c, const char *what, bool with_tau,
                           bool so_far)
{
    struct table t;
    char title[120];
    static const char *const words[] = {"", "value", "95 %", NULL};
    if (c->values < COMPARE_LEAST)
        return;
    heads(&t, "l r l", words);
    measure_cells(&t, "RMSE (kcal/mol)", &c->rmse, GATHER_KCAL);
    measure_cells(&t, "MUE (kcal/mol)", &c->mue, GATHER_KCAL);
    if (with_tau && !isnan(c->tau.value))
        measure_cells(&t, "Kendall tau", &c->tau, 1);
    snprintf(title, sizeof title, "%s beside experiment, %d of them%s", what, c->values, so_far ? ", so far" : "");
    put(s, &t, title, "");
}

static void put_comparisons(const struct out *s, const struct gathered *g)
{
    put_comparison(s, &g->absolute, "values", true, gather_so_far(g));
    put_comparison(s, &g->relative, "edges", false, gather_so_far(g));
}

static void put_remarks(const struct out *s, const struct gathered *g)
{
    const json_t *one;
    size_t i;
    json_array_foreach (g->remarks, i, one)
        out_put(s, "%s\n", json_string_value(one));
}

void gather_put(const struct out *s, const struct gathered *g)
{
    typedef void put_fn(const struct out *s, const struct gathered *g);
    static put_fn *const parts[] = {put_rows, put_items, put_loops, put_values, put_comparisons, put_remarks};
    enum { PARTS = sizeof parts / sizeof *parts };
    /* A terminal ends with what counts; a page begins with it, and has said the last two parts at its top. */
    for (int i = s->html ? 2 : 0; i < PARTS; i++)
        parts[s->html ? PARTS - 1 - i : i](s, g);
}
