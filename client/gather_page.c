/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered as a page with figures: what `campaign gather` writes and `report` of a campaign.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/gather.h"
#include "client/page.h"
#include "client/plot.h"
#include "client/report.h"

#define NEAR 1.0 /* kcal/mol: what is nearer to experiment is in the band */

/* ---- the answer ---- */

static int count(const struct gathered *g, enum verdict v)
{
    int n = 0;
    for (int i = 0; i < g->nrows; i++)
        n += g->rows[i].verdict == v;
    return n;
}

static enum verdict worst(const struct gathered *g)
{
    enum verdict v = VERDICT_CONVERGED;
    for (int i = 0; i < g->nrows; i++)
        v = g->rows[i].verdict > v ? g->rows[i].verdict : v;
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
    if (c->pairs < 2)
        return;
    snprintf(name, sizeof name, "RMSE of %d %s", c->pairs, what);
    measure_fact(out, name, &c->rmse, GATHER_KCAL, " kcal/mol");
    snprintf(name, sizeof name, "MUE of %d %s", c->pairs, what);
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
    char what[120], number[120], sentence[160];
    int values = 0;
    for (int i = 0; i < g->nsystems; i++)
        values += !isnan(gather_value(g, i).value);
    snprintf(what, sizeof what, "%d systems, %d edges, %d ensembles", g->nsystems, g->nedges, g->nrows);
    snprintf(number, sizeof number, "%d of %d systems have a free energy", values, g->nsystems);
    snprintf(sentence, sizeof sentence, "Of the ensembles %d converged, %d did not, %d failed, %d have not ended.",
             count(g, VERDICT_CONVERGED), count(g, VERDICT_UNCONVERGED), count(g, VERDICT_FAILED),
             count(g, VERDICT_PENDING));
    page_answer(out, what, number, verdict_word(worst(g)), sentence);
    page_facts_begin(out);
    comparison_facts(out, &g->absolute, "values");
    measure_fact(out, "Kendall tau", &g->absolute.tau, 1, "");
    comparison_facts(out, &g->relative, "edges");
    loops_fact(out, g);
    page_facts_end(out);
}

/* ---- figures ---- */

/* The strain of the worst loop with that edge. */
static double strain_of(const struct gathered *g, int edge)
{
    double most = NAN;
    for (int i = 0; i < g->nloops; i++)
        for (int k = 0; k < g->loops[i].length; k++)
            if (g->loops[i].edges[k] == edge)
                most = fmax(isnan(most) ? 0 : most, fabs(g->loops[i].closure) / g->loops[i].error);
    return most;
}

/* Edges without a number are left out. */
static void network_show(struct buf *out, const struct gathered *g)
{
    struct plot_edge *edges = xcalloc((size_t)g->nedges, sizeof *edges);
    const char **names = xcalloc((size_t)g->nsystems, sizeof *names);
    int n = 0;
    for (int i = 0; i < g->nsystems; i++)
        names[i] = gather_system(g, i);
    for (int k = 0; k < g->nmeasured; k++) {
        const struct measured *m = &g->measured[k];
        if (m->j >= 0 && !isnan(m->value))
            edges[n++] =
                (struct plot_edge){m->i, m->j, m->value / GATHER_KCAL, m->error / GATHER_KCAL, strain_of(g, k)};
    }
    if (n)
        plot_network(out, "Network of edges, kcal/mol", names, g->nsystems, edges, n);
    free(edges);
    free(names);
}

