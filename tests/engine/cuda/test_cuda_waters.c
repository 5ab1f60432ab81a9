/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters by the CUDA program's kernels: the moves of the CPU device, whichever warps compute them, and
 * velocities that turn with waters.
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

#include "engine/base/mem.h"
#include "engine/cuda/nonbonded.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"
#include "tests/physics/waters_play.h"

enum { CPU, GPU, DEVICES };

/* A state after batches: positions and velocities. */
struct after {
    double (*x)[3], (*v)[3];
    struct water_moves moves;
};

static struct after run(struct toy *t, const struct system *sys, int batches)
{
    struct after a = {.x = xcalloc((size_t)sys->natoms, sizeof *a.x), .v = xcalloc((size_t)sys->natoms, sizeof *a.v)};
    struct err e = {0};
    assert_int_equal(sim_thermalize(t->sim, &e), 0);
    for (int i = 0; i < batches; i++)
        waters_batch(t->sim);
    assert_int_equal(sim_get(t->sim, a.x, a.v, NULL, &e), 0);
    a.moves = sim_water_moves(t->sim);
    return a;
}

static double largest(const double (*a)[3], const double (*b)[3], int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(a[i][d] - b[i][d]));
    return most;
}

static void compare(const struct system *sys, const struct settings *set, int batches, bool some_undone)
{
    struct toy t[DEVICES] = {toy_open_reference(sys, set, 0), toy_emulated(*cuda_program.kernels, NULL, sys, set, 0)};
    struct after a[DEVICES];
    for (int d = 0; d < DEVICES; d++)
        a[d] = run(&t[d], sys, batches);
    assert_memory_equal(&a[CPU].moves, &a[GPU].moves, sizeof a[CPU].moves);
    assert_true(a[GPU].moves.kept > 3 && a[GPU].moves.moved < a[GPU].moves.tried);
    assert_true((a[GPU].moves.undone > 0) == some_undone);
    assert_true(largest((const double(*)[3])a[CPU].x, (const double(*)[3])a[GPU].x, sys->natoms) < 1e-11);
    /* nm/ps: half kicks by forces, which a GPU has in single precision */
    assert_true(largest((const double(*)[3])a[CPU].v, (const double(*)[3])a[GPU].v, sys->natoms) < 1e-4);
    for (int d = 0; d < DEVICES; d++) {
        free(a[d].x);
        free(a[d].v);
        toy_close(&t[d]);
    }
}

/* More waters than a warp has lanes, of which many moves in a row are accepted. */
static void test_ideal_gas(void **state)
{
    struct settings set = waters_settings(0.7, 0.6, 45);
    struct system *sys = waters_system(1, 2.4, 4, 1000, 0, 0, 0);
    compare(sys, &set, 3, false);
    toy_system_free(sys);
}

/* Waters that meet each other, an atom, and one that is perturbed; the whole energy refuses some batches. */
static void test_interacting(void **state)
{
    static double lambda[2][LAMBDA_COUNT];
    struct settings set = waters_settings(0.7, 0.6, 40);
    struct system *sys = waters_system(2, 2.4, 3, 1000, 0.3, 0.4, 0.3);
    const struct lj hidden = {4 * 2 * pow(0.25, 6), 4 * 2 * pow(0.25, 12)};
    waters_attract(sys, 3, 0.3);
    sys->lj[5] = sys->lj[7] = hidden;
    sys->x[1][0] += 0.4;
    sys->atoms[0].charge[0] = sys->atoms[0].charge[1] = 0.2;
    sys->atoms[1].charge[0] = -0.3;
    sys->atoms[1].type[1] = 1;
    for (int i = 0; i < LAMBDA_COUNT; i++)
        lambda[0][i] = 0.4;
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = lambda};
    set.alchemy.soft_core = (struct soft_core){.alpha = 0.5, .power = 1, .sigma = 0.3, .coulomb = true};
    compare(sys, &set, 10, true);
    set.alchemy.soft_core =
        (struct soft_core){.alpha = 0.85, .alpha_coulomb = 0.3, .sigma = 0.3, .function = SOFT_GAPSYS};
    compare(sys, &set, 10, true);
    toy_system_free(sys);
}

static struct buf march(struct sim *s, int batches)
{
    struct buf b = {0};
    struct err e = {0};
    for (int i = 0; i < batches; i++) {
        toy_run(s, SIM_STEP, 2);
        waters_batch(s);
    }
    assert_int_equal(sim_save(s, &b, &e), 0);
    sim_seal(&b);
    return b;
}

/* What was saved between batches and loaded into another replica goes on with the same bits. */
static void test_resumed(void **state)
{
    struct settings set = waters_settings(0.7, 0.6, 40);
    struct system *sys = waters_system(1, 2.4, 3, 1000, 0.3, 0.4, 0.3);
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    struct buf half = march(t.sim, 3), whole = march(t.sim, 3);
    struct sim *other = toy_replica(&t, 0, 0);
    assert_int_equal(sim_load(other, half.data, half.len, &e), 0);
    struct buf resumed = march(other, 3);
    assert_int_equal(whole.len, resumed.len);
    assert_memory_equal(whole.data, resumed.data, whole.len);
    assert_true(sim_water_moves(other).batches == 6 && sim_water_moves(other).kept > 3);
    sim_free(other);
    buf_free(&half);
    buf_free(&whole);
    buf_free(&resumed);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ideal_gas), cmocka_unit_test(test_interacting),
                                       cmocka_unit_test(test_resumed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
