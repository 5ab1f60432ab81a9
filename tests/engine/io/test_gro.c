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

#include "engine/io/io.h"
#include "engine/io/output.h"

static const char topology[] =
    "[ defaults ]\n1 2\n[ atomtypes ]\nA 1 12 0 A 0 0\n[ moleculetype ]\nM 0\n[ atoms ]\n"
    "1 A 1 RES CA 1\n2 A 1 RES HB1 1\n[ position_restraints ]\n2 1 1 1 1\n"
    "[ moleculetype ]\nP 0\n[ atoms ]\n1 A 4 ALA N 1\n2 A 5 ALA LONGNAME 1\n"
    "[ system ]\nt\n[ molecules ]\nP 1\nM 2\n";

struct fixture {
    struct source *src;
    struct system s;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err e = {0};
    f->src = source_memory_new();
    assert_int_equal(source_memory_add(f->src, "x.top", topology, strlen(topology), &e), 0);
    if (top_read(&f->s, f->src, "x.top", NULL, 0, &e))
        fail_msg("%s", e.msg);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    system_close(&f->s);
    source_free(f->src);
    free(f);
    return 0;
}

static int read_text(struct fixture *f, const char *text, struct err *e)
{
    assert_int_equal(source_memory_add(f->src, "x.gro", text, strlen(text), e), 0);
    return gro_read(&f->s, f->src, "x.gro", e);
}

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-14)
        fail_msg("%.17g is not %.17g", a, b);
}

/* The atoms' first 20 columns, in order. */
#define A1 "    4ALA      N    1"
#define A2 "    5ALA  LONGN    2"
#define A3 "    1RES     CA    3"
#define A4 "    1RES   1hb*    4"
#define A5 "    2RES     CA    5"
#define A6 "    2RES    HB1    6"
#define HEAD "title\n6\n"
#define XYZ "   0.100   0.200   0.300\n"
#define BOX "1 2 3\n"

static void test_widths(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    static const char low[] = "t\n  6\n" A1 "   0.100  -0.200   0.300\n" A2 XYZ A3 XYZ A4
                              "   9.999   0.000  -0.000\n" A5 XYZ A6 XYZ "   1.00000   2.00000   3.00000\n";
    if (read_text(f, low, &e))
        fail_msg("%s", e.msg);
    near(f->s.x[0][1], -0.2);
    near(f->s.x[3][0], 9.999);
    near(f->s.box[2], 3);
    assert_null(f->s.v);
    near(f->s.position_restraints[0].x0[0], 9.999);
    /* Seven decimals, velocities with eight in the same width, no line end after the box, a box of nine numbers. */
#define LINE "   0.1234567  -0.7654321 123.0000001  0.12345678 -0.00000001  9.00000000\n"
    static const char high[] = "t\n6\n" A1 LINE A2 LINE A3 LINE A4 LINE A5 LINE A6 LINE "1 2 3 0 0 0 0 0 0.0";
    if (read_text(f, high, &e))
        fail_msg("%s", e.msg);
    near(f->s.x[5][1], -0.7654321);
    near(f->s.x[5][2], 123.0000001);
    near(f->s.v[0][1], -1e-8);
    near(f->s.v[5][2], 9);
    static const char skewed[] = "t\n6\n" A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "2 3 4 0 0 0.75 0 -1 1.5\n";
    if (read_text(f, skewed, &e))
        fail_msg("%s", e.msg);
    near(f->s.box[BOX_YX], 0.75);
    near(f->s.box[BOX_ZX], -1);
    near(f->s.box[BOX_ZY], 1.5);
    static const char twelve[] = "t\n6\n" A1 "   0.123456789012   1.000000000000   2.000000000000\n" A2
                                 "   0.123456789012   1.000000000000   2.000000000000\r\n" A3
                                 "   0.123456789012   1.000000000000   2.000000000000\n" A4
                                 "   0.123456789012   1.000000000000   2.000000000000\n" A5
                                 "   0.123456789012   1.000000000000   2.000000000000\n" A6
                                 "   0.123456789012   1.000000000000   2.000000000000\n" BOX;
    if (read_text(f, twelve, &e))
        fail_msg("%s", e.msg);
    near(f->s.x[1][0], 0.123456789012);
    assert_null(f->s.v);
}

