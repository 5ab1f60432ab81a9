/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/kernels/defined_terms.h"

#include <math.h>

#include "engine/prepare/alchemy.h"

static const struct bond bond = {{0, 1}, {0.10, 0.14}, {2e5, 1e5}};
static const struct angle angles[] = {{{0, 1, 2}, {1.9, 2.2}, {400, 600}, {0}, {0}, false},
                                      {{0, 1, 2}, {1.9, 2.2}, {400, 600}, {0.2, 0.25}, {1e4, 3e4}, true}};
static const struct dihedral dihedrals[] = {
    {{0, 1, 2, 3}, {0.3, 2.9}, {5, 9}, 3, false, {0}},
    {{1, 2, 3, 4}, {0, 0}, {5, 9}, 2, true, {1, 0}}}; /* turn0 is of the phi0 that stays */
static const struct rb_dihedral rb = {{0, 1, 2, 3}, {{9, 12, -13, 3, -30, 31}, {1, 2, 3, 4, 5, 6}}};
static const struct improper improper = {{0, 1, 2, 3}, {3.0, -3.0}, {100, 200}};
static const struct position_restraint position = {3, {0.4, 0.2, 0.1}, {{1000, 2000, 0}, {3000, 500, 100}}};
/* The first is the same in both states, the other two differ, one of them without repulsion in B. */
static const struct pair14 pairs[] = {{{0, 3}, {{1e-3, 1e-6}, {1e-3, 1e-6}}, {0.1, 0.1}, false},
                                      {{1, 4}, {{1e-3, 1e-6}, {2e-3, 3e-6}}, {0.4 * -0.8, -0.3 * -0.8}, false},
                                      {{0, 4}, {{1e-3, 1e-6}, {0, 0}}, {0.3 * -0.5, -0.2 * 0.4}, false}};
const double defined_charges[][2][2] = {{{0.4, -0.3}, {-0.8, -0.8}}, {{0.3, -0.2}, {-0.5, 0.4}}};
enum { PAIRS_ALIKE = 1, PAIRS = 3 };

static const struct rare_term rare[NRARE] = {
    [RARE_G96_BOND] = {RARE_G96_BOND, {0, 1}, 0, {{0.10, 3e6}, {0.14, 2e6}}},
    [RARE_MORSE] = {RARE_MORSE, {0, 1}, 0, {{0.10, 400, 20}, {0.13, 300, 17}}},
    [RARE_CUBIC_BOND] = {RARE_CUBIC_BOND, {0, 1}, 0, {{0.10, 1e5, 7}, {0}}},
    [RARE_FENE] = {RARE_FENE, {0, 1}, 0, {{0.5, 5e3}, {0}}},
    [RARE_DISTANCE_RESTRAINT] = {RARE_DISTANCE_RESTRAINT, {0, 3}, 0, {{0.3, 0.33, 0.36, 900}, {0.32, 0.34, 0.38, 700}}},
    [RARE_G96_ANGLE] = {RARE_G96_ANGLE, {0, 1, 2}, 0, {{-0.1, 400}, {-0.5, 600}}},
    [RARE_QUARTIC_ANGLE] = {RARE_QUARTIC_ANGLE, {0, 1, 2}, 0, {{1.9, 1, 20, 300, -40, 50}, {0}}},
    [RARE_RESTRICTED_ANGLE] = {RARE_RESTRICTED_ANGLE, {0, 1, 2}, 0, {{-0.2, 80}, {0}}},
    [RARE_BOND_BOND] = {RARE_BOND_BOND, {0, 1, 2}, 0, {{0.1, 0.2, 4000}, {0}}},
    [RARE_BOND_ANGLE] = {RARE_BOND_ANGLE, {0, 1, 2}, 0, {{0.1, 0.2, 0.3, 5000}, {0}}},
    [RARE_LINEAR_ANGLE] = {RARE_LINEAR_ANGLE, {0, 1, 2}, 0, {{0.4, 5000}, {0.6, 3000}}},
    [RARE_RESTRICTED_DIHEDRAL] = {RARE_RESTRICTED_DIHEDRAL, {0, 1, 2, 3}, 0, {{-0.5, 5}, {0}}},
    [RARE_DIHEDRAL_RESTRAINT] = {RARE_DIHEDRAL_RESTRAINT, {0, 1, 2, 3}, 0, {{0.3, 0.2, 50}, {-0.4, 0.1, 90}}},
    [RARE_BENDING_TORSION] = {RARE_BENDING_TORSION, {0, 1, 2, 3}, 0, {{2, 3, -4, 5, 6, 7}, {0}}},
    [RARE_ANGLE_RESTRAINT] = {RARE_ANGLE_RESTRAINT, {0, 2, 1, 4}, 0, {{1, 100, 1}, {2, 200, 1}}},
    [RARE_ANGLE_RESTRAINT_Z] = {RARE_ANGLE_RESTRAINT_Z, {0, 2}, 0, {{1, 100, 2}, {0.5, 200, 2}}},
    [RARE_FLAT_POSITION] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, -0.2, 900, FLAT_SPHERE}}},
    [JOINT] = {RARE_DISTANCE_RESTRAINT,
               {0, 2},
               0,
               {{0.1, 0.15, 0.19, 900, 0, NJOINT}, {0.1, 0.14, 0.20, 700, 0, NJOINT}}},
    [JOINT + 1] = {RARE_DISTANCE_RESTRAINT,
                   {1, 3},
                   0,
                   {{0.1, 0.15, 0.19, 900, 1, NJOINT}, {0.1, 0.14, 0.20, 700, 1, NJOINT}}},
    [JOINT + 2] = {RARE_DISTANCE_RESTRAINT,
                   {0, 3},
                   0,
                   {{0.1, 0.15, 0.19, 900, 2, NJOINT}, {0.1, 0.14, 0.20, 700, 2, NJOINT}}},
    [FLAT] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_SPHERE}}},
    [FLAT + 1] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_CYLINDER}}},
    [FLAT + 2] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_X}}},
    [FLAT + 3] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_Y}}},
    [FLAT + 4] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_Z}}},
    [FLAT + 5] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, 0.05, 900, FLAT_CYLINDER_X}}},
    [FLAT + 6] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, -0.2, 900, FLAT_CYLINDER_Y}}},
    [FLAT + 7] = {RARE_FLAT_POSITION, {3}, 0, {{0.35, 0.17, 0.02, -0.2, 900, FLAT_CYLINDER_Z}}},
};

