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

void lambda_rows_close(struct lambda_rows *rows)
{
    free((void *)(uintptr_t)rows->lambda);
    *rows = (struct lambda_rows){0};
}

struct lambda_rows lambda_rows_put(const struct lambda_rows *rows, struct arena *a)
{
    return (struct lambda_rows){rows->n, arena_put(a, rows->lambda, (size_t)rows->n * sizeof *rows->lambda)};
}
