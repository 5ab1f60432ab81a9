/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures in files of their own, axes that are logarithmic, series in an order. How pages look is tested in a browser.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/plot/plot.h"

enum { MANY = 9 };
static const struct plot plain = {.title = "A & B", .note = "", .x = "x", .y = "y", .level = NAN, .equal = NAN};

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* The picture's file, read back. */
static char *written(const struct plot_sheet *to)
{
    char path[] = "/tmp/shoal-plot-XXXXXX";
    struct err e = {0};
    struct buf text = {0};
    close(mkstemp(path));
    assert_int_equal(plot_write(to, path, &e), 0);
    assert_int_equal(buf_read_file(&text, path, &e), 0);
    unlink(path);
    return text.data;
}

static void pictures(void **state)
{
    (void)state;
    struct plot_point points[] = {{1, 1, 0.5, NULL}, {2, NAN, 1, NULL}, {3, 4, NAN, NULL}};
    const struct plot_series series = {.name = "one", .points = points, .n = 3, .joined = true};
    struct plot_sheet to = {0};
    plot_put(&to, &plain, &series, 1);
    const double one = to.height;
    plot_put(&to, &plain, &series, 1);
    assert_true(one > 0 && to.height == 2 * one);
    char *text = written(&to);
    assert_null(strstr(text, "var(")); /* colours that every program knows */
    assert_non_null(strstr(text, "svg text { fill: #14202b; }"));
    assert_int_equal(count(text, "<svg "), 1);
    assert_int_equal(count(text, ">A &#38; B</text>"), 2);
    assert_int_equal(count(text, "<circle "), 4);
    free(text);
    plot_sheet_close(&to);
}

static void nothing_to_show(void **state)
{
    (void)state;
    struct plot_point points[] = {{1, NAN, 0.5, NULL}};
    const struct plot_series series = {.name = "one", .points = points, .n = 1};
    struct plot_sheet to = {0};
    plot_put(&to, &plain, &series, 1);
    assert_true(to.height == 0);
    char *text = written(&to);
    assert_non_null(strstr(text, "</svg>"));
    free(text);
}

/* Decades are equally far from each other; what is not above 0 is left out, and a band that reaches there ends at the
 * axis. */
static void logarithmic(void **state)
{
    (void)state;
    struct plot_point points[] = {
        {1, 10, 20, NULL}, {2, 100, 1, NULL}, {3, 0, 1, NULL}, {4, -5, 1, NULL}, {5, 1000, 1, NULL}};
    const struct plot_series series = {.name = "one", .points = points, .n = 5, .joined = true, .band = true};
    struct plot p = plain;
    struct buf out = {0};
    double x[3], y[3];
    p.log_y = true;
    plot_series(&out, &p, &series, 1);
    const char *line = strstr(out.data, "class=\"k k0\"");
    assert_non_null(line);
    while (line > out.data && strncmp(line, "<path", 5) != 0)
        line--;
    assert_int_equal(sscanf(line, "<path d=\"M%lf %lfL%lf %lfL%lf %lf\"", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6);
    assert_true(fabs((y[0] - y[1]) - (y[1] - y[2])) < 0.15 && y[0] > y[1]);
    assert_null(strstr(out.data, "nan"));
    assert_non_null(strstr(out.data, ">100</text>"));
    buf_free(&out);
}

static void in_order(void **state)
{
    (void)state;
    struct plot_point points[MANY][2];
    struct plot_series series[MANY];
    struct plot p = plain;
    struct buf out = {0};
    p.ordered = true;
    for (int k = 0; k < MANY; k++) {
        points[k][0] = (struct plot_point){0, k, 1, NULL};
        points[k][1] = (struct plot_point){1, k, 1, NULL};
        series[k] = (struct plot_series){.name = "window", .points = points[k], .n = 2, .joined = true, .band = true};
    }
    series[MANY - 1] = (struct plot_series){.points = points[0], .n = 2, .joined = true, .dashed = true, .like = 1};
    plot_series(&out, &p, series, MANY);
    assert_int_equal(count(out.data, "class=\"k k0\" stroke-opacity"), MANY - 1);
    assert_int_equal(count(out.data, "class=\"k k0 dashed\" stroke-opacity"), 1);
    assert_int_equal(count(out.data, "class=\"area"), 0);
    assert_int_equal(count(out.data, "class=\"key"), 0);
    out.len = 0;
    plot_series(&out, &p, series + MANY - 3, 3); /* few: a colour each, and bands */
    assert_int_equal(count(out.data, "class=\"area"), 2);
    assert_int_equal(count(out.data, "class=\"key"), 2);
    assert_int_equal(count(out.data, "class=\"k k1 dashed\""), 1);
    buf_free(&out);
}

static void unwritable(void **state)
{
    (void)state;
    struct plot_sheet to = {0};
    struct err e = {0};
    assert_true(plot_write(&to, "/nowhere/at/all.svg", &e) < 0);
    assert_non_null(strstr(e.msg, "/nowhere/at/all.svg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures), cmocka_unit_test(nothing_to_show),
                                       cmocka_unit_test(logarithmic), cmocka_unit_test(in_order),
                                       cmocka_unit_test(unwritable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
