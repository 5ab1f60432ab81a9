/* SPDX-License-Identifier: Apache-2.0 */
#include "client/statistics/compare.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/statistics/stats.h"

/* ---- tau ---- */

static int order(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_a_then_b(const void *x, const void *y)
{
    const struct compared *p = x, *q = y;
    int first = order(p->a, q->a);
    return first ? first : order(p->b, q->b);
}

/* Sorts by b and returns how many exchanges of neighbours that takes. */
static double sort_by_b(struct compared *p, struct compared *scratch, int n)
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

/* Pairs of entries that are alike, in a list where those are side by side. */
static double ties(const struct compared *p, int n, enum key key)
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

/* What tau is made of: concordant pairs less discordant ones, and pairs that differ in a and in b. */
struct order_count {
    double agree, differ_in_a, differ_in_b;
};

static void count_group(struct order_count *c, const struct compared *x, int n)
{
    struct compared *p = xcalloc(2 * (size_t)n, sizeof *p);
    memcpy(p, x, (size_t)n * sizeof *p);
    qsort(p, (size_t)n, sizeof *p, by_a_then_b);
    double all = 0.5 * n * (n - 1.0), in_a = ties(p, n, KEY_A), in_both = ties(p, n, KEY_BOTH);
    double swaps = sort_by_b(p, p + n, n), in_b = ties(p, n, KEY_B);
    free(p);
    c->agree += all - in_a - in_b + in_both - 2 * swaps;
    c->differ_in_a += all - in_a;
    c->differ_in_b += all - in_b;
}

static int group_size(const struct compared *x, int n)
{
    int size = 1;
    while (size < n && x[size].group == x->group)
        size++;
    return size;
}

double kendall(const struct compared *x, int n)
{
    struct order_count c = {0};
    for (int i = 0, size; i < n; i += size)
        count_group(&c, x + i, size = group_size(x + i, n - i));
    double scale = sqrt(c.differ_in_a * c.differ_in_b);
    return scale > 0 ? c.agree / scale : NAN;
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

/* Any of n, alike. */
static int one_of(int n, uint64_t *state)
{
    return (int)((next(state) >> 32) * (uint64_t)n >> 32);
}

/* ---- bounds ---- */

static int ascending(const void *x, const void *y)
{
    return order(*(const double *)x, *(const double *)y);
}

/* The bounds that leave out the share `tail` at each end of what was drawn; draws that have no such number (NAN) do not
 * count. */
static void percentiles(double *drawn, int rounds, double tail, double *low, double *high)
{
    int n = 0;
    for (int i = 0; i < rounds; i++)
        if (!isnan(drawn[i]))
            drawn[n++] = drawn[i];
    *low = *high = NAN;
    if (!n)
        return;
    qsort(drawn, (size_t)n, sizeof *drawn, ascending);
    *low = drawn[(int)floor(tail * (n - 1))];
    *high = drawn[(int)ceil((1 - tail) * (n - 1))];
}

/* The chance beyond 1.96 standard errors, and beyond more of few values: with n / (n - 1) times as many the bounds of 6
 * to 20 normal differences hold the truth in 92 to 97 of 100 (tests/unit/test_campaign_calibration.c). */
static double tail_of(int n)
{
    return 0.5 * erfc(1.959963984540054 * n / (n - 1.0) / sqrt(2));
}

/* ---- errors ---- */

/* The relative standard error of their mean. */
static double relative_error(const double *x, int n)
{
    return sqrt(stats_variance(x, (size_t)n) / n) / stats_mean(x, (size_t)n);
}

/* A measure of errors is the mean of |a - b|^power, to the power of 1 / power. Its bounds are bootstrap-t ones of the
 * logarithm of the mean (B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 12):
 * percentiles of the mean itself are too narrow for few values. */
static void measure_errors(struct measure *m, const struct compared *x, int n, int power)
{
    double *v = xcalloc(2 * (size_t)n, sizeof *v), *again = v + n, drawn[COMPARE_ROUNDS], low, high;
    uint64_t state = COMPARE_SEED;
    for (int i = 0; i < n; i++)
        v[i] = pow(x[i].scale * fabs(x[i].a - x[i].b), power);
    double mean = stats_mean(v, (size_t)n), own = relative_error(v, n);
    for (int round = 0; round < COMPARE_ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            again[i] = v[one_of(n, &state)];
        double error = relative_error(again, n);
        drawn[round] = error > 0 ? log(stats_mean(again, (size_t)n) / mean) / error : NAN;
    }
    percentiles(drawn, COMPARE_ROUNDS, tail_of(n), &low, &high);
    *m = (struct measure){pow(mean, 1.0 / power), pow(mean * exp(-high * own), 1.0 / power),
                          pow(mean * exp(-low * own), 1.0 / power)};
    free(v);
}

/* Percentiles of tau of entries drawn with replacement, each from the group of the one in its place. */
static void measure_tau(struct measure *m, const struct compared *x, int n)
{
    struct compared *again = xcalloc((size_t)n, sizeof *again);
    double drawn[COMPARE_ROUNDS];
    uint64_t state = COMPARE_SEED;
    for (int round = 0; round < COMPARE_ROUNDS; round++) {
        for (int i = 0, size; i < n; i += size) {
            size = group_size(x + i, n - i);
            for (int k = 0; k < size; k++)
                again[i + k] = x[i + one_of(size, &state)];
        }
        drawn[round] = kendall(again, n);
    }
    m->value = kendall(x, n);
    percentiles(drawn, COMPARE_ROUNDS, tail_of(n), &m->low, &m->high);
    free(again);
}

/* Leaves out what nothing can be compared with, and gives differences back what the mean took. Returns how many are
 * left. */
static int prepare(struct compared *x, int n, double *pairs)
{
    int left = 0;
    *pairs = 0;
    for (int i = 0, size; i < n; i += size) {
        size = group_size(x + i, n - i);
        *pairs += 0.5 * size * (size - 1.0);
        for (int k = 0; k < size && (size > 1 || !x[i].centered); k++) {
            x[left] = x[i + k];
            x[left++].scale = x[i + k].centered ? sqrt(size / (size - 1.0)) : 1;
        }
    }
    return left;
}

struct comparison compare_values(struct compared *x, int n)
{
    static const struct measure none = {NAN, NAN, NAN};
    struct comparison out = {.rmse = none, .mue = none, .tau = none};
    out.values = prepare(x, n, &out.pairs);
    struct measure *all[] = {&out.rmse, &out.mue, &out.tau};
    if (out.values < COMPARE_LEAST)
        return out;
    measure_errors(&out.rmse, x, out.values, 2);
    measure_errors(&out.mue, x, out.values, 1);
    if (out.pairs >= COMPARE_LEAST)
        measure_tau(&out.tau, x, out.values);
    for (int k = 0; k < 3 && out.values < COMPARE_LEAST_FOR_BOUNDS; k++)
        all[k]->low = all[k]->high = NAN;
    return out;
}
