/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/kernels/defined_terms.h"

#include <math.h>

#include "engine/prepare/alchemy.h"
#include "tests/lib/pair_definitions.h"
#include "tests/lib/places.h"
#include "tests/lib/term_definitions.h"

const double defined_lambda[DEFINED_WINDOWS][LAMBDA_COUNT] = {
    {0, 0, 0, 0, 0}, {0.37, 0.37, 0.37, 0.37, 0.37}, {1, 1, 1, 1, 1}};

/* ---- terms ---- */

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
static const double charges[][2][2] = {{{0.4, -0.3}, {-0.8, -0.8}}, {{0.3, -0.2}, {-0.5, 0.4}}}; /* of the last two */
enum { PAIRS_ALIKE = 1, PAIRS = 3 };

enum { JOINT = RARE_KINDS, NJOINT = 3, FLAT = JOINT + NJOINT, NFLAT = 8, NRARE = FLAT + NFLAT };
#define JOINT_C(own)                                                                                                   \
    {                                                                                                                  \
        {0.1, 0.15, 0.19, 900, own, NJOINT},                                                                           \
        {                                                                                                              \
            0.1, 0.14, 0.20, 700, own, NJOINT                                                                          \
        }                                                                                                              \
    }
#define FLAT_C(radius, geometry)                                                                                       \
    {                                                                                                                  \
        {0.35, 0.17, 0.02, radius, 900, geometry},                                                                     \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
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
    [RARE_FLAT_POSITION] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(-0.2, FLAT_SPHERE)},
    [JOINT] = {RARE_DISTANCE_RESTRAINT, {0, 2}, 0, JOINT_C(0)},
    [JOINT + 1] = {RARE_DISTANCE_RESTRAINT, {1, 3}, 0, JOINT_C(1)},
    [JOINT + 2] = {RARE_DISTANCE_RESTRAINT, {0, 3}, 0, JOINT_C(2)},
    [FLAT] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_SPHERE)},
    [FLAT + 1] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_CYLINDER)},
    [FLAT + 2] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_X)},
    [FLAT + 3] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_Y)},
    [FLAT + 4] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_Z)},
    [FLAT + 5] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(0.05, FLAT_CYLINDER_X)},
    [FLAT + 6] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(-0.2, FLAT_CYLINDER_Y)},
    [FLAT + 7] = {RARE_FLAT_POSITION, {3}, 0, FLAT_C(-0.2, FLAT_CYLINDER_Z)},
};

static const struct center_atom center_atoms[] = {{0, 0, 0.3}, {1, 0, 0.7}, {4, 0, 0.5}, {3, 0, 0.3}, {2, 0, 0.2}};
static const struct center_restraint centers = {{0, 2}, {2, 3}, {{0.1, 0.25, 0.29, 900}, {0.1, 0.22, 0.3, 700}}};

enum { MAP_SIDE = 5 };
static const struct cmap map = {{0, 1, 2, 3, 4}, 0, MAP_SIDE};

/* Whatever: a map of values and slopes that do not follow from each other is as good. */
static const double (*map_points(void))[CMAP_NUMBERS]
{
    static double points[MAP_SIDE * MAP_SIDE][CMAP_NUMBERS];
    for (int i = 0; i < MAP_SIDE * MAP_SIDE * CMAP_NUMBERS; i++)
        points[i / CMAP_NUMBERS][i % CMAP_NUMBERS] = 10 * formula_spread(i, 0) - 5;
    return (const double(*)[CMAP_NUMBERS])points;
}

static const struct settings soft_settings = {
    .nonbonded = {.vdw_cutoff = 9, .coulomb_cutoff = 9, .coulomb_method = COULOMB_REACTION_FIELD},
    .alchemy = {.soft_core = {.alpha = 0.5, .power = 1, .sigma = 0.3, .coulomb = true}}};

/* ---- energies ---- */

