/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/engine/kernels/defined_terms.h"

#include <math.h>

#include "tests/lib/pair_definitions.h"
#include "tests/lib/places.h"
#include "tests/lib/term_definitions.h"

/* ---- energies ---- */

static long double harmonic(const double q0[2], const double k[2], long double q, long double l)
{
    return define_harmonic(&(struct potential){0, {{q0[0], k[0]}, {q0[1], k[1]}}}, q, l);
}

static long double of_bond(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    return harmonic(t->bonds[i].r0, t->bonds[i].k, place_distance(x, 0, 1), l);
}

static long double of_angle(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    const struct angle *a = &t->angles[i];
    const long double own = harmonic(a->theta0, a->k, place_angle(x, 0, 1, 2), l);
    return own + (a->urey_bradley ? harmonic(a->ub_r0, a->ub_k, place_distance(x, 0, 2), l) : 0);
}

static long double of_dihedral(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    const struct dihedral *d = &t->dihedrals[i];
    const struct potential p = {0, {{d->phi0[0], d->k[0], d->multiplicity}, {d->phi0[1], d->k[1], 0}}};
    return define_periodic(&p, place_dihedral(x, d->atom), l);
}

static long double of_rb(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    struct potential p = {0, {{0}}};
    memcpy(p.c, t->rb_dihedrals[i].c, sizeof p.c);
    return define_rb(&p, place_dihedral(x, t->rb_dihedrals[i].atom), l);
}

static long double of_improper(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    const struct improper *d = &t->impropers[i];
    return define_harmonic_periodic(&(struct potential){0, {{d->xi0[0], d->k[0]}, {d->xi0[1], d->k[1]}}},
                                    place_dihedral(x, d->atom), l);
}

static long double of_position(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    long double u = 0;
    for (int d = 0; d < 3; d++)
        u += harmonic((const double[2]){0, 0},
                      (const double[2]){t->position_restraints[i].k[0][d], t->position_restraints[i].k[1][d]},
                      x[t->position_restraints[i].atom][d] - t->position_restraints[i].x0[d], l);
    return u;
}

static long double of_pair(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    static const struct nonbonded_settings everywhere = {
        .vdw_cutoff = 9, .coulomb_cutoff = 9, .coulomb_modifier = COULOMB_CUTOFF};
    const struct pair14 *pair = &t->pairs14[i];
    struct pair_defined p = {.nb = &everywhere, .core = &defined_soft_core, .perturbed = i >= t->npairs14.perturbed};
    const long double r = place_distance(x, pair->atom[0], pair->atom[1]);
    memcpy(p.c, pair->lj, sizeof p.c);
    if (!p.perturbed)
        return pair_lj(&p, r, 0) + UNIT_COULOMB * pair->qq[0] / r;
    memcpy(p.q, defined_charges[i - t->npairs14.perturbed][0], sizeof p.q);
    memcpy(p.p, defined_charges[i - t->npairs14.perturbed][1], sizeof p.p);
    return pair_lj(&p, r, l) + pair_coulomb(&p, r, l);
}

