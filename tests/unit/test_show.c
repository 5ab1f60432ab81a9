/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "client/show.h"
#include "engine/base/suggest.h"

static void assert_text(struct buf *b, const char *expected)
{
    assert_string_equal(b->data, expected);
    buf_free(b);
}

static void test_values(void **state)
{
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
        {1.0, 1e-30, "1.000000000 +- 0.000000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        show_value(&b, cases[i].value, cases[i].error);
        assert_text(&b, cases[i].text);
    }
}

static void test_durations(void **state)
{
    static const struct {
        double s;
        const char *text;
    } cases[] = {{0, "0 s"},           {59.4, "59 s"},      {59.6, "1 min 00 s"},
                 {3723, "1 h 02 min"}, {90000, "1 d 01 h"}, {-1, "0 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        show_duration(&b, cases[i].s);
        assert_text(&b, cases[i].text);
    }
}

static void test_progress(void **state)
{
    struct buf b = {0};
    show_progress(&b, 10, 0.55, 6, 12, 0, 65);
    assert_text(&b, "[#####.....]  55 %  6/12 windows  1 min 05 s left");
    show_progress(&b, 10, 1.5, 12, 12, 2, -1);
    assert_text(&b, "[##########] 100 %  12/12 windows  2 failed");
}

static void test_table(void **state)
{
    struct table t;
    struct buf b = {0};
    table_setup(&t, "lrl");
    static const char *const cells[] = {"name", "n", "why", "methane", "12", "", "\033[32må\033[0m", "123", "so"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        table_cell(&t, "%s", cells[i]);
    table_put(&t, &b);
    assert_text(&b,
                "name       n  why\n"
                "methane   12\n"
                "\033[32må\033[0m        123  so\n");
}

static void test_suggest(void **state)
{
    static const char *const words[] = {"submit", "status", "results", "resume"};
    assert_string_equal(suggest_nearest("sumbit", words, 4), "submit");
    assert_string_equal(suggest_nearest("result", words, 4), "results");
    assert_string_equal(suggest_nearest("STATUS", words, 4), "status");
    assert_null(suggest_nearest("x", words, 4));
    assert_null(suggest_nearest("frobnicate", words, 4));
    assert_int_equal(suggest_distance("switch_start", "switch-start"), 0);
    assert_int_equal(suggest_distance("ab", "ba"), 1);
    assert_int_equal(suggest_distance("", "abc"), 3);
    assert_int_equal(suggest_distance("kitten", "sitting"), 3);
}

static void test_escape(void **state)
{
    struct buf b = {0};
    http_escape_path(&b, "a b/c%?#\xc3\xa5-1.x");
    assert_text(&b, "a%20b/c%25%3F%23%C3%A5-1.x");
}

static void test_exit_codes(void **state)
{
    static const struct {
        enum err_code code;
        int exit;
    } cases[] = {{ERR_NONE, 0},      {ERR_CONFLICT, 1},   {ERR_USAGE, 2},         {ERR_SPEC, 65},
                 {ERR_TOPOLOGY, 65}, {ERR_NOT_FOUND, 66}, {ERR_MISSING_FILE, 66}, {ERR_UNREACHABLE, 69},
                 {ERR_BUSY, 75},     {ERR_FORBIDDEN, 77}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(err_exit(cases[i].code), cases[i].exit);
}

#define ENERGY(kj, kcal, kt)                                                                                           \
    "{\"kJ/mol\":{\"value\":" kj ",\"error\":0.12},\"kcal/mol\":{\"value\":" kcal                                      \
    ",\"error\":0.029},\"kT\":{\"value\":" kt ",\"error\":null}}"

static void test_results(void **state)
{
    static const char text[] =
        "{\"quantity\":\"G(last window) - G(first window)\",\"status\":\"partial\",\"reason\":\"window 1 failed\","
        "\"estimators\":[{\"name\":\"MBAR\",\"status\":\"ok\",\"reason\":null,\"total\":" ENERGY("-10.25", "-2.45", "-4.135")
        ",\"legs\":[{\"name\":\"coulomb\",\"from\":0,\"to\":1,\"free_energy\":" ENERGY("1", "2", "3") "},"
        "{\"name\":\"vdw\",\"from\":1,\"to\":2,\"free_energy\":null}]},"
        "{\"name\":\"BAR\",\"status\":\"failed\",\"reason\":\"no samples\",\"total\":null,\"legs\":[]}],"
        "\"solvation\":{\"molecule\":\"MET\",\"meaning\":\"m\",\"free_energy\":" ENERGY("10.25", "2.45", "4.135") "},"
        "\"windows\":[{\"window\":0,\"lambda\":{\"coulomb\":0,\"vdw\":0.25},\"status\":\"ok\",\"reason\":null,\"samples\":"
        "{\"read\":100,\"inefficiency\":2.5,\"used\":40}},"
        "{\"window\":1,\"lambda\":{\"coulomb\":1,\"vdw\":0.25},\"status\":\"failed\",\"reason\":\"blew up\",\"samples\":null}],"
        "\"warnings\":[\"overlap is small\"]}";
    struct buf b = {0};
    json_t *results = json_loads(text, 0, NULL);
    assert_non_null(results);
    results_text(results, &b);
    json_decref(results);
    assert_text(&b,
                "G(last window) - G(first window); status partial: window 1 failed\n"
                "\n"
                "free energy               kJ/mol         kcal/mol      kT\n"
                "MBAR              -10.25 +- 0.12  -2.450 +- 0.029  -4.135\n"
                "  coulomb           1.00 +- 0.12   2.000 +- 0.029   3.000\n"
                "  vdw                          -                -       -\n"
                "BAR                            -                -       -\n"
                "solvation of MET   10.25 +- 0.12   2.450 +- 0.029   4.135\n"
                "\n"
                "window  lambda               state   samples    g  used  reason\n"
                "     0  coulomb 0, vdw 0.25  ok          100  2.5    40\n"
                "     1  coulomb 1, vdw 0.25  failed        -    -     -  blew up\n"
                "\n"
                "BAR failed: no samples\n"
                "\n"
                "warning: overlap is small\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_durations), cmocka_unit_test(test_progress),
        cmocka_unit_test(test_table),      cmocka_unit_test(test_suggest),   cmocka_unit_test(test_escape),
        cmocka_unit_test(test_exit_codes), cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
