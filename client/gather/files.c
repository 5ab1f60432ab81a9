/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered, as one table of lines alike, and in the forms that OpenFE's gather writes and cinnabar reads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"
#include "engine/base/path.h"

/* ---- lines ---- */

/* Digits after the point of a value: to the second digit of its error, which is beside it. */
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

/* The experiment, and whether it is so far: the last cells of a line. */
static void line_end(struct buf *out, struct number experiment, bool so_far)
{
    pair(out, experiment, "\t", "");
    buf_printf(out, "\t%s\n", so_far ? "yes" : "");
}

static void rows_tsv(const struct gathered *g, struct buf *out)
{
    for (int i = 0; i < g->nrows; i++) {
        const struct gathered_ensemble *r = &g->rows[i];
        char repeat[24];
        snprintf(repeat, sizeof repeat, "%lld", answer_whole(r->planned, "repeat"));
        line(out, "ensemble", answer_text(r->planned, "item"), answer_text(r->planned, "leg"), repeat, r->estimate,
             verdict_word(r->verdict));
        if (isnan(gather_corrections(r)))
            buf_printf(out, "\t");
        else
            buf_printf(out, "\t%.3f", gather_corrections(r) / GATHER_KCAL);
        buf_printf(out, "\t%s", r->present ? answer_text(r->present, "id") : "");
        line_end(out, (struct number){NAN, NAN}, r->so_far);
    }
}

static void items_tsv(const struct gathered *g, struct buf *out)
{
    for (int i = 0; i < g->nitems; i++) {
        const struct gathered_item *item = &g->items[i];
        for (int k = 0; k < item->nlegs; k++) {
            line(out, "leg", item->name, answer_text(item->legs[k].leg, "name"), "", item->legs[k].mean,
                 verdict_word(item->legs[k].verdict));
            buf_printf(out, "\t\t");
            line_end(out, (struct number){NAN, NAN}, item->legs[k].so_far);
        }
        line(out, item->is_edge ? "edge" : "system", item->name, "", "", item->sum, verdict_word(item->verdict));
        buf_printf(out, "\t\t");
        line_end(out, (struct number){item->experiment, item->experiment_error}, item->so_far);
    }
}

void gather_tsv(const struct gathered *g, bool headings, struct buf *out)
{
    if (headings)
        buf_printf(
            out,
            "kind\titem\tleg\trepeat\tfree energy (kcal/mol)\terror (kcal/mol)\tverdict\tcorrections (kcal/mol)\tid\t"
            "experiment (kcal/mol)\texperiment error (kcal/mol)\tso far\n");
    rows_tsv(g, out);
    items_tsv(g, out);
    for (int i = 0; i < g->nloops; i++) {
        char number[24];
        snprintf(number, sizeof number, "%d", i + 1);
        line(out, "loop", number, "", "", (struct number){g->loops[i].closure, g->loops[i].error}, "");
        buf_printf(out, "\t\t");
        line_end(out, (struct number){NAN, NAN}, gather_loop_so_far(g, &g->loops[i]));
    }
    for (int i = 0; g->nedges && i < g->nsystems; i++) {
        line(out, "value", gather_system(g, i), "", "", gather_value(g, i), verdict_word(g->verdicts[i]));
        buf_printf(out, "\t\t");
        line_end(out, g->experiments[i], g->values_so_far[i]);
    }
}

/* ---- what others read ---- */

/* OpenFE's uncertainties are standard deviations of repeats: beside ours, in a column of their own behind its columns.
 */
#define DEVIATION_HEADING "\tstandard deviation of repeats (kcal/mol)"
/* Last in a line: whether the number is of ensembles of which some have not ended. */
#define SO_FAR_HEADING "\tso far\n"

static void deviation_cell(struct buf *out, double deviation)
{
    if (isnan(deviation))
        buf_printf(out, "\t");
    else
        buf_printf(out, "\t%.*f", places(deviation / GATHER_KCAL), deviation / GATHER_KCAL);
}

static void so_far_cell(struct buf *out, bool so_far)
{
    buf_printf(out, "\t%s\n", so_far ? "yes" : "");
}

/* What values of the systems would have for errors if edges had their standard deviations; NAN without repeats. The
 * caller frees it. */
static double *deviations_of_values(const struct gathered *g)
{
    double *out = xcalloc((size_t)g->nsystems, sizeof *out);
    struct measurement *m = xcalloc((size_t)g->nmeasured, sizeof *m);
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
    buf_printf(out, "ligand\tDG%s (kcal/mol)\tuncertainty (kcal/mol)" DEVIATION_HEADING SO_FAR_HEADING,
               g->nedges ? "(MLE)" : "");
    for (int i = 0; i < g->nsystems; i++) {
        buf_printf(out, "%s", gather_system(g, i));
        pair(out, gather_value(g, i), "\t", "Error");
        deviation_cell(out, deviations[i]);
        so_far_cell(out, g->nedges ? g->values_so_far[i] : g->items[i].so_far);
    }
    free(deviations);
}

static void ddg_tsv(const struct gathered *g, struct buf *out)
{
    buf_printf(out, "ligand_i\tligand_j\tDDG(i->j) (kcal/mol)\tuncertainty (kcal/mol)" SO_FAR_HEADING);
    for (int i = 0; i < g->nitems; i++) {
        const struct gathered_item *item = &g->items[i];
        if (!item->is_edge)
            continue;
        buf_printf(out, "%s\t%s", gather_system(g, item->i), gather_system(g, item->j));
        pair(out, item->sum, "\t", "Error");
        so_far_cell(out, item->so_far);
    }
}

static double deviation_of_leg(const struct gathered_item *item, const char *leg)
{
    for (int i = 0; i < item->nlegs; i++)
        if (!strcmp(answer_text(item->legs[i].leg, "name"), leg))
            return item->legs[i].deviation;
    return NAN;
}

/* Of edges, or where there are none of systems: then there is no ligand_j. */
static void raw_tsv(const struct gathered *g, struct buf *out)
{
    buf_printf(out, "leg\t%s (kcal/mol)\tMBAR uncertainty (kcal/mol)" DEVIATION_HEADING SO_FAR_HEADING,
               g->nedges ? "ligand_i\tligand_j\tDG(i->j)" : "ligand\tDG");
    for (int k = 0; k < g->nrows; k++) {
        const struct gathered_ensemble *r = &g->rows[k];
        const struct gathered_item *item = gather_item(g, r->planned);
        if (item->is_edge != (g->nedges > 0))
            continue;
        buf_printf(out, "%s\t%s", answer_text(r->planned, "leg"), gather_system(g, item->i));
        if (item->is_edge)
            buf_printf(out, "\t%s", gather_system(g, item->j));
        pair(out, r->estimate, "\t", "Error");
        deviation_cell(out, deviation_of_leg(item, answer_text(r->planned, "leg")));
        so_far_cell(out, r->so_far);
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
    if (gather_so_far(g))
        buf_printf(out, "# so far: not all ensembles have ended\n");
    buf_printf(out, "# Calculated block\n# Ligand1, Ligand2, calc_DDG, calc_dDDG(MBAR), calc_dDDG(additional)\n");
    for (int i = 0; i < g->nitems; i++) {
        const struct gathered_item *item = &g->items[i];
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
    client_add_json(&text, all);
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
