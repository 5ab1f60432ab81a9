/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded energies of a small box against double loops over all atoms written from the definitions, and the mesh
 * against the exact sum over waves.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "tests/lib/pair_sums.h"
#include "tests/physics/forces_play.h"

static void compare(const struct system *sys, const struct settings *set)
{
    double du[64];
    for (int w = 0; w < set->alchemy.nwindows; w++) {
        struct toy t = toy_open(sys, set, w);
        struct sample a = toy_sample(t.sim, du);
        const struct pair_sums e = pair_sums_of(sys, set, w);
        near(a.energy[TERM_LJ], e.lj, 1e-8 * fabs(e.lj) + 1e-7 + forces_room(e.lj));
        near(a.energy[TERM_COULOMB], e.coulomb, 1e-9 * fabs(e.coulomb) + forces_room(e.coulomb));
        toy_close(&t);
    }
}

static void test_modifiers(void **state)
{
    static const enum vdw_modifier modifiers[] = {VDW_CUTOFF, VDW_POTENTIAL_SHIFT, VDW_POTENTIAL_SWITCH,
                                                  VDW_FORCE_SWITCH};
    for (int rule = 2; rule <= 3; rule++) {
        struct system *sys = mixture(rule);
        for (int k = 0; k < 4; k++) {
            struct settings set = forces_settings(modifiers[k], ALCHEMY_NONE);
            set.nonbonded.coulomb_modifier = k % 2 ? COULOMB_CUTOFF : COULOMB_POTENTIAL_SHIFT;
            compare(sys, &set);
        }
        toy_system_free(sys);
    }
}

/* Every kind of change with soft core of LJ alone and of both, and the other one, at the ends and inside. */
static void test_alchemy(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    for (int variant = 0; variant < 36; variant += toy_every()) {
        struct settings set = forces_settings(variant % 4, variant / 4 % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
        set.alchemy.decouple[0].intramolecular_decouple = variant / 4 % 3 == 1;
        set.alchemy.soft_core.coulomb = variant >= 12;
        set.alchemy.soft_core.power = variant % 2 ? 2 : 1;
        if (variant >= 24)
            set.alchemy.soft_core = forces_gapsys(variant);
        forces_windows(&set);
        compare(sys, &set);
    }
    toy_system_free(sys);
}

/* With a Coulomb cut-off shorter than that of Lennard-Jones, which keeps all of its pairs and its correction. */
static void test_short_coulomb(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    for (int variant = 0; variant < 12; variant += toy_every()) {
        struct settings set = forces_short_coulomb(variant);
        forces_windows(&set);
        compare(sys, &set);
    }
    struct settings set = forces_short_coulomb(0);
    const struct sample is = forces_sample(toy_open(sys, &set, 0));
    set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff;
    const struct sample equal = forces_sample(toy_open(sys, &set, 0));
    near(is.energy[TERM_LJ], equal.energy[TERM_LJ], forces_room(equal.energy[TERM_LJ]));
    assert_true(is.energy[TERM_DISPERSION_CORRECTION] == equal.energy[TERM_DISPERSION_CORRECTION]);
    assert_true(is.energy[TERM_DISPERSION_CORRECTION] != 0);
    toy_system_free(sys);
}

static void test_several(void **state)
{
    struct system *sys = forces_two_kinds();
    for (int variant = 0; variant < 12; variant += toy_every()) {
        struct settings set = forces_settings(variant % 4, ALCHEMY_DECOUPLE);
        forces_ways(&set.alchemy, variant);
        set.alchemy.soft_core.coulomb = variant >= 6;
        if (variant >= 9)
            set.alchemy.soft_core = forces_gapsys(variant);
        forces_windows(&set);
        compare(sys, &set);
    }
    toy_system_free(sys);
}

/* In a reaction field: listed and excluded pairs, atoms with themselves, soft cores; nothing goes through the mesh. */
static void test_field(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    sys->atoms[50].charge[0] += 1; /* a net charge has no background */
    sys->atoms[50].charge[1] += 1;
    for (int variant = 0; variant < 12; variant += toy_every()) {
        struct settings set = forces_field(variant);
        forces_windows(&set);
        compare(sys, &set);
    }
    struct settings plain = forces_settings(VDW_CUTOFF, ALCHEMY_NONE);
    plain.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    compare(sys, &plain);
    double du;
    struct toy t = toy_open(sys, &plain, 0);
    assert_true(toy_sample(t.sim, &du).energy[TERM_COULOMB_RECIPROCAL] == 0);
    toy_close(&t);
    toy_system_free(sys);
}

/* Everything in one corner of a large box: lists sized from the mean density are far too short, and grow. */
static void test_growth(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = forces_inside(VDW_POTENTIAL_SHIFT, false);
    for (int d = 0; d < 3; d++) {
        sys->box[d] = 12;
        set.nonbonded.pme_grid[d] = 30;
    }
    compare(sys, &set);
    double du;
    struct toy t = toy_open(sys, &set, 0);
    size_t before = sim_device_bytes(t.sim);
    toy_sample(t.sim, &du);
    assert_true(sim_device_bytes(t.sim) > before);
    toy_close(&t);
    toy_system_free(sys);
}

/* Exact reciprocal sum over waves. */
static double direct_sum(const struct system *sys, double beta)
{
    const int most = 16;
    double volume = sys->box[0] * sys->box[1] * sys->box[2], sum = 0;
    for (int kx = 0; kx <= most; kx++)
        for (int ky = -most; ky <= most; ky++)
            for (int kz = -most; kz <= most; kz++) {
                double m[3] = {kx / sys->box[0], ky / sys->box[1], kz / sys->box[2]}, re = 0, im = 0;
                double m2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2],
                       weight = exp(-M_PI * M_PI * m2 / (beta * beta)) / m2;
                if (m2 == 0 || weight < 1e-14)
                    continue;
                for (int i = 0; i < sys->natoms; i++) {
                    double phase = 2 * M_PI * (m[0] * sys->x[i][0] + m[1] * sys->x[i][1] + m[2] * sys->x[i][2]);
                    re += sys->atoms[i].charge[0] * cos(phase);
                    im += sys->atoms[i].charge[0] * sin(phase);
                }
                sum += (kx ? 2 : 1) * weight * (re * re + im * im);
            }
    return UNIT_COULOMB / (2 * M_PI * volume) * sum;
}

static void test_mesh(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = forces_settings(VDW_CUTOFF, ALCHEMY_NONE);
    struct sample a;
    double exact = direct_sum(sys, pair_beta(&set.nonbonded)), allowed[] = {3e-4, 3e-5, 4e-6};
    for (int order = 4; order <= 6; order++) {
        set.nonbonded.pme_order = order;
        set.nonbonded.pme_spacing = 0.06;
        a = forces_sample(toy_open(sys, &set, 0));
        near(a.energy[TERM_COULOMB_RECIPROCAL], exact, allowed[order - 4] * exact);
    }
    set.nonbonded.pme_grid[0] = 45; /* odd sizes, and sizes with other factors */
    set.nonbonded.pme_grid[1] = 49;
    set.nonbonded.pme_grid[2] = 33;
    a = forces_sample(toy_open(sys, &set, 0));
    near(a.energy[TERM_COULOMB_RECIPROCAL], exact, 4e-5 * exact);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modifiers), cmocka_unit_test(test_alchemy), cmocka_unit_test(test_short_coulomb),
        cmocka_unit_test(test_several),   cmocka_unit_test(test_field),   cmocka_unit_test(test_growth),
        cmocka_unit_test(test_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
