/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered as a page with figures: what `campaign gather` writes and `report` of a campaign.
 */
#include <math.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"
#include "client/results/convergence.h"
#include "client/show/page.h"
#include "engine/base/number.h"
#include "engine/plot/plot.h"

/* ---- the answer ---- */

/* Ensembles that have ended with this verdict; of VERDICT_PENDING those that have not ended. */
static int count(const struct gathered *g, enum verdict v)
{
    int n = 0;
    for (int i = 0; i < g->nrows; i++)
        n += (g->rows[i].so_far ? VERDICT_PENDING : g->rows[i].verdict) == v;
    return n;
}

static int count_so_far(const struct gathered *g)
{
    int n = 0;
    for (int i = 0; i < g->nrows; i++)
        n += g->rows[i].so_far;
    return n;
}

static enum verdict worst(const struct gathered *g)
{
    enum verdict v = VERDICT_CONVERGED;
    for (int i = 0; i < g->nrows; i++)
        v = gather_worse(v, g->rows[i].verdict);
    for (int i = 0; i < g->nitems; i++)
        v = gather_worse(v, g->items[i].verdict);
    for (int i = 0; i < g->nsystems; i++)
        v = gather_worse(v, g->verdicts[i]);
    return v;
}

static void measure_fact(struct buf *out, const char *what, const struct measure *m, double unit, const char *of)
{
    char interval[64] = "";
    if (isnan(m->value))
        return;
    if (!isnan(m->low))
        snprintf(interval, sizeof interval, "95 %%: %.2f to %.2f", m->low / unit, m->high / unit);
    page_fact(out, what, interval, "%.2f%s", m->value / unit, of);
}

static void comparison_facts(struct buf *out, const struct comparison *c, const char *what)
{
    char name[80];
    if (c->values < COMPARE_LEAST)
        return;
    snprintf(name, sizeof name, "RMSE of %d %s", c->values, what);
    measure_fact(out, name, &c->rmse, GATHER_KCAL, " kcal/mol");
    snprintf(name, sizeof name, "MUE of %d %s", c->values, what);
    measure_fact(out, name, &c->mue, GATHER_KCAL, " kcal/mol");
}

static void loops_fact(struct buf *out, const struct gathered *g)
{
    int closed = 0;
    for (int i = 0; i < g->nloops; i++)
        closed += fabs(g->loops[i].closure) < 2 * g->loops[i].error;
    if (g->nloops)
        page_fact(out, "loops that close", "within two errors", "%d of %d", closed, g->nloops);
}

static void answer(struct buf *out, const struct gathered *g)
{
    char what[120], number[120], sentence[300];
    const json_t *remark;
    size_t k;
    int values = 0;
    for (int i = 0; i < g->nsystems; i++)
        values += !isnan(gather_value(g, i).value);
    snprintf(what, sizeof what, "%d %s, %d %s, %d %s", g->nsystems, number_word(g->nsystems, "system", "systems"),
             g->nedges, number_word(g->nedges, "edge", "edges"), g->nrows,
             number_word(g->nrows, "ensemble", "ensembles"));
    snprintf(number, sizeof number, "%d of %d %s a free energy%s", values, g->nsystems,
             number_word(g->nsystems, "system has", "systems have"), gather_so_far(g) ? " so far" : "");
    int n =
        snprintf(sentence, sizeof sentence, "Of the ensembles %d converged, %d did not, %d failed, %d %s not ended.",
                 count(g, VERDICT_CONVERGED), count(g, VERDICT_UNCONVERGED), count(g, VERDICT_FAILED),
                 count(g, VERDICT_PENDING), number_word(count(g, VERDICT_PENDING), "has", "have"));
    if (count_so_far(g))
        snprintf(sentence + n, sizeof sentence - (size_t)n,
                 " %d of these %s a free energy of the samples so far; every number that depends on one is marked \"so "
                 "far\".",
                 count_so_far(g), number_word(count_so_far(g), "has", "have"));
    page_answer(out, what, number, verdict_word(worst(g)), sentence);
    page_facts_begin(out);
    comparison_facts(out, &g->absolute, "values");
    measure_fact(out, "Kendall tau", &g->absolute.tau, 1, "");
    comparison_facts(out, &g->relative, "edges");
    loops_fact(out, g);
    page_facts_end(out);
    json_array_foreach (g->remarks, k, remark)
        page_element(out, "p", "", json_string_value(remark));
}

