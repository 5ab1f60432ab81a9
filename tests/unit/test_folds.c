/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of windows by deviations that are known: frames are the start structure, larger about its center by so
 * much a frame. And what a spec may not name.
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

#include "daemon/worker/children/fold.h"
#include "engine/base/buf.h"

enum { ATOMS = 4 };

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nX 12 0 A 0.3 0.1\n[ moleculetype ]\nA 1\n[ atoms ]\n1 X 1 A A1 1 0\n2 X "
    "1 A A2 2 0\n"
    "3 X 1 A A3 3 0\n4 X 1 A A4 4 0\n[ system ]\nt\n[ molecules ]\nA 1\n";
static const char gro[] =
    "t\n    4\n    1A       A1    1   2.000   1.000   1.000\n    1A       A2    2   0.000   1.000   1.000\n"
    "    1A       A3    3   1.000   2.000   1.000\n    1A       A4    4   1.000   0.000   1.000\n   5.0 5.0 5.0\n";
#define SPEC "name: a\nsystem: {topology: a.top, coordinates: a.gro}\nrepeats: 2\n"

static struct source *files(void)
{
    struct source *src = source_memory_new();
    struct err e = {0};
    assert_int_equal(source_memory_add(src, "a.top", top, sizeof top - 1, &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro, sizeof gro - 1, &e), 0);
    return src;
}

struct fixture {
    struct source *src;
    struct spec *spec;
    struct system sys;
    struct folds folds;
};

static void open_it(struct fixture *f)
{
    static const char text[] = SPEC "fold: {backbone: A*, limit: 0.3 nm}\n";
    struct err e = {0};
    *f = (struct fixture){.src = files()};
    if (spec_parse(&f->spec, "s.yaml", text, sizeof text - 1, &e) || spec_system(f->spec, f->src, &f->sys, &e))
        fail_msg("%s", e.msg);
    folds_open(&f->folds, f->spec, f->src, &f->sys);
    assert_non_null(f->folds.fold);
}

static void close_it(struct fixture *f)
{
    folds_close(&f->folds);
    system_close(&f->sys);
    spec_free(f->spec);
    source_free(f->src);
}

/* n frames of a window, 1 ps apart, whose deviations go from a to b: of atoms 1 nm from their center, so much larger.
 */
static void add_window(struct fixture *f, int repeat, int window, int n, double a, double b)
{
    double x[ATOMS][3];
    struct trajectory_frame frame = {.x = x};
    memcpy(frame.box, f->sys.box, sizeof frame.box);
    folds_begin(&f->folds, repeat, window);
    for (int i = -1; i < n; i++) {
        const double larger = 1 + (i < 0 ? 0.5 : a + (b - a) * i / fmax(n - 1, 1)); /* the first is before production */
        for (int k = 0; k < ATOMS; k++)
            for (int d = 0; d < 3; d++)
                x[k][d] = 1 + larger * (f->sys.x[k][d] - 1);
        frame.time = i;
        folds_frame(&f->folds, &frame);
    }
}

static void expect_warning(struct fixture *f, const char *text)
{
    struct buf said = {0};
    folds_warn(&f->folds, &said);
    if (*text ? !said.data || !strstr(said.data, text) : said.len > 0)
        fail_msg("\"%s\", expected \"%s\"", said.data ? said.data : "", text);
    buf_free(&said);
}

static void test_warnings(void **state)
{
    struct fixture f;
    open_it(&f);
    expect_warning(&f, "");
    add_window(&f, 0, 0, 100, 0.05, 0.05);
    add_window(&f, 0, 1, 7, 0.5, 0.5);  /* too few */
    add_window(&f, 0, 2, 100, 0, 0.19); /* the last quarter is 0.095 above the second */
    add_window(&f, 0, 3, 100, 0.29, 0.29);
    expect_warning(&f, "");
    add_window(&f, 0, 4, 100, 0, 0.21); /* 0.105 */
    expect_warning(
        &f,
        "the backbone (A*) still moves away from the start structure in window 0.4 (RMSD up to 0.18 nm in the last "
        "quarter of production, more than 0.1 nm above the second quarter): look at frames");
    add_window(&f, 1, 0, 100, 0.31, 0.31);
    expect_warning(
        &f,
        "the backbone (A*) is far from the start structure in window 1.0 (RMSD up to 0.31 nm in the last quarter of "
        "production, beyond the limit of 0.3 nm); the backbone (A*) still moves");
    for (int w = 1; w < 10; w++)
        add_window(&f, 1, w, 8, 0.4, 0.4);
    expect_warning(&f, "in windows 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7 and 2 more (RMSD up to 0.4 nm");
    close_it(&f);
}

/* Means of equal parts, 50 at most. */
static void test_points(void **state)
{
    struct fixture f;
    struct buf json = {0};
    struct writer w = {.out = &json, .first = true};
    open_it(&f);
    add_window(&f, 0, 0, 125, 0.1, 0.1);
    add_window(&f, 0, 1, 0, 0, 0);
    jw_begin(&w, NULL, '{');
    folds_json(&f.folds, &w);
    jw_end(&w, '}');
    int points = 0;
    for (const char *at = json.data; (at = strstr(at, "\"time_ps\"")); at++)
        points++;
    assert_int_equal(points, FOLD_POINTS);
    assert_non_null(strstr(json.data, "\"frames\": 125"));
    assert_null(strstr(json.data, "\"window\": 1"));
    assert_null(strstr(json.data, "ligand"));
    buf_free(&json);
    close_it(&f);
}

static void refused(const char *fold, const char *message)
{
    struct source *src = files();
    struct spec *spec = NULL;
    struct system sys = {0};
    struct err e = {0};
    struct buf text = {0};
    buf_printf(&text, SPEC "fold: %s\n", fold);
    int rc = spec_parse(&spec, "s.yaml", text.data, text.len, &e);
    if (!rc)
        rc = spec_system(spec, src, &sys, &e);
    assert_int_equal(rc, -ERR_SPEC);
    assert_string_equal(e.msg, message);
    buf_free(&text);
    spec_free(spec);
    source_free(src);
}

static void test_errors(void **state)
{
    refused("{backbone: {atoms: 1-2}}",
            "s.yaml:4: fold.backbone: 1-2: 2 atoms: expected 3 at the least, which have an orientation");
    refused("{ligand: A1}",
            "s.yaml:4: fold.ligand: a.top has no protein of 10 residues with atoms N, CA and C to lay frames over; "
            "expected fold.backbone too");
    refused("{backbone: A5}",
            "s.yaml:4: fold.backbone: A5: no atom has this name, and no group of system.index; did you mean A1?");
    refused("{limit: 0 nm}",
            "s.yaml:4: fold.limit: 0 nm: out of range; expected a quantity above 0 nm, at most 100 nm (units: nm, A, "
            "angstrom), such as 0.4 nm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
