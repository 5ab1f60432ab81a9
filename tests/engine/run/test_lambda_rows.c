/* SPDX-License-Identifier: Apache-2.0
 *
 * Both sets of read-only tables of a model, its own and those of the non-bonded forces, have the same lambdas of all
 * windows, on the CPU device and by the CUDA program, run on the CPU. Where they differ, delta_u mixes energies of two
 * ladders.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"
#include "tests/lib/near.h"

enum { WINDOWS = 3 };

/* In the order coulomb, vdw, bonded, mass, restraint. */
static double bonded_moves[WINDOWS][LAMBDA_COUNT] = {{0}, {0.2, 0.3, 0.4, 0.6}, {0.5, 0.7, 1, 0.8}};
static const double restraint_follows[WINDOWS][LAMBDA_COUNT] = {{0}, {0.2, 0.3, 0.4, 0.6, 0.4}, {0.5, 0.7, 1, 0.8, 1}};
static double restraint_moves[WINDOWS][LAMBDA_COUNT] = {{0}, {0.2, 0.3, 0.4, 0.6, 0.1}, {0.5, 0.7, 1, 0.8, 0.9}};
static const double no_ladder[1][LAMBDA_COUNT];

/* The table of a name that ends so, of that size; fails if there is none. */
static const void *table_of(const struct readonly *r, const char *name, size_t bytes)
{
    for (size_t i = 0; i < r->nparts; i++) {
        const struct arena_part *part = &r->parts[i];
        const size_t n = strlen(part->name), m = strlen(name);
        if (part->bytes == bytes && n >= m && strcmp(part->name + n - m, name) == 0)
            return r->image + part->at;
    }
    fail_msg("no table %s of %zu bytes", name, bytes);
    return NULL;
}

static void expect_rows(struct kernel_table kernels, const struct alchemy_settings *alchemy, const void *rows,
                        size_t bytes)
{
    struct system *sys = mixture(2);
    struct settings set = toy_settings();
    set.alchemy = *alchemy;
    struct toy t = toy_emulated(kernels, NULL, sys, &set, 0);
    assert_memory_equal(table_of(&t.model->shared, "lambda", bytes), rows, bytes);
    assert_memory_equal(table_of(t.model->program->nonbonded_tables(t.model->nonbonded), "lambda", bytes), rows, bytes);
    toy_close(&t);
    toy_system_free(sys);
}

static void expect_everywhere(const struct alchemy_settings *alchemy, const void *rows, size_t bytes)
{
    expect_rows(*cpu_program.kernels, alchemy, rows, bytes);
    expect_rows(*cuda_program.kernels, alchemy, rows, bytes);
}

static void test_restraint_follows(void **state)
{
    struct alchemy_settings alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, bonded_moves);
    alchemy.given[LAMBDA_BONDED] = true;
    expect_everywhere(&alchemy, restraint_follows, sizeof restraint_follows);
}

static void test_restraint_moves(void **state)
{
    struct alchemy_settings alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, restraint_moves);
    alchemy.given[LAMBDA_BONDED] = alchemy.given[LAMBDA_RESTRAINT] = true;
    expect_everywhere(&alchemy, restraint_moves, sizeof restraint_moves);
}

static void test_no_ladder(void **state)
{
    expect_everywhere(&(struct alchemy_settings){.nwindows = 1}, no_ladder, sizeof no_ladder);
}

static struct lambda_rows rows_between(int changes, double *shares)
{
    struct alchemy_settings alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, bonded_moves);
    struct lambda_rows windows = lambda_rows_of(&alchemy);
    const struct switch_settings to = {.changes = changes, .every = 10, .shares = shares};
    struct lambda_rows rows = lambda_rows_between(&windows, &to);
    assert_int_equal(rows.n, changes + 1);
    lambda_rows_close(&windows);
    return rows;
}

/* The window in the middle is so many changes behind the first; lambda goes evenly to it, and on from it. */
static void expect_middle(int changes, double *shares, int at)
{
    struct alchemy_settings alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, bonded_moves);
    struct lambda_rows windows = lambda_rows_of(&alchemy), rows = rows_between(changes, shares);
    const double vdw = windows.lambda[1][LAMBDA_VDW], coulomb = windows.lambda[1][LAMBDA_COULOMB];
    assert_memory_equal(rows.lambda[0], windows.lambda[0], sizeof *rows.lambda);
    assert_memory_equal(rows.lambda[at], windows.lambda[1], sizeof *rows.lambda);
    assert_memory_equal(rows.lambda[changes], windows.lambda[2], sizeof *rows.lambda);
    for (int k = 0; k <= at; k++)
        near(rows.lambda[k][LAMBDA_VDW], vdw * k / at, 1e-15);
    for (int k = at; k <= changes; k++)
        near(rows.lambda[k][LAMBDA_COULOMB],
             coulomb + (windows.lambda[2][LAMBDA_COULOMB] - coulomb) * (k - at) / (changes - at), 1e-15);
    lambda_rows_close(&rows);
    lambda_rows_close(&windows);
}

/* A switch begins at the first window, ends at the last, and passes the one in between: half way, or by the shares to
 * the nearest whole change, with one change at least. */
static void test_between(void **state)
{
    (void)state;
    expect_middle(6, NULL, 3);
    expect_middle(6, (double[]){7, 7}, 3);
    expect_middle(20, (double[]){1, 3}, 5);
    expect_middle(20, (double[]){0.68, 0.32}, 14);
    expect_middle(20, (double[]){1e-6, 1e6}, 1);
    expect_middle(20, (double[]){1e6, 1e-6}, 19);
    expect_middle(2, (double[]){1e6, 1e-6}, 1);
}

/* Of a switch that is longer by two doublings every fourth row is one of the plain switch, bit for bit; the others are
 * evenly in between. */
static void test_doublings(void **state)
{
    (void)state;
    enum { CHANGES = 7, FINE = 4 };
    double shares[] = {1, 3};
    struct alchemy_settings alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, bonded_moves);
    struct lambda_rows windows = lambda_rows_of(&alchemy), plain = rows_between(CHANGES, shares);
    const struct switch_settings to = {.changes = CHANGES, .every = 10, .shares = shares, .doublings = 2};
    struct lambda_rows rows = lambda_rows_between(&windows, &to);
    assert_int_equal(rows.n, FINE * CHANGES + 1);
    for (int k = 0; k < rows.n; k++)
        for (int c = 0; c < LAMBDA_COUNT; c++) {
            const int row = k / FINE, next = row + (k % FINE > 0);
            const double before = plain.lambda[row][c], after = plain.lambda[next][c];
            near(rows.lambda[k][c], before + (after - before) * (k % FINE) / FINE, k % FINE ? 1e-15 : 0);
        }
    lambda_rows_close(&rows);
    lambda_rows_close(&plain);
    lambda_rows_close(&windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_restraint_follows), cmocka_unit_test(test_restraint_moves),
                                       cmocka_unit_test(test_no_ladder), cmocka_unit_test(test_between),
                                       cmocka_unit_test(test_doublings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
