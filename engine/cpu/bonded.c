/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms on the CPU device: one pass over each list. Forces are always made; energies, virial and U at every window
 * when the mode asks for them.
 */
#include "engine/math/bonded.h"

#include "engine/cpu/bonded.h"
#include "engine/cpu/nonbonded.h"
#include "engine/cpu/kernels.h"

/* Energy and dU/dlambda of one term. */
static void add_value(struct bonded_pass *p, enum term term, const struct bonded_value *v)
{
    if (!p->energies)
        return;
    acc_energy(&p->sum, term, v->u);
    acc_dvdl(&p->sum, LAMBDA_BONDED, v->du_dl);
}

static bool wants_windows(const struct bonded_pass *p, const struct term_list *n, uint32_t i)
{
    return p->sample && i >= n->perturbed;
}

/* Forces -du_dq grad on n atoms; r: positions relative to one atom of the term, for the virial. */
static void add_forces(struct bonded_pass *p, const int *atom, int n, double du_dq, const double grad[][3],
                       const double r[][3])
{
    for (int k = 0; k < n; k++) {
        double f[3] = {-du_dq * grad[k][0], -du_dq * grad[k][1], -du_dq * grad[k][2]};
        acc_force(&p->sum, p->f[atom[k]], f);
        if (p->sample && r)
            acc_virial(&p->sum, r[k], f);
    }
}

void pass_pair_force(struct bonded_pass *p, const int atom[2], const double dx[3], double over_r)
{
    double f[3] = {over_r * dx[0], over_r * dx[1], over_r * dx[2]}, back[3] = {-f[0], -f[1], -f[2]};
    acc_force(&p->sum, p->f[atom[0]], f);
    acc_force(&p->sum, p->f[atom[1]], back);
    if (p->sample)
        acc_virial(&p->sum, dx, f);
}

static double distance(const struct bonded_pass *p, int i, int j, double dx[3])
{
    vec_image(p->x[i], p->x[j], p->ctl->box, dx);
    return sqrt(vec_dot(dx, dx));
}

static void bonds(struct bonded_pass *p)
{
    for (uint32_t i = 0; i < p->t->nbonds.count; i++) {
        const struct bond *b = &p->t->bonds[i];
        double dx[3], r = distance(p, b->atom[0], b->atom[1], dx);
        struct bonded_value v = bonded_harmonic(r, b->r0, b->k, p->lambda);
        pass_pair_force(p, b->atom, dx, -v.du_dq / r);
        add_value(p, TERM_BOND, &v);
        if (wants_windows(p, &p->t->nbonds, i))
            for (uint32_t w = 0; w < p->t->nwindows; w++)
                pass_window(p, w, bonded_harmonic(r, b->r0, b->k, p->t->lambda[w][LAMBDA_BONDED]).u);
    }
}

static void urey_bradley(struct bonded_pass *p, const struct angle *a, bool windows)
{
    const int atom[2] = {a->atom[0], a->atom[2]};
    double dx[3], r = distance(p, atom[0], atom[1], dx);
    struct bonded_value v = bonded_harmonic(r, a->ub_r0, a->ub_k, p->lambda);
    pass_pair_force(p, atom, dx, -v.du_dq / r);
    add_value(p, TERM_UREY_BRADLEY, &v);
    for (uint32_t w = 0; windows && w < p->t->nwindows; w++)
        pass_window(p, w, bonded_harmonic(r, a->ub_r0, a->ub_k, p->t->lambda[w][LAMBDA_BONDED]).u);
}

/* GROMACS counts the angle of a Urey-Bradley term to it, as one energy. */
static void angles(struct bonded_pass *p)
{
    for (uint32_t i = 0; i < p->t->nangles.count; i++) {
        const struct angle *a = &p->t->angles[i];
        double rel[3][3] = {{0}}, grad[3][3];
        vec_image(p->x[a->atom[0]], p->x[a->atom[1]], p->ctl->box, rel[0]);
        vec_image(p->x[a->atom[2]], p->x[a->atom[1]], p->ctl->box, rel[2]);
        double theta = bonded_angle(rel[0], rel[2], grad[0], grad[2]);
        for (int d = 0; d < 3; d++)
            grad[1][d] = -grad[0][d] - grad[2][d];
        struct bonded_value v = bonded_harmonic(theta, a->theta0, a->k, p->lambda);
        add_forces(p, a->atom, 3, v.du_dq, grad, rel);
        add_value(p, a->urey_bradley ? TERM_UREY_BRADLEY : TERM_ANGLE, &v);
        bool windows = wants_windows(p, &p->t->nangles, i);
        for (uint32_t w = 0; windows && w < p->t->nwindows; w++)
            pass_window(p, w, bonded_harmonic(theta, a->theta0, a->k, p->t->lambda[w][LAMBDA_BONDED]).u);
        if (a->urey_bradley)
            urey_bradley(p, a, windows);
    }
}

struct torsion {
    double phi, grad[4][3], rel[4][3]; /* rel: relative to the second atom */
};

