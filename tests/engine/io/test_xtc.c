/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of many shapes are written and read back to the rounded coordinates.
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

#include "engine/io/output.h"
#include "engine/io/trajectory.h"
#include "engine/io/xtc_read.h"

static uint64_t seed;

/* xorshift64*, uniform in [0, 1) */
static double uniform(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (double)(seed * 2685821657736338717u >> 11) / 9007199254740992.0;
}

/* Few atoms are not rounded, but for single precision. */
static void expect_place(const struct xtc_read *f, const double (*x)[3])
{
    double place[XTC_FEW][3], box[BOX_SIZE];
    xtc_place(f, place, box);
    for (int i = 0; i < f->natoms; i++)
        for (int d = 0; d < 3; d++)
            assert_true(place[i][d] == (float)x[i][d]);
}

/* Writes and reads one frame; returns its length. */
static size_t round_trip(int n, const double (*x)[3])
{
    static const double box[BOX_SIZE] = {3.5, 4.25, 5, 0.5, -0.75, 1.25};
    struct buf b = {0};
    struct xtc_read f = {0};
    xtc_frame(&b, n, x, box, 123456, 7.5);
    if (xtc_read_frame(&f, (const unsigned char *)b.data, b.len) != b.len)
        fail_msg("%d atoms: not a frame", n);
    assert_int_equal(b.len % 4, 0);
    assert_int_equal(f.natoms, n);
    assert_int_equal(f.step, 123456);
    assert_true(f.time == 7.5f && f.box[0] == 3.5f && f.box[4] == 4.25f && f.box[8] == 5 && f.box[1] == 0 &&
                f.box[3] == 0.5f && f.box[6] == -0.75f && f.box[7] == 1.25f);
    if (n <= XTC_FEW)
        expect_place(&f, x);
    for (int i = 0; i < n && n > XTC_FEW; i++)
        for (int d = 0; d < 3; d++)
            if (f.grid[i][d] != lrint(x[i][d] * 1000))
                fail_msg("%d atoms, atom %d: %d is not %g", n, i, f.grid[i][d], x[i][d] * 1000);
    size_t len = b.len;
    assert_int_equal(xtc_length((const unsigned char *)b.data, b.len), len);
    assert_int_equal(xtc_length((const unsigned char *)b.data, b.len - 1), 0);
    free(f.grid);
    buf_free(&b);
    return len;
}

enum { MAX = 3000 };
static double x[MAX][3];

/* `group` atoms near each other (within `small`), the next group anywhere in `large`. */
static void scatter(int n, int group, double small, double large)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = i % group ? x[i - 1][d] + small * (uniform() - 0.5) : large * (uniform() - 0.5);
}

static void test_shapes(void **state)
{
    static const double large[] = {0.002, 0.5, 4, 60, 5000, 40000};
    static const double small[] = {0, 0.004, 0.2, 2, 30};
    seed = 42;
    for (size_t l = 0; l < sizeof large / sizeof *large; l++)
        for (size_t s = 0; s < sizeof small / sizeof *small; s++)
            for (int group = 1; group < 30; group += group < 4 ? 1 : 5)
                for (int n = 10; n < 60; n += 7) {
                    scatter(n, group, small[s], large[l]);
                    round_trip(n, (const double(*)[3])x);
                }
}

static void test_few_atoms(void **state)
{
    seed = 7;
    for (int n = 1; n < 12; n++) {
        scatter(n, 3, 0.1, 3);
        size_t len = round_trip(n, (const double(*)[3])x);
        if (n < 10)
            assert_int_equal(len, 56 + 12 * n);
    }
}

/* What is no number, or beyond what a frame can hold, is none, and not 0. */
static void test_no_numbers(void **state)
{
    static const double box[BOX_SIZE] = {3, 3, 3};
    static const uint32_t bad[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff};
    scatter(3, 1, 0, 3);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct buf b = {0};
        struct xtc_read f = {0};
        xtc_frame(&b, 3, (const double(*)[3])x, box, 1, 0);
        for (int i = 0; i < 4; i++)
            b.data[b.len - 4 + (size_t)i] = (char)(bad[k] >> (24 - 8 * i));
        assert_int_equal(xtc_read_frame(&f, (const unsigned char *)b.data, b.len), 0);
        buf_free(&b);
    }
}

