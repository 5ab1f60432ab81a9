/* SPDX-License-Identifier: Apache-2.0
 *
 * Potentials of one distance or angle: bonded terms, restraints and biases.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/math/potentials/bias.h"
#include "engine/math/potentials/rare.h"
#include "tests/lib/term_definitions.h"

/* ---- harmonic: q0, k ---- */

static struct bonded_value harmonic(const void *of, double q, double l)
{
    const struct potential *t = of;
    const double q0[2] = {t->c[0][0], t->c[1][0]}, k[2] = {t->c[0][1], t->c[1][1]};
    return bonded_harmonic(q, q0, k, l);
}

static struct bonded_value harmonic_periodic(const void *of, double q, double l)
{
    const struct potential *t = of;
    const double q0[2] = {t->c[0][0], t->c[1][0]}, k[2] = {t->c[0][1], t->c[1][1]};
    return bonded_harmonic_periodic(q, q0, k, l);
}

/* ---- dihedrals: phi0, k, multiplicity; the coefficients of Ryckaert and Bellemans ---- */

static struct bonded_value periodic(const void *of, double q, double l)
{
    const struct potential *t = of;
    const double phi0[2] = {t->c[0][0], t->c[1][0]}, k[2] = {t->c[0][1], t->c[1][1]};
    return bonded_periodic(turn_of(q), (int)t->c[0][2], phi0, turn_of(phi0[0]), k, l);
}

static struct bonded_value rb(const void *of, double q, double l)
{
    return bonded_rb(turn_of(q), ((const struct potential *)of)->c, l);
}

static void test_bonded(void **state)
{
    static const struct potential spring = {0, {{0.10, 2e5}, {0.14, 1e5}}}, wide = {0, {{3.0, 100}, {-3.0, 200}}},
                                  moved = {0, {{0.3, 5, 3}, {2.9, 9}}}, kept = {0, {{0.5, 5, -2}, {0.5, 9}}},
                                  none = {0, {{0.5, 5, 0}, {1.5, 9}}},
                                  series = {0, {{9, 12, -13, 3, -30, 31}, {1, 2, 3, 4, 5, 6}}};
    const struct formula formulas[] = {
        {"harmonic", 0.05, 0.2, &spring, harmonic, define_harmonic, 0},
        {"harmonic of a dihedral", -3.14, 3.14, &wide, harmonic_periodic, define_harmonic_periodic, 0},
        {"periodic, phi0 changes", -3.14, 3.14, &moved, periodic, define_periodic, 0},
        {"periodic, phi0 stays", -3.14, 3.14, &kept, periodic, define_periodic, 0},
        {"periodic, multiplicity 0", -3.14, 3.14, &none, periodic, define_periodic, 0},
        {"Ryckaert-Bellemans", -3.14, 3.14, &series, rb, define_rb, 0},
    };
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        formula_check(&formulas[i]);
}

/* ---- potentials/rare.h ---- */

static struct bonded_value rare(const void *of, double q, double l)
{
    const struct potential *t = of;
    return rare_value((enum rare_kind)t->kind, q, t->c, l);
}

static void test_rare(void **state)
{
    static const struct {
        struct potential term;
        const char *name;
        double from, to;
    } terms[] = {
        {{RARE_G96_BOND, {{0.10, 3e6}, {0.14, 2e6}}}, "GROMOS-96 bond", 0.05, 0.2},
        {{RARE_MORSE, {{0.10, 400, 20}, {0.13, 300, 17}}}, "Morse", 0.05, 0.4},
        {{RARE_CUBIC_BOND, {{0.10, 1e5, 7}, {0.2, 3e5, 9}}}, "cubic bond", 0.05, 0.2},
        {{RARE_FENE, {{0.3, 5e3}, {0.4, 7e3}}}, "FENE", 0.02, 0.28},
        {{RARE_DISTANCE_RESTRAINT, {{0.1, 0.2, 0.3, 900}, {0.15, 0.25, 0.31, 700}}}, "distance restraint", 0.02, 0.5},
        {{RARE_G96_ANGLE, {{-0.1, 400}, {-0.5, 600}}}, "GROMOS-96 angle", 0, 3.14},
        {{RARE_QUARTIC_ANGLE, {{1.9, 1, 20, 300, -40, 50}, {0}}}, "quartic angle", 0, 3.14},
        {{RARE_RESTRICTED_ANGLE, {{-0.2, 80}, {0}}}, "restricted angle", 0.3, 2.8},
        {{RARE_RESTRICTED_DIHEDRAL, {{-0.5, 5}, {0}}}, "restricted dihedral", -2.8, -0.3},
        {{RARE_DIHEDRAL_RESTRAINT, {{2.9, 0.2, 50}, {2.4, 0.1, 90}}}, "dihedral restraint", -3.14, 3.14},
        {{RARE_ANGLE_RESTRAINT, {{1, 100, 1}, {2, 200, 1}}}, "angle restraint", 0, 3.14},
        {{RARE_ANGLE_RESTRAINT_Z, {{1, 100, 2}, {0.5, 200, 2}}}, "angle restraint to z", 0, 3.14},
    };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        formula_check(&(struct formula){terms[i].name, terms[i].from, terms[i].to, &terms[i].term, rare,
                                        define_rare((enum rare_kind)terms[i].term.kind), 0});
}

/* ---- biases: at, k ---- */

static struct bonded_value bias(const void *of, double q, double l)
{
    const struct potential *t = of;
    const double c[2][2] = {{t->c[0][0], t->c[0][1]}, {t->c[1][0], t->c[1][1]}};
    return bias_value((enum bias_kind)t->kind, q, c, l);
}

static void test_biases(void **state)
{
    static const char *const names[BIAS_KINDS] = {"harmonic bias", "lower wall", "upper wall", "linear bias"};
    for (int kind = 0; kind < BIAS_KINDS; kind++) {
        const struct potential t = {kind, {{3, 20}, {5, 35}}};
        formula_check(&(struct formula){names[kind], 0, 8, &t, bias, define_bias, 0});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bonded),
        cmocka_unit_test(test_rare),
        cmocka_unit_test(test_biases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
