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

#include "client/ask/http.h"
#include "client/results/results.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"

static void assert_text(struct buf *b, const char *expected)
{
    assert_string_equal(b->data, expected);
    buf_free(b);
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
    static const struct {
        int width, done, failed;
        double fraction, eta;
        const char *text, *more;
    } cases[] = {
        {120, 6, 0, 0.5, 65, "[############............]  50 %  6/12 windows  1 min 05 s left  1.2 +- 0.1 kJ",
         "1.2 +- 0.1 kJ"},
        {120, 6, 0, 0.5, 65, "[############............]  50 %  6/12 windows  1 min 05 s left", ""},
        {120, 12, 2, 1.5, -1, "[########################] 100 %  12/12 windows  2 failed", ""},
        {50, 6, 0, 0.5, 65, "[#####......]  50 %  6/12 windows  1 min 05 s left", ""},
        {40, 6, 0, 0.5, 65, " 50 %  6/12 windows  1 min 05 s left", ""},
        {12, 6, 0, 0.5, 65, " 50 %  6/12 ", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        show_progress(&b, cases[i].width, cases[i].fraction, cases[i].done, 12, cases[i].failed, cases[i].eta,
                      cases[i].more);
        assert_true((int)b.len <= cases[i].width);
        assert_text(&b, cases[i].text);
    }
}

static void test_bytes(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{0, "0 B"},         {999, "999 B"},     {1000, "1.0 kB"}, {9949, "9.9 kB"},
                 {9951, "10 kB"},    {999499, "999 kB"}, {1e6, "1.0 MB"},  {23e6, "23 MB"},
                 {1.25e9, "1.2 GB"}, {4e12, "4.0 TB"},   {4e15, "4000 TB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        number_bytes(&b, cases[i].bytes);
        assert_text(&b, cases[i].text);
    }
}

static void test_times(void **state)
{
    struct buf b = {0};
    show_time(&b, "2026-11-20T10:00:00.123Z");
    assert_text(&b, "2026-11-20T10:00:00Z");
    show_time(&b, "2026-11-20T10:00:00Z");
    assert_text(&b, "2026-11-20T10:00:00Z");
}

static void cells_of(struct table *t, const char *layout, const char *const *cells, int n)
{
    table_setup(t, layout);
    for (int i = 0; i < n; i++)
        table_cell(t, "%s", cells[i]);
}

static void test_table(void **state)
{
    struct table t;
    struct buf b = {0};
    static const char *const cells[] = {"name", "n", "why", "methane", "12", ""};
    cells_of(&t, "l r l", cells, 6);
    table_coloured(&t, "\033[32m", "\303\245");
    table_cell(&t, "%d", 123);
    table_cell(&t, "so");
    table_put(&t, 0, &b);
    assert_text(&b,
                "name       n  why\n"
                "methane   12\n"
                "\033[32m\303\245\033[0m        123  so\n");
    static const char *const hostile[] = {"name", "why", "a\tb\033[2J", "\302\2332J\n"};
    cells_of(&t, "l l", hostile, 4);
    table_coloured(&t, "\033[31m", "\033]0;x");
    table_coloured(&t, "", "so");
    table_put_plain(&t, &b);
    assert_text(&b, "a\\x09b\\x1b[2J\t\\u009b2J\\x0a\n\033[31m\\x1b]0;x\033[0m\tso\n");
}

/* As many columns as a table may have, and a row of them. */
static void test_table_widest(void **state)
{
    struct table t;
    struct buf layout = {0}, wanted = {0}, b = {0};
    for (int i = 0; i < TABLE_COLUMNS; i++)
        buf_printf(&layout, i ? " r" : "r");
    table_setup(&t, layout.data);
    for (int i = 0; i < 2 * TABLE_COLUMNS; i++) {
        table_cell(&t, "%d", i);
        buf_printf(&wanted, "%*d%s", i % TABLE_COLUMNS ? 4 : 2, i, (i + 1) % TABLE_COLUMNS ? "" : "\n");
    }
    table_put(&t, 0, &b);
    assert_text(&b, wanted.data);
    buf_free(&wanted);
    buf_free(&layout);
}

/* What does not fit: columns leave in the order of their numbers, then texts are cut; empty columns leave always. */
static void test_table_fits(void **state)
{
    static const char *const cells[] = {
        "id",      "name",       "state", "created", "key", "3f2a", "a-rather-long-n\303\245me-of-an-ensemble",
        "running", "2026-11-20", ""};
    static const struct {
        int width;
        const char *text;
    } cases[] = {
        {0,
         "id    name                               state    created\n"
         "3f2a  a-rather-long-n\303\245me-of-an-ensemble  running  2026-11-20\n"},
        {57,
         "id    name                            state    created\n"
         "3f2a  a-rather-long-n\303\245me-of-an-ense~  running  2026-11-20\n"},
        {40,
         "id    name                       state\n"
         "3f2a  a-rather-long-n\303\245me-of-an~  running\n"},
        {22,
         "id    name     state\n"
         "3f2a  a-rath~  running\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        struct buf b = {0};
        cells_of(&t, "l l~ l l2 l1", cells, 10);
        table_put(&t, cases[i].width, &b);
        assert_text(&b, cases[i].text);
    }
}

/* Empty columns are not shown, before anything is cut; names are cut in the middle; others leave before what is worth
 * more columns. */
static void test_table_cuts(void **state)
{
    static const char *const cells[] = {"name",
                                        "why",
                                        "key",
                                        "n",
                                        "m\303\251thane-to-ethane-number-one",
                                        "",
                                        "",
                                        "12",
                                        "m\303\251thane-to-ethane-number-two",
                                        "",
                                        "",
                                        "9"};
    static const struct {
        const char *layout;
        int width;
        const char *text;
    } cases[] = {
        {"l= l~ l r1", 19, "name\nm\303\251thane-t~umber-one\nm\303\251thane-t~umber-two\n"},
        {"l~ l~ l r1", 19, "name\nm\303\251thane-to-ethane-~\nm\303\251thane-to-ethane-~\n"},
        {"l= l~ l r1", 20, "name               n\nm\303\251thane-~ber-one  12\nm\303\251thane-~ber-two   9\n"},
        {"l== l~ l r1", 21, "name\nm\303\251thane-to~number-one\nm\303\251thane-to~number-two\n"},
        {"l= l~ l r1", 5, "name\nm\303\251t~ne\nm\303\251t~wo\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        struct buf b = {0};
        cells_of(&t, cases[i].layout, cells, 12);
        table_put(&t, cases[i].width, &b);
        assert_text(&b, cases[i].text);
    }
}

/* Columns of "-" leave first, and only where there is no room: before a text is cut, though others have higher numbers.
 */
static void test_table_dashes(void **state)
{
    static const char *const cells[] = {"n",   "ns",         "g", "reason", "0", "-",
                                        "1.5", "it blew up", "1", "-",      "-", "it too"};
    static const struct {
        int width;
        const char *text;
    } cases[] = {
        {23, "n  ns    g  reason\n0   -  1.5  it blew up\n1   -    -  it too\n"},
        {19, "n    g  reason\n0  1.5  it blew up\n1    -  it too\n"},
        {14, "n  reason\n0  it blew up\n1  it too\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        struct buf b = {0};
        cells_of(&t, "r r1 r2 l~", cells, 12);
        table_put(&t, cases[i].width, &b);
        assert_text(&b, cases[i].text);
    }
}

/* The last column goes on below itself, at words where it has some, and nothing of it is lost. */
static void test_table_wraps(void **state)
{
    static const char *const cells[] = {"n", "message", "10", "it blew up at a constraint", "9", "n\303\266thing"};
    static const struct {
        int width;
        const char *text;
    } cases[] = {
        {0, " n  message\n10  it blew up at a constraint\n 9  n\303\266thing\n"},
        {17, " n  message\n10  it blew up at\n    a constraint\n 9  n\303\266thing\n"},
        {11, " n  message\n10  it blew\n    up at a\n    constra\n    int\n 9  n\303\266thing\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        struct buf b = {0};
        cells_of(&t, "r l+", cells, 6);
        table_put(&t, cases[i].width, &b);
        assert_text(&b, cases[i].text);
    }
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
    http_escape(&b, "k=a/b+1");
    assert_text(&b, "k%3Da%2Fb%2B1");
}

static void test_exit_codes(void **state)
{
    static const struct {
        enum err_code code;
        int exit;
    } cases[] = {{ERR_NONE, 0},      {ERR_CONFLICT, 3},   {ERR_USAGE, 2},         {ERR_SPEC, 65},
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
        "\"estimate\":{\"magnitude\":-2.45},\"verdict\":{\"verdict\":\"unconverged\"},\"repeats\":null,"
        "\"estimators\":[{\"name\":\"MBAR\",\"status\":\"ok\",\"reason\":null,\"total\":" ENERGY("-10.25", "-2.45", "-4.135")
        ",\"verdict\":{\"verdict\":\"unconverged\",\"reasons\":[{\"code\":\"few_samples\",\"text\":\"window 0 has few\"}]}"
        ",\"legs\":[{\"name\":\"coulomb\",\"from\":0,\"to\":1,\"verdict\":\"converged\",\"free_energy\":"
        ENERGY("1", "2", "3") "},"
        "{\"name\":\"vdw\",\"from\":1,\"to\":2,\"verdict\":\"failed\",\"free_energy\":null}]},"
        "{\"name\":\"BAR\",\"status\":\"failed\",\"reason\":\"no samples\",\"total\":null,\"legs\":[],"
        "\"verdict\":{\"verdict\":\"failed\",\"reasons\":[{\"code\":\"no_samples\",\"text\":\"window 1 has no samples\"}]}}],"
        "\"solvation\":{\"molecule\":\"MET\",\"meaning\":\"m\",\"verdict\":\"unconverged\",\"free_energy\":"
        ENERGY("10.25", "2.45", "4.135") "},"
        "\"standard_state\":{\"molecules\":[\"HOST\",\"MET\"],\"window\":1,\"other_end\":\"held\",\"release\":"
        ENERGY("-25", "-6", "-10") ",\"correction\":{\"kJ/mol\":{\"value\":25,\"error\":0}}},"
        "\"finite_size\":{\"charges\":[-1,0],\"edge\":{\"magnitude\":4.25},\"missing\":[\"RIP: needs more\",\"DSC\"],"
        "\"correction\":{\"kT\":{\"value\":-0.5,\"error\":0}}},"
        "\"windows\":[{\"window\":0,\"lambda\":{\"coulomb\":0,\"vdw\":0.25},\"status\":\"ok\",\"reason\":null,"
        "\"sampled\":{\"magnitude\":0.03,\"unit\":\"nanosecond\"},\"samples\":"
        "{\"read\":100,\"inefficiency\":2.5,\"used\":90,\"uncorrelated\":36,\"variance\":0.04}},"
        "{\"window\":1,\"lambda\":{\"coulomb\":1,\"vdw\":0.25},\"status\":\"failed\",\"reason\":\"blew up\","
        "\"sampled\":{\"magnitude\":0,\"unit\":\"nanosecond\"},\"samples\":null}],"
        "\"warnings\":[\"overlap is small\"]}";
    struct buf b = {0};
    json_t *results = json_loads(text, 0, NULL);
    assert_non_null(results);
    results_put(&(struct out){&b, 0, false}, results);
    json_decref(results);
    assert_text(&b,
                "free energy of solvation of MET: 2.450 +- 0.029 kcal/mol, unconverged\n"
                "G(last window) - G(first window) = -2.450 +- 0.029 kcal/mol by MBAR, with the sign changed: into the "
                "surroundings\n"
                "\n"
                "G(last window) - G(first window); status partial: window 1 failed\n"
                "\n"
                "free energy                    kJ/mol         kcal/mol      kT  verdict\n"
                "MBAR                   -10.25 +- 0.12  -2.450 +- 0.029  -4.135  unconverged\n"
                "  coulomb                1.00 +- 0.12   2.000 +- 0.029   3.000  converged\n"
                "  vdw                               -                -       -  failed\n"
                "BAR                                 -                -       -  failed\n"
                "solvation of MET        10.25 +- 0.12   2.450 +- 0.029   4.135  unconverged\n"
                "to add for 1 mol/l             25.000                -       -  exact\n"
                "to add for net charge               -                -  -0.500  NET, USV\n"
                "\n"
                "restraints hold HOST and MET together in window 1: from there to 1 mol/l is -6.00 kcal/mol, which the "
                "estimate lacks\n"
                "binding = solvent leg - (complex leg + what is to add), where both legs take the ligand out\n"
                "the other end of the ladder is held too: attaching the restraints is another leg\n"
                "\n"
                "the net charge goes from -1.00 to +0.00 e in a box of 4.25 nm; the row lacks:\n"
                "  RIP: needs more\n"
                "  DSC\n"
                "\n"
                "window  coulomb/vdw  state     ns  samples  used    g  uncorrelated  error/%  reason\n"
                "     0  0/0.25       ok      0.03      100    90  2.5            36    100.0\n"
                "     1  1/0.25       failed     -        -     -    -             -        -  blew up\n"
                "\n"
                "MBAR unconverged:\n"
                "  window 0 has few\n"
                "\n"
                "BAR failed:\n"
                "  window 1 has no samples\n"
                "\n"
                "warning: overlap is small\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),    cmocka_unit_test(test_progress),    cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_times),        cmocka_unit_test(test_table),       cmocka_unit_test(test_table_fits),
        cmocka_unit_test(test_table_dashes), cmocka_unit_test(test_table_wraps), cmocka_unit_test(test_table_widest),
        cmocka_unit_test(test_table_cuts),   cmocka_unit_test(test_suggest),     cmocka_unit_test(test_escape),
        cmocka_unit_test(test_exit_codes),   cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
