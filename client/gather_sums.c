/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeats to legs, legs to sums, sums to a network.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/gather.h"

enum { REPEATS_FOR_DEVIATION = 3 };
#define STUDENT_OF_TWO 1.8373372014715832 /* quantile of one degree of freedom that holds 68.27 % */

const char *verdict_word(enum verdict v)
{
    static const char *const words[] = {"", "converged", "unconverged", "failed", "pending"};
    return words[v];
}

static const json_t *systems_of(const struct gathered *g)
{
    return json_object_get(g->campaign->plan, "systems");
}

const char *gather_system(const struct gathered *g, int i)
{
    return answer_text(json_array_get(systems_of(g), (size_t)i), "name");
}

/* ---- legs ---- */

double gather_corrections(const struct row *r)
{
    bool none = isnan(r->standard_state) && isnan(r->finite_size);
    return none ? NAN
                : (isnan(r->standard_state) ? 0 : r->standard_state) + (isnan(r->finite_size) ? 0 : r->finite_size);
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

/* The mean of [n] repeats. With three or more its error is their standard deviation, as OpenFE's is; with fewer it comes from the
 * errors that each was estimated to have and, of two, from what these do not explain of their spread (docs/theory.md, Errors). */
static struct number mean_of(const double *x, const double *error, int n)
{
    struct number out = {n ? 0 : NAN, NAN};
    double own = 0, spread = deviation(x, n);
    for (int i = 0; i < n; i++) {
        out.value += x[i] / n;
        own += error[i] * error[i] / n;
    }
    double rest = n == 2 ? fmax(spread * spread - own, 0) : 0;
    if (n)
        out.error = n >= REPEATS_FOR_DEVIATION ? spread : sqrt((own + STUDENT_OF_TWO * STUDENT_OF_TWO * rest) / n);
    return out;
}

/* An item's leg from the rows at *row and on, which are its repeats; *row is moved behind them. Failed is what has no number: one that
 * lacks some of its repeats is unconverged. */
static void sum_leg(const struct gathered *g, int *row, struct leg_sum *leg)
{
    enum { REPEATS_MAX = 100 };
    double x[REPEATS_MAX], error[REPEATS_MAX];
    const char *item = answer_text(g->rows[*row].planned, "item"), *name = answer_text(g->rows[*row].planned, "leg");
    for (; *row < g->nrows && leg->planned < REPEATS_MAX; ++*row) {
        const struct row *r = &g->rows[*row];
        if (strcmp(answer_text(r->planned, "item"), item) != 0 || strcmp(answer_text(r->planned, "leg"), name) != 0)
            break;
        leg->planned++;
        leg->verdict = worse(leg->verdict, r->verdict);
        double corrections = gather_corrections(r);
        if (isnan(r->estimate.value))
            continue;
        x[leg->got] = r->estimate.value + (isnan(corrections) ? 0 : corrections);
        error[leg->got++] = r->estimate.error;
    }
    leg->mean = mean_of(x, error, leg->got);
    if (leg->got && leg->verdict == VERDICT_FAILED)
        leg->verdict = VERDICT_UNCONVERGED;
}

static struct item *find_item(struct gathered *g, const json_t *planned)
{
    bool is_edge = !strcmp(answer_text(planned, "of"), "edge");
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge == is_edge && !strcmp(g->items[i].name, answer_text(planned, "item")))
            return &g->items[i];
    return NULL;
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

/* The rows stand leg by leg, item by item, in the order of the items. */
static void sum_legs(struct gathered *g)
{
    for (int row = 0; row < g->nrows;) {
        const json_t *planned = g->rows[row].planned;
        struct item *item = find_item(g, planned);
        item->legs = xrealloc(item->legs, (size_t)item->nlegs + 1, sizeof *item->legs);
        struct leg_sum *leg = &item->legs[item->nlegs++];
        *leg = (struct leg_sum){.leg = find_leg(g, answer_text(planned, "leg"))};
        sum_leg(g, &row, leg);
    }
}

static void sum_item(struct item *item)
{
    bool any = false;
    double squares = 0;
    item->sum = (struct number){0, NAN};
    for (int i = 0; i < item->nlegs; i++) {
        const struct leg_sum *leg = &item->legs[i];
        double sign = (double)answer_whole(leg->leg, "sign");
        if (sign == 0)
            continue;
        any = true;
        item->sum.value += sign * leg->mean.value;
        squares += leg->mean.error * leg->mean.error;
        item->verdict = worse(item->verdict, leg->verdict);
    }
    item->sum.error = sqrt(squares);
    if (!any || isnan(item->sum.value))
        item->sum = (struct number){NAN, NAN};
}

/* ---- items ---- */

static double number_of(const json_t *object, const char *key)
{
    const json_t *x = json_object_get(object, key);
    return json_is_number(x) ? json_number_value(x) : NAN;
}

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
        g->items[g->nitems++] = (struct item){.name = gather_system(g, s),
                                              .i = s,
                                              .j = -1,
                                              .experiment = g->experiments[s].value,
                                              .experiment_error = g->experiments[s].error};
    if (!has_legs_of(g, "edge"))
        return;
    json_array_foreach (edges, i, one) {
        int a = find_system(g, answer_text(one, "ligand_i")), b = find_system(g, answer_text(one, "ligand_j"));
        const struct number *x = &g->experiments[a], *y = &g->experiments[b];
        g->items[g->nitems++] = (struct item){.name = answer_text(one, "name"),
                                              .is_edge = true,
                                              .i = a,
                                              .j = b,
                                              .experiment = y->value - x->value,
                                              .experiment_error = hypot(x->error, y->error)};
        g->nedges++;
    }
}

