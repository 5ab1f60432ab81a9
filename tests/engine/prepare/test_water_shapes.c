/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rigid waters are alike: by sides and masses, and none where a mass depends on lambda.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/prepare/water_shapes.h"

enum { WATERS = 7, KINDS = 5 };

/* The second and the fifth are as the first; the others differ from it in a side, or in the mass of O or of H. */
static const double r_oh[WATERS] = {0.1, 0.1, 0.11, 0.1, 0.1, 0.1, 0.1};
static const double r_hh[WATERS] = {0.163, 0.163, 0.163, 0.163, 0.163, 0.163, 0.164};
static const double mass_o[WATERS] = {16, 16, 16, 18, 16, 16, 16}, mass_h[WATERS] = {1, 1, 1, 1, 1, 2, 1};
static const uint32_t kind[WATERS] = {0, 0, 1, 2, 0, 3, 4};

static void fill(struct rigid_water waters[WATERS], double mass[3 * WATERS][2])
{
    for (int i = 0; i < WATERS; i++) {
        waters[i] = (struct rigid_water){.atom = {3 * i, 3 * i + 1, 3 * i + 2}, .r_oh = r_oh[i], .r_hh = r_hh[i]};
        for (int state = 0; state < 2; state++) {
            mass[3 * i][state] = mass_o[i];
            mass[3 * i + 1][state] = mass[3 * i + 2][state] = mass_h[i];
        }
    }
}

static void test_kinds(void **state)
{
    struct rigid_water waters[WATERS];
    double mass[3 * WATERS][2];
    uint32_t count;
    fill(waters, mass);
    struct water_shape *shapes = water_shapes(waters, WATERS, mass, &count);
    assert_int_equal(count, KINDS);
    for (int i = 0; i < WATERS; i++) {
        const struct water_shape own = water_shape_of(r_oh[i], r_hh[i], mass_o[i], mass_h[i]);
        assert_int_equal(waters[i].shape, kind[i]);
        assert_memory_equal(&shapes[waters[i].shape], &own, sizeof own);
    }
    free(shapes);
}

static void test_none(void **state)
{
    struct rigid_water waters[WATERS];
    double mass[3 * WATERS][2];
    uint32_t count;
    fill(waters, mass);
    assert_null(water_shapes(waters, 0, mass, &count));
    assert_int_equal(count, 0);
    for (int atom = 0; atom < 3 * WATERS; atom++) {
        fill(waters, mass);
        mass[atom][1] += 1;
        assert_null(water_shapes(waters, WATERS, mass, &count));
        assert_int_equal(count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