/* As grompp reads them: text where velocities would be is a comment, and of several frames the first counts. */
static void test_lenient(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
#define TEXT "   0.100   0.200   0.300  #Si # Monomer 0\n"
    if (read_text(f, HEAD A1 TEXT A2 TEXT A3 TEXT A4 XYZ A5 TEXT A6 TEXT BOX "frame 2\n6\n" A1 XYZ, &e))
        fail_msg("%s", e.msg);
    assert_null(f->s.v);
    near(f->s.x[5][2], 0.3);
    assert_int_equal(f->s.nnotes, 2);
    assert_string_equal(f->s.notes[0],
                        "x.gro:10: text after the box is not read: the coordinates are those of the first frame");
    assert_string_equal(f->s.notes[1], "x.gro:3: text where velocities would be is taken for a comment");
}

static void test_reference(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    assert_int_equal(read_text(f, HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ BOX, &e), 0);
    static const char other[] = HEAD A1 XYZ A2 XYZ A3 XYZ A4 "   0.500   0.600   0.700\n" A5 XYZ A6 XYZ BOX;
    assert_int_equal(source_memory_add(f->src, "ref.gro", other, strlen(other), &e), 0);
    assert_int_equal(gro_read_reference(&f->s, f->src, "ref.gro", &e), 0);
    near(f->s.position_restraints[0].x0[1], 0.6);
    near(f->s.position_restraints[1].x0[1], 0.2);
    near(f->s.x[3][1], 0.2);
    assert_int_equal(gro_read_reference(&f->s, f->src, "none.gro", &e), -ERR_MISSING_FILE);
    assert_string_equal(e.msg, "there is no file \"none.gro\"");
}

static void test_bad(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text;
        enum err_code code;
        const char *message;
    } bad[] = {
        {"", ERR_COORDINATES, "x.gro:1: the file ends, expected a title"},
        {"t\n", ERR_COORDINATES, "x.gro:2: the file ends, expected the number of atoms"},
        {"t\nmany\n", ERR_COORDINATES, "x.gro:2: read 'many', expected the number of atoms"},
        {"t\n7\n", ERR_COORDINATES, "x.gro:2: read 7 atoms, expected 6 as in the topology"},
        {HEAD A1 XYZ, ERR_COORDINATES, "x.gro:4: the file ends, expected an atom"},
        {HEAD "1 2 3\n", ERR_COORDINATES,
         "x.gro:3: read '1 2 3', expected three coordinates from column 21 on with decimal points at equal distances"},
        {HEAD A1 "   0.100   0.200    0.300\n", ERR_COORDINATES,
         "x.gro:3: read '" A1
         "   0.100   0.200    0.300', expected three coordinates from column 21 on with decimal points at "
         "equal distances"},
        {HEAD A1 XYZ A2 "   0.100   0.200\n", ERR_COORDINATES,
         "x.gro:4: read '' in columns 37 to 44, expected the z coordinate in nm"},
        {HEAD A1 XYZ A2 "   0.100   0.2x0   0.300\n", ERR_COORDINATES,
         "x.gro:4: read '   0.2x0' in columns 29 to 36, expected the y coordinate in nm"},
        {HEAD A1 XYZ A2 "   0.100     inf   0.300\n", ERR_COORDINATES,
         "x.gro:4: read '     inf' in columns 29 to 36, expected the y coordinate in nm"},
        {HEAD A1 "   0.100   0.200   0.300  0.1000  0.2000  0.3000\n" A2 XYZ, ERR_COORDINATES,
         "x.gro:4: read '' in columns 45 to 52, expected the x velocity in nm/ps (the first atom has one)"},
        {HEAD A1 XYZ A2 "   0.100   0.200   0.300  0.1000  0.2000  0.3000\n", ERR_COORDINATES,
         "x.gro:4: read '  0.1000  0.2000  0.3000' after the coordinates, expected no velocity (the first atom has "
         "none)"},
        {HEAD A1 XYZ A2 XYZ A4 XYZ, ERR_COORDINATES,
         "x.gro:5: atom 3: read name '1hb*', expected 'CA' (RES 1) as in the topology, x.top:8"},
        {HEAD A1 XYZ "\n", ERR_COORDINATES, "x.gro:4: read '', expected atom 2"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ, ERR_COORDINATES, "x.gro:9: the file ends, expected the box"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "1 2\n", ERR_COORDINATES,
         "x.gro:9: read '1 2', expected the box: 3 or 9 numbers in nm"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "1 2 0\n", ERR_COORDINATES,
         "x.gro:9: read box edge 0 nm, expected a positive length up to 1000 nm"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "1 2 3 0 0.5 0 0 0 0\n", ERR_UNSUPPORTED,
         "x.gro:9: the box is turned: expected its first edge along x, its second in the xy plane"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "2 2 3 0 0 0.5 0 0 1.1\n", ERR_UNSUPPORTED,
         "x.gro:9: a box edge leans by 1.1 nm along one of 2 nm: expected half of it at most (every lattice has such a "
         "box)"},
        {HEAD A1 XYZ A2 XYZ A3 XYZ A4 XYZ A5 XYZ A6 XYZ "1.6 1.6 2.5e8\n", ERR_COORDINATES,
         "x.gro:9: read box edge 2.5e+08 nm, expected a positive length up to 1000 nm"},
        {HEAD A1 "   0.100   0.200   0.300  0.1000\n" A2 XYZ, ERR_COORDINATES,
         "x.gro:3: read '' in columns 53 to 60, expected the y velocity in nm/ps (the first atom has one)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        int rc = read_text(f, bad[i].text, &e);
        assert_string_equal(e.msg, bad[i].message);
        assert_int_equal(rc, -(int)bad[i].code);
    }
    assert_null(f->s.x);
}

