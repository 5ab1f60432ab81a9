/* SPDX-License-Identifier: Apache-2.0
 *
 * Trios of atoms that are no waters: each atom is in one, bonded ones are together, and none begins with a hydrogen
 * that has a heavier atom beside it, as searches go by first atoms and hydrogens go far.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/cuda/lists/layout.h"
#include "engine/cuda/lists/trios.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/topology.h"
#include "tests/lib/toy.h"

/* nm and u: hydrogen chloride, hydrogen first; a lone hydrogen; chloroform's likeness, of two chlorines too far from
 * each other */
static const struct {
    int molecule;
    double mass, x[3];
} atoms[] = {{0, 1, {1, 1, 1}},    {0, 35, {1.13, 1, 1}},  {1, 1, {2, 2, 2}},       {2, 1, {1, 2, 1.1}},
             {2, 12, {1, 2, 1}},   {2, 35, {1.17, 2, 1}},  {2, 35, {0.83, 2, 1}},   {3, 1, {3, 1, 1}},
             {3, 12, {3, 1.1, 1}}, {3, 1, {3, 1.15, 1.1}}, {3, 1, {3.1, 1.1, 0.95}}};
enum { ATOMS = sizeof atoms / sizeof *atoms };

static struct system *molecules(void)
{
    struct system *s = toy_system(ATOMS, 4);
    s->exclusion = xrealloc(s->exclusion, ATOMS * ATOMS, sizeof *s->exclusion);
    int32_t n = 0;
    for (int i = 0; i < ATOMS; i++) {
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = atoms[i].mass;
        memcpy(s->x[i], atoms[i].x, sizeof atoms[i].x);
        for (int j = 0; j < ATOMS; j++)
            if (j != i && atoms[j].molecule == atoms[i].molecule)
                s->exclusion[n++] = j;
        s->exclusion_start[i + 1] = n;
    }
    return s;
}

/* trio: of so many places, those without an atom negative */
static void check_trio(const int32_t trio[TRIO], int seen[ATOMS])
{
    const double first = atoms[trio[0]].mass;
    for (int l = 0; l < TRIO; l++) {
        if (trio[l] < 0) {
            assert_int_equal(trio[l], ~trio[0]);
            continue;
        }
        seen[trio[l]]++;
        assert_int_equal(atoms[trio[l]].molecule, atoms[trio[0]].molecule);
        assert_true(first > 1 || atoms[trio[l]].mass == 1);
    }
}

static void test_first_atoms(void **state)
{
    struct system *s = molecules();
    const struct settings set = toy_settings();
    const struct topology t = {0};
    const int32_t unit[ATOMS] = {0};
    struct alchemy_plan plan;
    struct err e = {0};
    int32_t waters, trios;
    int seen[ATOMS] = {0};
    assert_int_equal(alchemy_plan_make(&plan, s, &set, unit, &e), 0);
    int32_t *slots = trios_make(s, &t, &plan, true, &waters, &trios);
    assert_int_equal(waters, 0);
    for (int k = 0; k < trios; k++)
        check_trio(slots + TRIO * k, seen);
    for (int i = 0; i < ATOMS; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(trios, 6);
    free(slots);
    alchemy_plan_close(&plan);
    toy_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_atoms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
