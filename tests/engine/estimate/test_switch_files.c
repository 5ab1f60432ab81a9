/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of works and dhdl.xvg of switches: what is read from them, and what is refused.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/estimate/estimate.h"
#include "engine/estimate/switching/switching.h"
#include "engine/series/switch_slopes.h"
#include "tests/lib/near.h"
#include "tests/lib/switch_works.h"

enum { MOST = 400 };
static double f[MOST], b[MOST];

static void draw_both(double dg, double sigma, int nf, int nb, double memory, uint64_t seed)
{
    works_draw(f, nf, b, nb, dg, sigma, memory, seed);
}

/* As pmx writes them: names and works, backward ones with the sign of the forward direction. */
static void test_pmx(void **state)
{
    draw_both(2, 1, 400, 400, 0, 17);
    works_put(works_forward_file, f, 400, WORKS_KT);
    FILE *out = fopen(works_backward_file, "w");
    assert_non_null(out);
    fprintf(out, "# works\n");
    for (int i = 0; i < 400; i++)
        fprintf(out, "run/dhdl%d.xvg %.12g\n", i, -b[i] * WORKS_KT);
    assert_false(fclose(out));
    json_t *pmx = works_from_files();
    assert_non_null(strstr(json_string_value(works_at(pmx, "warnings.0")), "pmx"));
    json_t *plain = works_from_two(f, 400, b, 400);
    assert_true(json_equal(works_at(pmx, "estimators"), works_at(plain, "estimators")));
    json_decref(pmx);
    json_decref(plain);
}

/* The same works in a second file, as of an older copy that has fewer: refused. Works that happen to be alike are not.
 */
static void test_copies(void **state)
{
    char copy[80], *forward[] = {works_forward_file, copy}, *backward[] = {works_backward_file};
    const struct estimate_switches q = {.paths = {forward, backward}, .n = {2, 1}, .temperature = 300, .unit = 1};
    snprintf(copy, sizeof copy, "%s-copy", works_forward_file);
    draw_both(2, 1, 400, 400, 0, 20);
    works_put(works_forward_file, f, 400, WORKS_KT);
    works_put(works_backward_file, b, 400, WORKS_KT);
    for (int other = 0; other < 2; other++) {
        struct err e = {0};
        struct buf text = {0};
        bool answered;
        f[3] += other;
        works_put(copy, f, 300, WORKS_KT);
        assert_int_equal(estimate_switches(&q, &text, &answered, &e), other ? 0 : -ERR_UNSUPPORTED);
        assert_true(other || strstr(e.msg, "begin with the same works: expected one of them"));
        buf_free(&text);
    }
    works_put(works_forward_file, f, 400, WORKS_KT);
    for (int reversed = 0; reversed < 2; reversed++) {
        struct err e = {0};
        works_put(copy, f, 300, reversed ? -WORKS_KT : WORKS_KT);
        assert_null(works_estimate(works_forward_file, copy, 1, &e));
        assert_non_null(strstr(e.msg, "forward and backward works begin with the same numbers"));
    }
    unlink(copy);
}

/* dhdl.xvg of slow growth as GROMACS 2022 writes it: no legend, and a subtitle that says the temperature alone. Along
 * time t of the switch from 0 to 1, dH/dlambda is a + 3 curve s^2 in kJ/mol, s the share of the switch. */
static void put_part(const char *path, double a, double curve, int rows, double length, double begin)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "# comment\n@    title \"dH/d\\xl\\f{}\"\n@    xaxis  label \"Time (ps)\"\n"
            "@    yaxis  label \"dH/d\\xl\\f{} (kJ/mol [\\xl\\f{}]\\S-1\\N)\"\n@TYPE xy\n"
            "@ subtitle \"T = 298.15 (K) \"\n");
    for (int i = 0; i < rows; i++) {
        const double s = i / (rows - 1.0);
        fprintf(out, "%.4f %.10g\n", begin + length * s, a + 3 * curve * s * s);
    }
    assert_false(fclose(out));
}

static void put_slow_growth(const char *path, double a, double curve, int rows, double length)
{
    put_part(path, a, curve, rows, length, 0);
}

enum { SWITCHES = 40 };

/* dhdl of SWITCHES switches of one way, whose works are w in kT. */
static void put_switches(char names[SWITCHES][80], char **paths, const char *stem, const double *w, int rows,
                         double curve)
{
    for (int i = 0; i < SWITCHES; i++) {
        snprintf(names[i], 80, "%s-%d.xvg", stem, i);
        paths[i] = names[i];
        put_slow_growth(names[i], w[i] * WORKS_KT - curve, curve, rows, 50);
    }
}

