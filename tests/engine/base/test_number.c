/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "engine/base/number.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "+",
                                        "1e6",
                                        "4x",
                                        "0x10",
                                        " 7",
                                        "7 ",
                                        "1.0",
                                        "--1",
                                        "+-1",
                                        "1 2",
                                        "inf",
                                        "nan",
                                        "\xd9\xa3",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t n = 77;
        if (number_parse(texts[i], &n))
            fail_msg("\"%s\" was read as %lld", texts[i], (long long)n);
    }
}

/* Every number around zero, the powers of two and the ends of the range comes back as it was printed. */
static void what_is_one(void **state)
{
    (void)state;
    char text[32];
    for (int shift = 0; shift < 64; shift++)
        for (int64_t near = -3; near <= 3; near++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int64_t wanted = (int64_t)((uint64_t)sign * (UINT64_C(1) << shift) + (uint64_t)near), n;
                snprintf(text, sizeof text, "%lld", (long long)wanted);
                assert_true(number_parse(text, &n));
                assert_int_equal(n, wanted);
            }
    int64_t n;
    assert_true(number_parse("+007", &n));
    assert_int_equal(n, 7);
}

static void a_range(void **state)
{
    (void)state;
    struct err e = {0};
    int64_t n = -1;
    assert_int_equal(number_whole(&n, "--slots ", "12", 1, 12, &e), 0);
    assert_int_equal(n, 12);
    assert_int_equal(number_whole(&n, "--slots ", "13", 1, 12, &e), -ERR_USAGE);
    assert_string_equal(e.msg, "--slots 13: expected a whole number from 1 to 12");
    assert_int_equal(number_whole(&n, "limit=", NULL, 0, 9, &e), -ERR_USAGE);
    assert_string_equal(e.msg, "limit=: expected a whole number from 0 to 9");
    assert_int_equal(n, 12);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(number_word(1, "window", "windows"), "window");
    static const int64_t several[] = {0, 2, 11, 21, -1};
    for (size_t i = 0; i < sizeof several / sizeof *several; i++)
        assert_string_equal(number_word(several[i], "window", "windows"), "windows");
}

static void with_errors(void **state)
{
    (void)state;
    static const struct {
        double value, error;
        const char *text;
    } cases[] = {
        {10.2345, 0.1234, "10.23 +- 0.12"},
        {-3.5, 1.26, "-3.5 +- 1.3"},
        {2.5, 12.6, "2 +- 13"},
        {1234.5, 250, "1234 +- 250"},
        {0.5, 0.0995, "0.50 +- 0.10"},
        {0.5, 0.00012345, "0.50000 +- 0.00012"},
        {1.23456, NAN, "1.235"},
        {1.23456, 0, "1.235"},
        {NAN, 0.1, "-"},
        {1.0, 9.96, "1 +- 10"},
        {0.5, 1.2e-9, "0.500000000 +- 0.000000001"},
        {1.0, 1e-30, "1.000"},
        {-2e-17, 3e-17, "-0.000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        number_with_error(&b, cases[i].value, cases[i].error);
        assert_string_equal(b.data, cases[i].text);
        buf_free(&b);
    }
}

static void as_printf(double value, int digits)
{
    static const char *const formats[] = {"%.*g", "%#.*g"};
    for (int zeros = 0; zeros < 2; zeros++) {
        struct buf b = {0};
        char expected[64];
        snprintf(expected, sizeof expected, formats[zeros], digits, value);
        number_significant(&b, value, digits, zeros);
        if (strcmp(b.data, expected) != 0)
            fail_msg("%.17g with %d digits is \"%s\": expected \"%s\"", value, digits, b.data, expected);
        buf_free(&b);
    }
}

/* It and its neighbours, with both signs. */
static void around(double value, int digits)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        as_printf(sign * value, digits);
        as_printf(sign * nextafter(value, INFINITY), digits);
        as_printf(sign * nextafter(value, 0), digits);
    }
}

static void significant_digits(void **state)
{
    (void)state;
    uint64_t draw = 1;
    for (int digits = 1; digits <= 15; digits++) {
        for (int k = -30; k <= 30; k++) {
            around(pow(10, k), digits);
            around(pow(10, k) * (1 - 0.5 * pow(10, -digits)), digits); /* rounds up to a power of ten, or just not */
            around(pow(10, k) * (1 + 0.5 * pow(10, 1 - digits)), digits);
            around(ldexp(1, k) + ldexp(1, k - digits), digits); /* ties among them */
        }
        for (int k = 0; k < 10000; k++) {
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            around(ldexp((double)(draw >> 11), (int)(draw % 71) - 90), digits);
        }
    }
    static const double seldom[] = {0, -0.0, INFINITY, -INFINITY, NAN, 2.5, 3.5, 1e308, 5e-324, 0x1p53, 123456789.5};
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        for (int digits = 1; digits <= 15; digits++)
            as_printf(seldom[i], digits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_none), cmocka_unit_test(what_is_one), cmocka_unit_test(a_range),
        cmocka_unit_test(words),        cmocka_unit_test(with_errors), cmocka_unit_test(significant_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
