/* SPDX-License-Identifier: Apache-2.0 */
#include "client/statistics/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/buf.h"

/* ---- tau ---- */

struct pair {
    double a, b;
};

static int order(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_a_then_b(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;
    int first = order(p->a, q->a);
    return first ? first : order(p->b, q->b);
}

/* Sorts by b and returns how many exchanges of neighbours that takes. */
static double sort_by_b(struct pair *p, struct pair *scratch, int n)
{
    int half = n / 2, i = 0, j = half, k = 0;
    if (n < 2)
        return 0;
    double swaps = sort_by_b(p, scratch, half) + sort_by_b(p + half, scratch, n - half);
    while (i < half || j < n) {
        bool left = i < half && (j == n || p[i].b <= p[j].b);
        if (!left)
            swaps += half - i;
        scratch[k++] = left ? p[i++] : p[j++];
    }
    for (k = 0; k < n; k++)
        p[k] = scratch[k];
    return swaps;
}

enum key { KEY_A, KEY_B, KEY_BOTH };

/* Pairs of entries that are alike, in a list where those stand together. */
static double ties(const struct pair *p, int n, enum key key)
{
    double sum = 0;
    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n; run++)
            if ((key != KEY_B && p[i + run].a != p[i].a) || (key != KEY_A && p[i + run].b != p[i].b))
                break;
        sum += 0.5 * run * (run - 1);
    }
    return sum;
}

double kendall(const double *a, const double *b, int n)
{
    struct pair *p = xcalloc((size_t)n, sizeof *p), *scratch = xcalloc((size_t)n, sizeof *scratch);
    for (int i = 0; i < n; i++)
        p[i] = (struct pair){a[i], b[i]};
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    double all = 0.5 * n * (n - 1.0), in_a = ties(p, n, KEY_A), in_both = ties(p, n, KEY_BOTH);
    double swaps = sort_by_b(p, scratch, n), in_b = ties(p, n, KEY_B);
    free(p);
    free(scratch);
    double scale = sqrt((all - in_a) * (all - in_b));
    return scale > 0 ? (all - in_a - in_b + in_both - 2 * swaps) / scale : NAN;
}

/* ---- the others ---- */

static double rmse(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return n ? sqrt(sum / n) : NAN;
}

static double mue(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(a[i] - b[i]);
    return n ? sum / n : NAN;
}

double deviation(const double *x, int n)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}

/* ---- draws ---- */

/* SplitMix64: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014, doi 10.1145/2660193.2660195. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int ascending(const void *x, const void *y)
{
    return order(*(const double *)x, *(const double *)y);
}

/* The bounds from what was drawn; of draws that have no such number nothing is said. */
static void bound(struct measure *m, double *drawn, int rounds)
{
    int n = 0;
    for (int i = 0; i < rounds; i++)
        if (!isnan(drawn[i]))
            drawn[n++] = drawn[i];
    m->low = m->high = NAN;
    if (!n)
        return;
    qsort(drawn, (size_t)n, sizeof *drawn, ascending);
    m->low = drawn[(int)floor(0.025 * (n - 1))];
    m->high = drawn[(int)ceil(0.975 * (n - 1))];
}

struct comparison compare(const double *a, const double *b, int n)
{
    enum { RMSE, MUE, TAU, MEASURES };
    static double (*const functions[MEASURES])(const double *, const double *, int) = {rmse, mue, kendall};
    double *x = xcalloc(2 * (size_t)n, sizeof *x), *y = x + n, *drawn[MEASURES];
    uint64_t state = COMPARE_SEED;
    struct comparison out = {.pairs = n,
                             .rmse = {.value = rmse(a, b, n)},
                             .mue = {.value = mue(a, b, n)},
                             .tau = {.value = kendall(a, b, n)}};
    struct measure *measures[MEASURES] = {&out.rmse, &out.mue, &out.tau};
    for (int k = 0; k < MEASURES; k++)
        drawn[k] = xcalloc(COMPARE_ROUNDS, sizeof(double));
    for (int round = 0; round < COMPARE_ROUNDS; round++) {
        for (int i = 0; i < n; i++) {
            int from = (int)((next(&state) >> 32) * (uint64_t)n >> 32);
            x[i] = a[from];
            y[i] = b[from];
        }
        for (int k = 0; k < MEASURES; k++)
            drawn[k][round] = functions[k](x, y, n);
    }
    for (int k = 0; k < MEASURES; k++) {
        bound(measures[k], drawn[k], COMPARE_ROUNDS);
        free(drawn[k]);
    }
    free(x);
    return out;
}