static json_t *from_switches(char **f_paths, char **b_paths, struct err *e)
{
    const struct estimate_switches q = {.paths = {f_paths, b_paths}, .n = {SWITCHES, SWITCHES}, .unit = 1};
    struct buf text = {0};
    bool answered;
    json_t *r = NULL;
    if (!estimate_switches(&q, &text, &answered, e))
        r = json_loadb(text.data, text.len, 0, NULL);
    buf_free(&text);
    return r;
}

/* Work is the integral of dH/dlambda along the path of the switch: that of a backward one has the other sign. */
static void test_slow_growth(void **state)
{
    static char f_names[SWITCHES][80], b_names[SWITCHES][80];
    char *f_paths[SWITCHES], *b_paths[SWITCHES];
    struct err e = {0};
    double mirrored[SWITCHES];
    draw_both(2, 1, SWITCHES, SWITCHES, 0, 19);
    for (int i = 0; i < SWITCHES; i++)
        mirrored[i] = -b[i];
    put_switches(f_names, f_paths, works_forward_file, f, 501, 1);
    put_switches(b_names, b_paths, works_backward_file, mirrored, 501, 1);
    json_t *works = works_from_two(f, SWITCHES, b, SWITCHES), *r = from_switches(f_paths, b_paths, &e);
    assert_string_equal(e.msg, "");
    for (int i = 0; i < 4; i++)
        near(works_total(r, i, "value"), works_total(works, i, "value"), 1e-5);
    near(works_number(r, "temperature.magnitude"), WORKS_TEMPERATURE, 1e-9);
    near(works_number(r, "switching.forward.length.magnitude"), 0.05, 1e-9);
    assert_false(works_reason(r, 0, "quadrature"));
    const json_t *warnings = json_object_get(r, "warnings");
    const char *last = json_string_value(json_array_get(warnings, json_array_size(warnings) - 1));
    assert_non_null(strstr(last, "nsteps times delta-lambda is 1"));
    assert_int_equal(json_array_size(json_object_get(works, "warnings")), json_array_size(warnings) - 1);
    json_decref(r);
    put_slow_growth(f_names[3], 1e4, 1, 250, 25); /* it ended half-way */
    put_slow_growth(f_names[4], 1e4, 1, 2, 0.1);
    r = from_switches(f_paths, b_paths, &e);
    assert_int_equal((int)works_number(r, "switching.forward.incomplete"), 2);
    assert_int_equal((int)works_number(r, "switching.forward.works"), SWITCHES - 2);
    assert_true(works_reason(r, 0, "incomplete"));
    assert_true(fabs(works_total(r, 0, "value") - 2) < 1);
    json_decref(r);
    for (int steep = 0; steep < 2; steep++) { /* rows too far apart for the curve: a little in the mean, or much */
        put_switches(f_names, f_paths, works_forward_file, f, 5, steep ? 20 : 10);
        r = from_switches(f_paths, b_paths, &e);
        assert_true(works_reason(r, 0, "quadrature"));
        json_decref(r);
    }
    for (int i = 0; i < SWITCHES; i++) { /* not in the mean, but from switch to switch */
        const double curve = i % 2 ? 30 : -30;
        put_slow_growth(f_names[i], f[i] * WORKS_KT - curve, curve, 5, 50);
    }
    r = from_switches(f_paths, b_paths, &e);
    assert_true(works_reason(r, 0, "quadrature"));
    json_decref(r);
    put_part(f_names[5], 1, 0, 11, 50, 50);
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "begins at 50 ps, other switches at 0 ps"));
    put_slow_growth(f_names[5], 1, 0, 11, 50);
    f_paths[5] = f_names[6];
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "-6.xvg: given twice"));
    f_paths[5] = f_names[5];
    put_slow_growth(f_names[5], 7, 0, 11, 50);
    put_slow_growth(f_names[6], 7, 0, 11, 50);
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "begin with the same works"));
    put_slow_growth(f_names[5], 8, 0, 11, 50);
    for (int i = 0; i < SWITCHES; i++)
        put_slow_growth(b_names[i], i, 0, 101, 20);
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "forward switches last 50 ps, backward ones 20 ps"));
    for (int i = 0; i < SWITCHES; i++) {
        unlink(f_names[i]);
        unlink(b_names[i]);
    }
    json_decref(works);
}