/* ---- every ensemble ---- */

static void curves(struct buf *out, const struct gathered_ensemble *r, const char *title)
{
    struct plot_series series[2];
    results_convergence(r->convergence, series);
    plot_small_curves(out, title, series, 2, r->estimate.value / GATHER_KCAL, r->estimate.error / GATHER_KCAL);
    free(series[0].points);
    free(series[1].points);
}

static void estimate_line(struct buf *out, const struct gathered_ensemble *r)
{
    struct buf text = {0};
    if (isnan(r->estimate.value))
        return;
    number_with_error(&text, r->estimate.value / GATHER_KCAL, r->estimate.error / GATHER_KCAL);
    buf_printf(&text, " kcal/mol");
    page_element(out, "p", "", text.data);
    buf_free(&text);
}

static void card(struct buf *out, const struct gathered *g, int row)
{
    const struct gathered_ensemble *r = &g->rows[row];
    enum { REASONS = 2 };
    const json_t *reason;
    size_t i;
    char title[200], below[120];
    snprintf(title, sizeof title, "%.80s, %.60s, repeat %lld", answer_text(r->planned, "item"),
             answer_text(r->planned, "leg"), answer_whole(r->planned, "repeat"));
    buf_printf(out, "<article id=\"e%d\">\n", row);
    page_element(out, "h3", "", title);
    curves(out, r, title);
    estimate_line(out, r);
    const char *verdict = verdict_text(r->verdict, r->so_far);
    page_element(out, "p", out_class(verdict), verdict);
    if (*r->reason)
        page_element(out, "p", "soft", r->reason);
    json_array_foreach (r->reasons, i, reason)
        if (i < REASONS)
            page_element(out, "p", "soft", answer_text(reason, "text"));
    if (json_array_size(r->reasons) > REASONS) {
        snprintf(below, sizeof below, "and %zu more", json_array_size(r->reasons) - REASONS);
        page_element(out, "p", "soft", below);
    }
    if (!isnan(r->overlap)) {
        snprintf(below, sizeof below, "least overlap of neighbours %.2f", r->overlap);
        page_element(out, "p", "soft", below);
    }
    if (r->present) {
        snprintf(below, sizeof below, "shoal report %.64s", answer_text(r->present, "id"));
        page_element(out, "p", "soft", below);
    }
    buf_printf(out, "</article>\n");
}

static void cards(struct buf *out, const struct gathered *g)
{
    enum { OPEN_MOST = 60 };
    buf_printf(out, g->nrows > OPEN_MOST ? "<details>\n" : "<details open=\"open\">\n");
    page_element(out, "summary", "", "Convergence of every ensemble");
    buf_printf(
        out,
        "<p class=\"soft\"><span class=\"key k0\">forward</span> <span class=\"key k1\">backward</span> free energy "
        "from the first part of the samples and from the last; in the band: the answer, with the error that so many "
        "samples have</p>\n");
    buf_printf(out, "<div class=\"cards\">\n");
    for (int i = 0; i < g->nrows; i++)
        card(out, g, i);
    buf_printf(out, "</div>\n</details>\n");
}

void gather_page(const struct gathered *g, struct buf *out)
{
    page_begin(out, answer_text(g->campaign->plan, "name"), "campaign; free energies in kcal/mol");
    answer(out, g);
    buf_printf(out, "<div class=\"figures\">\n");
    gather_figures(g, out);
    buf_printf(out, "</div>\n");
    gather_put(&(struct out){out, 0, true}, g);
    gather_run(g, out);
    cards(out, g);
    page_end(out);
}
