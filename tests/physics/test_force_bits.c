/* SPDX-License-Identifier: Apache-2.0
 *
 * What must not change non-bonded forces: the images that atoms are given in, the buffer and the age of lists.
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

#include "tests/physics/forces_play.h"

/* Whole molecules and single atoms given in any periodic image: the same up to the rounding of the moved coordinates.
 */
static void test_images(void **state)
{
    struct system *sys = mixture(2), *moved = mixture(2);
    struct settings set = forces_inside(VDW_POTENTIAL_SWITCH, true);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            moved->x[i][d] += sys->box[d] * ((i * 7 + d * 3) % 5 - 2);
    struct sample a = forces_sample(toy_open(sys, &set, 0)), b = forces_sample(toy_open(moved, &set, 0));
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(a.virial[k]));
    for (int t = 0; t < TERM_COUNT; t++)
        near(a.energy[t], b.energy[t], 1e-7 + forces_room(a.energy[t]));
    for (int k = 0; k < 9; k++)
        near(a.virial[k], b.virial[k], 1e-6 + toy_allowed(0, 1e-4 * largest));
    toy_system_free(sys);
    toy_system_free(moved);
}

/* The same bits whatever the buffer, and however long ago the lists were built. */
static void test_lists(void **state)
{
    static const double buffers[] = {0.01, 0.05, 0.09, 0.3};
    struct system *sys = mixture(2);
    const int n = sys->natoms;
    for (int i = 0; i < n; i++) /* charges without repulsion would fall into each other */
        for (int k = 0; k < 2; k++)
            if (sys->atoms[i].type[0] >= 3 || sys->atoms[i].type[1] >= 3)
                sys->atoms[i].charge[k] = 0;
    double(*x)[3] = xcalloc((size_t)n, sizeof *x), (*f)[3] = xcalloc((size_t)n, sizeof *f);
    double(*x0)[3] = xcalloc((size_t)n, sizeof *x), (*f0)[3] = xcalloc((size_t)n, sizeof *f);
    for (int k = 0; k < 4; k += toy_every()) {
        struct settings set = forces_inside(VDW_POTENTIAL_SHIFT, false);
        struct err e = {0};
        double du;
        set.nonbonded.list_buffer = buffers[k];
        struct toy t = toy_open(sys, &set, 0);
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        toy_run(t.sim, SIM_MINIMIZE, 40);
        for (int i = 0; i < 4; i++) {
            toy_run(t.sim, SIM_STEP, 10);
            struct sample a = toy_sample(t.sim, &du);
            assert_int_equal(sim_forces(t.sim, f, &e), 0);
            assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
            assert_true(isfinite(a.potential));
        }
        if (k == 0) {
            memcpy(x0, x, (size_t)n * sizeof *x);
            memcpy(f0, f, (size_t)n * sizeof *f);
        }
        assert_memory_equal(x, x0, (size_t)n * sizeof *x);
        assert_memory_equal(f, f0, (size_t)n * sizeof *f);
        toy_close(&t);
    }
    free(x);
    free(f);
    free(x0);
    free(f0);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
