/* SPDX-License-Identifier: Apache-2.0
 *
 * One term of the lists that few systems have at a time: potentials of math/potentials/rare.h, CMAP, restraints
 * between centers.
 */
#ifndef SHOAL_ENGINE_KERNELS_RARE_TERMS_H
#define SHOAL_ENGINE_KERNELS_RARE_TERMS_H

#include "engine/kernels/bonded_terms.h"
#include "engine/math/potentials/cmap.h"
#include "engine/math/potentials/rare.h"

/* Restraints have a lambda of their own and an energy of their own; the others count to `term`. */
MATH_FN void rare_energies(struct bonded_pass *p, bool restraint, enum term term, const struct bonded_value *v)
{
    if (restraint)
        add_restraint_value(p, v);
    else
        add_value(p, term, v);
}

/* Energies and forces of a term of one coordinate q, whose derivatives grad are known; r: as add_forces takes it. */
MATH_FN void rare_term_of(struct bonded_pass *p, uint32_t i, bool restraint, enum term term, int natoms, double q,
                          const double grad[][3], const double r[][3])
{
    const struct rare_term *t = &p->t->rare[i];
    const enum rare_kind kind = (enum rare_kind)t->kind;
    const enum lambda component = restraint ? LAMBDA_RESTRAINT : LAMBDA_BONDED;
    struct bonded_value v = rare_value(kind, q, t->c, p->ctl->lambda[component]);
    add_forces(p, t->atom, natoms, v.du_dq, grad, r);
    rare_energies(p, restraint, term, &v);
    if (wants_windows(p, &p->t->nrare, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, rare_value(kind, q, t->c, pass_row(p, w)[component]).u);
}

MATH_FN void rare_of_distance(struct bonded_pass *p, uint32_t i, bool restraint)
{
    const struct rare_term *t = &p->t->rare[i];
    double rel[2][3] = {{0}}, grad[2][3], q = distance(p, t->atom[0], t->atom[1], rel[0]);
    for (int d = 0; d < 3; d++) {
        grad[0][d] = rel[0][d] / q;
        grad[1][d] = -grad[0][d];
    }
    rare_term_of(p, i, restraint, TERM_BOND, 2, q, grad, rel);
}

/* One pair of several that are one restraint: it takes the sum over all of them, and pulls its own atoms. The first of
 * them has the energy. */
MATH_FN void rare_of_distances(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *t = &p->t->rare[i];
    const uint32_t own = (uint32_t)t->c[0][4], n = (uint32_t)t->c[0][5];
    double sum = 0, dx[3];
    for (uint32_t k = 0; k < n; k++) {
        const int *atom = p->t->rare[i - own + k].atom;
        const double r = distance(p, atom[0], atom[1], dx);
        sum += 1 / (r * r * r * r * r * r);
    }
    const double r = distance(p, t->atom[0], t->atom[1], dx), joint = rare_joint_distance(sum);
    const struct bonded_value v = rare_distance_restraint(joint, t->c, p->ctl->lambda[LAMBDA_RESTRAINT]);
    pass_pair_force(p, t->atom, dx, -v.du_dq * rare_joint_slope(joint, r) / r);
    if (own)
        return;
    add_restraint_value(p, &v);
    if (wants_windows(p, &p->t->nrare, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, rare_distance_restraint(joint, t->c, pass_row(p, w)[LAMBDA_RESTRAINT]).u);
}

/* Positions of the outer of three atoms relative to the middle one. */
MATH_FN void rare_arms(const struct bonded_pass *p, const int atom[3], double rel[3][3])
{
    box_image(p->x[atom[0]], p->x[atom[1]], p->ctl->box, rel[0]);
    box_image(p->x[atom[2]], p->x[atom[1]], p->ctl->box, rel[2]);
    for (int d = 0; d < 3; d++)
        rel[1][d] = 0;
}

MATH_FN void rare_of_angle(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *t = &p->t->rare[i];
    double rel[3][3], grad[3][3];
    rare_arms(p, t->atom, rel);
    double theta = bonded_angle(rel[0], rel[2], grad[0], grad[2]);
    for (int d = 0; d < 3; d++)
        grad[1][d] = -grad[0][d] - grad[2][d];
    rare_term_of(p, i, false, TERM_ANGLE, 3, theta, grad, rel);
}

/* Cross terms and linear angles. */
MATH_FN void rare_of_arms(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *t = &p->t->rare[i];
    double rel[3][3], grad[3][3];
    rare_arms(p, t->atom, rel);
    struct bonded_value v = {0, 1, 0};
    if (t->kind == RARE_BOND_BOND)
        v.u = rare_bond_bond(rel[0], rel[2], t->c[0], grad);
    else if (t->kind == RARE_BOND_ANGLE)
        v.u = rare_bond_angle(rel[0], rel[2], t->c[0], grad);
    else
        v = rare_linear_angle(rel[0], rel[2], t->c, p->lambda, grad);
    add_forces(p, t->atom, 3, v.du_dq, grad, rel);
    add_value(p, TERM_ANGLE, &v);
    if (wants_windows(p, &p->t->nrare, i)) /* of linear angles alone */
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, rare_linear_angle(rel[0], rel[2], t->c, pass_row(p, w)[LAMBDA_BONDED], grad).u);
}

MATH_FN void rare_of_dihedral(struct bonded_pass *p, uint32_t i, bool restraint)
{
    struct torsion t;
    torsion_of(p, p->t->rare[i].atom, &t);
    rare_term_of(p, i, restraint, TERM_PROPER_DIHEDRAL, 4, turn_angle(t.phi), t.grad, t.rel);
}

MATH_FN void rare_bending_torsion_term(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *r = &p->t->rare[i];
    struct torsion t;
    double back[3], last[3], first_i[3], first_k[3], second_j[3], second_l[3], slope[3], grad[4][3];
    torsion_of(p, r->atom, &t);
    for (int d = 0; d < 3; d++) {
        back[d] = -t.rel[2][d];
        last[d] = t.rel[3][d] - t.rel[2][d];
    }
    double theta = bonded_angle(t.rel[0], t.rel[2], first_i, first_k);
    double eta = bonded_angle(back, last, second_j, second_l);
    struct bonded_value v = {rare_bending_torsion(theta, eta, turn_angle(t.phi), r->c[0], slope), 1, 0};
    for (int d = 0; d < 3; d++) {
        grad[0][d] = slope[2] * t.grad[0][d] + slope[0] * first_i[d];
        grad[1][d] = slope[2] * t.grad[1][d] - slope[0] * (first_i[d] + first_k[d]) + slope[1] * second_j[d];
        grad[2][d] = slope[2] * t.grad[2][d] + slope[0] * first_k[d] - slope[1] * (second_j[d] + second_l[d]);
        grad[3][d] = slope[2] * t.grad[3][d] + slope[1] * second_l[d];
    }
    add_forces(p, r->atom, 4, v.du_dq, grad, t.rel);
    add_value(p, TERM_PROPER_DIHEDRAL, &v);
}

/* The angle between the vectors from the first atom to the second and from the third to the fourth. Forces on the atoms
 * of a vector are opposite, so the virial needs no more than the vectors. */
MATH_FN void rare_of_vectors(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *t = &p->t->rare[i];
    const bool z = t->kind == RARE_ANGLE_RESTRAINT_Z;
    double rel[4][3] = {{0}}, grad[4][3], other[3] = {0, 0, 1};
    box_image(p->x[t->atom[1]], p->x[t->atom[0]], p->ctl->box, rel[1]);
    if (!z) {
        box_image(p->x[t->atom[3]], p->x[t->atom[2]], p->ctl->box, rel[3]);
        for (int d = 0; d < 3; d++)
            other[d] = rel[3][d];
    }
    double theta = bonded_angle(rel[1], other, grad[1], grad[3]);
    for (int d = 0; d < 3; d++) {
        grad[0][d] = -grad[1][d];
        grad[2][d] = -grad[3][d];
    }
    rare_term_of(p, i, true, TERM_RESTRAINT, z ? 2 : 4, theta, grad, rel);
}

/* The virial is that of the atom and of its place, as of bonded_position_restraint. */
MATH_FN void rare_of_place(struct bonded_pass *p, uint32_t i)
{
    const struct rare_term *t = &p->t->rare[i];
    double dx[3], grad[3];
    box_image(p->x[t->atom[0]], t->c[0], p->ctl->box, dx);
    const struct bonded_value v = {rare_flat_position(dx, t->c[0], grad), 1, 0};
    const double f[3] = {-grad[0], -grad[1], -grad[2]};
    for (int d = 0; d < 3 && pass_sample(p); d++)
        acc_virial_within(&p->sum, 4 * d, -0.5 * (dx[d] + t->c[0][d]) * f[d], FIXED_ENERGY_LIMIT);
    add_restraint_value(p, &v);
    acc_force(&p->sum, p->f[t->atom[0]], f);
}

MATH_FN void bonded_rare(struct bonded_pass *p, uint32_t i)
{
    switch ((enum rare_kind)p->t->rare[i].kind) {
    case RARE_G96_BOND:
    case RARE_MORSE:
    case RARE_CUBIC_BOND:
    case RARE_FENE:
        rare_of_distance(p, i, false);
        return;
    case RARE_DISTANCE_RESTRAINT:
        if (p->t->rare[i].c[0][5] > 0)
            rare_of_distances(p, i);
        else
            rare_of_distance(p, i, true);
        return;
    case RARE_G96_ANGLE:
    case RARE_QUARTIC_ANGLE:
    case RARE_RESTRICTED_ANGLE:
        rare_of_angle(p, i);
        return;
    case RARE_BOND_BOND:
    case RARE_BOND_ANGLE:
    case RARE_LINEAR_ANGLE:
        rare_of_arms(p, i);
        return;
    case RARE_RESTRICTED_DIHEDRAL:
        rare_of_dihedral(p, i, false);
        return;
    case RARE_DIHEDRAL_RESTRAINT:
        rare_of_dihedral(p, i, true);
        return;
    case RARE_BENDING_TORSION:
        rare_bending_torsion_term(p, i);
        return;
    case RARE_ANGLE_RESTRAINT:
    case RARE_ANGLE_RESTRAINT_Z:
        rare_of_vectors(p, i);
        return;
    case RARE_FLAT_POSITION:
        rare_of_place(p, i);
        return;
    case RARE_KINDS:
        return;
    }
}

/* A function of the dihedrals of the first and of the last four of five atoms; the same in all states. */
MATH_FN void bonded_cmap(struct bonded_pass *p, uint32_t i)
{
    const struct cmap *m = &p->t->cmaps[i];
    struct torsion first, second;
    torsion_of(p, m->atom, &first);
    torsion_of(p, m->atom + 1, &second);
    struct cmap_value at =
        cmap_at(p->t->cmap_points + m->first, m->side, turn_angle(first.phi), turn_angle(second.phi));
    struct bonded_value v = {at.u, 0, 0};
    add_forces(p, m->atom, 4, at.du_dphi, first.grad, first.rel);
    add_forces(p, m->atom + 1, 4, at.du_dpsi, second.grad, second.rel);
    add_value(p, TERM_CMAP, &v);
}

/* A restraint between centers is the work of `lanes`, each of which has the atoms lane, lane + lanes, .. of both
 * groups. First what its atoms add to the centers, seen from a group's first atom: atoms count where they are nearest
 * to that, so that the group is whole across the edge of the box. */
MATH_FN void centers_part(const struct bonded_pass *p, uint32_t i, uint32_t lane, uint32_t lanes, double sum[2][3])
{
    const struct center_restraint *t = &p->t->centers[i];
    for (int g = 0; g < 2; g++) {
        const struct center_atom *group = p->t->center_atoms + t->first[g];
        for (uint32_t k = lane; k < t->count[g]; k += lanes) {
            double d[3];
            box_image(p->x[group[k].atom], p->x[group->atom], p->ctl->box, d);
            vec_add(sum[g], group[k].weight, d);
        }
    }
}

/* Then, with the sum over all lanes, the pull on its atoms: a center moves with each by its weight. The first lane has
 * energies and virial, too. */
MATH_FN void centers_pull(struct bonded_pass *p, uint32_t i, uint32_t lane, uint32_t lanes, const double sum[2][3])
{
    const struct center_restraint *t = &p->t->centers[i];
    const struct center_atom *group[2] = {p->t->center_atoms + t->first[0], p->t->center_atoms + t->first[1]};
    double center[2][3], dx[3];
    for (int g = 0; g < 2; g++)
        for (int d = 0; d < 3; d++)
            center[g][d] = p->x[group[g]->atom][d] + sum[g][d];
    box_image(center[0], center[1], p->ctl->box, dx);
    const double r = sqrt(vec_dot(dx, dx));
    const struct bonded_value v = rare_distance_restraint(r, t->c, p->ctl->lambda[LAMBDA_RESTRAINT]);
    const double over_r = r > 0 ? -v.du_dq / r : 0, f[3] = {over_r * dx[0], over_r * dx[1], over_r * dx[2]};
    for (int g = 0; g < 2; g++)
        for (uint32_t k = lane; k < t->count[g] && v.du_dq != 0; k += lanes) {
            const double w = g ? -group[g][k].weight : group[g][k].weight, on[3] = {w * f[0], w * f[1], w * f[2]};
            acc_force(&p->sum, p->f[group[g][k].atom], on);
        }
    if (lane)
        return;
    if (pass_sample(p))
        acc_virial(&p->sum, dx, f);
    add_restraint_value(p, &v);
    if (wants_windows(p, &p->t->ncenters, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, rare_distance_restraint(r, t->c, pass_row(p, w)[LAMBDA_RESTRAINT]).u);
}

#endif
