/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums that leave the range of their numbers: atoms in one place, by the thousand. What comes out has the right sign
 * and size, and what was too large is named.
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

#include "engine/math/accumulate.h"
#include "tests/lib/toy.h"

static bool named(const struct sample *s, int what)
{
    return s->clamped >> what & 1;
}

static struct sample evaluate(struct system *s, const struct settings *set, int window, double *delta_u)
{
    struct toy t = toy_open(s, set, window);
    struct sample a = toy_sample(t.sim, delta_u);
    toy_close(&t);
    toy_system_free(s);
    return a;
}

static void test_like_charges_on_one_point(void **state)
{
    struct system *s = toy_system(2, 3);
    for (int i = 0; i < 2; i++)
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = 1;
    struct settings set = toy_settings();
    double du;
    struct sample a = evaluate(s, &set, 0, &du);
    assert_true(a.potential > 1e5 && isfinite(a.potential));
    assert_true(named(&a, TERM_COULOMB) && named(&a, CLAMPED_FORCE) && !named(&a, TERM_LJ));
    char names[CLAMPED_NAMES_MAX];
    assert_string_equal(clamped_names(a.clamped, names, sizeof names), "coulomb, force");
}

static void test_six_boxes_on_each_other(void **state)
{
    struct system *one = toy_water(6), *s = toy_system(6 * one->natoms, one->box[0]);
    s->lj[0] = one->lj[0];
    for (int i = 0; i < s->natoms; i++) {
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = one->atoms[i % one->natoms].charge[0];
        memcpy(s->x[i], one->x[i % one->natoms], sizeof s->x[i]);
    }
    toy_system_free(one);
    struct settings set = toy_settings();
    double du;
    struct sample a = evaluate(s, &set, 0, &du);
    assert_true(a.energy[TERM_LJ] > 2e9 && a.potential > 2e9);
    assert_true(named(&a, TERM_LJ) && named(&a, TERM_COULOMB) && named(&a, CLAMPED_FORCE));
}

/* 50 decoupled atoms on 50 others: at the coupled window each of the 2,500 pairs counts as much as one can. */
static void test_foreign_window(void **state)
{
    static double lambda[2][LAMBDA_COUNT] = {{0, 0}, {0, 1}};
    struct system *s = toy_system(100, 3);
    s->nkinds = 2;
    s->kinds = xrealloc(s->kinds, 2, sizeof *s->kinds);
    s->kinds[1] = (struct molecule_kind){.name = "GONE"};
    s->lj[0] = (struct lj){4 * pow(0.3, 6), 4 * pow(0.3, 12)};
    for (int i = 0; i < 50; i++) {
        s->molecules[i].kind = 1;
        for (int d = 0; d < 3; d++)
            s->x[i][d] = s->x[50 + i][d] = 0.1;
    }
    struct settings set = toy_settings();
    set.alchemy = (struct alchemy_settings){
        .kind = ALCHEMY_DECOUPLE,
        .decouple = {{.molecule = "GONE", .on = {COUPLED_ALL}, .intramolecular_decouple = true}},
        .ndecouple = 1,
        .nwindows = 2,
        .lambda = lambda};
    double du[2];
    evaluate(s, &set, 1, du);
    assert_true(du[1] == 0);
    assert_true(du[0] >= 2500 * FIXED_ENERGY_LIMIT && du[0] < 3800 * FIXED_ENERGY_LIMIT);
}

static void test_wide_sums(void **state)
{
    struct fixed_sum a = {0, 0}, b = {0, 0};
    const int64_t big = (int64_t)1 << 62;
    for (int i = 0; i < 1000; i++) {
        fixed_add(&a, big);
        fixed_add(&b, -big);
    }
    assert_true(fixed_total(a) == 1000 * 1073741824.0 && fixed_total(b) == -1000 * 1073741824.0);
    assert_true(fixed_difference(a, b) == 2000 * 1073741824.0 && fixed_difference(b, a) == -2000 * 1073741824.0);
    for (int i = 0; i < 1000; i++)
        fixed_add(&a, -big);
    fixed_add(&a, 3);
    assert_true(a.low == 3 && a.wraps == 0);
    fixed_add(&b, 5);
    struct fixed_sum c = b;
    fixed_add(&c, -7); /* small differences of large sums are exact */
    assert_true(fixed_difference(b, c) == 7 / FIXED_SCALE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_charges_on_one_point),
        cmocka_unit_test(test_six_boxes_on_each_other),
        cmocka_unit_test(test_foreign_window),
        cmocka_unit_test(test_wide_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
