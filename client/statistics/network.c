/* SPDX-License-Identifier: Apache-2.0 */
#include "client/statistics/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

bool measured_counts(const struct measurement *m)
{
    return isfinite(m->value) && isfinite(m->error) && m->error > 0;
}

/* ---- parts ---- */

static int root_of(const int *up, int i)
{
    while (up[i] != i)
        i = up[i];
    return i;
}

/* Numbers the parts by their first nodes. */
static void find_parts(struct network *net, const struct measurement *m, int count)
{
    int *up = xcalloc((size_t)net->nodes, sizeof *up), *number = xcalloc((size_t)net->nodes, sizeof *number);
    bool *touched = xcalloc((size_t)net->nodes, sizeof *touched);
    for (int i = 0; i < net->nodes; i++) {
        up[i] = i;
        number[i] = -1;
    }
    for (int k = 0; k < count; k++) {
        if (!measured_counts(&m[k]))
            continue;
        touched[m[k].i] = true;
        if (m[k].j >= 0) {
            touched[m[k].j] = true;
            up[root_of(up, m[k].i)] = root_of(up, m[k].j);
        }
    }
    for (int i = 0; i < net->nodes; i++) {
        int root = root_of(up, i);
        if (touched[i] && number[root] < 0)
            number[root] = net->parts++;
        net->part[i] = touched[i] ? number[root] : -1;
    }
    free(up);
    free(number);
    free(touched);
}

/* ---- one part ---- */

/* The Cholesky factor of a symmetric positive definite matrix, into its lower half. */
static void factor(double *a, int n)
{
    for (int k = 0; k < n; k++) {
        double *row = a + (size_t)k * (size_t)n;
        for (int j = 0; j <= k; j++) {
            const double *other = a + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int l = 0; l < j; l++)
                sum -= row[l] * other[l];
            row[j] = j < k ? sum / other[j] : sqrt(sum);
        }
    }
}

/* Solves with that factor, in place. */
static void solve(const double *a, int n, double *x)
{
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < k; j++)
            x[k] -= a[(size_t)k * (size_t)n + (size_t)j] * x[j];
        x[k] /= a[(size_t)k * (size_t)n + (size_t)k];
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= a[(size_t)k * (size_t)n + (size_t)k];
        for (int j = 0; j < k; j++)
            x[j] -= a[(size_t)k * (size_t)n + (size_t)j] * x[k];
    }
}

struct part {
    int n, *nodes, *at;      /* at: node -> its place in nodes */
    double *information, *z; /* [n * n], [n] */
    bool anchored;
};

static void add_information(struct part *p, const struct measurement *m)
{
    double w = 1 / (m->error * m->error);
    int i = p->at[m->i], j = m->j < 0 ? -1 : p->at[m->j];
    size_t n = (size_t)p->n;
    p->information[(size_t)i * n + (size_t)i] += w;
    p->z[i] += j < 0 ? w * m->value : -w * m->value;
    p->anchored |= j < 0;
    if (j < 0)
        return;
    p->information[(size_t)j * n + (size_t)j] += w;
    p->information[(size_t)i * n + (size_t)j] -= w;
    p->information[(size_t)j * n + (size_t)i] -= w;
    p->z[j] += w * m->value;
}

/* What the mean of all values is worth: nothing is known of it without an anchor, so it is given the weight that the
 * others have on average, and that is taken out of the inverse again. Returns what is to be taken from every entry. */
static double fix_mean(struct part *p)
{
    double trace = 0;
    size_t n = (size_t)p->n;
    if (p->anchored)
        return 0;
    for (size_t i = 0; i < n; i++)
        trace += p->information[i * n + i];
    double s = trace / (double)n;
    for (size_t i = 0; i < n * n; i++)
        p->information[i] += s / (double)n;
    return 1 / (s * (double)n);
}

static void solve_part(struct network *net, struct part *p)
{
    double taken = fix_mean(p), *column = xcalloc((size_t)p->n, sizeof *column);
    factor(p->information, p->n);
    for (int j = 0; j < p->n; j++) {
        memset(column, 0, (size_t)p->n * sizeof *column);
        column[j] = 1;
        solve(p->information, p->n, column);
        double value = 0;
        for (int i = 0; i < p->n; i++) {
            double c = column[i] - taken;
            net->covariance[(size_t)p->nodes[i] * (size_t)net->nodes + (size_t)p->nodes[j]] = c;
            value += c * p->z[i];
        }
        net->value[p->nodes[j]] = value;
        net->anchored[p->nodes[j]] = p->anchored;
    }
    free(column);
}