static long double harmonic(const double q0[2], const double k[2], long double q, long double l)
{
    return define_harmonic(&(struct potential){0, {{q0[0], k[0]}, {q0[1], k[1]}}}, q, l);
}

static long double of_bond(uint32_t i, const long double (*x)[3], long double l)
{
    return harmonic(bond.r0, bond.k, place_distance(x, 0, 1), l);
}

static long double of_angle(uint32_t i, const long double (*x)[3], long double l)
{
    const struct angle *a = &angles[i];
    const long double own = harmonic(a->theta0, a->k, place_angle(x, 0, 1, 2), l);
    return own + (a->urey_bradley ? harmonic(a->ub_r0, a->ub_k, place_distance(x, 0, 2), l) : 0);
}

static long double of_dihedral(uint32_t i, const long double (*x)[3], long double l)
{
    const struct dihedral *d = &dihedrals[i];
    const struct potential p = {0, {{d->phi0[0], d->k[0], d->multiplicity}, {d->phi0[1], d->k[1], 0}}};
    return define_periodic(&p, place_dihedral(x, d->atom), l);
}

static long double of_rb(uint32_t i, const long double (*x)[3], long double l)
{
    struct potential p = {0, {{0}}};
    memcpy(p.c, rb.c, sizeof p.c);
    return define_rb(&p, place_dihedral(x, rb.atom), l);
}

static long double of_improper(uint32_t i, const long double (*x)[3], long double l)
{
    const struct improper *d = &improper;
    return define_harmonic_periodic(&(struct potential){0, {{d->xi0[0], d->k[0]}, {d->xi0[1], d->k[1]}}},
                                    place_dihedral(x, d->atom), l);
}

static long double of_position(uint32_t i, const long double (*x)[3], long double l)
{
    long double u = 0;
    for (int d = 0; d < 3; d++)
        u += harmonic((const double[2]){0, 0}, (const double[2]){position.k[0][d], position.k[1][d]},
                      x[position.atom][d] - position.x0[d], l);
    return u;
}

static long double of_pair(uint32_t i, const long double (*x)[3], long double l)
{
    static const struct nonbonded_settings everywhere = {
        .vdw_cutoff = 9, .coulomb_cutoff = 9, .coulomb_modifier = COULOMB_CUTOFF};
    const struct pair14 *pair = &pairs[i];
    struct pair_defined p = {
        .nb = &everywhere, .core = &soft_settings.alchemy.soft_core, .perturbed = i >= PAIRS_ALIKE};
    const long double r = place_distance(x, pair->atom[0], pair->atom[1]);
    memcpy(p.c, pair->lj, sizeof p.c);
    if (!p.perturbed)
        return pair_lj(&p, r, 0) + UNIT_COULOMB * pair->qq[0] / r;
    memcpy(p.q, charges[i - PAIRS_ALIKE][0], sizeof p.q);
    memcpy(p.p, charges[i - PAIRS_ALIKE][1], sizeof p.p);
    return pair_lj(&p, r, l) + pair_coulomb(&p, r, l);
}

/* Of one coordinate. */
static long double of_rare(uint32_t i, const long double (*x)[3], long double l)
{
    static const long double z[3] = {0, 0, 1};
    const int *a = rare[i].atom;
    long double q = 0, one[3], other[3];
    struct potential p = {rare[i].kind, {{0}}};
    memcpy(p.c, rare[i].c, sizeof p.c);
    if (p.kind <= RARE_DISTANCE_RESTRAINT) {
        q = place_distance(x, a[0], a[1]);
    } else if (p.kind <= RARE_RESTRICTED_ANGLE) {
        q = place_angle(x, a[0], a[1], a[2]);
    } else if (p.kind <= RARE_DIHEDRAL_RESTRAINT) {
        q = place_dihedral(x, a);
    } else {
        place_between(x[a[0]], x[a[1]], one);
        place_between(x[a[2]], x[a[3]], other);
        q = place_angle_between(one, p.kind == RARE_ANGLE_RESTRAINT_Z ? z : other);
    }
    return define_rare((enum rare_kind)p.kind)(&p, q, l);
}

