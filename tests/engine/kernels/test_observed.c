/* SPDX-License-Identifier: Apache-2.0
 *
 * What is observed of one molecule, one state, one pair, one value: dipoles, the pressure tensor, distances,
 * coordinations.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/kernels/pressure.h" /* cmocka.h makes a macro of a name in it */

#include <cmocka.h>

#include "engine/kernels/biases.h"
#include "engine/kernels/dielectric.h"
#include "engine/kernels/rdf.h"
#include "tests/engine/kernels/term_check.h"
#include "tests/lib/near.h"

static struct ctl state_of(double lambda)
{
    struct ctl c = {.lambda = {[LAMBDA_COULOMB] = lambda, [LAMBDA_MASS] = lambda}};
    for (int k = 0; k < BOX_SIZE; k++)
        c.box[k] = term_box[k];
    return c;
}

/* Atoms 1 to 5 of six, a molecule without charge in both states, each in an image of its own. */
static void test_dipole(void **state)
{
    static const double base[TERM_ATOMS][3] = {{9, 9, 9},       {0.2, 0.1, 0.1}, {0.4, 0.2, 0.3},
                                               {0.6, 0.5, 0.2}, {0.5, 0.8, 0.4}, {0.2, 0.9, 0.6}};
    static const double charge[5][2] = {{0.4, -0.3}, {-0.8, 0.2}, {0.1, 0.5}, {0.6, 0}, {-0.3, -0.4}};
    static const int32_t atom[5] = {1, 2, 3, 4, 5}, first[2] = {0, 5};
    const struct observe_table t = {.atom = {atom}};
    const struct dielectric_table own = {.molecules = 1, .first = first, .charge = charge};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const struct term_places at = term_places(k, base, 0.1);
        const struct ctl c = state_of(at.lambda);
        double dipole[3], reals[DIPOLE_REALS] = {0};
        const double size = dielectric_dipole(&t, &own, &c, (const double(*)[3])at.given, 0, dipole);
        long double square = 0;
        dielectric_keep(&own, &c, dipole, size, reals);
        for (int d = 0; d < 3; d++) {
            long double sum = 0;
            for (int i = 0; i < 5; i++)
                sum += ((1 - at.lambda) * charge[i][0] + at.lambda * charge[i][1]) * at.whole[atom[i]][d];
            near(dipole[d], (double)sum, 1e-14);
            near(reals[DIPOLE_X + d], (double)sum, 1e-14);
            square += sum * sum;
        }
        near(size, (double)sqrtl(square), 1e-14);
        near(reals[DIPOLE_SQUARE], (double)square, 1e-14);
        near(reals[DIPOLE_MOLECULE], (double)sqrtl(square), 1e-14);
        near(reals[DIPOLE_VOLUME], 3 * 3 * 2.8, 1e-13);
    }
}

/* P V / 2 = K - Xi, of the mean of an element and its mirror image. Each axis has a third of the missing motion. */
static void test_pressure(void **state)
{
    static const int element[PRESSURE_REALS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    static const double mass[1][2] = {{12, 14}};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        struct ctl c = state_of(formula_spread(k, 0));
        const struct masses masses = {mass, c.lambda[LAMBDA_MASS], false};
        const struct center_rule center = {30, 2.5, 0.01, 50, 0};
        double v[3], kinetic[PRESSURE_REALS] = {0}, reals[PRESSURE_REALS] = {0};
        c.step = (uint64_t)k;
        c.kinetic = 40;
        c.pressure_correction = formula_noise(k, 4, 100);
        for (int i = 0; i < 9; i++) {
            v[i % 3] = formula_noise(k, i % 3, 2);
            c.sum.virial[i].low = fixed_clamped(formula_noise(k, 5 + i, 50), FIXED_TOTAL_LIMIT);
            c.constraint_virial[i] = formula_noise(k, 14 + i, 50);
        }
        pressure_kinetic(&masses, 0, v, kinetic);
        pressure_keep(&c, &center, kinetic, reals);
        for (int i = 0; i < PRESSURE_REALS; i++) {
            const int a = element[i][0], b = element[i][1], one = 3 * a + b, other = 3 * b + a;
            const long double m = (1 - c.lambda[LAMBDA_MASS]) * 12 + c.lambda[LAMBDA_MASS] * 14;
            const long double xi = ((long double)fixed_total(c.sum.virial[one]) + fixed_total(c.sum.virial[other]) +
                                    c.constraint_virial[one] + c.constraint_virial[other]) /
                                   2;
            const long double missing = a == b ? 2.5L / 2 * expl(-0.01L * (k % 50)) : 0;
            const long double p = 2 * (m * v[a] * v[b] / 2 + missing - xi) / (9 * 2.8L) * UNIT_BAR;
            near(reals[i], (double)(p + (a == b ? c.pressure_correction : 0)), 1e-11);
        }
    }
}

