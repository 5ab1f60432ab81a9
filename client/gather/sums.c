/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeats to legs, legs to sums.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"
#include "engine/base/statistics/repeats.h"
#include "engine/base/statistics/stats.h"

#define REPEATS_DEVIATES 3.0 /* as in results.json of several repeats */
#define ROUNDING 2.5e-4      /* kJ/mol, 1e-4 kT */

static const json_t *systems_of(const struct gathered *g)
{
    return json_object_get(g->campaign->plan, "systems");
}

static void compare_repeats(struct leg_sum *leg, const double *x, const double *error)
{
    int n = leg->got;
    leg->mean = (struct number){n ? stats_mean(x, (size_t)n) : NAN, n ? repeats_error(x, error, n) : NAN};
    leg->own_error = repeats_own_error(error, n);
    leg->deviation = n > 1 ? sqrt(stats_variance(x, (size_t)n)) : NAN;
    if (!repeats_disagree(x, error, n, REPEATS_DEVIATES, ROUNDING))
        return;
    leg->verdict = gather_worse(leg->verdict, VERDICT_UNCONVERGED);
    snprintf(leg->reason, sizeof leg->reason, "the repeats spread by %.2g kcal/mol, their own errors are %.2g",
             leg->deviation / GATHER_KCAL, leg->own_error / GATHER_KCAL);
}

/* An item's leg from the rows at *row and on, which are its repeats; *row is moved behind them. Failed is what has no
 * number: one that lacks some of its repeats is unconverged, and one whose repeats differ by more than their errors
 * allow. */
static void sum_leg(struct gathered *g, int *row, struct leg_sum *leg)
{
    enum { REPEATS_MAX = 100 };
    double x[REPEATS_MAX], error[REPEATS_MAX];
    const char *item = answer_text(g->rows[*row].planned, "item"), *name = answer_text(g->rows[*row].planned, "leg");
    for (; *row < g->nrows && leg->planned < REPEATS_MAX; ++*row) {
        const struct gathered_ensemble *r = &g->rows[*row];
        if (strcmp(answer_text(r->planned, "item"), item) != 0 || strcmp(answer_text(r->planned, "leg"), name) != 0)
            break;
        leg->planned++;
        leg->verdict = gather_worse(leg->verdict, r->verdict);
        leg->so_far |= r->so_far || r->verdict == VERDICT_PENDING;
        double corrections = gather_corrections(r);
        if (isnan(r->estimate.value))
            continue;
        x[leg->got] = r->estimate.value + (isnan(corrections) ? 0 : corrections);
        error[leg->got++] = r->estimate.error;
    }
    leg->so_far &= leg->got > 0;
    if (leg->got && leg->verdict == VERDICT_FAILED)
        leg->verdict = VERDICT_UNCONVERGED;
    compare_repeats(leg, x, error);
    if (*leg->reason)
        gather_remark(g, "%s, %s: %s", item, name, leg->reason);
}

static const json_t *find_leg(const struct gathered *g, const char *name)
{
    const json_t *leg;
    size_t i;
    json_array_foreach (json_object_get(g->campaign->plan, "legs"), i, leg)
        if (!strcmp(answer_text(leg, "name"), name))
            return leg;
    return NULL;
}

/* The rows come leg by leg, item by item, in the order of the items. */
static void sum_legs(struct gathered *g)
{
    for (int row = 0; row < g->nrows;) {
        const json_t *planned = g->rows[row].planned;
        struct gathered_item *item = gather_item(g, planned);
        item->legs = xrealloc(item->legs, (size_t)item->nlegs + 1, sizeof *item->legs);
        struct leg_sum *leg = &item->legs[item->nlegs++];
        *leg = (struct leg_sum){.leg = find_leg(g, answer_text(planned, "leg")), .first = row};
        sum_leg(g, &row, leg);
    }
}

static void sum_item(struct gathered_item *item)
{
    bool any = false;
    double squares = 0, deviations = 0;
    item->sum = (struct number){0, NAN};
    for (int i = 0; i < item->nlegs; i++) {
        const struct leg_sum *leg = &item->legs[i];
        double sign = (double)answer_whole(leg->leg, "sign");
        if (sign == 0)
            continue;
        any = true;
        item->sum.value += sign * leg->mean.value;
        squares += leg->mean.error * leg->mean.error;
        deviations += leg->deviation * leg->deviation;
        item->verdict = gather_worse(item->verdict, leg->verdict);
        item->so_far |= leg->so_far;
    }
    item->sum.error = sqrt(squares);
    item->deviation = any ? sqrt(deviations) : NAN;
    if (!any || isnan(item->sum.value))
        item->sum = (struct number){NAN, NAN};
    item->so_far &= !isnan(item->sum.value);
}