/* Of one coordinate. */
static long double of_rare(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    static const long double z[3] = {0, 0, 1};
    const int *a = t->rare[i].atom;
    long double q = 0, one[3], other[3];
    struct potential p = {t->rare[i].kind, {{0}}};
    memcpy(p.c, t->rare[i].c, sizeof p.c);
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
static long double of_arms(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    const double *c = t->rare[i].c[0], *b = t->rare[i].c[1];
    const long double first = place_distance(x, 0, 1) - c[0], second = place_distance(x, 1, 2) - c[1];
    if (t->rare[i].kind == RARE_BOND_BOND)
        return c[2] * first * second;
    if (t->rare[i].kind == RARE_BOND_ANGLE)
        return c[3] * (place_distance(x, 0, 2) - c[2]) * (first + second);
    const long double s = (1 - l) * c[0] + l * b[0], k = (1 - l) * c[1] + l * b[1];
    long double off[3];
    for (int d = 0; d < 3; d++)
        off[d] = s * x[0][d] + (1 - s) * x[2][d] - x[1][d];
    return k / 2 * place_dot(off, off);
}

static long double of_bending_torsion(const struct bonded_table *t, uint32_t i, const long double (*x)[3],
                                      long double l)
{
    const double *c = t->rare[i].c[0];
    const long double phi = place_dihedral(x, t->rare[i].atom);
    long double sum = 0;
    for (int n = 0; n < 5; n++)
        sum += c[n + 1] * powl(cosl(phi), n);
    return c[0] * powl(sinl(place_angle(x, 0, 1, 2)) * sinl(place_angle(x, 1, 2, 3)), 3) * sum;
}

static long double of_flat(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    static const bool counts[][3] = {
        [FLAT_SPHERE] = {1, 1, 1},     [FLAT_CYLINDER] = {1, 1, 0},  [FLAT_X] = {1, 0, 0},
        [FLAT_Y] = {0, 1, 0},          [FLAT_Z] = {0, 0, 1},         [FLAT_CYLINDER_X] = {0, 1, 1},
        [FLAT_CYLINDER_Y] = {1, 0, 1}, [FLAT_CYLINDER_Z] = {1, 1, 0}};
    const double *c = t->rare[i].c[0];
    long double off[3];
    for (int d = 0; d < 3; d++)
        off[d] = counts[(int)c[5]][d] ? x[t->rare[i].atom[0]][d] - c[d] : 0;
    const long double over = place_length(off) - fabs(c[3]);
    return (c[3] < 0 ? over < 0 : over > 0) ? c[4] / 2 * over * over : 0;
}

static long double of_joint(const struct bonded_table *t, uint32_t first, const long double (*x)[3], long double l)
{
    long double sum = 0;
    struct potential p = {RARE_DISTANCE_RESTRAINT, {{0}}};
    memcpy(p.c, t->rare[first].c, sizeof p.c);
    for (int k = 0; k < (int)t->rare[first].c[0][5]; k++)
        sum += powl(place_distance(x, t->rare[first + k].atom[0], t->rare[first + k].atom[1]), -6);
    return define_rare(RARE_DISTANCE_RESTRAINT)(&p, powl(sum, -1.0L / 6), l);
}

static long double of_centers(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    long double apart[3] = {0, 0, 0};
    struct potential p = {RARE_DISTANCE_RESTRAINT, {{0}}};
    memcpy(p.c, t->centers[i].c, sizeof p.c);
    for (uint32_t k = 0; k < t->centers[i].count[0] + t->centers[i].count[1]; k++)
        for (int d = 0; d < 3; d++)
            apart[d] +=
                (k < t->centers[i].count[0] ? 1 : -1) * t->center_atoms[k].weight * x[t->center_atoms[k].atom][d];
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
static long double of_map(const struct bonded_table *t, uint32_t i, const long double (*x)[3], long double l)
{
    const int side = t->cmaps[i].side;
    const long double turn = 2 * acosl(-1), at[2] = {(place_dihedral(x, t->cmaps[i].atom) / turn + 0.5L) * side,
                                                     (place_dihedral(x, t->cmaps[i].atom + 1) / turn + 0.5L) * side};
    const int cell[2] = {(int)floorl(at[0]), (int)floorl(at[1])};
    long double along[2][2]; /* value and slope, at both ends of the cell along phi */
    for (int end = 0; end < 2; end++)
        for (int what = 0; what < 2; what++) {
            long double value[2], slope[2];
            for (int k = 0; k < 2; k++) {
                const double *p = t->cmap_points[(cell[0] + end) % side * side + (cell[1] + k) % side];
                value[k] = p[what ? CMAP_PHI : CMAP_VALUE];
                slope[k] = p[what ? CMAP_BOTH : CMAP_PSI];
            }
            along[what][end] = cubic(at[1] - cell[1], value, slope);
        }
    const double *share = t->cmaps[i].share;
    return (share[0] + l * (share[1] - share[0])) * cubic(at[0] - cell[0], along[0], along[1]);
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
#define BOTH (1 << LAMBDA_VDW | 1 << LAMBDA_COULOMB)

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
    {"pair between states", bonded_pair14, 1, 1, TERM_COUNT, BOTH, false, of_pair},
    {"pair with a soft core", bonded_pair14, 2, 1, TERM_COUNT, BOTH, false, of_pair},
    {"GROMOS-96 bond", bonded_rare, RARE_G96_BOND, 1, TERM_BOND, BONDED, false, of_rare},
    {"Morse", bonded_rare, RARE_MORSE, 1, TERM_BOND, BONDED, false, of_rare},
    {"cubic bond", bonded_rare, RARE_CUBIC_BOND, 1, TERM_BOND, 0, false, of_rare},
    {"FENE", bonded_rare, RARE_FENE, 1, TERM_BOND, 0, false, of_rare},
    {"distance restraint", bonded_rare, RARE_DISTANCE_RESTRAINT, 1, TERM_RESTRAINT, RESTRAINED, false, of_rare},
    {"GROMOS-96 angle", bonded_rare, RARE_G96_ANGLE, 1, TERM_ANGLE, BONDED, false, of_rare},
    {"quartic angle", bonded_rare, RARE_QUARTIC_ANGLE, 1, TERM_ANGLE, 0, false, of_rare},
    {"restricted angle", bonded_rare, RARE_RESTRICTED_ANGLE, 1, TERM_ANGLE, 0, false, of_rare},
    {"bond-bond", bonded_rare, RARE_BOND_BOND, 1, TERM_ANGLE, 0, false, of_arms},
    {"bond-angle", bonded_rare, RARE_BOND_ANGLE, 1, TERM_ANGLE, 0, false, of_arms},
    {"linear angle", bonded_rare, RARE_LINEAR_ANGLE, 1, TERM_ANGLE, BONDED, false, of_arms},
    {"restricted dihedral", bonded_rare, RARE_RESTRICTED_DIHEDRAL, 1, TERM_PROPER_DIHEDRAL, 0, false, of_rare},
    {"dihedral restraint", bonded_rare, RARE_DIHEDRAL_RESTRAINT, 1, TERM_RESTRAINT, RESTRAINED, false, of_rare},
    {"bending-torsion", bonded_rare, RARE_BENDING_TORSION, 1, TERM_PROPER_DIHEDRAL, 0, false, of_bending_torsion},
    {"angle restraint", bonded_rare, RARE_ANGLE_RESTRAINT, 1, TERM_RESTRAINT, RESTRAINED, false, of_rare},
    {"angle restraint to z", bonded_rare, RARE_ANGLE_RESTRAINT_Z, 1, TERM_RESTRAINT, RESTRAINED, false, of_rare},
    {"out of a sphere", bonded_rare, RARE_FLAT_POSITION, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"sphere", bonded_rare, FLAT, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"cylinder", bonded_rare, FLAT + 1, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"layer of x", bonded_rare, FLAT + 2, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"layer of y", bonded_rare, FLAT + 3, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"layer of z", bonded_rare, FLAT + 4, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"cylinder along x", bonded_rare, FLAT + 5, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"out of a cylinder along y", bonded_rare, FLAT + 6, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"out of a cylinder along z", bonded_rare, FLAT + 7, 1, TERM_RESTRAINT, 0, true, of_flat},
    {"joint distances", bonded_rare, JOINT, NJOINT, TERM_RESTRAINT, RESTRAINED, false, of_joint},
    {"centers", centers_kernel, 0, 1, TERM_RESTRAINT, RESTRAINED, false, of_centers},
    {"map", bonded_cmap, 0, 1, TERM_CMAP, BONDED, false, of_map},
};
const size_t defined_count = sizeof defined_terms / sizeof *defined_terms;
