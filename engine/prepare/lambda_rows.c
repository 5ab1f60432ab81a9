/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/lambda_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/mem.h"

struct lambda_rows lambda_rows_of(const struct alchemy_settings *set)
{
    const int given = set->lambda ? set->nwindows : 0, n = given > 0 ? given : 1;
    double(*lambda)[LAMBDA_COUNT] = xcalloc((size_t)n, sizeof *lambda);
    for (int w = 0; w < given; w++)
        for (int k = 0; k < LAMBDA_COUNT; k++)
            lambda[w][k] = set->lambda[w][alchemy_ladder(set, (enum lambda)k)];
    return (struct lambda_rows){n, (const void *)lambda};
}

static double share_of(const struct switch_settings *to, int interval)
{
    return to->shares ? to->shares[interval] : 1;
}

/* at[n]: after how many changes a switch is at each window. */
static void place_windows(const struct switch_settings *to, int n, int *at)
{
    double all = 0, sum = 0;
    for (int i = 0; i < n - 1; i++)
        all += share_of(to, i);
    at[0] = 0;
    for (int w = 1; w < n; w++) {
        sum += share_of(to, w - 1);
        const int nearest = (int)lround(to->changes * (sum / all)), least = at[w - 1] + 1,
                  most = to->changes - (n - 1 - w);
        at[w] = nearest < least ? least : nearest > most ? most : nearest;
    }
}

static void between(const double from[LAMBDA_COUNT], const double to[LAMBDA_COUNT], double part,
                    double lambda[LAMBDA_COUNT])
{
    for (int k = 0; k < LAMBDA_COUNT; k++)
        lambda[k] = part < 1 ? from[k] + part * (to[k] - from[k]) : to[k];
}

struct lambda_rows lambda_rows_between(const struct lambda_rows *windows, const struct switch_settings *to)
{
    const int fine = 1 << to->doublings, n = to->changes * fine + 1;
    double(*lambda)[LAMBDA_COUNT] = xcalloc((size_t)n, sizeof *lambda);
    int *at = xcalloc((size_t)windows->n, sizeof *at);
    place_windows(to, windows->n, at);
    for (int w = 0; w < windows->n - 1; w++) {
        const int first = fine * at[w], rows = fine * at[w + 1] - first;
        for (int k = 0; k <= rows; k++)
            between(windows->lambda[w], windows->lambda[w + 1], (double)k / rows, lambda[first + k]);
    }
    free(at);
    return (struct lambda_rows){n, (const void *)lambda};
}

void lambda_rows_close(struct lambda_rows *rows)
{
    free((void *)(uintptr_t)rows->lambda);
    *rows = (struct lambda_rows){0};
}

struct lambda_rows lambda_rows_put(const struct lambda_rows *rows, struct arena *a)
{
    return (struct lambda_rows){rows->n, arena_put(a, rows->lambda, (size_t)rows->n * sizeof *rows->lambda)};
}
