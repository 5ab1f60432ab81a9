/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and edges beside experiment. Values of parts of the network that have no zero of their own are comparable
 * within their part alone, after the part was moved by the mean of its differences from experiment.
 */
#include <math.h>
#include <stdlib.h>

#include "client/gather/gather.h"
#include "engine/base/number.h"

enum { ONE_SCALE = -1 }; /* the group of all values that have a zero of their own */

static bool floats(const struct gathered *g, int system)
{
    return g->nedges && !gather_apart(g, system) && !g->network.anchored[system];
}

bool gather_comparable(const struct gathered *g, int system)
{
    int with = 0;
    for (int i = 0; i < g->nsystems && floats(g, system); i++)
        with += g->network.part[i] == g->network.part[system] && !isnan(g->experiments[i].value);
    return !floats(g, system) || with > 1;
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

static void shift_values(struct gathered *g)
{
    g->shift = xcalloc((size_t)g->nsystems, sizeof *g->shift);
    for (int i = 0; i < g->nsystems; i++)
        g->shift[i] = gather_apart(g, i) ? NAN : floats(g, i) ? shift_of(g, g->network.part[i]) : 0;
}

/* Of one group, behind the [n] that are there. Returns how many there are then. */
static int add_values(const struct gathered *g, int group, struct compared *x, int n)
{
    for (int i = 0; i < g->nsystems; i++) {
        double value = gather_value(g, i).value + g->shift[i], experiment = g->experiments[i].value;
        bool centered = floats(g, i);
        if (!isnan(value) && !isnan(experiment) && (centered ? g->network.part[i] : ONE_SCALE) == group)
            x[n++] = (struct compared){.a = value, .b = experiment, .group = group, .centered = centered};
    }
    return n;
}

static int add_edges(const struct gathered *g, struct compared *x)
{
    int n = 0;
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge && !isnan(g->items[i].sum.value) && !isnan(g->items[i].experiment))
            x[n++] = (struct compared){.a = g->items[i].sum.value, .b = g->items[i].experiment};
    return n;
}

static void remark(struct gathered *g, const struct comparison *c, int with, const char *one, const char *several)
{
    if (with && c->values < COMPARE_LEAST)
        gather_remark(g,
                      "no agreement with experiment from %s: %d of the %d that have an experiment can be compared, "
                      "expected %d or more",
                      several, c->values, with, COMPARE_LEAST);
    else if (c->values < with)
        gather_remark(g,
                      "%d %s with an experiment %s no part in the agreement with experiment: no other of its part "
                      "of the network has an experiment",
                      with - c->values, number_word(with - c->values, one, several),
                      number_word(with - c->values, "takes", "take"));
}

void gather_comparison(struct gathered *g)
{
    int most = g->nsystems > g->nitems ? g->nsystems : g->nitems, n = 0;
    struct compared *x = xcalloc((size_t)most, sizeof *x);
    shift_values(g);
    for (int group = ONE_SCALE; group < g->network.parts; group++)
        n = add_values(g, group, x, n);
    g->absolute = compare_values(x, n);
    remark(g, &g->absolute, n, "value", "values");
    n = add_edges(g, x);
    g->relative = compare_values(x, n);
    remark(g, &g->relative, n, "edge", "edges");
    free(x);
}