/* ---- the network ---- */

static void measure(struct gathered *g)
{
    g->measured = xcalloc((size_t)g->nitems, sizeof *g->measured);
    for (int edges = 1; edges >= 0; edges--)
        for (int i = 0; i < g->nitems; i++)
            if (g->items[i].is_edge == edges)
                g->measured[g->nmeasured++] =
                    (struct measured){g->items[i].i, g->items[i].j, g->items[i].sum.value, g->items[i].sum.error};
}

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

/* The mean over a part's systems that were measured of experiment less calculation. */
static double shift_of(const struct gathered *g, int part)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < g->nsystems; i++) {
        if (g->network.part[i] != part || isnan(g->experiments[i].value))
            continue;
        sum += g->experiments[i].value - g->network.value[i];
        n++;
    }
    return n ? sum / n : NAN;
}

static void compare_all(struct gathered *g)
{
    int most = g->nsystems > g->nitems ? g->nsystems : g->nitems, n = 0;
    double *a = xcalloc((size_t)most, sizeof *a), *b = xcalloc((size_t)most, sizeof *b);
    g->shift = xcalloc((size_t)g->nsystems, sizeof *g->shift);
    for (int i = 0; i < g->nsystems; i++) {
        bool apart = gather_apart(g, i), floats = g->nedges && !apart && !g->network.anchored[i];
        double value = gather_value(g, i).value;
        g->shift[i] = apart ? NAN : floats ? shift_of(g, g->network.part[i]) : 0;
        if (isnan(value) || isnan(g->experiments[i].value))
            continue;
        a[n] = value + g->shift[i];
        b[n++] = g->experiments[i].value;
    }
    g->absolute = compare(a, b, n);
    n = 0;
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge && !isnan(g->items[i].sum.value) && !isnan(g->items[i].experiment)) {
            a[n] = g->items[i].sum.value;
            b[n++] = g->items[i].experiment;
        }
    g->relative = compare(a, b, n);
    free(a);
    free(b);
}

void gather_sum(struct gathered *g)
{
    const json_t *one;
    size_t i;
    g->nsystems = (int)json_array_size(systems_of(g));
    g->experiments = xcalloc((size_t)g->nsystems, sizeof *g->experiments);
    json_array_foreach (systems_of(g), i, one)
        g->experiments[i] = (struct number){number_of(one, "experiment"), number_of(one, "error")};
    add_items(g);
    sum_legs(g);
    for (int k = 0; k < g->nitems; k++)
        sum_item(&g->items[k]);
    measure(g);
    if (g->nedges) {
        network_solve(&g->network, g->nsystems, g->measured, g->nmeasured);
        g->nloops = network_loops(g->nsystems, g->measured, g->nmeasured, &g->loops);
    }
    compare_all(g);
}

void gather_free(struct gathered *g)
{
    for (int i = 0; i < g->nitems; i++)
        free(g->items[i].legs);
    for (int i = 0; i < g->nrows; i++) {
        json_decref(g->rows[i].convergence);
        json_decref(g->rows[i].reasons);
    }
    free(g->items);
    free(g->rows);
    free(g->experiments);
    free(g->measured);
    free(g->shift);
    loops_free(g->loops, g->nloops);
    network_free(&g->network);
}
