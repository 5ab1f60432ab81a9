/* SPDX-License-Identifier: Apache-2.0
 *
 * The terms of a molecule type, as its lines say them, to those of the system: atoms of one molecule, units of the
 * engine.
 */
#include "engine/io/top/top.h"

#include <math.h>
#include <string.h>

#include "engine/system/rare_kinds.h"

static double radians(double degrees)
{
    return degrees * (M_PI / 180);
}

/* Copies a term's atoms, moved to the molecule that begins at `first`. */
static void place(int *to, const struct top_term *term, int n, int first)
{
    for (int i = 0; i < n; i++)
        to[i] = term->atom[i] + first;
}

static void put_bond(struct bond *b, const struct top_term *t, int first)
{
    place(b->atom, t, 2, first);
    for (int k = 0; k < 2; k++) {
        b->r0[k] = t->c[k][0];
        b->k[k] = t->c[k][1];
    }
}

static void put_connection(struct system *s, const struct top_term *t, int first)
{
    place(s->connections[s->nconnections++].atom, t, 2, first);
}

static void put_angle(struct system *s, const struct top_term *t, int first, bool urey_bradley)
{
    struct angle *a = &s->angles[s->nangles++];
    place(a->atom, t, 3, first);
    a->urey_bradley = urey_bradley;
    for (int k = 0; k < 2; k++) {
        a->theta0[k] = radians(t->c[k][0]);
        a->k[k] = t->c[k][1];
        a->ub_r0[k] = urey_bradley ? t->c[k][2] : 0;
        a->ub_k[k] = urey_bradley ? t->c[k][3] : 0;
    }
}

static void put_dihedral(struct system *s, const struct top_term *t, int first, bool improper)
{
    struct dihedral *d = &s->dihedrals[s->ndihedrals++];
    place(d->atom, t, 4, first);
    d->improper = improper;
    d->multiplicity = (int)t->c[0][2];
    for (int k = 0; k < 2; k++) {
        d->phi0[k] = radians(t->c[k][0]);
        d->k[k] = t->c[k][1];
    }
}

static void put_improper(struct system *s, const struct top_term *t, int first)
{
    struct improper *d = &s->impropers[s->nimpropers++];
    place(d->atom, t, 4, first);
    for (int k = 0; k < 2; k++) {
        d->xi0[k] = radians(t->c[k][0]);
        d->k[k] = t->c[k][1];
    }
}

static void put_rb(struct system *s, const struct top_term *t, int first)
{
    struct rb_dihedral *d = &s->rb_dihedrals[s->nrb_dihedrals++];
    place(d->atom, t, 4, first);
    for (int k = 0; k < 2; k++)
        memcpy(d->c[k], t->c[k], sizeof d->c[k]);
}

/* V = 1/2 [F1 (1 + cos phi) + F2 (1 - cos 2 phi) + F3 (1 + cos 3 phi) + F4 (1 - cos 4 phi)] as powers of cos psi,
 * psi = phi - 180 degrees (GROMACS manual, "Fourier dihedrals"). */
static void put_fourier(struct system *s, const struct top_term *t, int first)
{
    struct rb_dihedral *d = &s->rb_dihedrals[s->nrb_dihedrals++];
    place(d->atom, t, 4, first);
    for (int k = 0; k < 2; k++) {
        const double *f = t->c[k];
        d->c[k][0] = f[1] + 0.5 * (f[0] + f[2]);
        d->c[k][1] = 0.5 * (3 * f[2] - f[0]);
        d->c[k][2] = 4 * f[3] - f[1];
        d->c[k][3] = -2 * f[2];
        d->c[k][4] = -4 * f[3];
        d->c[k][5] = 0;
    }
}

static void put_pair(const struct top *top, struct system *s, const struct top_term *t, int first)
{
    struct pair14 *p = &s->pairs14[s->npairs14++];
    place(p->atom, t, 2, first);
    const struct atom *a = &s->atoms[p->atom[0]], *b = &s->atoms[p->atom[1]];
    for (int k = 0; k < 2; k++) {
        p->lj[k] = top_lj(top, t->c[k]);
        p->qq[k] = top->fudge_qq * a->charge[k] * b->charge[k];
    }
}

static void put_own_pair(const struct top *top, struct system *s, const struct top_term *t, int first)
{
    struct pair14 *p = &s->pairs14[s->npairs14++];
    place(p->atom, t, 2, first);
    p->fixed = true;
    p->lj[0] = p->lj[1] = top_lj(top, &t->c[0][3]);
    p->qq[0] = p->qq[1] = t->c[0][0] * t->c[0][1] * t->c[0][2];
}

static void put_pair_nb(const struct top *top, struct system *s, const struct top_term *t, int first)
{
    struct pair_nb *p = &s->pairs_nb[s->npairs_nb++];
    place(p->atom, t, 2, first);
    p->qq = t->c[0][0] * t->c[0][1];
    p->lj = top_lj(top, &t->c[0][2]);
}

