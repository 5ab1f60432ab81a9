/* SPDX-License-Identifier: Apache-2.0
 *
 * What restraints between two molecules are worth beside the standard state, against formulas.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/derive/standard_state.h"

#define RT (UNIT_R * 298.15)
#define DEGREE (M_PI / 180)

/* Two molecules of three atoms, c b a and A B C, and another. */
static struct atom atoms[9];

static struct system system_of(void)
{
    for (int i = 0; i < 9; i++)
        atoms[i].molecule = i / 3;
    return (struct system){.natoms = 9, .atoms = atoms};
}

static struct settings settings_of(double (*lambda)[LAMBDA_COUNT])
{
    return (struct settings){.integrator = {.temperature = 298.15}, .alchemy = {.nwindows = 1, .lambda = lambda}};
}

static double (*on(void))[LAMBDA_COUNT]
{
    static double table[1][LAMBDA_COUNT];
    table[0][LAMBDA_BONDED] = 1;
    return table;
}

static struct standard_state found(const struct system *sys)
{
    struct settings set = settings_of(on());
    struct standard_state s;
    struct err e = {0};
    if (standard_state_of(sys, &set, 0, &s, &e) != 1)
        fail_msg("%s", e.msg);
    return s;
}

static void refused(const struct system *sys, const char *why)
{
    struct settings set = settings_of(on());
    struct standard_state s;
    struct err e = {0};
    assert_int_equal(standard_state_of(sys, &set, 0, &s, &e), -ERR_UNSUPPORTED);
    if (!strstr(e.msg, why))
        fail_msg("%s: expected \"%s\"", e.msg, why);
}

/* Eq. 32 of Boresch et al., which takes all six for narrow; restrained in state B alone, atoms in either order. */
static void test_boresch(void **state)
{
    const double r0 = 0.6, kr = 4e5, ka[2] = {4e4, 6e4}, a0[2] = {70 * DEGREE, 110 * DEGREE}, kd[3] = {4e4, 5e4, 6e4};
    struct bond distance = {{2, 3}, {r0, r0}, {0, kr}};
    struct angle angles[] = {{.atom = {1, 2, 3}, .theta0 = {a0[0], a0[0]}, .k = {0, ka[0]}},
                             {.atom = {4, 3, 2}, .theta0 = {a0[1], a0[1]}, .k = {0, ka[1]}}};
    struct improper dihedrals[] = {{{0, 1, 2, 3}, {3.1, 3.1}, {0, kd[0]}},
                                   {{1, 2, 3, 4}, {-1, -1}, {0, kd[1]}},
                                   {{5, 4, 3, 2}, {2, 2}, {0, kd[2]}}};
    struct system sys = system_of();
    sys.nharmonics = 1, sys.harmonics = &distance;
    sys.nangles = 2, sys.angles = angles;
    sys.nimpropers = 3, sys.impropers = dihedrals;
    struct standard_state s = found(&sys);
    double width = 8 * M_PI * M_PI * STANDARD_VOLUME * sqrt(kr * ka[0] * ka[1] * kd[0] * kd[1] * kd[2]);
    double formula = -RT * log(width / (r0 * r0 * sin(a0[0]) * sin(a0[1]) * pow(2 * M_PI * RT, 3)));
    assert_int_equal(s.nterms, 6);
    assert_true(fabs(s.release - formula) < 1e-3);
    assert_true(s.molecule[0] == 0 && s.molecule[1] == 1);
    struct dihedral even = {.atom = {0, 1, 2, 3}, .k = {3, 3}}; /* the same at every angle */
    sys.ndihedrals = 1, sys.dihedrals = &even;
    assert_true(fabs(found(&sys).release - s.release + 6) < 1e-9);
    sys.ndihedrals = 0;
    angles[1].atom[0] = 5; /* the dihedrals have another B */
    refused(&sys, "where another restraint has atom");
    angles[1].atom[0] = 4;
    dihedrals[2].atom[0] = 8;
    refused(&sys, "more than two molecules");
}

