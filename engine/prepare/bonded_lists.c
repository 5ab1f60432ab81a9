/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of bonded terms, those that differ between A and B at the end of each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/topology.h"
#include "engine/system/rare_kinds.h"

static bool bond_perturbed(const void *p)
{
    const struct bond *b = p;
    return b->r0[0] != b->r0[1] || b->k[0] != b->k[1];
}

static bool angle_perturbed(const void *p)
{
    const struct angle *a = p;
    return a->theta0[0] != a->theta0[1] || a->k[0] != a->k[1] ||
           (a->urey_bradley && (a->ub_r0[0] != a->ub_r0[1] || a->ub_k[0] != a->ub_k[1]));
}

static bool dihedral_perturbed(const void *p)
{
    const struct dihedral *d = p;
    return d->phi0[0] != d->phi0[1] || d->k[0] != d->k[1];
}

static bool rb_perturbed(const void *p)
{
    const struct rb_dihedral *d = p;
    return memcmp(d->c[0], d->c[1], sizeof d->c[0]) != 0;
}

static bool improper_perturbed(const void *p)
{
    const struct improper *d = p;
    return d->xi0[0] != d->xi0[1] || d->k[0] != d->k[1];
}

static bool restraint_perturbed(const void *p)
{
    const struct position_restraint *r = p;
    return memcmp(r->k[0], r->k[1], sizeof r->k[0]) != 0;
}

static bool rare_perturbed(const void *p)
{
    const struct rare_term *r = p;
    return memcmp(r->c[0], r->c[1], sizeof r->c[0]) != 0;
}

static bool centers_perturbed(const void *p)
{
    const struct center_restraint *r = p;
    return memcmp(r->c[0], r->c[1], sizeof r->c[0]) != 0;
}

static bool cmap_perturbed(const void *p)
{
    const struct cmap *m = p;
    return m->share[0] != m->share[1];
}

uint32_t topology_changing(const struct topology *t, enum lambda component)
{
    const bool restraints = component == LAMBDA_RESTRAINT;
    const struct term_list *bonded[] = {&t->nbonds,        &t->nangles,    &t->ndihedrals,
                                        &t->nrb_dihedrals, &t->nimpropers, &t->ncmaps},
                           *held[] = {&t->nposition_restraints, &t->ncenters};
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof bonded / sizeof *bonded && !restraints; i++)
        n += bonded[i]->count - bonded[i]->perturbed;
    for (size_t i = 0; i < sizeof held / sizeof *held && restraints; i++)
        n += held[i]->count - held[i]->perturbed;
    for (uint32_t i = t->nrare.perturbed; i < t->nrare.count; i++)
        n += rare_is_restraint(t->rare[i].kind) == restraints;
    for (int i = 0; i < t->ndistances && !restraints; i++)
        n += t->distances[i].r0[0] != t->distances[i].r0[1];
    return n;
}

/* A copy of `count` items of `size` bytes; items for which `perturbed` holds go to the end, order kept otherwise. */
static void *sorted_copy(const void *items, int count, size_t size, bool (*perturbed)(const void *),
                         struct term_list *out)
{
    unsigned char *to = xcalloc((size_t)count, size);
    const unsigned char *from = items;
    size_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++)
            if (perturbed(from + (size_t)i * size) == (pass == 1))
                memcpy(to + size * at++, from + (size_t)i * size, size);
        if (pass == 0)
            out->perturbed = (uint32_t)at;
    }
    out->count = (uint32_t)count;
    return to;
}

static struct pair14 screened(const struct pair14 *pair, double screening)
{
    struct pair14 p = *pair;
    p.qq[0] *= screening;
    p.qq[1] *= screening;
    return p;
}

static bool is_constant_angle(const struct constant_terms *c, const void *p)
{
    return constant_angle(c, ((const struct angle *)p)->atom);
}

static bool is_constant_dihedral(const struct constant_terms *c, const void *p)
{
    const struct dihedral *d = p;
    return !d->improper && constant_dihedral(c, d->atom);
}

static bool is_constant_improper(const struct constant_terms *c, const void *p)
{
    return constant_dihedral(c, ((const struct improper *)p)->atom);
}

/* A sorted copy of the items that are not constant. */
static void *varying_copy(const struct constant_terms *c, bool (*constant)(const struct constant_terms *, const void *),
                          const void *items, int count, size_t size, bool (*perturbed)(const void *),
                          struct term_list *out)
{
    unsigned char *kept = xcalloc((size_t)count, size);
    const unsigned char *from = items;
    int n = 0;
    for (int i = 0; i < count; i++)
        if (!constant(c, from + (size_t)i * size))
            memcpy(kept + size * (size_t)n++, from + (size_t)i * size, size);
    void *sorted = sorted_copy(kept, n, size, perturbed, out);
    free(kept);
    return sorted;
}

/* A 1-4 pair follows the Coulomb and vdw lambdas when one of its atoms or its own parameters differ between A and B. In
 * a decoupled molecule 1-4 pairs stay as they are. */