static const struct center_atom center_atoms[] = {{0, 0, 0.3}, {1, 0, 0.7}, {4, 0, 0.5}, {3, 0, 0.3}, {2, 0, 0.2}};
static const struct center_restraint centers = {{0, 2}, {2, 3}, {{0.1, 0.25, 0.29, 900}, {0.1, 0.22, 0.3, 700}}};

enum { MAP_SIDE = 5 };
static const struct cmap map = {{0, 1, 2, 3, 4}, 0, MAP_SIDE, 0, {1, 0.6}};

/* Whatever: a map of values and slopes that do not follow from each other is as good. */
static const double (*map_points(void))[CMAP_NUMBERS]
{
    static double points[MAP_SIDE * MAP_SIDE][CMAP_NUMBERS];
    for (int i = 0; i < MAP_SIDE * MAP_SIDE * CMAP_NUMBERS; i++)
        points[i / CMAP_NUMBERS][i % CMAP_NUMBERS] = 10 * formula_spread(i, 0) - 5;
    return (const double(*)[CMAP_NUMBERS])points;
}

const struct soft_core defined_soft_core = {.alpha = 0.5, .power = 1, .sigma = 0.3, .coulomb = true};

/* Charges of the pairs that differ between the states, and what the engine makes of them. */
static const struct soft_pair *soft_pairs(const struct soft_rule *rule)
{
    static struct soft_pair made[PAIRS - PAIRS_ALIKE];
    for (int i = 0; i < PAIRS - PAIRS_ALIKE; i++) {
        const struct lj *lj = pairs[i + PAIRS_ALIKE].lj;
        made[i] = soft_pair_make(rule, (const double[2]){lj[0].c6, lj[1].c6}, (const double[2]){lj[0].c12, lj[1].c12},
                                 defined_charges[i][0], defined_charges[i][1], UNIT_COULOMB);
    }
    return made;
}

/* All components alike. */
static const double (*lambdas(void))[LAMBDA_COUNT]
{
    static double of_window[TERM_WINDOWS][LAMBDA_COUNT];
    for (int i = 0; i < TERM_WINDOWS * LAMBDA_COUNT; i++)
        of_window[i / LAMBDA_COUNT][i % LAMBDA_COUNT] = term_lambda[i / LAMBDA_COUNT];
    return (const double(*)[LAMBDA_COUNT])of_window;
}

struct bonded_table defined_table(bool changes)
{
    const struct term_list some = {NRARE, changes ? 0 : NRARE};
    const struct settings set = {.nonbonded = {.coulomb_cutoff = 9}, .alchemy = {.soft_core = defined_soft_core}};
    const struct soft_rule rule = soft_rule_of(&set, false);
    return (struct bonded_table){.bonds = &bond,
                                 .angles = angles,
                                 .dihedrals = dihedrals,
                                 .rb_dihedrals = &rb,
                                 .impropers = &improper,
                                 .pairs14 = pairs,
                                 .position_restraints = &position,
                                 .rare = rare,
                                 .centers = &centers,
                                 .center_atoms = center_atoms,
                                 .cmaps = &map,
                                 .cmap_points = map_points(),
                                 .nbonds = some,
                                 .nangles = some,
                                 .ndihedrals = some,
                                 .nrb_dihedrals = some,
                                 .nimpropers = some,
                                 .npairs14 = {PAIRS, PAIRS_ALIKE},
                                 .nposition_restraints = some,
                                 .nrare = some,
                                 .ncenters = some,
                                 .lambda = lambdas(),
                                 .nwindows = TERM_WINDOWS,
                                 .soft14 = soft_pairs(&rule),
                                 .soft = rule};
}
