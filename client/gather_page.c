/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered as a page with figures.
 */
#include <math.h>
#include <stdlib.h>

#include "client/gather.h"
#include "client/plot.h"

/* The strain of the worst loop with that edge. */
static double strain_of(const struct gathered *g, int edge)
{
    double worst = NAN;
    for (int i = 0; i < g->nloops; i++)
        for (int k = 0; k < g->loops[i].length; k++)
            if (g->loops[i].edges[k] == edge)
                worst = fmax(isnan(worst) ? 0 : worst, fabs(g->loops[i].closure) / g->loops[i].error);
    return worst;
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

static void experiment_show(struct buf *out, const struct gathered *g)
{
    struct plot_point ends[2] = {{INFINITY, INFINITY, NAN}, {-INFINITY, -INFINITY, NAN}};
    struct plot_series series[2] = {{.name = "equal", .points = ends, .n = 2, .joined = true}, {.name = "systems"}};
    series[1].points = xcalloc((size_t)g->nsystems, sizeof *series[1].points);
    for (int i = 0; i < g->nsystems; i++) {
        struct number x = gather_value(g, i);
        double experiment = g->experiments[i].value / GATHER_KCAL;
        if (isnan(x.value) || isnan(experiment))
            continue;
        ends[0].x = ends[0].y = fmin(ends[0].x, experiment);
        ends[1].x = ends[1].y = fmax(ends[1].x, experiment);
        series[1].points[series[1].n++] =
            (struct plot_point){experiment, (x.value + g->shift[i]) / GATHER_KCAL, x.error / GATHER_KCAL};
    }
    if (series[1].n)
        plot_series(out, "Values beside experiment", "experiment, kcal/mol", "calculated, kcal/mol", series, 2, false);
    free(series[1].points);
}

void gather_page(const struct gathered *g, struct buf *out)
{
    struct buf text = {0};
    plot_page_begin(out, answer_text(g->campaign->plan, "name"));
    experiment_show(out, g);
    network_show(out, g);
    gather_show(g, 0, &text);
    buf_printf(out, "<pre>");
    plot_text(out, text.data);
    buf_printf(out, "</pre>\n");
    plot_page_end(out);
    buf_free(&text);
}