/* One dhdl.xvg of a forward switch with such lines of a header. */
static void put_header(const char *path, const char *subtitle, const char *legend)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "@ subtitle \"%s\"\n@ s0 legend \"dH/d\\xl\\f{} %s\"\n0 1\n1 1\n2 1\n3 %zu\n", subtitle, legend,
            strlen(path));
    assert_false(fclose(out));
}

/* What headers say must fit together: temperature, lambda. */
static void test_headers(void **state)
{
    static const struct {
        const char *subtitle, *legend, *message;
        double temperature;
    } bad[] = {
        {"T = 300 (K) ", "fep-lambda = 1.0000", "lambda begins at 1, expected 0 of a forward switch", 0},
        {"T = 300 (K) ", "fep-lambda = 0.0000", "temperature 300 K, but --temperature is 310", 310},
        {"T = 310 (K) ", "fep-lambda = 0.0000", "temperature 310 K, but", 0},
        {"T = 300 (K) state 0: fep-lambda = 0.0000", "fep-lambda = 0.0000", "names one state", 0},
        {"", "fep-lambda = 0.0000", "expected --temperature K", 0},
    };
    char one[80], other[80], *paths[] = {one, other};
    snprintf(one, sizeof one, "%s-one.xvg", works_forward_file);
    snprintf(other, sizeof other, "%s-other.xvg", works_forward_file);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct estimate_switches q = {.paths = {paths}, .n = {2}, .temperature = bad[i].temperature, .unit = 1};
        struct err e = {0};
        struct buf text = {0};
        bool answered;
        put_header(one, *bad[i].subtitle ? "T = 300 (K) " : "", "fep-lambda = 0.0000");
        put_header(other, bad[i].subtitle, bad[i].legend);
        assert_int_not_equal(estimate_switches(&q, &text, &answered, &e), 0);
        assert_non_null(strstr(e.msg, bad[i].message));
    }
    unlink(one);
    unlink(other);
}

/* Files that are refused, and where. */
static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"1\n2\nthree\n", ":3: read \"three\""},      {"1\na 2\n", ":2: read \"a 2\""},
        {"1 2\n3 4\n", ":1: read \"1 2\""},           {"a 2 3\n", ":1: read \"a 2\""},
        {"@ title \"x\"\n", "files with dH/dlambda"},
    };
    draw_both(2, 1, 10, 10, 0, 18);
    works_put(works_backward_file, b, 10, WORKS_KT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        FILE *out = fopen(works_forward_file, "w");
        assert_true(out && fputs(bad[i].text, out) >= 0 && !fclose(out));
        assert_null(works_estimate(works_forward_file, works_backward_file, 1, &e));
        assert_int_equal(e.code, ERR_UNSUPPORTED);
        assert_non_null(strstr(e.msg, bad[i].message));
    }
    struct err e = {0};
    assert_null(works_estimate("/nonexistent/works.dat", works_backward_file, 1, &e));
    assert_int_equal(e.code, ERR_MISSING_FILE);
}

/* What the program writes along its own switches: the integral is the work, however the work was done in between. */
static void test_own_slopes(void **state)
{
    (void)state;
    static const double work[] = {0, 3.25, -7.5, 40, 41.25, 12.125};
    enum { N = sizeof work / sizeof *work };
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++) {
        struct buf text = {0};
        struct err e = {0};
        struct slow_growth s;
        switch_slopes_file(&text, 310.5, 12.5, way, work, N);
        assert_int_equal(buf_write_file(works_forward_file, text.data, text.len, &e), 0);
        assert_int_equal(slow_growth_read(&s, works_forward_file, way, &e), 0);
        near(s.work, work[N - 1], 1e-6);
        near(s.length, 12.5, 1e-9);
        near(s.temperature, 310.5, 1e-9);
        assert_true(s.begin == 0);
        assert_int_equal(slow_growth_read(&s, works_forward_file, !way, &e), -ERR_UNSUPPORTED);
        buf_free(&text);
    }
    char name[SWITCH_SLOPES_NAME];
    uint64_t number;
    switch_slopes_name(name, 123456);
    assert_string_equal(name, "switch_123456.xvg");
    assert_true(switch_slopes_number("switch_00017.xvg", &number) && number == 17);
    assert_false(switch_slopes_number("switch_00017.xvg.tmp", &number) || switch_slopes_number("work.tsv", &number) ||
                 switch_slopes_number("switch_.xvg", &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pmx),     cmocka_unit_test(test_copies),    cmocka_unit_test(test_slow_growth),
        cmocka_unit_test(test_headers), cmocka_unit_test(test_bad_files), cmocka_unit_test(test_own_slopes),
    };
    return cmocka_run_group_tests(tests, works_begin, works_end);
}
