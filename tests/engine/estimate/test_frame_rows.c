/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of frames beside those that their window had made itself: how far off they are, and which of the later ones
 * count.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/estimate/rows/rows.h"

/* The same text with a window more between the two: bonded 0 and 1, and 0.5. */
#define HEAD(columns)                                                                                                  \
    "@    xaxis  label \"Time (ps)\"\n"                                                                                \
    "@ subtitle \"T = 300 (K) \\xl\\f{} state 0: bonded-lambda = 0.0000\"\n"                                           \
    "@ s0 legend \"dH/d\\xl\\f{} bonded-lambda = 0.0000\"\n"                                                           \
    "@ s1 legend \"\\xD\\f{}H \\xl\\f{} to 0.0000\"\n" columns
#define BEFORE HEAD("@ s2 legend \"\\xD\\f{}H \\xl\\f{} to 1.0000\"\n")
#define NOW HEAD("@ s2 legend \"\\xD\\f{}H \\xl\\f{} to 0.5000\"\n@ s3 legend \"\\xD\\f{}H \\xl\\f{} to 1.0000\"\n")

static char folder[64];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_frame_rows.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A row a picosecond; the last one is not vouched for. Far energies of two rows say nothing. */
static uint64_t write_before(int n)
{
    struct buf text = {0}, path = {0};
    struct err e = {0};
    buf_printf(&text, "%s", BEFORE);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%.4f %d.0 0.0 %d.0\n", (double)i, i, i == 8 ? 1000 : 10 + i);
    uint64_t vouched = text.len;
    buf_printf(&text, "%.4f 0.0 0.0 0.0\n", (double)n);
    buf_printf(&path, "%s/dhdl.xvg", folder);
    assert_int_equal(buf_write_file(path.data, text.data, text.len, &e), 0);
    buf_free(&text);
    buf_free(&path);
    return vouched;
}

static void take(struct frame_rows *f, struct dhdl *d, const char *rows, uint64_t vouched)
{
    struct alchemy_settings a = {.nwindows = 3, .given[LAMBDA_BONDED] = true};
    a.lambda = xcalloc(3, sizeof *a.lambda);
    a.lambda[1][LAMBDA_BONDED] = 0.5;
    a.lambda[2][LAMBDA_BONDED] = 1;
    struct settings set = {.alchemy = a, .integrator.temperature = 300};
    struct estimate_replica replica = {.origin = ".", .origin_bytes = vouched};
    struct buf text = {0};
    struct ladder l;
    struct err e = {0};
    ladder_of_settings(&l, &set);
    buf_printf(&text, "%s%s", NOW, rows);
    assert_int_equal(dhdl_read(d, "now", text.data, text.len, &e), 0);
    if (frames_take(f, &l, d, folder, &replica, &e))
        fail_msg("%s", e.msg);
    ladder_close(&l);
    free(a.lambda);
    buf_free(&text);
}

/* Frames of every fourth row, then a row a picosecond. */
static void evenly_apart(void **state)
{
    (void)state;
    struct frame_rows f;
    struct dhdl d = {0};
    take(&f, &d,
         "0.0 0.0 0.0 5.0 10.5\n4.0 4.0 0.0 6.0 13.5\n8.0 8.0 0.0 7.0 1100.0\n"
         "10.0 1 0 1 1\n11.0 1 0 1 1\n12.0 2 0 1 1\n13.0 1 0 1 1\n14.0 1 0 1 1\n15.0 1 0 1 1\n16.0 3 0 1 1\n17.0 1 0 1 "
         "1\n",
         write_before(10));
    assert_int_equal(f.rows, 3);
    assert_int_equal(f.of, 10);
    assert_int_equal(f.thinned, 6);
    assert_int_equal(f.compared, 2); /* 1000 kJ/mol is nothing that it could weigh */
    assert_true(f.sum == 0.5 - 0.5 && f.square == 0.5);
    assert_int_equal(d.n, 5);
    static const double time[] = {0, 4, 8, 12, 16}, slope[] = {0, 4, 8, 2, 3};
    for (size_t i = 0; i < 5; i++)
        assert_true(d.time[i] == time[i] && d.dhdl[i] == slope[i]);
    dhdl_close(&d);
}

/* Energies of a frame of a frame are its own; nothing is known of how far off it is. */
static void nothing_to_compare(void **state)
{
    (void)state;
    struct frame_rows f;
    struct dhdl d = {0};
    take(&f, &d, "0.0 0.0 0.0 5.0 10.0\n4.0 4.0 0.0 6.0 14.0\n8.5 8.0 0.0 7.0 12.0\n", write_before(10));
    assert_int_equal(f.rows, 3);
    assert_int_equal(f.compared, 0);
    assert_int_equal(f.thinned, 0);
    assert_int_equal(d.n, 3);
    dhdl_close(&d);
}

/* Where what it had sampled is gone, the distances say which rows are frames; where all are alike, none have to be told
 * apart. */
static void nothing_left_of_before(void **state)
{
    (void)state;
    struct frame_rows f;
    struct dhdl d = {0};
    take(&f, &d,
         "0.0 0.0 0.0 5.0 10.5\n4.0 4.0 0.0 6.0 13.5\n8.0 8.0 0.0 7.0 1100.0\n"
         "10.0 1 0 1 1\n11.0 1 0 1 1\n12.0 2 0 1 1\n13.0 1 0 1 1\n14.0 1 0 1 1\n",
         0);
    assert_true(f.given);
    assert_int_equal(f.rows, 3);
    assert_int_equal(f.of, 0);
    assert_int_equal(f.compared, 0);
    assert_int_equal(f.thinned, 4);
    assert_int_equal(d.n, 4);
    dhdl_close(&d);
    take(&f, &d, "0.0 0 0 5 10\n1.0 4 0 6 13\n2.0 8 0 7 11\n3.0 1 0 1 1\n", 0);
    assert_true(!f.given && !f.rows && !f.thinned);
    assert_int_equal(d.n, 4);
    dhdl_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(evenly_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_compare, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_left_of_before, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