/* A distance alone, free up to 0.5 nm and held by a wall there: the sphere, nearly. */
static void test_flat_bottom(void **state)
{
    struct rare_term wall = {RARE_DISTANCE_RESTRAINT, {2, 3}, 0, {{0, 0.5, 10, 0}, {0, 0.5, 10, 1e8}}};
    struct system sys = system_of();
    sys.nrare = 1, sys.rare = &wall;
    struct standard_state s = found(&sys);
    double sphere = 4 * M_PI / 3 * 0.125;
    assert_true(fabs(s.volume / sphere - 1) < 2e-3);
    assert_true(fabs(s.release + RT * log(STANDARD_VOLUME / sphere)) < 0.01);
}

/* Centers: a harmonic well, another form of which acts in its flat part alone, groups in either order; then what is
 * none. */
static void test_centers(void **state)
{
    const double r0 = 0.4, k = 5e4;
    struct center_atom group[] = {{0, 0, 0.5}, {1, 0, 0.5}, {3, 0, 0.2}, {4, 0, 0.3}, {5, 0, 0.5}, {8, 0, 1}};
    struct center_restraint centers[] = {{{0, 2}, {2, 3}, {{r0, r0, 1e6, 0}, {r0, r0, 1e6, k}}},
                                         {{2, 0}, {3, 2}, {{0, 10, 1e6, k}, {0, 10, 1e6, k}}}};
    struct system sys = system_of();
    sys.ncenter_atoms = 6, sys.center_atoms = group;
    sys.ncenters = 2, sys.centers = centers;
    struct standard_state s = found(&sys);
    double width = 4 * M_PI * sqrt(2 * M_PI * RT / k) * (r0 * r0 + RT / k);
    assert_true(s.nterms == 2 && fabs(s.volume / width - 1) < 1e-6);
    assert_true(s.molecule[0] + s.molecule[1] == 1);
    centers[0].c[1][0] = centers[0].c[1][1] = 0; /* held to the other's center */
    assert_true(fabs(found(&sys).volume / pow(2 * M_PI * RT / k, 1.5) - 1) < 1e-6);
    centers[1].count[1] = 1;
    refused(&sys, "more than two groups");
    sys.ncenters = 1;
    struct bond bond = {{2, 3}, {0.5, 0.5}, {1e3, 1e3}};
    sys.nbonds = 1, sys.bonds = &bond;
    refused(&sys, "beside restraints of atoms");
    sys.nbonds = 0;
    group[4].atom = 7;
    refused(&sys, "a center of several molecules (atom 8)");
}

static void test_others(void **state)
{
    struct system sys = system_of();
    struct settings set = settings_of(on());
    struct standard_state s;
    struct err e = {0};
    struct bond inner = {{0, 1}, {0.1, 0.1}, {1e5, 1e5}}, weak = {{2, 3}, {0.5, 0.5}, {1e5, 1e-6}},
                off = {{3, 8}, {0.5, 0.5}, {1e5, 0}};
    struct angle angle = {.atom = {1, 2, 3}, .theta0 = {1, 1}, .k = {10, 10}};
    sys.nbonds = 1, sys.bonds = &inner;
    assert_int_equal(standard_state_of(&sys, &set, 0, &s, &e), 0);
    sys.nangles = 1, sys.angles = &angle;
    refused(&sys, "no restraint of a distance");
    sys.nharmonics = 1, sys.harmonics = &weak;
    refused(&sys, "too weak to hold them");
    sys.nharmonics = 0;
    sys.nangles = 0;
    struct bond alone[] = {weak, off};
    sys.nbonds = 2, sys.bonds = alone;
    refused(&sys, "too weak to hold them"); /* and what is off does not count */
    /* nor does a wall that keeps a third molecule away; between the two it does, beside what holds */
    struct rare_term away[] = {{RARE_DISTANCE_RESTRAINT, {3, 8}, 0, {{1, 1e6, 1e6, 900}, {1, 1e6, 1e6, 900}}},
                               {RARE_DISTANCE_RESTRAINT, {2, 3}, 0, {{0.5, 1e6, 1e6, 900}, {0.5, 1e6, 1e6, 900}}}};
    struct bond held = {{2, 3}, {0.5, 0.5}, {1e3, 1e3}};
    sys.nbonds = 1, sys.bonds = &held;
    double alone_volume = found(&sys).volume;
    /* a term of two atoms that is no distance has two atoms, of one molecule here */
    struct rare_term within = {RARE_ANGLE_RESTRAINT_Z, {3, 4}, 0, {{1, 100, 1}, {1, 100, 1}}};
    sys.nrare = 1, sys.rare = &within;
    assert_true(found(&sys).nterms == 1 && found(&sys).volume == alone_volume);
    sys.nrare = 1, sys.rare = away;
    struct standard_state kept = found(&sys);
    assert_true(kept.nterms == 1 && kept.volume == alone_volume);
    sys.nrare = 2;
    kept = found(&sys);
    assert_true(kept.nterms == 2 && kept.volume < 0.9 * alone_volume);
    sys.nbonds = 0;
    assert_int_equal(standard_state_of(&sys, &set, 0, &s, &e), 0);
}

