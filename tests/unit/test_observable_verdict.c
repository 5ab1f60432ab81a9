/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts of observables, of blocks whose mean is known: independent ones are converged and their error is right; of
 * blocks that are shorter than what moves few are.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/observe/device_tables.h"
#include "engine/observe/verdict.h"
#include "tests/lib/oscillators.h"

enum { TIMES = 2000, MOST = 16 };

static double made[MOST];
static int nmade;

static int of_blocks(const struct observe_result *r, double *value)
{
    for (int i = 0; i < nmade; i++)
        value[i] = made[i];
    return nmade;
}

struct outcome {
    double converged, wrong; /* shares of all: those that are converged, and of these those off by more than 4 errors */
};

/* Of blocks with mean 0, each like the one before by `like`. */
static struct outcome play(int n, double like)
{
    const struct observe_kind kind = {.of_blocks = of_blocks};
    const struct observed seen = {.frames = 1};
    const struct observe_result r = {.seen = &seen};
    uint64_t state = 7;
    struct outcome o = {0, 0};
    nmade = n;
    for (int t = 0; t < TIMES; t++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            made[i] = i ? like * made[i - 1] + sqrt(1 - like * like) * random_normal(&state) : random_normal(&state);
            sum += made[i];
        }
        if (observe_verdict(&kind, &r).word[0] != 'c')
            continue;
        o.converged += 1.0 / TIMES;
        o.wrong += fabs(sum / n) > 4 * observe_error(made, n, 1) ? 1.0 / TIMES : 0;
    }
    return o;
}

static void test_independent_blocks(void **state)
{
    for (int n = 8; n <= MOST; n += 4) {
        const struct outcome o = play(n, 0);
        assert_true(o.converged > 0.85 && o.wrong < 0.01);
    }
    assert_true(play(7, 0).converged == 0);
}

/* Without a look at neighbours half of them would be converged and wrong. */
static void test_slow_blocks(void **state)
{
    static const double wrong[] = {0.25, 0.13, 0.06};
    for (int k = 0; k < 3; k++) {
        const struct outcome o = play(8 + 4 * k, 0.9);
        assert_true(o.converged < 0.4 && o.wrong < wrong[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_independent_blocks), cmocka_unit_test(test_slow_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