static void build_pairs14(struct topology *t, const struct system *sys, const struct settings *set)
{
    const bool b_states = set->alchemy.kind == ALCHEMY_B_STATES;
    const double screening = coulomb_screening(&set->nonbonded);
    t->pairs14 = xcalloc((size_t)sys->npairs14, sizeof *t->pairs14);
    t->npairs14 = (struct term_list){0};
    uint32_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < sys->npairs14; i++) {
            const struct pair14 *p = &sys->pairs14[i];
            bool differs = p->lj[0].c6 != p->lj[1].c6 || p->lj[0].c12 != p->lj[1].c12;
            for (int k = 0; k < 2; k++) {
                const struct atom *a = &sys->atoms[p->atom[k]];
                differs |= a->charge[0] != a->charge[1] || a->type[0] != a->type[1] || a->mass[0] != a->mass[1];
            }
            if ((b_states && differs && !p->fixed) == (pass == 1))
                t->pairs14[at++] = screened(p, screening);
        }
        if (pass == 0)
            t->npairs14.perturbed = at;
    }
    t->npairs14.count = at;
}

/* End states of a perturbed pair. Its fudge factor for charges, with epsilon-r in it, is read off whichever product of
 * charges is not zero; where both are, the pair has no Coulomb energy at any lambda. */
static struct soft_pair soft_of(const struct system *sys, const struct soft_rule *rule, const struct pair14 *p)
{
    const double *q = sys->atoms[p->atom[0]].charge, *o = sys->atoms[p->atom[1]].charge;
    double fudge = 0;
    if (q[0] * o[0] != 0)
        fudge = p->qq[0] / (q[0] * o[0]);
    else if (q[1] * o[1] != 0)
        fudge = p->qq[1] / (q[1] * o[1]);
    const double c6[2] = {p->lj[0].c6, p->lj[1].c6}, c12[2] = {p->lj[0].c12, p->lj[1].c12};
    return soft_pair_make(rule, c6, c12, q, o, UNIT_COULOMB * fudge);
}

static void build_soft14(struct topology *t, const struct system *sys, const struct settings *set)
{
    t->soft = soft_rule_of(set, false);
    uint32_t n = t->npairs14.count - t->npairs14.perturbed;
    t->soft14 = xcalloc(n, sizeof *t->soft14);
    for (uint32_t i = 0; i < n; i++)
        t->soft14[i] = soft_of(sys, &t->soft, &t->pairs14[t->npairs14.perturbed + i]);
}

static void set_turns(struct topology *t)
{
    for (uint32_t i = 0; i < t->ndihedrals.count; i++) {
        t->dihedrals[i].turn0[0] = cos(t->dihedrals[i].phi0[0]);
        t->dihedrals[i].turn0[1] = sin(t->dihedrals[i].phi0[0]);
    }
}

void topology_terms(struct topology *t, const struct system *sys, const struct settings *set,
                    const struct constant_terms *constant)
{
    struct bond *bonds = t->bonds;
    struct rare_term *rare = t->rare;
    t->bonds = sorted_copy(bonds, (int)t->nbonds.count, sizeof *bonds, bond_perturbed, &t->nbonds);
    t->rare = sorted_copy(rare, (int)t->nrare.count, sizeof *rare, rare_perturbed, &t->nrare);
    free(bonds);
    free(rare);
    t->centers = sorted_copy(sys->centers, sys->ncenters, sizeof *t->centers, centers_perturbed, &t->ncenters);
    t->cmaps = sorted_copy(sys->cmaps, sys->ncmaps, sizeof *t->cmaps, cmap_perturbed, &t->ncmaps);
    t->ncmap_points = (uint32_t)sys->ncmap_points;
    t->cmap_points = xcalloc(t->ncmap_points, sizeof *t->cmap_points);
    if (sys->ncmap_points)
        memcpy(t->cmap_points, sys->cmap_points, t->ncmap_points * sizeof *t->cmap_points);
    t->angles = varying_copy(constant, is_constant_angle, sys->angles, sys->nangles, sizeof *t->angles, angle_perturbed,
                             &t->nangles);
    t->dihedrals = varying_copy(constant, is_constant_dihedral, sys->dihedrals, sys->ndihedrals, sizeof *t->dihedrals,
                                dihedral_perturbed, &t->ndihedrals);
    set_turns(t);
    t->rb_dihedrals =
        sorted_copy(sys->rb_dihedrals, sys->nrb_dihedrals, sizeof *t->rb_dihedrals, rb_perturbed, &t->nrb_dihedrals);
    t->impropers = varying_copy(constant, is_constant_improper, sys->impropers, sys->nimpropers, sizeof *t->impropers,
                                improper_perturbed, &t->nimpropers);
    t->position_restraints = sorted_copy(sys->position_restraints, sys->nposition_restraints,
                                         sizeof *t->position_restraints, restraint_perturbed, &t->nposition_restraints);
    build_pairs14(t, sys, set);
    build_soft14(t, sys, set);
}
