/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations of so many pairs that devices pass over those far apart: value, forces and virial against the sum over
 * all pairs.
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

#include "tests/lib/toy.h"

static void near(const char *what, double value, double expected, double allowed)
{
    if (!(fabs(value - expected) <= allowed))
        fail_msg("%s: %.15g, expected %.15g within %g", what, value, expected, allowed);
}

enum { MANY = 1200, FIRST = 1030, SECOND = 1100 }; /* so many pairs that no device looks at all of them */

/* Anywhere in a box, and some edges away; groups of its first and its last, which have some in common, and of the last
 * alone. */
static struct system *many_in(const double box[BOX_SIZE], double d_max)
{
    static int atom[2][SECOND];
    const int *const groups[2] = {atom[0], atom[1]}, *const one[2] = {atom[1], NULL};
    struct system *s = toy_system(MANY, 4);
    memcpy(s->box, box, sizeof s->box);
    for (int i = 0; i < MANY; i++) {
        double f[3];
        for (int d = 0; d < 3; d++)
            f[d] = fmod(43758.5453 * fabs(sin(12.9898 * i + 78.233 * d)), 1) + (i + d) % 3 - 1;
        box_apply(box, f, s->x[i]);
    }
    for (int i = 0; i < SECOND; i++) {
        atom[0][i] = (i * 7) % MANY;
        atom[1][i] = MANY - 1 - i;
    }
    const struct rational stretched = rational_make(0.3, 0.02, 6, 0, d_max, 1),
                          cut = rational_make(0.25, 0, 8, 14, d_max, 0);
    system_add_coordination(s, (struct coordination){.periodic = 1, .f = stretched}, groups,
                            (const int[2]){FIRST, SECOND});
    system_add_coordination(s, (struct coordination){.periodic = 1, .pairs = COORDINATION_WITHIN, .f = cut}, one,
                            (const int[2]){SECOND, 0});
    for (uint32_t q = 0; q < 2; q++) { /* the sum itself, so that forces and virial are its derivatives */
        const double k = q ? 0.5 : 1;
        toy_add(s, biases, nbiases, (struct bias){.coordination = q, .kind = BIAS_LINEAR, .c = {{0, k}, {0, k}}});
    }
    return s;
}

/* What a pair of atoms of coordination c brings. */
static void add_pair(const struct system *s, const struct coordination *c, double slope, int a, int b, double f[][3],
                     double virial[9], double *value)
{
    double r[3];
    box_image(s->x[a], s->x[b], s->box, r);
    const double distance = sqrt(vec_dot(r, r));
    if (a == b || distance * distance >= c->f.farthest2)
        return;
    const struct rational_value v = rational_at(&c->f, distance);
    *value += v.s;
    for (int d = 0; d < 3; d++) {
        const double g = slope * v.ds_dr * r[d] / distance;
        f[a][d] -= g;
        f[b][d] += g;
        for (int k = 0; k < 3; k++)
            virial[3 * k + d] += 0.5 * r[k] * g;
    }
}

static void compare_many(const double box[BOX_SIZE], double d_max)
{
    struct settings set = toy_settings();
    struct system *s = many_in(box, d_max);
    struct err e = {0};
    double du, (*f)[3] = xcalloc(MANY, sizeof *f), (*expected)[3] = xcalloc(MANY, sizeof *f), virial[9] = {0}, most = 0;
    struct toy t = toy_open(s, &set, 0);
    struct sample a = toy_sample(t.sim, &du);
    assert_int_equal(sim_forces(t.sim, f, &e), 0);
    toy_close(&t);
    for (int q = 0; q < 2; q++) {
        const struct coordination *c = &s->coordinations[q];
        const int *atom = s->coordination_atoms;
        double value = 0;
        for (uint32_t i = 0; i < c->count[0]; i++)
            for (uint32_t k = q ? i + 1 : 0; k < c->count[1]; k++)
                add_pair(s, c, q ? 0.5 : 1, atom[c->first[0] + i], atom[c->first[1] + k], expected, virial, &value);
        near("coordination", a.coordination[q], value, 1e-9 * value);
        assert_true(value > 10);
    }
    for (int i = 0; i < MANY * 3; i++)
        most = fmax(most, fabs(expected[i / 3][i % 3]));
    for (int i = 0; i < MANY * 3; i++)
        near("force", f[i / 3][i % 3], expected[i / 3][i % 3], 1e-8 * most);
    for (int k = 0; k < 9; k++)
        near("virial", a.virial[k], virial[k], 1e-8 * fabs(virial[0]));
    free(f);
    free(expected);
    toy_system_free(s);
}

/* Cells, and what is far from them, in boxes of all sorts: cubic, long, skewed, and so narrow that some cells are next
 * to all others. */
static void test_many(void **state)
{
    compare_many((const double[BOX_SIZE]){4.2, 4.2, 4.2}, 0.6);
    compare_many((const double[BOX_SIZE]){2.4, 9.1, 3.3}, 0.8);
    compare_many((const double[BOX_SIZE]){4.5, 4, 3.9, -1.6, 2.1, 1.2}, 0.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
