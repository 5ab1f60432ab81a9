/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of what was gathered: systems by free energy, values beside experiment, the network.
 */
#include <math.h>
#include <stdlib.h>

#include "client/gather/gather.h"
#include "engine/plot/plot.h"

#define NEAR 1.0 /* kcal/mol: what is nearer to experiment is in the band */

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

static void put_network(struct buf *out, const struct gathered *g)
{
    struct plot_edge *edges = xcalloc((size_t)g->nedges, sizeof *edges);
    const char **names = xcalloc((size_t)g->nsystems, sizeof *names);
    int n = 0;
    for (int i = 0; i < g->nsystems; i++)
        names[i] = gather_system(g, i);
    for (int k = 0; k < g->nmeasured; k++) {
        const struct measurement *m = &g->measured[k];
        if (m->j >= 0)
            edges[n++] = (struct plot_edge){
                m->i, m->j, m->value / GATHER_KCAL, m->error / GATHER_KCAL, strain_of(g, k), g->of_item[k]->so_far};
    }
    if (n)
        plot_network(out, "Network of edges, kcal/mol", names, g->nsystems, edges, n);
    free(edges);
    free(names);
}

struct ranked_row {
    int system;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked_row *)a)->value, y = ((const struct ranked_row *)b)->value;
    return (x > y) - (x < y);
}

/* Systems that have a value, in kJ/mol on the scale of the experiment, the lowest first. Returns how many. */
static int rank_systems(const struct gathered *g, struct ranked_row *ranked)
{
    int n = 0;
    for (int i = 0; i < g->nsystems; i++) {
        double value = gather_value(g, i).value + g->shift[i];
        if (!isnan(value))
            ranked[n++] = (struct ranked_row){i, value};
    }
    qsort(ranked, (size_t)n, sizeof *ranked, by_value);
    return n;
}

static void put_ranking(struct buf *out, const struct gathered *g)
{
    enum { SHOWN = 100 };
    struct ranked_row *ranked = xcalloc((size_t)g->nsystems, sizeof *ranked);
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
    struct plot_series series[] = {{.name = "calculated", .points = calculated, .n = shown},
                                   {.name = "experiment", .points = measured, .n = shown}};
    char note[120];
    snprintf(note, sizeof note, "%s%s", n > shown ? "the lowest hundred" : "the lowest first",
             g->network.parts > 1 ? "; parts of the network have zeros of their own" : "");
    plot_forest(out, "Systems by free energy", note, "free energy, kcal/mol", series, any ? 2 : 1);
    free(ranked);
}

static void add_pair(struct plot_series *s, struct number experiment, struct number x, const char *name)
{
    if (isnan(x.value) || isnan(experiment.value))
        return;
    s->across[s->n] = experiment.error / GATHER_KCAL;
    s->points[s->n++] =
        (struct plot_point){experiment.value / GATHER_KCAL, x.value / GATHER_KCAL, x.error / GATHER_KCAL, name};
}

static void scatter(struct buf *out, const char *title, const char *note, struct plot_series *s)
{
    plot_series(out,
                &(struct plot){.title = title,
                               .note = note,
                               .x = "experiment, kcal/mol",
                               .y = "calculated, kcal/mol",
                               .level = NAN,
                               .equal = NEAR},
                s, 1);
    free(s->points);
    free(s->across);
}

static struct plot_series series_with_room(int n)
{
    return (struct plot_series){.points = xcalloc((size_t)n, sizeof(struct plot_point)),
                                .across = xcalloc((size_t)n, sizeof(double))};
}

static void put_experiment(struct buf *out, const struct gathered *g)
{
    struct plot_series systems = series_with_room(g->nsystems), edges = series_with_room(g->nitems);
    bool offset = false;
    for (int i = 0; i < g->nsystems; i++) {
        struct number x = gather_value(g, i);
        offset |= g->shift[i] > 0 || g->shift[i] < 0;
        if (gather_comparable(g, i))
            add_pair(&systems, g->experiments[i], (struct number){x.value + g->shift[i], x.error}, gather_system(g, i));
    }
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge)
            add_pair(&edges, (struct number){g->items[i].experiment, g->items[i].experiment_error}, g->items[i].sum,
                     g->items[i].name);
    scatter(out, "Values beside experiment",
            offset ? "values moved by the offset of their table; in the band: within 1 kcal/mol of experiment"
                   : "in the band: within 1 kcal/mol of experiment",
            &systems);
    scatter(out, "Edges beside experiment", "in the band: within 1 kcal/mol of experiment", &edges);
}

void gather_figures(const struct gathered *g, struct buf *out)
{
    put_ranking(out, g);
    put_experiment(out, g);
    put_network(out, g);
}