/* The bin of the shortest image, of pairs nearer than half the box is wide. */
static void test_bins(void **state)
{
    const double per_edge[3] = {1 / term_box[BOX_XX], 1 / term_box[BOX_YY], 1 / term_box[BOX_ZZ]};
    const double width = 0.01, reach = box_least_width(term_box) / 2;
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double image[3] = {k % 5 - 2, k % 3 - 1, k % 7 - 3};
        double d[3] = {formula_noise(k, 0, 1), formula_noise(k, 1, 1), formula_noise(k, 2, 1)}, moved[3];
        const double r = sqrt(vec_dot(d, d));
        if (r >= reach)
            continue;
        box_apply(term_box, image, moved);
        vec_add(moved, 1, d);
        assert_int_equal(rdf_bin(moved[0], moved[1], moved[2], term_box, per_edge, width), (int)(r / width));
    }
}

/* A frame each: a bin has the values from its lower edge on, the last count those of no bin. */
static void test_coordinations(void **state)
{
    enum { BINS = 7 };
    static struct {
        struct observed s;
        int64_t counts[OBSERVE_BLOCKS][BINS + 1];
        double reals[OBSERVE_BLOCKS][2];
    } seen;
    const struct coordination_table own = {.bin = 0.25, .bins = BINS};
    const struct observe_table t = {.counts = BINS + 1, .reals = 2};
    int64_t expected[BINS + 1] = {0}, found[BINS + 1] = {0};
    long double sums[2] = {0};
    double reals[2] = {0};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double value = k % 10 ? 2.2 * formula_spread(k, 0) : 0.025 * k; /* every tenth is an edge or a middle */
        int bin = 0;
        if (observe_full(&seen.s)) {
            for (uint64_t i = 0; i < t.counts; i++)
                observe_fold_counts(observed_counts(&t, &seen.s, 0), t.counts, i);
            for (uint64_t i = 0; i < t.reals; i++)
                observe_fold_reals(observed_reals(&t, &seen.s, 0), t.reals, i);
            observe_folded(&seen.s);
        }
        observe_count(&seen.s);
        coordination_observe(&t, &own, &seen.s, value);
        while (bin < BINS && value >= (bin + 1) * 0.25L)
            bin++;
        expected[bin]++;
        sums[0] += value;
        sums[1] += (long double)value * value;
    }
    for (int b = 0; b < OBSERVE_BLOCKS; b++) {
        for (int i = 0; i <= BINS; i++)
            found[i] += seen.counts[b][i];
        for (int i = 0; i < 2; i++)
            reals[i] += seen.reals[b][i];
    }
    for (int i = 0; i <= BINS; i++) {
        assert_true(expected[i]);
        assert_int_equal(found[i], expected[i]);
    }
    for (int i = 0; i < 2; i++)
        near(reals[i], (double)sums[i], 1e-14 * (double)sums[i]);
    assert_int_equal(seen.s.frames, FORMULA_POINTS);
    assert_int_equal(seen.s.per_block, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dipole),
        cmocka_unit_test(test_pressure),
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_coordinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
