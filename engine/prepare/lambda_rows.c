/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/lambda_rows.h"

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

/* The row that is `part` of a window behind the first. */
static void between(const struct lambda_rows *windows, double part, double lambda[LAMBDA_COUNT])
{
    const int w = part < windows->n - 1 ? (int)part : windows->n - 2;
    for (int k = 0; k < LAMBDA_COUNT; k++) {
        const double from = windows->lambda[w][k], to = windows->lambda[w + 1][k];
        lambda[k] = part - w < 1 ? from + (part - w) * (to - from) : to;
    }
}

struct lambda_rows lambda_rows_between(const struct lambda_rows *windows, int changes)
{
    double(*lambda)[LAMBDA_COUNT] = xcalloc((size_t)changes + 1, sizeof *lambda);
    for (int k = 0; k <= changes; k++)
        between(windows, (double)k * (windows->n - 1) / changes, lambda[k]);
    return (struct lambda_rows){changes + 1, (const void *)lambda};
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
