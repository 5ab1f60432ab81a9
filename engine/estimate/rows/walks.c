/* SPDX-License-Identifier: Apache-2.0
 *
 * How replicas got about between windows, from energy.xvg: which replica is in a window ("Replica", the window that it
 * began in), and how many exchanges came before ("Exchanges").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/rows/rows.h"
#include "engine/series/legends.h"

#define SWEEPS 2000 /* of the search for an eigenvalue */

bool walks_column(const char *legend)
{
    return !strcmp(legend, ENERGY_REPLICA) || !strcmp(legend, ENERGY_EXCHANGES);
}

void walks_take(struct window_result *w, const struct xvg *x)
{
    size_t replica = xvg_column(x, ENERGY_REPLICA), exchanges = xvg_column(x, ENERGY_EXCHANGES),
           width = (size_t)x->nlegends + 1;
    if (!replica || !exchanges)
        return;
    w->visits = xcalloc(x->nrows, sizeof *w->visits);
    w->visit_times = xcalloc(x->nrows, sizeof *w->visit_times);
    for (size_t row = 0; row < x->nrows; row++) {
        const double *v = x->v + row * width;
        if (v[exchanges] > (double)w->nvisits) /* rows were left out */
            break;
        if (v[exchanges] == (double)w->nvisits) {
            w->visit_times[w->nvisits] = v[0];
            w->visits[w->nvisits++] = (int)v[replica];
        }
    }
}

/* Whether every replica is in a window of an interval between exchanges. */
static bool is_whole(const struct result *r, size_t row, bool *seen)
{
    const int n = r->ladder->nstates;
    memset(seen, 0, (size_t)n * sizeof *seen);
    for (int k = 0; k < n; k++) {
        const int replica = r->windows[k].visits[row];
        if (replica < 0 || replica >= n || seen[replica])
            return false;
        seen[replica] = true;
    }
    return true;
}

/* Intervals between exchanges of which every window is known, and every replica of it: first .. end. Windows that were
 * added to a ladder say who is there from their beginning on, and the others with the numbers of another ladder: it is
 * the last intervals that all are in, not before the first `alone` exchanges. */
static size_t common(const struct result *r, size_t alone, size_t *first)
{
    const int n = r->ladder->nstates;
    size_t end = SIZE_MAX;
    bool *seen = xcalloc((size_t)n, sizeof *seen);
    for (int k = 0; k < n; k++)
        end = r->windows[k].nvisits < end ? r->windows[k].nvisits : end;
    for (*first = end; *first > alone && is_whole(r, *first - 1, seen); --*first)
        ;
    free(seen);
    return end;
}

/* From the first window to the last and back, in the windows `at` that a replica is in one after the other. */
struct trip {
    bool first, last; /* it was in the first; and in the last since */
};

static void step_trip(struct trip *t, struct walks *w, int replica, int window)
{
    w->visited[(size_t)replica * (size_t)w->nstates + (size_t)window] = true;
    if (window == 0) {
        w->round_trips[replica] += t->first && t->last;
        *t = (struct trip){.first = true};
    }
    t->last |= window == w->nstates - 1;
}

static void count(struct walks *w, const struct result *r, size_t end)
{
    size_t n = (size_t)w->nstates;
    int *before = xcalloc(n, sizeof *before); /* window of each replica */
    struct trip *trips = xcalloc(n, sizeof *trips);
    for (size_t row = w->first; row < end; row++)
        for (int k = 0; k < w->nstates; k++) {
            int replica = r->windows[k].visits[row];
            if (row > w->first)
                w->moves[(size_t)before[replica] * n + (size_t)k]++;
            before[replica] = k;
            step_trip(&trips[replica], w, replica, k);
        }
    free(before);
    free(trips);
}

/* Of the matrix of moves, made symmetric as it is in the long run, the largest eigenvalue but 1: that of (1 + T)/2 is
 * looked for, which has none below 0, among vectors that sum to 0. */
static double eigenvalue(const struct walks *w)
{
    size_t n = (size_t)w->nstates;
    double *x = xcalloc(n, sizeof *x), *y = xcalloc(n, sizeof *y), value = 0;
    for (size_t i = 0; i < n; i++)
        x[i] = cos(M_PI * ((double)i + 0.5) / (double)n); /* the slowest of a walk between neighbours */
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double sum = 0, norm = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] = 0.5 * x[i];
            for (size_t j = 0; j < n; j++)
                y[i] += 0.25 * (w->moves[i * n + j] + w->moves[j * n + i]) / (double)w->exchanges * x[j];
            sum += y[i] / (double)n;
        }
        for (size_t i = 0; i < n; i++)
            norm += (y[i] - sum) * (y[i] - sum);
        norm = sqrt(norm);
        for (size_t i = 0; i < n && norm > 0; i++)
            x[i] = (y[i] - sum) / norm;
        value = norm; /* x was of length 1 */
    }
    free(x);
    free(y);
    return 2 * value - 1;
}

static void warn_of_walls(struct result *r)
{
    const struct walks *w = &r->walks;
    size_t n = (size_t)w->nstates;
    for (size_t k = 0; k + 1 < n && w->scheme == EXCHANGE_NEIGHBOURS; k++)
        if (w->exchanges > 1 && w->moves[k * n + k + 1] == 0)
            result_warn(r, "replicas never exchanged windows %zu and %zu: they are too far apart for it", k, k + 1);
}

void walks_count(struct result *r, enum exchange_scheme scheme, size_t alone)
{
    size_t n = (size_t)r->ladder->nstates, first = 0, end = scheme ? common(r, alone, &first) : 0;
    struct walks *w = &r->walks;
    if (end - first < 2)
        return;
    *w = (struct walks){.scheme = scheme,
                        .nstates = (int)n,
                        .first = first,
                        .exchanges = end - first - 1,
                        .moves = xcalloc(n * n, sizeof *w->moves),
                        .round_trips = xcalloc(n, sizeof *w->round_trips),
                        .visited = xcalloc(n * n, sizeof *w->visited)};
    count(w, r, end);
    w->eigenvalue = eigenvalue(w);
    warn_of_walls(r);
}

void walks_write(const struct result *r, struct buf *out)
{
    size_t n = (size_t)r->walks.nstates;
    int *window = xcalloc(n, sizeof *window);
    if (n)
        buf_printf(
            out,
            "# walks.xvg, written by Shoal\n@    title \"Windows of replicas\"\n@    xaxis  label \"Time (ps)\"\n"
            "@    yaxis  label \"Window\"\n@TYPE xy\n");
    for (size_t k = 0; k < n; k++)
        buf_printf(out, "@ s%zu legend \"replica %zu\"\n", k, k);
    for (size_t row = r->walks.first; n && row <= r->walks.first + r->walks.exchanges; row++) {
        for (size_t k = 0; k < n; k++)
            window[r->windows[k].visits[row]] = (int)k;
        buf_printf(out, "%.4f", r->windows[0].visit_times[row]);
        for (size_t k = 0; k < n; k++)
            buf_printf(out, " %d", window[k]);
        buf_add(out, "\n", 1);
    }
    free(window);
}

size_t walks_attempts(const struct walks *w, int pair)
{
    const size_t even = !(pair % 2);
    return w->scheme == EXCHANGE_NEIGHBOURS ? (w->first + w->exchanges + even) / 2 - (w->first + even) / 2 : 0;
}