/* Of three atoms. */
static long double of_arms(uint32_t i, const long double (*x)[3], long double l)
{
    const double *c = rare[i].c[0], *b = rare[i].c[1];
    const long double first = place_distance(x, 0, 1) - c[0], second = place_distance(x, 1, 2) - c[1];
    if (rare[i].kind == RARE_BOND_BOND)
        return c[2] * first * second;
    if (rare[i].kind == RARE_BOND_ANGLE)
        return c[3] * (place_distance(x, 0, 2) - c[2]) * (first + second);
    const long double s = (1 - l) * c[0] + l * b[0], k = (1 - l) * c[1] + l * b[1];
    long double off[3];
    for (int d = 0; d < 3; d++)
        off[d] = s * x[0][d] + (1 - s) * x[2][d] - x[1][d];
    return k / 2 * place_dot(off, off);
}

static long double of_bending_torsion(uint32_t i, const long double (*x)[3], long double l)
{
    const double *c = rare[i].c[0];
    const long double phi = place_dihedral(x, rare[i].atom);
    long double sum = 0;
    for (int n = 0; n < 5; n++)
        sum += c[n + 1] * powl(cosl(phi), n);
    return c[0] * powl(sinl(place_angle(x, 0, 1, 2)) * sinl(place_angle(x, 1, 2, 3)), 3) * sum;
}

static long double of_flat(uint32_t i, const long double (*x)[3], long double l)
{
    static const bool counts[][3] = {
        [FLAT_SPHERE] = {1, 1, 1},     [FLAT_CYLINDER] = {1, 1, 0},  [FLAT_X] = {1, 0, 0},
        [FLAT_Y] = {0, 1, 0},          [FLAT_Z] = {0, 0, 1},         [FLAT_CYLINDER_X] = {0, 1, 1},
        [FLAT_CYLINDER_Y] = {1, 0, 1}, [FLAT_CYLINDER_Z] = {1, 1, 0}};
    const double *c = rare[i].c[0];
    long double off[3];
    for (int d = 0; d < 3; d++)
        off[d] = counts[(int)c[5]][d] ? x[rare[i].atom[0]][d] - c[d] : 0;
    const long double over = place_length(off) - fabs(c[3]);
    return (c[3] < 0 ? over < 0 : over > 0) ? c[4] / 2 * over * over : 0;
}

static long double of_joint(uint32_t first, const long double (*x)[3], long double l)
{
    long double sum = 0;
    struct potential p = {RARE_DISTANCE_RESTRAINT, {{0}}};
    memcpy(p.c, rare[first].c, sizeof p.c);
    for (int k = 0; k < NJOINT; k++)
        sum += powl(place_distance(x, rare[first + k].atom[0], rare[first + k].atom[1]), -6);
    return define_rare(RARE_DISTANCE_RESTRAINT)(&p, powl(sum, -1.0L / 6), l);
}

static long double of_centers(uint32_t i, const long double (*x)[3], long double l)
{
    long double apart[3] = {0, 0, 0};
    struct potential p = {RARE_DISTANCE_RESTRAINT, {{0}}};
    memcpy(p.c, centers.c, sizeof p.c);
    for (uint32_t k = 0; k < centers.count[0] + centers.count[1]; k++)
        for (int d = 0; d < 3; d++)
            apart[d] += (k < centers.count[0] ? 1 : -1) * center_atoms[k].weight * x[center_atoms[k].atom][d];
    return define_rare(RARE_DISTANCE_RESTRAINT)(&p, place_length(apart), l);
}

/* The cubic with values and slopes at 0 and 1. */
static long double cubic(long double t, const long double value[2], const long double slope[2])
{
    const long double rise = value[1] - value[0];
    return value[0] + t * slope[0] + t * t * (3 * rise - 2 * slope[0] - slope[1]) +
           t * t * t * (slope[0] + slope[1] - 2 * rise);
}