static void put_constraint(struct system *s, const struct top_term *t, int first, bool bonded)
{
    struct constraint *c = &s->constraints[s->nconstraints++];
    place(c->atom, t, 2, first);
    c->bonded = bonded;
    c->r0[0] = t->c[0][0];
    c->r0[1] = t->c[1][0];
}

static void put_settle(struct system *s, const struct top_term *t, int first)
{
    s->settles[s->nsettles++] = (struct settle){.oxygen = t->atom[0] + first,
                                                .hydrogen = {t->atom[1] + first, t->atom[2] + first},
                                                .r_oh = t->c[0][0],
                                                .r_hh = t->c[0][1]};
}

static void put_position_restraint(struct system *s, const struct top_term *t, int first)
{
    struct position_restraint *p = &s->position_restraints[s->nposition_restraints++];
    p->atom = t->atom[0] + first;
    for (int k = 0; k < 2; k++)
        memcpy(p->k[k], t->c[k], sizeof p->k[k]);
}

/* Angles in radians, cosines where the formula (engine/math/potentials/rare.h) wants them. */
static void put_rare(struct system *s, enum rare_kind kind, const struct top_term *t, int first)
{
    struct rare_term *r = &s->rare[s->nrare++];
    r->kind = kind;
    place(r->atom, t, rare_kinds[kind].natoms, first);
    memcpy(r->c, t->c, sizeof r->c);
    if (kind == RARE_FLAT_POSITION) /* geometry, r, k; the place comes with the coordinates */
        for (int k = 0; k < 2; k++)
            memcpy(r->c[k], (const double[6]){0, 0, 0, t->c[0][1], t->c[0][2], t->c[0][0]}, sizeof r->c[k]);
    for (int k = 0; k < 2; k++) {
        double *c = r->c[k];
        if (rare_kinds[kind].first == RARE_FIRST_COSINE)
            c[0] = cos(radians(c[0]));
        else if (rare_kinds[kind].first == RARE_FIRST_RADIANS)
            c[0] = radians(c[0]);
        if (kind == RARE_DIHEDRAL_RESTRAINT)
            c[1] = radians(c[1]);
    }
}

/* first: of its type, until the types in use have places (place_cmaps). */
static void put_cmap(struct system *s, const struct top_term *t, int first)
{
    struct cmap *c = &s->cmaps[s->ncmaps++];
    place(c->atom, t, 5, first);
    c->first = t->cmap;
    c->share[0] = c->share[1] = 1;
}

static void put(const struct top *top, struct system *s, enum top_kind kind, const struct top_term *t, int first)
{
    if (kind >= KIND_RARE) {
        put_rare(s, (enum rare_kind)(kind - KIND_RARE), t, first);
        return;
    }
    switch (kind) {
    case KIND_BOND:
        put_bond(&s->bonds[s->nbonds++], t, first);
        break;
    case KIND_HARMONIC:
        put_bond(&s->harmonics[s->nharmonics++], t, first);
        break;
    case KIND_CMAP:
        put_cmap(s, t, first);
        break;
    case KIND_RARE:
    case KIND_CONNECTION:
        put_connection(s, t, first);
        break;
    case KIND_ANGLE:
    case KIND_UREY_BRADLEY:
        put_angle(s, t, first, kind == KIND_UREY_BRADLEY);
        break;
    case KIND_DIHEDRAL:
    case KIND_PERIODIC_IMPROPER:
        put_dihedral(s, t, first, kind == KIND_PERIODIC_IMPROPER);
        break;
    case KIND_IMPROPER:
        put_improper(s, t, first);
        break;
    case KIND_RB:
        put_rb(s, t, first);
        break;
    case KIND_FOURIER:
        put_fourier(s, t, first);
        break;
    case KIND_PAIR:
        put_pair(top, s, t, first);
        break;
    case KIND_PAIR_OWN:
        put_own_pair(top, s, t, first);
        break;
    case KIND_PAIR_NB:
        put_pair_nb(top, s, t, first);
        break;
    case KIND_CONSTRAINT:
    case KIND_CONSTRAINT_NO_BOND:
        put_constraint(s, t, first, kind == KIND_CONSTRAINT);
        break;
    case KIND_SETTLE:
        put_settle(s, t, first);
        break;
    case KIND_POSITION_RESTRAINT:
        put_position_restraint(s, t, first);
        break;
    case KIND_COUNT:
        break;
    }
}

void top_put_terms(const struct top *t, struct system *s, const struct top_molecule *m, int first)
{
    for (int k = 0; k < KIND_COUNT; k++)
        for (int i = 0; i < m->terms[k].n; i++)
            put(t, s, (enum top_kind)k, &m->terms[k].items[i], first);
}
