/* SPDX-License-Identifier: Apache-2.0 */
#include "client/statistics/contradictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/statistics/stats.h"

#define PART_DEVIATES 3.0     /* of chi-square: a chance of 1 in 700 a part */
#define RESIDUAL_DEVIATES 4.0 /* of one residual: 1 in 16,000 a measurement */
#define NO_LOOP 1e-9 /* share of its variance by which a measurement may seem to be known better than by itself */
#define ALIKE 1e-6   /* relative difference of residuals over their errors */

/* How far off a measurement is from what the network has, and by how much errors allow for that. */
struct residual {
    double off, variance; /* variance 0: nothing else says anything about it */
};

static struct residual residual_of(const struct network *net, const struct measurement *m)
{
    const double *c = net->covariance;
    size_t n = (size_t)net->nodes, i = (size_t)m->i, j = m->j < 0 ? i : (size_t)m->j;
    double fitted = m->j < 0 ? net->value[i] : net->value[j] - net->value[i], own = m->error * m->error;
    double known = m->j < 0 ? c[i * n + i] : c[i * n + i] + c[j * n + j] - 2 * c[i * n + j];
    double variance = own - known;
    return (struct residual){m->value - fitted, variance > NO_LOOP * own ? variance : 0};
}

static double deviate(const struct residual *r)
{
    return r->variance > 0 ? fabs(r->off) / sqrt(r->variance) : 0;
}

/* Those whose residuals are the largest of the part. */
static void name_worst(struct contradiction *c, const struct measurement *m, int count,
                       const struct residual *residuals, double most)
{
    c->edges = xcalloc((size_t)count, sizeof *c->edges);
    for (int k = 0; k < count; k++)
        if (deviate(&residuals[k]) > (1 - ALIKE) * most)
            c->edges[c->length++] = k;
    int first = c->edges[0];
    c->off = residuals[first].off * m[first].error * m[first].error / residuals[first].variance;
    c->error = fabs(c->off) / most;
}

/* Fills [count] residuals, which are 0 outside the part. */
static struct contradiction judge_part(const struct network *net, const struct measurement *m, int count, int part,
                                       struct residual *residuals)
{
    struct contradiction out = {.part = part};
    double most = 0;
    bool anchored = false;
    for (int i = 0; i < net->nodes; i++) {
        out.loops -= net->part[i] == part;
        anchored |= net->part[i] == part && net->anchored[i];
    }
    out.loops += !anchored;
    for (int k = 0; k < count; k++) {
        residuals[k] = (struct residual){0, 0};
        if (!measured_counts(&m[k]) || net->part[m[k].i] != part)
            continue;
        residuals[k] = residual_of(net, &m[k]);
        out.loops++;
        out.chi_square += residuals[k].off * residuals[k].off / (m[k].error * m[k].error);
        most = fmax(most, deviate(&residuals[k]));
    }
    if (most > RESIDUAL_DEVIATES)
        name_worst(&out, m, count, residuals, most);
    return out;
}

static bool contradicts(const struct contradiction *c)
{
    return c->length || (c->loops > 0 && stats_chi_square_deviate(c->chi_square / c->loops, c->loops) > PART_DEVIATES);
}

int network_contradictions(int nodes, const struct measurement *m, int count, struct contradiction **out)
{
    struct measurement *left = xcalloc((size_t)count, sizeof *left);
    struct residual *residuals = xcalloc((size_t)count, sizeof *residuals);
    int n = 0, parts = 1;
    *out = NULL;
    memcpy(left, m, (size_t)count * sizeof *left);
    for (int part = 0; part < parts; part++)
        for (bool more = true; more;) {
            struct network net;
            network_solve(&net, nodes, left, count);
            struct contradiction c = judge_part(&net, left, count, part, residuals);
            parts = net.parts; /* what is taken out is in a loop: parts stay whole */
            network_free(&net);
            more = c.length > 0;
            if (more)
                left[c.edges[0]].error = NAN;
            if (!contradicts(&c))
                continue;
            *out = xrealloc(*out, (size_t)n + 1, sizeof **out);
            (*out)[n++] = c;
        }
    free(left);
    free(residuals);
    return n;
}

void contradictions_free(struct contradiction *list, int count)
{
    for (int i = 0; i < count; i++)
        free(list[i].edges);
    free(list);
}