/* ---- items ---- */

static int find_system(const struct gathered *g, const char *name)
{
    for (int i = 0; i < g->nsystems; i++)
        if (!strcmp(gather_system(g, i), name))
            return i;
    return -1;
}

static bool has_legs_of(const struct gathered *g, const char *of)
{
    const json_t *leg;
    size_t i;
    json_array_foreach (json_object_get(g->campaign->plan, "legs"), i, leg)
        if (!strcmp(answer_text(leg, "of"), of))
            return true;
    return false;
}

static void add_items(struct gathered *g)
{
    const json_t *edges = json_object_get(g->campaign->plan, "edges"), *one;
    size_t i;
    g->items = xcalloc((size_t)g->nsystems + json_array_size(edges), sizeof *g->items);
    for (int s = 0; s < g->nsystems && has_legs_of(g, "system"); s++)
        g->items[g->nitems++] = (struct gathered_item){.name = gather_system(g, s),
                                                       .i = s,
                                                       .j = -1,
                                                       .experiment = g->experiments[s].value,
                                                       .experiment_error = g->experiments[s].error};
    if (!has_legs_of(g, "edge"))
        return;
    json_array_foreach (edges, i, one) {
        int a = find_system(g, answer_text(one, "ligand_i")), b = find_system(g, answer_text(one, "ligand_j"));
        const struct number *x = &g->experiments[a], *y = &g->experiments[b];
        g->items[g->nitems++] = (struct gathered_item){.name = answer_text(one, "name"),
                                                       .is_edge = true,
                                                       .i = a,
                                                       .j = b,
                                                       .experiment = y->value - x->value,
                                                       .experiment_error = hypot(x->error, y->error)};
        g->nedges++;
    }
}

/* ---- what did not move ---- */

/* Repeats that begin in one conformation and never leave it agree, and no error tells of the others. */
static void remark_torsions(struct gathered *g)
{
    const struct gathered_ensemble *still = NULL;
    int unwatched = 0, nstill = 0;
    for (int i = 0; i < g->nrows; i++) {
        const struct gathered_ensemble *r = &g->rows[i];
        unwatched += r->unwatched > 0;
        nstill += r->still > 0;
        if (r->still && !still)
            still = r;
    }
    if (still)
        gather_remark(
            g,
            "%d %s a torsion that no window saw turn, %s (%s) for one: `shoal results` names it; repeats that "
            "begin in one conformation agree without the others",
            nstill, number_word(nstill, "ensemble has", "ensembles have"), answer_text(still->planned, "item"),
            answer_text(still->planned, "leg"));
    if (unwatched)
        gather_remark(g,
                      "torsions of %d %s were not watched, for want of trajectories: with frames-every in the spec "
                      "transitions are counted; repeats that begin in one conformation agree without the others",
                      unwatched, number_word(unwatched, "ensemble", "ensembles"));
}

/* ---- all of it ---- */

void gather_sum(struct gathered *g)
{
    const json_t *one;
    size_t i;
    g->remarks = json_array();
    g->nsystems = (int)json_array_size(systems_of(g));
    g->experiments = xcalloc((size_t)g->nsystems, sizeof *g->experiments);
    json_array_foreach (json_object_get(g->campaign->plan, "warnings"), i, one)
        gather_remark(g, "%s", json_string_value(one));
    json_array_foreach (systems_of(g), i, one)
        g->experiments[i] = (struct number){number_from_json(json_object_get(one, "experiment")),
                                            number_from_json(json_object_get(one, "error"))};
    if (g->twice)
        gather_remark(g, "%d %s in more than one folder: that of the first folder counts", g->twice,
                      number_word(g->twice, "ensemble is", "ensembles are"));
    add_items(g);
    sum_legs(g);
    for (int k = 0; k < g->nitems; k++)
        sum_item(&g->items[k]);
    remark_torsions(g);
    gather_network(g);
    gather_comparison(g);
}