/* Along psi first, of values and of slopes along phi, then along phi. */
static long double of_map(uint32_t i, const long double (*x)[3], long double l)
{
    const long double turn = 2 * acosl(-1), at[2] = {(place_dihedral(x, map.atom) / turn + 0.5L) * MAP_SIDE,
                                                     (place_dihedral(x, map.atom + 1) / turn + 0.5L) * MAP_SIDE};
    const int cell[2] = {(int)floorl(at[0]), (int)floorl(at[1])};
    const double(*points)[CMAP_NUMBERS] = map_points();
    long double along[2][2]; /* value and slope, at both ends of the cell along phi */
    for (int end = 0; end < 2; end++)
        for (int what = 0; what < 2; what++) {
            long double value[2], slope[2];
            for (int k = 0; k < 2; k++) {
                const double *p = points[(cell[0] + end) % MAP_SIDE * MAP_SIDE + (cell[1] + k) % MAP_SIDE];
                value[k] = p[what ? CMAP_PHI : CMAP_VALUE];
                slope[k] = p[what ? CMAP_BOTH : CMAP_PSI];
            }
            along[what][end] = cubic(at[1] - cell[1], value, slope);
        }
    return cubic(at[0] - cell[0], along[0], along[1]);
}

/* ---- all of them ---- */

enum { LANES = 2 };

static void centers_kernel(struct bonded_pass *p, uint32_t i)
{
    double sum[2][3] = {{0}};
    for (uint32_t lane = 0; lane < LANES; lane++)
        centers_part(p, i, lane, LANES, sum);
    for (uint32_t lane = 0; lane < LANES; lane++)
        centers_pull(p, i, lane, LANES, (const double(*)[3])sum);
}

#define BONDED (1 << LAMBDA_BONDED)
#define RESTRAINED (1 << LAMBDA_RESTRAINT)
#define RARE(name, kind, term, components, energy)                                                                     \
    {                                                                                                                  \
        name, bonded_rare, kind, 1, term, components, false, energy                                                    \
    }
#define PLACE(name, at)                                                                                                \
    {                                                                                                                  \
        name, bonded_rare, at, 1, TERM_RESTRAINT, 0, true, of_flat                                                     \
    }

