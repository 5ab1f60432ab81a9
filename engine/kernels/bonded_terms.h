/* SPDX-License-Identifier: Apache-2.0
 *
 * One bonded term at a time: forces always, energies, virial and U at every window when the pass asks for them. Each
 * device brings the loops over the terms.
 */
#ifndef SHOAL_ENGINE_KERNELS_BONDED_TERMS_H
#define SHOAL_ENGINE_KERNELS_BONDED_TERMS_H

#include <stdbool.h>

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/math/potentials/bonded.h"
#include "engine/math/box.h"
#include "engine/run/program.h"
#include "engine/prepare/device_tables.h"

/* One pass over a model's terms; on a GPU every thread has its own. */
struct bonded_pass {
    struct accumulate sum;
    const struct ctl *ctl;
    const struct bonded_table *t;
    const double (*x)[3];
    int64_t (*f)[3];
    struct fixed_sum *energy_at_window;
    double lambda; /* bonded */
    uint32_t mode; /* enum evaluate */
    enum soft_function soft;
};

/* A file that defines FORCES_ONLY asks for nothing else, and its compiler knows. */
MATH_FN bool pass_energies(const struct bonded_pass *p)
{
#ifdef FORCES_ONLY
    return false;
#else
    return evaluates_energies(p->mode);
#endif
}

MATH_FN bool pass_sample(const struct bonded_pass *p)
{
#ifdef FORCES_ONLY
    return false;
#else
    return p->mode == EVALUATE_SAMPLE;
#endif
}

/* Rows that a perturbed term is looked at, each of which has a place in energy_at_window. */
MATH_FN struct foreign_rows pass_foreign(const struct bonded_pass *p)
{
    return foreign_rows_of(p->mode, p->ctl, p->t->lambda, p->t->nwindows);
}

MATH_FN uint32_t pass_rows(const struct bonded_pass *p)
{
#ifdef FORCES_ONLY
    return 0;
#else
    return pass_foreign(p).n;
#endif
}

MATH_FN const double *pass_row(const struct bonded_pass *p, uint32_t w)
{
    return pass_foreign(p).lambda[w];
}

/* U of a perturbed term at row w of these. */
MATH_FN void pass_window(struct bonded_pass *p, uint32_t w, double u)
{
    acc_window(&p->energy_at_window[w], u, FIXED_ENERGY_LIMIT);
}

MATH_FN void add_value(struct bonded_pass *p, enum term term, const struct bonded_value *v)
{
    if (!pass_energies(p))
        return;
    acc_energy(&p->sum, term, v->u);
    acc_dvdl(&p->sum, LAMBDA_BONDED, v->du_dl);
}

/* Restraints follow a lambda of their own. */
MATH_FN void add_restraint_value(struct bonded_pass *p, const struct bonded_value *v)
{
    if (!pass_energies(p))
        return;
    acc_energy(&p->sum, TERM_RESTRAINT, v->u);
    acc_dvdl(&p->sum, LAMBDA_RESTRAINT, v->du_dl);
}

MATH_FN bool wants_windows(const struct bonded_pass *p, const struct term_list *n, uint32_t i)
{
    return pass_rows(p) && i >= n->perturbed;
}

/* Forces -du_dq grad on n atoms; r: positions relative to one atom of the term, for the virial. */
MATH_FN void add_forces(struct bonded_pass *p, const int *atom, int n, double du_dq, const double grad[][3],
                        const double r[][3])
{
    for (int k = 0; k < n; k++) {
        double f[3] = {-du_dq * grad[k][0], -du_dq * grad[k][1], -du_dq * grad[k][2]};
        acc_force(&p->sum, p->f[atom[k]], f);
        if (pass_sample(p) && r)
            acc_virial(&p->sum, r[k], f);
    }
}

/* Force `over_r` dx on atom[0] and its opposite on atom[1]; dx = x[atom[0]] - x[atom[1]], nm; over_r in kJ/mol/nm^2. */
MATH_FN void pass_pair_force(struct bonded_pass *p, const int atom[2], const double dx[3], double over_r)
{
    double f[3] = {over_r * dx[0], over_r * dx[1], over_r * dx[2]}, back[3] = {-f[0], -f[1], -f[2]};
    acc_force(&p->sum, p->f[atom[0]], f);
    acc_force(&p->sum, p->f[atom[1]], back);
    if (pass_sample(p))
        acc_virial(&p->sum, dx, f);
}

MATH_FN double distance(const struct bonded_pass *p, int i, int j, double dx[3])
{
    box_image(p->x[i], p->x[j], p->ctl->box, dx);
    return sqrt(vec_dot(dx, dx));
}

