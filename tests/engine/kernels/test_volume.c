/* SPDX-License-Identifier: Apache-2.0
 *
 * A Monte Carlo volume move: what is scaled, where molecules go, and with which probability it is accepted.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/kernels/volume.h" /* cmocka.h makes a macro of a name in it */

#include <cmocka.h>

#include "tests/engine/kernels/term_check.h"
#include "tests/lib/near.h"

static struct ctl state_of(int k)
{
    struct ctl c = {.seed = 7, .replica = 3, .barostat_moves = (uint64_t)k};
    for (int i = 0; i < BOX_SIZE; i++)
        c.box[i] = term_box[i];
    return c;
}

/* The volume goes up by the ratio, along the axes that the coupling names; fractions of what the box holds stay. */
static void test_share(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++)
        for (uint32_t coupling = VOLUME_ISOTROPIC; coupling <= VOLUME_ANISOTROPIC; coupling++) {
            struct ctl c = state_of(k);
            const double ratio = 1 + formula_noise(k, 0, 0.2), f[3] = {0.3, -0.7, 1.9};
            double along[3], was[3], is[3], changed = 0;
            volume_share(&c, coupling, ratio, along);
            box_apply(c.box, f, was);
            volume_scale_box(c.box, along);
            box_apply(c.box, f, is);
            near(box_volume(c.box), ratio * box_volume(term_box), 1e-13);
            for (int d = 0; d < 3; d++) {
                near(is[d], along[d] * was[d], 1e-14);
                changed += along[d] != 1;
            }
            assert_true(changed == 3   ? coupling == VOLUME_ISOTROPIC
                        : changed == 2 ? coupling == VOLUME_SEMI_ISOTROPIC && along[2] == 1
                                       : coupling != VOLUME_ISOTROPIC);
            assert_true(coupling == VOLUME_ANISOTROPIC ? changed == 1 : along[0] == along[1]);
        }
}

/* Its center of mass goes with the box, the rest of a molecule with that. */
static void test_molecule(void **state)
{
    static const double mass[3][2] = {{16, 16}, {1, 3}, {1, 3}};
    static const int32_t atoms[3] = {0, 1, 2};
    static const struct unit unit = {0, 3};
    const struct motion_table m = {.units = &unit, .unit_atoms = atoms, .nunits = 1};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const struct masses masses = {mass, formula_spread(k, 0), false};
        const double along[3] = {1 + formula_noise(k, 1, 0.1), 1 + formula_noise(k, 2, 0.1), 1};
        double x[3][3], was[3][3];
        for (int i = 0; i < 9; i++)
            was[i / 3][i % 3] = x[i / 3][i % 3] = formula_noise(k, 3 + i, 2);
        volume_move_unit(&m, 0, &masses, x, along);
        for (int d = 0; d < 3; d++) {
            long double before = 0, after = 0, total = 0;
            for (int i = 0; i < 3; i++) {
                const long double own = (1 - masses.lambda) * mass[i][0] + masses.lambda * mass[i][1];
                before += own * was[i][d];
                after += own * x[i][d];
                total += own;
                near(x[i][d] - x[0][d], was[i][d] - was[0][d], 1e-15);
            }
            near((double)(after / total), (double)(along[d] * before / total), 1e-15);
        }
    }
}

/* min(1, exp(-(dU + P dV - N kT ln(V'/V)) / kT)), N molecules; N + 1 where they are few and ln V is changed evenly. */
static void test_acceptance(void **state)
{
    int accepted = 0;
    for (int k = 0; k < FORMULA_POINTS; k++) {
        struct ctl c = state_of(k);
        const uint32_t n = k % 2 ? 4 : 400;
        const double kt = 2.5, pressure = 0.06, du = formula_noise(k, 0, 3);
        for (int i = 0; i < BOX_SIZE; i++)
            c.box_old[i] = term_box[i];
        c.box[BOX_XX] *= 1 + formula_noise(k, 1, 0.01);
        c.energy_old = -100;
        c.sum.energy[TERM_LJ].low = fixed_clamped(-100 + du, FIXED_TOTAL_LIMIT);
        const long double v0 = box_volume(c.box_old), v1 = box_volume(c.box), units = n < VOLUME_FEW ? n + 1 : n;
        const long double w = du + pressure * (v1 - v0) - units * kt * logl(v1 / v0);
        const struct philox r = philox_at(7, 3, (uint64_t)k, STREAM_BAROSTAT, 0);
        const bool yes = philox_uniform(r.word[2], r.word[3]) < expl(-w / kt);
        assert_int_equal(volume_accepted(&c, n, pressure, kt), yes);
        accepted += yes;
        c.sum.overflow = 1;
        assert_false(volume_accepted(&c, n, pressure, kt));
    }
    assert_in_range(accepted, FORMULA_POINTS / 4, FORMULA_POINTS - 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_molecule),
        cmocka_unit_test(test_acceptance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
