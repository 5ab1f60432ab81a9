/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums to a network: values of the systems, their verdicts, and what of it contradicts the rest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/gather/gather.h"
#include "engine/base/number.h"
#include "engine/base/statistics/stats.h"

/* Without an error above 0 a measurement has no weight: it gets this share of the least error of the others, which is
 * as good as exact. */
#define EXACT_SHARE 0.01
#define EXACT_ALONE 0.001 /* kJ/mol, where no other has an error */

/* Weights come from errors: where these are too small by more than a half, errors of values are too small by more than
 * a fifth. */
#define SPREAD_MOST 1.5
#define SPREAD_DEVIATES 3.0

struct number gather_value(const struct gathered *g, int system)
{
    const struct network *net = &g->network;
    if (g->nedges)
        return (struct number){net->value[system], sqrt(net->covariance[(size_t)system * (size_t)(net->nodes + 1)])};
    return g->items[system].sum;
}

bool gather_apart(const struct gathered *g, int system)
{
    return g->nedges && g->network.part[system] < 0;
}

/* ---- what it is made of ---- */

static double exact_error(const struct gathered *g)
{
    double least = INFINITY;
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].sum.error > 0)
            least = fmin(least, g->items[i].sum.error);
    return isfinite(least) ? EXACT_SHARE * least : EXACT_ALONE;
}

static const char *kind_of(const struct gathered_item *item)
{
    return item->is_edge ? "edge" : "system";
}

static void measure_item(struct gathered *g, struct gathered_item *item)
{
    struct number x = item->sum;
    if (g->nedges && x.error == 0) {
        x.error = exact_error(g);
        gather_remark(g, "%s %s has an error of 0: the network takes it as exact", kind_of(item), item->name);
    } else if (g->nedges && !isnan(x.value) && isnan(x.error)) {
        gather_remark(g, "%s %s has a free energy without an error: it is left out of the network", kind_of(item),
                      item->name);
    }
    g->of_item[g->nmeasured] = item;
    g->measured[g->nmeasured++] = (struct measurement){item->i, item->j, x.value, x.error};
}

static void measure_edges(struct gathered *g)
{
    g->measured = xcalloc((size_t)g->nitems, sizeof *g->measured);
    g->of_item = xcalloc((size_t)g->nitems, sizeof *g->of_item);
    for (int edges = 1; edges >= 0; edges--)
        for (int i = 0; i < g->nitems; i++)
            if (g->items[i].is_edge == edges)
                measure_item(g, &g->items[i]);
}

bool gather_loop_so_far(const struct gathered *g, const struct loop *l)
{
    bool any = false;
    for (int k = 0; k < l->length; k++)
        any |= g->of_item[l->edges[k]]->so_far;
    return any;
}

/* ---- what contradicts the rest ---- */

static void name_edges(struct buf *out, const struct gathered *g, const struct contradiction *c)
{
    for (int k = 0; k < c->length; k++)
        buf_printf(out, "%s%s", k ? ", " : "", g->of_item[c->edges[k]]->name);
}

static void contradiction_remark(struct gathered *g, const struct contradiction *c)
{
    struct buf names = {0}, off = {0};
    if (!c->length) {
        gather_remark(g,
                      "part %d of the network contradicts itself: chi-square of its loops is %.1f, expected %d; no one "
                      "edge explains it, so errors are too small or several edges are wrong",
                      c->part + 1, c->chi_square, c->loops);
        return;
    }
    name_edges(&names, g, c);
    number_with_error(&off, c->off / GATHER_KCAL, c->error / GATHER_KCAL);
    gather_remark(
        g,
        "%s %s: off by %s kcal/mol (%.1f errors) from what the rest of part %d of the network says%s; look at "
        "the repeats and legs there",
        c->length > 1 ? "one of" : kind_of(g->of_item[c->edges[0]]), names.data, off.data, fabs(c->off) / c->error,
        c->part + 1, c->length > 1 ? " (they are in the same loops, so no test can tell which)" : "");
    buf_free(&names);
    buf_free(&off);
}

static void contradict(struct gathered *g)
{
    g->ncontradictions = network_contradictions(g->nsystems, g->measured, g->nmeasured, &g->contradictions);
    for (int i = 0; i < g->ncontradictions; i++) {
        const struct contradiction *c = &g->contradictions[i];
        contradiction_remark(g, c);
        for (int k = 0; k < c->length; k++) {
            struct gathered_item *item = g->of_item[c->edges[k]];
            item->verdict = gather_worse(item->verdict, VERDICT_UNCONVERGED);
        }
    }
}

/* ---- whether repeats agree with their own errors ---- */

/* One leg's spread says little of its errors, that of all legs much. Legs that are known to disagree are left out. */
static void compare_spreads(struct gathered *g)
{
    double square = 0;
    int dof = 0;
    for (int i = 0; i < g->nitems; i++)
        for (int k = 0; k < g->items[i].nlegs; k++) {
            const struct leg_sum *leg = &g->items[i].legs[k];
            if (leg->got < 2 || !(leg->own_error > 0) || *leg->reason)
                continue;
            square += (leg->got - 1) * pow(leg->deviation / leg->own_error, 2);
            dof += leg->got - 1;
        }
    double ratio = dof ? sqrt(square / dof) : 0;
    g->wide = ratio > SPREAD_MOST && stats_chi_square_deviate(square / dof, dof) > SPREAD_DEVIATES;
    if (g->wide)
        gather_remark(g,
                      "repeats of all legs together spread %.1f times as far as their own errors allow: errors of the "
                      "values of the systems are too small; run longer, or more repeats",
                      ratio);
}

/* ---- verdicts ---- */

/* A value depends on everything that its part was measured with; that of a system apart is missing for the reason that
 * what would reach it is. */
static bool depends_on(const struct gathered *g, int system, int k)
{
    const struct measurement *m = &g->measured[k];
    int part = g->network.part[system];
    return part >= 0 ? measured_counts(m) && g->network.part[m->i] == part : m->i == system || m->j == system;
}

static enum verdict verdict_of_value(const struct gathered *g, int system)
{
    enum verdict v = VERDICT_NONE;
    int part = g->network.part[system];
    for (int k = 0; k < g->nmeasured; k++)
        if (depends_on(g, system, k)) {
            v = gather_worse(v, g->of_item[k]->verdict);
            g->values_so_far[system] |= g->of_item[k]->so_far && part >= 0;
        }
    for (int i = 0; i < g->ncontradictions; i++)
        if (g->contradictions[i].part == part)
            v = gather_worse(v, VERDICT_UNCONVERGED);
    return v && g->wide ? gather_worse(v, VERDICT_UNCONVERGED) : v;
}

void gather_network(struct gathered *g)
{
    measure_edges(g);
    g->verdicts = xcalloc((size_t)g->nsystems, sizeof *g->verdicts);
    g->values_so_far = xcalloc((size_t)g->nsystems, sizeof *g->values_so_far);
    if (!g->nedges)
        return;
    network_solve(&g->network, g->nsystems, g->measured, g->nmeasured);
    g->nloops = network_loops(g->nsystems, g->measured, g->nmeasured, &g->loops);
    contradict(g);
    compare_spreads(g);
    for (int i = 0; i < g->nsystems; i++)
        g->verdicts[i] = verdict_of_value(g, i);
}