struct ranked {
    int system;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Systems that have a value, in kJ/mol on the scale of the experiment, the lowest first. Returns how many. */
static int rank_systems(const struct gathered *g, struct ranked *ranked)
{
    int n = 0;
    for (int i = 0; i < g->nsystems; i++) {
        double value = gather_value(g, i).value + g->shift[i];
        if (!isnan(value))
            ranked[n++] = (struct ranked){i, value};
    }
    qsort(ranked, (size_t)n, sizeof *ranked, by_value);
    return n;
}

static void ranking_show(struct buf *out, const struct gathered *g)
{
    enum { SHOWN = 100 };
    struct ranked *ranked = xcalloc((size_t)g->nsystems, sizeof *ranked);
    struct plot_point calculated[SHOWN], measured[SHOWN];
    int n = rank_systems(g, ranked), shown = n < SHOWN ? n : SHOWN;
    bool any = false;
    for (int k = 0; k < shown; k++) {
        int i = ranked[k].system;
        struct number x = g->experiments[i];
        calculated[k] = (struct plot_point){NAN, ranked[k].value / GATHER_KCAL, gather_value(g, i).error / GATHER_KCAL,
                                            gather_system(g, i)};
        measured[k] = (struct plot_point){NAN, x.value / GATHER_KCAL, x.error / GATHER_KCAL, gather_system(g, i)};
        any |= !isnan(x.value);
    }
    struct plot_series series[] = {{"calculated", calculated, shown, false}, {"experiment", measured, shown, false}};
    plot_forest(out, "Systems by free energy", n > shown ? "the lowest hundred" : "the lowest first",
                "free energy, kcal/mol", series, any ? 2 : 1);
    free(ranked);
}

static void add_pair(struct plot_series *s, double experiment, double value, double error, const char *name)
{
    if (!isnan(value) && !isnan(experiment))
        s->points[s->n++] =
            (struct plot_point){experiment / GATHER_KCAL, value / GATHER_KCAL, error / GATHER_KCAL, name};
}

static void scatter(struct buf *out, const char *title, struct plot_series *s)
{
    plot_series(out,
                &(struct plot){.title = title,
                               .note = "in the band: within 1 kcal/mol of it",
                               .x = "experiment, kcal/mol",
                               .y = "calculated, kcal/mol",
                               .level = NAN,
                               .equal = NEAR},
                s, 1);
    free(s->points);
}

static void experiment_show(struct buf *out, const struct gathered *g)
{
    struct plot_series systems = {.points = xcalloc((size_t)g->nsystems, sizeof *systems.points)},
                       edges = {.points = xcalloc((size_t)g->nitems, sizeof *edges.points)};
    for (int i = 0; i < g->nsystems; i++) {
        struct number x = gather_value(g, i);
        add_pair(&systems, g->experiments[i].value, x.value + g->shift[i], x.error, gather_system(g, i));
    }
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge)
            add_pair(&edges, g->items[i].experiment, g->items[i].sum.value, g->items[i].sum.error, g->items[i].name);
    scatter(out, "Values beside experiment", &systems);
    scatter(out, "Edges beside experiment", &edges);
}

/* ---- every ensemble ---- */

static void curves(struct buf *out, const struct row *r, const char *title)
{
    struct plot_series series[2];
    report_convergence(r->convergence, series);
    plot_small_curves(out, title, series, 2, r->estimate.value / GATHER_KCAL, r->estimate.error / GATHER_KCAL);
    free(series[0].points);
    free(series[1].points);
}

static void estimate_line(struct buf *out, const struct row *r)
{
    struct buf text = {0};
    if (isnan(r->estimate.value))
        return;
    show_value(&text, r->estimate.value / GATHER_KCAL, r->estimate.error / GATHER_KCAL);
    buf_printf(&text, " kcal/mol");
    page_element(out, "p", "", text.data);
    buf_free(&text);
}

static void card(struct buf *out, const struct row *r)
{
    enum { REASONS = 2 };
    const json_t *reason;
    size_t i;
    char title[200], below[120];
    snprintf(title, sizeof title, "%.80s, %.60s, repeat %lld", answer_text(r->planned, "item"),
             answer_text(r->planned, "leg"), answer_whole(r->planned, "repeat"));
    buf_printf(out, "<article>\n");
    page_element(out, "h3", "", title);
    curves(out, r, title);
    estimate_line(out, r);
    page_element(out, "p", sheet_class(verdict_word(r->verdict)), verdict_word(r->verdict));
    if (*r->reason)
        page_element(out, "p", "soft", r->reason);
    json_array_foreach (r->reasons, i, reason)
        if (i < REASONS)
            page_element(out, "p", "soft", answer_text(reason, "text"));
    if (json_array_size(r->reasons) > REASONS) {
        snprintf(below, sizeof below, "and %zu more reasons", json_array_size(r->reasons) - REASONS);
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
    page_element(
        out, "p", "soft",
        "Free energy from the first part of the samples (first colour) and from the last (second): both end in "
        "the band, the answer with its error.");
    buf_printf(out, "<div class=\"cards\">\n");
    for (int i = 0; i < g->nrows; i++)
        card(out, &g->rows[i]);
    buf_printf(out, "</div>\n</details>\n");
}

void gather_page(const struct gathered *g, struct buf *out)
{
    page_begin(out, answer_text(g->campaign->plan, "name"), "campaign; free energies in kcal/mol");
    answer(out, g);
    buf_printf(out, "<div class=\"figures\">\n");
    ranking_show(out, g);
    experiment_show(out, g);
    network_show(out, g);
    buf_printf(out, "</div>\n");
    gather_show(&(struct sheet){out, 0, true}, g);
    cards(out, g);
    page_end(out);
}
