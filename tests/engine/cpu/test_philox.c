/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers: the published vectors, and deviates against the C library and their moments.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/cpu/motion/noise.h"

/* Known answers of philox4x32-10 in the Random123 distribution (kat_vectors). */
static void test_vectors(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct philox c = {{known[i].counter[0], known[i].counter[1], known[i].counter[2], known[i].counter[3]}};
        struct philox r = philox_block(c, known[i].key[0], known[i].key[1]);
        assert_memory_equal(r.word, known[i].answer, sizeof r.word);
    }
}

/* Each of seed, replica, step (beyond 32 bits too), stream and index changes the block. */
static void test_counter(void **state)
{
    struct philox base = philox_at(1, 2, 3, STREAM_TIMESTEP, 4);
    struct philox other[] = {philox_at(1 + (1ull << 32), 2, 3, STREAM_TIMESTEP, 4),
                             philox_at(2, 2, 3, STREAM_TIMESTEP, 4),
                             philox_at(1, 3, 3, STREAM_TIMESTEP, 4),
                             philox_at(1, 2, 4, STREAM_TIMESTEP, 4),
                             philox_at(1, 2, 3 + (1ull << 32), STREAM_TIMESTEP, 4),
                             philox_at(1, 2, 3, STREAM_THERMALIZE, 4),
                             philox_at(1, 2, 3, STREAM_TIMESTEP, 5)};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        assert_memory_not_equal(base.word, other[i].word, sizeof base.word);
}

static void test_functions(void **state)
{
    struct philox r = {{0}};
    for (int i = 0; i < 100000; i++) {
        r = philox_at(7, 0, (uint64_t)i, 0, 0);
        double u = philox_uniform(r.word[0], r.word[1]), c, s;
        assert_true(u > 0 && u <= 1);
        assert_true(fabs(philox_log(u) - log(u)) <= 4e-16 * fabs(log(u)) + 1e-18);
        philox_cos_sin(u, &c, &s);
        assert_true(fabs(c - cos(2 * M_PI * u)) < 1e-15 && fabs(s - sin(2 * M_PI * u)) < 1e-15);
    }
    assert_true(philox_log(1) == 0);
    assert_true(fabs(philox_log(0x1p-53) / log(0x1p-53) - 1) < 1e-15);
}

/* Moments of a million deviates: 0, 1, 0, 3; and no correlation between neighbours. */
static void test_normal(void **state)
{
    enum { N = 1000000 };
    double *g = malloc((N + 1) * sizeof *g), sum[5] = {0}, next = 0;
    noise_fill(11, 3, 5, STREAM_TIMESTEP, N, g);
    for (int i = 0; i < N; i++) {
        double p = 1;
        for (int k = 1; k < 5; k++)
            sum[k] += p *= g[i];
        next += i ? g[i] * g[i - 1] : 0;
    }
    double error = 1 / sqrt(N);
    assert_true(fabs(sum[1] / N) < 4 * error);
    assert_true(fabs(sum[2] / N - 1) < 4 * error * sqrt(2));
    assert_true(fabs(sum[3] / N) < 4 * error * sqrt(15));
    assert_true(fabs(sum[4] / N - 3) < 4 * error * sqrt(96));
    assert_true(fabs(next / N) < 4 * error);
    free(g);
}

/* Asking for fewer numbers, odd or even, gives the same ones. */
static void test_fill_prefix(void **state)
{
    double many[102], few[32];
    noise_fill(11, 3, 5, STREAM_TIMESTEP, 101, many);
    noise_fill(11, 3, 5, STREAM_TIMESTEP, 31, few);
    assert_memory_equal(many, few, 31 * sizeof *few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_counter),     cmocka_unit_test(test_functions),
        cmocka_unit_test(test_normal),  cmocka_unit_test(test_fill_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