static void test_write(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    assert_int_equal(read_text(f, HEAD A1 XYZ A2 XYZ A3 XYZ A4 "  -0.100   0.200  10.000\n" A5 XYZ A6 XYZ BOX, &e), 0);
    struct buf out = {0};
    double v[6][3] = {{0.5, -0.25, 0.12345}};
    gro_write(&out, &f->s, (const double(*)[3])f->s.x, (const double(*)[3])v, f->s.box, "after");
    assert_string_equal(out.data,
                        "after\n    6\n"
                        "    4ALA      N    1   0.100   0.200   0.300  0.5000 -0.2500  0.1235\n"
                        "    5ALA  LONGN    2   0.100   0.200   0.300  0.0000  0.0000  0.0000\n"
                        "    6RES     CA    3   0.100   0.200   0.300  0.0000  0.0000  0.0000\n"
                        "    6RES    HB1    4  -0.100   0.200  10.000  0.0000  0.0000  0.0000\n"
                        "    7RES     CA    5   0.100   0.200   0.300  0.0000  0.0000  0.0000\n"
                        "    7RES    HB1    6   0.100   0.200   0.300  0.0000  0.0000  0.0000\n"
                        "   1.00000   2.00000   3.00000\n");
    /* What is written is read again. */
    if (read_text(f, out.data, &e))
        fail_msg("%s", e.msg);
    near(f->s.v[0][2], 0.1235);
    out.len = 0;
    gro_write(&out, &f->s, (const double(*)[3])f->s.x, NULL, f->s.box, "after");
    assert_int_equal(read_text(f, out.data, &e), 0);
    assert_null(f->s.v);
    out.len = 0;
    static const double skewed[BOX_SIZE] = {2, 3, 4, 0.75, -1, 1.5};
    gro_write(&out, &f->s, (const double(*)[3])f->s.x, NULL, skewed, "after");
    assert_non_null(strstr(
        out.data, "   2.00000   3.00000   4.00000   0.00000   0.00000   0.75000   0.00000  -1.00000   1.50000\n"));
    assert_int_equal(read_text(f, out.data, &e), 0);
    assert_memory_equal(f->s.box, skewed, sizeof skewed);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_widths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lenient, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reference, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