const struct defined_term defined_terms[] = {
    {"bond", bonded_bond, 0, 1, TERM_BOND, BONDED, false, of_bond},
    {"angle", bonded_angle_term, 0, 1, TERM_ANGLE, BONDED, false, of_angle},
    {"Urey-Bradley", bonded_angle_term, 1, 1, TERM_UREY_BRADLEY, BONDED, false, of_angle},
    {"dihedral", bonded_dihedral_term, 0, 1, TERM_PROPER_DIHEDRAL, BONDED, false, of_dihedral},
    {"periodic improper", bonded_dihedral_term, 1, 1, TERM_IMPROPER_DIHEDRAL, BONDED, false, of_dihedral},
    {"Ryckaert-Bellemans", bonded_rb_term, 0, 1, TERM_PROPER_DIHEDRAL, BONDED, false, of_rb},
    {"improper", bonded_improper_term, 0, 1, TERM_IMPROPER_DIHEDRAL, BONDED, false, of_improper},
    {"position restraint", bonded_position_restraint, 0, 1, TERM_RESTRAINT, RESTRAINED, true, of_position},
    {"pair of all states", bonded_pair14, 0, 1, TERM_COUNT, 0, false, of_pair},
    {"pair between states", bonded_pair14, 1, 1, TERM_COUNT, 1 << LAMBDA_VDW | 1 << LAMBDA_COULOMB, false, of_pair},
    {"pair with a soft core", bonded_pair14, 2, 1, TERM_COUNT, 1 << LAMBDA_VDW | 1 << LAMBDA_COULOMB, false, of_pair},
    RARE("GROMOS-96 bond", RARE_G96_BOND, TERM_BOND, BONDED, of_rare),
    RARE("Morse", RARE_MORSE, TERM_BOND, BONDED, of_rare),
    RARE("cubic bond", RARE_CUBIC_BOND, TERM_BOND, 0, of_rare),
    RARE("FENE", RARE_FENE, TERM_BOND, 0, of_rare),
    RARE("distance restraint", RARE_DISTANCE_RESTRAINT, TERM_RESTRAINT, RESTRAINED, of_rare),
    RARE("GROMOS-96 angle", RARE_G96_ANGLE, TERM_ANGLE, BONDED, of_rare),
    RARE("quartic angle", RARE_QUARTIC_ANGLE, TERM_ANGLE, 0, of_rare),
    RARE("restricted angle", RARE_RESTRICTED_ANGLE, TERM_ANGLE, 0, of_rare),
    RARE("bond-bond", RARE_BOND_BOND, TERM_ANGLE, 0, of_arms),
    RARE("bond-angle", RARE_BOND_ANGLE, TERM_ANGLE, 0, of_arms),
    RARE("linear angle", RARE_LINEAR_ANGLE, TERM_ANGLE, BONDED, of_arms),
    RARE("restricted dihedral", RARE_RESTRICTED_DIHEDRAL, TERM_PROPER_DIHEDRAL, 0, of_rare),
    RARE("dihedral restraint", RARE_DIHEDRAL_RESTRAINT, TERM_RESTRAINT, RESTRAINED, of_rare),
    RARE("bending-torsion", RARE_BENDING_TORSION, TERM_PROPER_DIHEDRAL, 0, of_bending_torsion),
    RARE("angle restraint", RARE_ANGLE_RESTRAINT, TERM_RESTRAINT, RESTRAINED, of_rare),
    RARE("angle restraint to z", RARE_ANGLE_RESTRAINT_Z, TERM_RESTRAINT, RESTRAINED, of_rare),
    PLACE("out of a sphere", RARE_FLAT_POSITION),
    PLACE("sphere", FLAT),
    PLACE("cylinder", FLAT + 1),
    PLACE("layer of x", FLAT + 2),
    PLACE("layer of y", FLAT + 3),
    PLACE("layer of z", FLAT + 4),
    PLACE("cylinder along x", FLAT + 5),
    PLACE("out of a cylinder along y", FLAT + 6),
    PLACE("out of a cylinder along z", FLAT + 7),
    {"joint distances", bonded_rare, JOINT, NJOINT, TERM_RESTRAINT, RESTRAINED, false, of_joint},
    {"centers", centers_kernel, 0, 1, TERM_RESTRAINT, RESTRAINED, false, of_centers},
    {"map", bonded_cmap, 0, 1, TERM_CMAP, 0, false, of_map},
};
const size_t defined_count = sizeof defined_terms / sizeof *defined_terms;

/* Charges of the pairs that differ between the states, and what the engine makes of them. */
static const struct soft_pair *soft_pairs(const struct soft_rule *rule)
{
    static struct soft_pair made[PAIRS - PAIRS_ALIKE];
    for (int i = 0; i < PAIRS - PAIRS_ALIKE; i++) {
        const struct lj *lj = pairs[i + PAIRS_ALIKE].lj;
        made[i] = soft_pair_make(rule, (const double[2]){lj[0].c6, lj[1].c6}, (const double[2]){lj[0].c12, lj[1].c12},
                                 charges[i][0], charges[i][1], UNIT_COULOMB);
    }
    return made;
}

struct bonded_table defined_table(bool changes)
{
    const struct term_list some = {NRARE, changes ? 0 : NRARE};
    const struct soft_rule rule = soft_rule_of(&soft_settings, false);
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
                                 .lambda = defined_lambda,
                                 .nwindows = DEFINED_WINDOWS,
                                 .soft14 = soft_pairs(&rule),
                                 .soft = rule};
}