static struct standard_state of_ladder(const struct system *sys, const struct settings *set, int expected)
{
    struct standard_state s;
    struct err e = {0};
    int rc = standard_state_of_ladder(sys, set, &s, &e);
    if (rc != expected)
        fail_msg("%d, expected %d: %s", rc, expected, e.msg);
    return s;
}

/* At which end a ladder lacks it, and with which sign. */
static void test_ladder(void **state)
{
    struct molecule molecules[] = {{.count = 3}, {.first = 3, .count = 3, .kind = 1}, {.first = 6, .count = 3}};
    struct molecule_kind kinds[] = {{.name = "HOST"}, {.name = "LIG"}};
    struct bond bond = {{2, 3}, {0.5, 0.5}, {0, 1000}};
    struct system sys = system_of();
    sys.molecules = molecules, sys.kinds = kinds;
    sys.nharmonics = 1, sys.harmonics = &bond;
    double lambda[3][LAMBDA_COUNT] = {{0}, {[LAMBDA_BONDED] = 1}, {[LAMBDA_BONDED] = 1, [LAMBDA_VDW] = 1}};
    struct settings set = settings_of(lambda);
    set.alchemy.nwindows = 3;
    set.alchemy.kind = ALCHEMY_DECOUPLE;
    set.alchemy.ndecouple = 1;
    set.alchemy.decouple[0] = (struct decoupled){.molecule = "LIG", .on = {COUPLED_VDW, 0}};
    struct standard_state s = of_ladder(&sys, &set, 1);
    assert_true(s.window == 2 && !s.both && s.release < 0 && s.correction == s.release);
    lambda[0][LAMBDA_BONDED] = 1;
    assert_true(of_ladder(&sys, &set, 1).both);
    set.alchemy.decouple[0].on[0] = COUPLED_ALL; /* what charges it has stay */
    of_ladder(&sys, &set, 1);
    atoms[3].charge[0] = 0.1;
    of_ladder(&sys, &set, 0);
    atoms[3].charge[0] = 0;
    set.alchemy.decouple[0].on[0] = 0, set.alchemy.decouple[0].on[1] = COUPLED_VDW; /* the other way */
    s = of_ladder(&sys, &set, 1);
    assert_true(s.window == 0 && s.both && s.correction == -s.release);
    strcpy(set.alchemy.decouple[0].molecule, "SOL");
    of_ladder(&sys, &set, 0);
    set.alchemy.kind = ALCHEMY_B_STATES;
    assert_int_equal(of_ladder(&sys, &set, 1).window, 2);
    set.alchemy.temper.nmolecules = 1; /* all acts on all in every window */
    of_ladder(&sys, &set, 0);
    set.alchemy.temper.nmolecules = 0;
    lambda[2][LAMBDA_BONDED] = 0;
    s = of_ladder(&sys, &set, 1);
    assert_true(s.window == 0 && !s.both && s.correction == -s.release);
    lambda[0][LAMBDA_BONDED] = 1e-9; /* on, but not so that it would hold */
    of_ladder(&sys, &set, -ERR_UNSUPPORTED);
    lambda[0][LAMBDA_BONDED] = 0;
    of_ladder(&sys, &set, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boresch), cmocka_unit_test(test_flat_bottom),
                                       cmocka_unit_test(test_centers), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_ladder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
