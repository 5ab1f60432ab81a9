/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers: the published vectors, and deviates against the C library, their moments and tails.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    for (int i = 0; i < 100000; i++) {
        const struct philox r = philox_at(7, 0, (uint64_t)i, 0, 0);
        const double u = philox_uniform(r.word[0], r.word[1]), turn = 2 * M_PI * r.word[2] * 0x1p-32;
        float c, s;
        assert_true(u > 0 && u <= 1);
        assert_true(fabs(philox_log(u) - log(u)) <= 4e-16 * fabs(log(u)) + 1e-18);
        philox_cos_sin(r.word[2], &c, &s);
        assert_true(fabs(c - cos(turn)) < 2e-7 && fabs(s - sin(turn)) < 2e-7);
    }
    assert_true(philox_log(1) == 0);
    assert_true(fabs(philox_log(0x1p-53) / log(0x1p-53) - 1) < 1e-15);
    assert_true(philox_minus_two_log(UINT32_MAX) == 0);
    assert_true(fabs(philox_minus_two_log(0) / (62 * log(2)) - 1) < 3e-7);
}

/* The four of a block: moments of a million deviates of each, which are 0, 1, 0, 3; no two go together, nor do their
 * squares, nor those of an index and the next. */
static void test_normal(void **state)
{
    enum { N = 1000000 };
    double sum[4][5] = {{0}}, product[4][4] = {{0}}, square[4][4] = {{0}}, next[4] = {0};
    float last[4] = {0};
    for (uint32_t i = 0; i < N; i++) {
        float g[4];
        philox_normal(philox_at(11, 3, 5, STREAM_TIMESTEP, i), g);
        for (int a = 0; a < 4; a++) {
            double p = 1;
            for (int k = 1; k < 5; k++)
                sum[a][k] += p *= g[a];
            for (int b = 0; b < a; b++) {
                product[a][b] += (double)g[a] * g[b];
                square[a][b] += ((double)g[a] * g[a] - 1) * ((double)g[b] * g[b] - 1);
            }
            next[a] += (double)g[a] * last[a];
        }
        memcpy(last, g, sizeof last);
    }
    const double error = 4.5 / sqrt(N);
    for (int a = 0; a < 4; a++) {
        assert_true(fabs(sum[a][1] / N) < error);
        assert_true(fabs(sum[a][2] / N - 1) < error * sqrt(2));
        assert_true(fabs(sum[a][3] / N) < error * sqrt(15));
        assert_true(fabs(sum[a][4] / N - 3) < error * sqrt(96));
        assert_true(fabs(next[a] / N) < error);
        for (int b = 0; b < a; b++)
            assert_true(fabs(product[a][b] / N) < error && fabs(square[a][b] / N) < 2 * error);
    }
}

/* How many of four million are beyond 1, 2, 3, 4 and 5. */
static void test_tails(void **state)
{
    enum { N = 1000000 };
    double beyond[6] = {0};
    for (uint32_t i = 0; i < N; i++) {
        float g[4];
        philox_normal(philox_at(12, 0, 1, STREAM_TIMESTEP, i), g);
        for (int a = 0; a < 4; a++)
            for (int k = 1; k < 6; k++)
                beyond[k] += fabsf(g[a]) > k;
    }
    for (int k = 1; k < 6; k++) {
        const double expected = 4.0 * N * erfc(k / sqrt(2));
        assert_true(fabs(beyond[k] - expected) < 4 * sqrt(expected) + 1);
    }
}

/* An atom's three are those of its number, however many atoms there are. */
static void test_fill(void **state)
{
    double all[102][3], one[3];
    noise_fill(11, 3, 5, STREAM_TIMESTEP, 102, all);
    for (uint32_t atom = 0; atom < 102; atom++) {
        philox_noise(11, 3, 5, STREAM_TIMESTEP, atom, one);
        assert_memory_equal(all[atom], one, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors), cmocka_unit_test(test_counter), cmocka_unit_test(test_functions),
        cmocka_unit_test(test_normal),  cmocka_unit_test(test_tails),   cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