void network_solve(struct network *net, int nodes, const struct measurement *m, int count)
{
    size_t n = (size_t)nodes;
    *net = (struct network){.nodes = nodes,
                            .value = xcalloc(n, sizeof(double)),
                            .covariance = xcalloc(n * n, sizeof(double)),
                            .part = xcalloc(n, sizeof(int)),
                            .anchored = xcalloc(n, sizeof(bool))};
    find_parts(net, m, count);
    for (int i = 0; i < nodes; i++)
        net->value[i] = NAN;
    for (int part = 0; part < net->parts; part++) {
        struct part p = {.nodes = xcalloc(n, sizeof(int)), .at = xcalloc(n, sizeof(int))};
        for (int i = 0; i < nodes; i++) {
            p.at[i] = p.n;
            if (net->part[i] == part)
                p.nodes[p.n++] = i;
        }
        p.information = xcalloc((size_t)p.n * (size_t)p.n, sizeof(double));
        p.z = xcalloc((size_t)p.n, sizeof(double));
        for (int k = 0; k < count; k++)
            if (measured_counts(&m[k]) && net->part[m[k].i] == part)
                add_information(&p, &m[k]);
        solve_part(net, &p);
        free(p.nodes);
        free(p.at);
        free(p.information);
        free(p.z);
    }
}

void network_free(struct network *net)
{
    free(net->value);
    free(net->covariance);
    free(net->part);
    free(net->anchored);
    *net = (struct network){0};
}

/* ---- loops ---- */

struct search {
    int *queue, *by; /* by: node -> the edge that it was reached by; -1: it was not, -2: it is the first */
};

/* The shortest way from one node to another along the edges before number `last`. False: there is none. */
static bool find_way(struct search *s, int nodes, const struct measurement *m, int last, int from, int to)
{
    int head = 0, tail = 0;
    for (int i = 0; i < nodes; i++)
        s->by[i] = -1;
    s->by[from] = -2;
    s->queue[tail++] = from;
    while (head < tail && s->by[to] == -1) {
        int at = s->queue[head++];
        for (int k = 0; k < last; k++) {
            int other = m[k].i == at ? m[k].j : m[k].j == at ? m[k].i : -1;
            if (other < 0 || !isfinite(m[k].value) || s->by[other] != -1)
                continue;
            s->by[other] = k;
            s->queue[tail++] = other;
        }
    }
    return s->by[to] != -1;
}

static void add_edge(struct loop *l, const struct measurement *m, int edge, int sign)
{
    l->edges = xrealloc(l->edges, (size_t)l->length + 1, sizeof *l->edges);
    l->signs = xrealloc(l->signs, (size_t)l->length + 1, sizeof *l->signs);
    l->edges[l->length] = edge;
    l->signs[l->length++] = sign;
    l->closure += sign * m[edge].value;
    l->error = sqrt(l->error * l->error + m[edge].error * m[edge].error);
}

int network_loops(int nodes, const struct measurement *m, int count, struct loop **loops)
{
    struct search s = {xcalloc((size_t)nodes, sizeof(int)), xcalloc((size_t)nodes, sizeof(int))};
    int n = 0;
    *loops = NULL;
    for (int k = 0; k < count; k++) {
        /* from j back to i: the edge itself then closes the loop */
        if (m[k].j < 0 || !isfinite(m[k].value) || !find_way(&s, nodes, m, k, m[k].i, m[k].j))
            continue;
        struct loop l = {0};
        for (int at = m[k].j; at != m[k].i;) {
            int edge = s.by[at];
            add_edge(&l, m, edge, m[edge].j == at ? -1 : 1);
            at = m[edge].i == at ? m[edge].j : m[edge].i;
        }
        add_edge(&l, m, k, 1);
        *loops = xrealloc(*loops, (size_t)n + 1, sizeof **loops);
        (*loops)[n++] = l;
    }
    free(s.queue);
    free(s.by);
    return n;
}

void loops_free(struct loop *loops, int count)
{
    for (int i = 0; i < count; i++) {
        free(loops[i].edges);
        free(loops[i].signs);
    }
    free(loops);
}