MATH_FN void bonded_bond(struct bonded_pass *p, uint32_t i)
{
    const struct bond *b = &p->t->bonds[i];
    double dx[3], r = distance(p, b->atom[0], b->atom[1], dx);
    struct bonded_value v = bonded_harmonic(r, b->r0, b->k, p->lambda);
    pass_pair_force(p, b->atom, dx, -v.du_dq / r);
    add_value(p, TERM_BOND, &v);
    if (wants_windows(p, &p->t->nbonds, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, bonded_harmonic(r, b->r0, b->k, pass_row(p, w)[LAMBDA_BONDED]).u);
}

MATH_FN void urey_bradley(struct bonded_pass *p, const struct angle *a, bool windows)
{
    const int atom[2] = {a->atom[0], a->atom[2]};
    double dx[3], r = distance(p, atom[0], atom[1], dx);
    struct bonded_value v = bonded_harmonic(r, a->ub_r0, a->ub_k, p->lambda);
    pass_pair_force(p, atom, dx, -v.du_dq / r);
    add_value(p, TERM_UREY_BRADLEY, &v);
    for (uint32_t w = 0; windows && w < pass_rows(p); w++)
        pass_window(p, w, bonded_harmonic(r, a->ub_r0, a->ub_k, pass_row(p, w)[LAMBDA_BONDED]).u);
}

/* GROMACS counts the angle of a Urey-Bradley term to it, as one energy. */
MATH_FN void bonded_angle_term(struct bonded_pass *p, uint32_t i)
{
    const struct angle *a = &p->t->angles[i];
    double rel[3][3] = {{0}}, grad[3][3];
    box_image(p->x[a->atom[0]], p->x[a->atom[1]], p->ctl->box, rel[0]);
    box_image(p->x[a->atom[2]], p->x[a->atom[1]], p->ctl->box, rel[2]);
    double theta = bonded_angle(rel[0], rel[2], grad[0], grad[2]);
    for (int d = 0; d < 3; d++)
        grad[1][d] = -grad[0][d] - grad[2][d];
    struct bonded_value v = bonded_harmonic(theta, a->theta0, a->k, p->lambda);
    add_forces(p, a->atom, 3, v.du_dq, grad, rel);
    add_value(p, a->urey_bradley ? TERM_UREY_BRADLEY : TERM_ANGLE, &v);
    bool windows = wants_windows(p, &p->t->nangles, i);
    for (uint32_t w = 0; windows && w < pass_rows(p); w++)
        pass_window(p, w, bonded_harmonic(theta, a->theta0, a->k, pass_row(p, w)[LAMBDA_BONDED]).u);
    if (a->urey_bradley)
        urey_bradley(p, a, windows);
}

struct torsion {
    struct turn phi;
    double grad[4][3], rel[4][3]; /* rel: relative to the second atom */
};

MATH_FN void torsion_of(const struct bonded_pass *p, const int atom[4], struct torsion *t)
{
    double kl[3];
    box_image(p->x[atom[0]], p->x[atom[1]], p->ctl->box, t->rel[0]);
    box_image(p->x[atom[2]], p->x[atom[1]], p->ctl->box, t->rel[2]);
    box_image(p->x[atom[2]], p->x[atom[3]], p->ctl->box, kl);
    for (int d = 0; d < 3; d++)
        t->rel[1][d] = 0;
    vec_sub(t->rel[2], kl, t->rel[3]);
    t->phi = bonded_dihedral(t->rel[0], t->rel[2], kl, t->grad);
}

MATH_FN void bonded_dihedral_term(struct bonded_pass *p, uint32_t i)
{
    const struct dihedral *d = &p->t->dihedrals[i];
    const struct turn same = {d->turn0[0], d->turn0[1]};
    struct torsion t;
    torsion_of(p, d->atom, &t);
    struct bonded_value v = bonded_periodic(t.phi, d->multiplicity, d->phi0, same, d->k, p->lambda);
    add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
    add_value(p, d->improper ? TERM_IMPROPER_DIHEDRAL : TERM_PROPER_DIHEDRAL, &v);
    if (wants_windows(p, &p->t->ndihedrals, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w,
                        bonded_periodic(t.phi, d->multiplicity, d->phi0, same, d->k, pass_row(p, w)[LAMBDA_BONDED]).u);
}

MATH_FN void bonded_rb_term(struct bonded_pass *p, uint32_t i)
{
    const struct rb_dihedral *d = &p->t->rb_dihedrals[i];
    struct torsion t;
    torsion_of(p, d->atom, &t);
    struct bonded_value v = bonded_rb(t.phi, d->c, p->lambda);
    add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
    add_value(p, TERM_PROPER_DIHEDRAL, &v);
    if (wants_windows(p, &p->t->nrb_dihedrals, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, bonded_rb(t.phi, d->c, pass_row(p, w)[LAMBDA_BONDED]).u);
}

MATH_FN void bonded_improper_term(struct bonded_pass *p, uint32_t i)
{
    const struct improper *d = &p->t->impropers[i];
    struct torsion t;
    torsion_of(p, d->atom, &t);
    const double xi = turn_angle(t.phi);
    struct bonded_value v = bonded_harmonic_periodic(xi, d->xi0, d->k, p->lambda);
    add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
    add_value(p, TERM_IMPROPER_DIHEDRAL, &v);
    if (wants_windows(p, &p->t->nimpropers, i))
        for (uint32_t w = 0; w < pass_rows(p); w++)
            pass_window(p, w, bonded_harmonic_periodic(xi, d->xi0, d->k, pass_row(p, w)[LAMBDA_BONDED]).u);
}

MATH_FN void bonded_position_restraint(struct bonded_pass *p, uint32_t i)
{
    const double zero[2] = {0, 0};
    const struct position_restraint *r = &p->t->position_restraints[i];
    double dx[3], f[3];
    box_image(p->x[r->atom], r->x0, p->ctl->box, dx);
    for (int d = 0; d < 3; d++) {
        const double k[2] = {r->k[0][d], r->k[1][d]};
        struct bonded_value v = bonded_harmonic(dx[d], zero, k, p->ctl->lambda[LAMBDA_RESTRAINT]);
        f[d] = -v.du_dq;
        add_restraint_value(p, &v);
        if (pass_sample(p))
            acc_virial_within(&p->sum, 4 * d, -0.5 * (dx[d] + r->x0[d]) * f[d], FIXED_ENERGY_LIMIT);
        if (wants_windows(p, &p->t->nposition_restraints, i))
            for (uint32_t w = 0; w < pass_rows(p); w++)
                pass_window(p, w, bonded_harmonic(dx[d], zero, k, pass_row(p, w)[LAMBDA_RESTRAINT]).u);
    }
    acc_force(&p->sum, p->f[r->atom], f);
}

MATH_FN void pair14_plain(struct bonded_pass *p, const struct pair14 *pair)
{
    double dx[3];
    box_image(p->x[pair->atom[0]], p->x[pair->atom[1]], p->ctl->box, dx);
    double r2 = pair_distance2(dx[0], dx[1], dx[2]), ri = root_inverse(r2), lj;
    double coulomb = UNIT_COULOMB * pair->qq[0] * ri;
    struct lj_rule everywhere = {0}; /* a plain cut-off uses nothing of the rule */
    double over_r = lj_pair(VDW_CUTOFF, &everywhere, pair->lj[0].c6, pair->lj[0].c12, r2, ri, &lj);
    pass_pair_force(p, pair->atom, dx, over_r + coulomb * ri * ri);
    if (!pass_energies(p))
        return;
    acc_energy(&p->sum, TERM_LJ_14, lj);
    acc_energy(&p->sum, TERM_COULOMB_14, coulomb);
}

MATH_FN void pair14_between_states(struct bonded_pass *p, const struct pair14 *pair, const struct soft_pair *s)
{
    const struct soft_rule *rule = &p->t->soft;
    struct lj_rule everywhere = {0};
    everywhere.cutoff = everywhere.start = INFINITY;
    double dx[3];
    box_image(p->x[pair->atom[0]], p->x[pair->atom[1]], p->ctl->box, dx);
    double r2 = pair_distance2(dx[0], dx[1], dx[2]), lv = p->ctl->lambda[LAMBDA_VDW],
           lc = p->ctl->lambda[LAMBDA_COULOMB];
    struct soft_result lj = soft_lj(p->soft, VDW_CUTOFF, &everywhere, rule->power, s, lv, r2);
    struct soft_result coulomb = soft_coulomb(p->soft, rule, s, 0, lc, r2, 0, 0);
    pass_pair_force(p, pair->atom, dx, lj.fr + coulomb.fr);
    if (pass_energies(p)) {
        acc_energy(&p->sum, TERM_LJ_14, lj.v);
        acc_energy(&p->sum, TERM_COULOMB_14, coulomb.v);
        acc_dvdl(&p->sum, LAMBDA_VDW, lj.dv);
        acc_dvdl(&p->sum, LAMBDA_COULOMB, coulomb.dv);
    }
    for (uint32_t w = 0; w < pass_rows(p); w++) {
        const double *l = pass_row(p, w);
        pass_window(p, w, soft_lj(p->soft, VDW_CUTOFF, &everywhere, rule->power, s, l[LAMBDA_VDW], r2).v);
        pass_window(p, w, soft_coulomb(p->soft, rule, s, 0, l[LAMBDA_COULOMB], r2, 0, 0).v);
    }
}

/* LJ-14 and Coulomb-14: plain LJ and 1/r at any distance, parameters as given (fudge factors applied). Pairs that
 * differ between A and B follow the Coulomb and vdw lambdas, with the soft core of other alchemical pairs. */
MATH_FN void bonded_pair14(struct bonded_pass *p, uint32_t i)
{
    const struct term_list *n = &p->t->npairs14;
    if (i < n->perturbed)
        pair14_plain(p, &p->t->pairs14[i]);
    else
        pair14_between_states(p, &p->t->pairs14[i], &p->t->soft14[i - n->perturbed]);
}

#endif