/* As the file of a replica that goes on from its checkpoint: an error, and not the end of who reads it. */
static void test_shortened(void **state)
{
    static const double box[BOX_SIZE] = {3, 3, 3};
    const struct system sys = {.natoms = 3};
    struct trajectory *t;
    struct trajectory_frame f;
    struct err e = {0};
    struct buf b = {0};
    char path[] = "/tmp/shoal-xtc-XXXXXX";
    int fd = mkstemp(path);
    for (uint64_t i = 0; i < 300; i++)
        xtc_frame(&b, 3, (const double(*)[3])x, box, i, (double)i);
    assert_true(write(fd, b.data, b.len) == (ssize_t)b.len);
    assert_int_equal(trajectory_open(&t, path, &sys, &e), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(trajectory_next(t, &f, &e), 0);
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(trajectory_next(t, &f, &e), -ERR_COORDINATES);
    assert_non_null(strstr(e.msg, ": it has become shorter than the 27600 bytes that it had"));
    trajectory_close(t);
    buf_free(&b);
    close(fd);
    unlink(path);
}

/* Every third frame, the others passed over, to the end and to a frame that is not whole. */
static void test_passed_over(void **state)
{
    static const double box[BOX_SIZE] = {3, 3, 3};
    const struct system sys = {.natoms = 20};
    struct trajectory *t;
    struct trajectory_frame f;
    struct buf b = {0};
    char path[] = "/tmp/shoal-xtc-XXXXXX";
    int fd = mkstemp(path);
    seed = 11;
    for (uint64_t i = 0; i < 10; i++) {
        scatter(20, 3, 0.1, 3);
        xtc_frame(&b, 20, (const double(*)[3])x, box, i, (double)i);
    }
    for (size_t less = 0; less < 2; less++) {
        struct err e = {0};
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_true(pwrite(fd, b.data, b.len - less, 0) == (ssize_t)(b.len - less));
        assert_int_equal(trajectory_open(&t, path, &sys, &e), 0);
        for (int i = 0; i < 9; i++)
            if (i % 3) {
                assert_int_equal(trajectory_pass(t, &e), 0);
            } else {
                assert_int_equal(trajectory_next(t, &f, &e), 0);
                assert_true(f.time == i && f.number == (uint64_t)i + 1);
            }
        assert_int_equal(trajectory_pass(t, &e), less ? -ERR_COORDINATES : 0);
        assert_int_equal(trajectory_pass(t, &e), less ? -ERR_COORDINATES : TRAJECTORY_END);
        trajectory_close(t);
    }
    buf_free(&b);
    close(fd);
    unlink(path);
}

/* Waters packed in any order take less than 4.5 bytes an atom, where plain numbers take twelve. */
static void test_size(void **state)
{
    seed = 3;
    for (int i = 0; i < MAX; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = i % 3 ? x[i - i % 3][d] + 0.11 * (uniform() - 0.5) : 3 * uniform();
    size_t len = round_trip(MAX, (const double(*)[3])x);
    assert_in_range(len, 3 * MAX, 4.5 * MAX);
}

static void test_all_alike(void **state)
{
    for (int i = 0; i < 50; i++)
        x[i][0] = x[i][1] = x[i][2] = -1.5;
    round_trip(50, (const double(*)[3])x);
}

/* What can not be written is held at a million nm, so that the frame stays readable. */
static void test_wild_values(void **state)
{
    struct buf b = {0};
    struct xtc_read f = {0};
    seed = 5;
    scatter(20, 3, 0.1, 3);
    x[3][0] = INFINITY;
    x[4][1] = -1e300;
    xtc_frame(&b, 20, (const double(*)[3])x, (const double[BOX_SIZE]){1, 1, 1}, (uint64_t)1 << 40, 0);
    assert_int_equal(xtc_read_frame(&f, (const unsigned char *)b.data, b.len), b.len);
    assert_int_equal(f.grid[3][0], 1000000000);
    assert_int_equal(f.grid[4][1], -1000000000);
    assert_int_equal(f.grid[5][0], lrint(x[5][0] * 1000));
    free(f.grid);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),      cmocka_unit_test(test_few_atoms),   cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_shortened),   cmocka_unit_test(test_size),        cmocka_unit_test(test_all_alike),
        cmocka_unit_test(test_wild_values), cmocka_unit_test(test_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