static void torsion_of(const struct bonded_pass *p, const int atom[4], struct torsion *t)
{
    double kl[3];
    vec_image(p->x[atom[0]], p->x[atom[1]], p->ctl->box, t->rel[0]);
    vec_image(p->x[atom[2]], p->x[atom[1]], p->ctl->box, t->rel[2]);
    vec_image(p->x[atom[2]], p->x[atom[3]], p->ctl->box, kl);
    for (int d = 0; d < 3; d++)
        t->rel[1][d] = 0;
    vec_sub(t->rel[2], kl, t->rel[3]);
    t->phi = bonded_dihedral(t->rel[0], t->rel[2], kl, t->grad);
}

static void dihedrals(struct bonded_pass *p)
{
    for (uint32_t i = 0; i < p->t->ndihedrals.count; i++) {
        const struct dihedral *d = &p->t->dihedrals[i];
        struct torsion t;
        torsion_of(p, d->atom, &t);
        struct bonded_value v = bonded_periodic(t.phi, d->multiplicity, d->phi0, d->k, p->lambda);
        add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
        add_value(p, d->improper ? TERM_IMPROPER_DIHEDRAL : TERM_PROPER_DIHEDRAL, &v);
        if (wants_windows(p, &p->t->ndihedrals, i))
            for (uint32_t w = 0; w < p->t->nwindows; w++)
                pass_window(p, w,
                            bonded_periodic(t.phi, d->multiplicity, d->phi0, d->k, p->t->lambda[w][LAMBDA_BONDED]).u);
    }
}

static void rb_dihedrals(struct bonded_pass *p)
{
    for (uint32_t i = 0; i < p->t->nrb_dihedrals.count; i++) {
        const struct rb_dihedral *d = &p->t->rb_dihedrals[i];
        struct torsion t;
        torsion_of(p, d->atom, &t);
        struct bonded_value v = bonded_rb(t.phi, d->c, p->lambda);
        add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
        add_value(p, TERM_PROPER_DIHEDRAL, &v);
        if (wants_windows(p, &p->t->nrb_dihedrals, i))
            for (uint32_t w = 0; w < p->t->nwindows; w++)
                pass_window(p, w, bonded_rb(t.phi, d->c, p->t->lambda[w][LAMBDA_BONDED]).u);
    }
}

static void impropers(struct bonded_pass *p)
{
    for (uint32_t i = 0; i < p->t->nimpropers.count; i++) {
        const struct improper *d = &p->t->impropers[i];
        struct torsion t;
        torsion_of(p, d->atom, &t);
        struct bonded_value v = bonded_harmonic_periodic(t.phi, d->xi0, d->k, p->lambda);
        add_forces(p, d->atom, 4, v.du_dq, t.grad, t.rel);
        add_value(p, TERM_IMPROPER_DIHEDRAL, &v);
        if (wants_windows(p, &p->t->nimpropers, i))
            for (uint32_t w = 0; w < p->t->nwindows; w++)
                pass_window(p, w, bonded_harmonic_periodic(t.phi, d->xi0, d->k, p->t->lambda[w][LAMBDA_BONDED]).u);
    }
}

/* Reference positions are fixed in space, as with GROMACS's refcoord-scaling = no: the virial is -1/2 (dx + x0) f. */
static void position_restraints(struct bonded_pass *p)
{
    static const double zero[2] = {0, 0};
    for (uint32_t i = 0; i < p->t->nposition_restraints.count; i++) {
        const struct position_restraint *r = &p->t->position_restraints[i];
        double dx[3], f[3];
        vec_image(p->x[r->atom], r->x0, p->ctl->box, dx);
        for (int d = 0; d < 3; d++) {
            const double k[2] = {r->k[0][d], r->k[1][d]};
            struct bonded_value v = bonded_harmonic(dx[d], zero, k, p->lambda);
            f[d] = -v.du_dq;
            add_value(p, TERM_RESTRAINT, &v);
            if (p->sample)
                p->sum.virial[4 * d] += fixed_clamped(-0.5 * (dx[d] + r->x0[d]) * f[d], FIXED_ENERGY_LIMIT);
            if (wants_windows(p, &p->t->nposition_restraints, i))
                for (uint32_t w = 0; w < p->t->nwindows; w++)
                    pass_window(p, w, bonded_harmonic(dx[d], zero, k, p->t->lambda[w][LAMBDA_BONDED]).u);
        }
        acc_force(&p->sum, p->f[r->atom], f);
    }
}

void cpu_bonded(const struct launch *launch, const struct args_bonded *a)
{
    struct ctl *c = a->ctl;
    if (c->halt)
        return;
    struct bonded_pass p = {.ctl = c,
                            .t = a->terms,
                            .x = a->x,
                            .f = a->f,
                            .energy_at_window = a->energy_at_window,
                            .lambda = c->lambda[LAMBDA_BONDED],
                            .energies = a->mode != EVALUATE_STEP,
                            .sample = a->mode == EVALUATE_SAMPLE};
    bonds(&p);
    angles(&p);
    dihedrals(&p);
    rb_dihedrals(&p);
    impropers(&p);
    pass_pairs14(&p);
    position_restraints(&p);
    acc_finish(&p.sum, c);
}
