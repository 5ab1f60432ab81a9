/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/constant_terms.h"

#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/math/bodies/sites.h"
#include "engine/prepare/fixed_distances.h"
#include "engine/system/rare_kinds.h"

static void hold(struct constant_terms *c, int a, int b)
{
    c->held[c->nheld][0] = a < b ? a : b;
    c->held[c->nheld++][1] = a < b ? b : a;
}

static int by_pair(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

static void find_held(struct constant_terms *c, const struct system *sys)
{
    c->held = xcalloc((size_t)sys->nbonds + (size_t)sys->nrare + (size_t)sys->nconstraints + 3 * (size_t)sys->nsettles,
                      sizeof *c->held);
    for (int i = 0; i < sys->nconstraints; i++)
        hold(c, sys->constraints[i].atom[0], sys->constraints[i].atom[1]);
    for (int i = 0; i < sys->nbonds; i++)
        if (fixed_distance_constrains(sys, sys->bonds[i].atom, c->how))
            hold(c, sys->bonds[i].atom[0], sys->bonds[i].atom[1]);
    for (int i = 0; i < sys->nrare; i++)
        if (fixed_distance_has_length(&sys->rare[i]) && fixed_distance_constrains(sys, sys->rare[i].atom, c->how))
            hold(c, sys->rare[i].atom[0], sys->rare[i].atom[1]);
    for (int i = 0; i < sys->nsettles; i++) {
        const struct settle *s = &sys->settles[i];
        hold(c, s->oxygen, s->hydrogen[0]);
        hold(c, s->oxygen, s->hydrogen[1]);
        hold(c, s->hydrogen[0], s->hydrogen[1]);
    }
    if (c->nheld)
        qsort(c->held, c->nheld, sizeof *c->held, by_pair);
}

void constant_terms_init(struct constant_terms *c, const struct system *sys, enum constrain how)
{
    *c = (struct constant_terms){.sys = sys, .how = how};
    if (!sys->nsites)
        return;
    c->site_of = xcalloc((size_t)sys->natoms, sizeof *c->site_of);
    for (int i = 0; i < sys->natoms; i++)
        c->site_of[i] = -1;
    for (int i = 0; i < sys->nsites; i++)
        c->site_of[sys->sites[i].atom] = i;
    find_held(c, sys);
}

void constant_terms_close(struct constant_terms *c)
{
    free(c->site_of);
    free(c->held);
}

static bool is_held(const struct constant_terms *c, int a, int b)
{
    const int32_t pair[2] = {a < b ? a : b, a < b ? b : a};
    return c->nheld && bsearch(pair, c->held, c->nheld, sizeof *c->held, by_pair) != NULL;
}

static const struct virtual_site *site_at_atom(const struct constant_terms *c, int atom)
{
    return c->site_of && c->site_of[atom] >= 0 ? &c->sys->sites[c->site_of[atom]] : NULL;
}

/* Index of an atom among those that place a site; -1: it is none of them. */
static int place_of(const struct constant_terms *c, const struct virtual_site *s, int atom)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (c->sys->site_atoms[s->first + k] == atom)
            return (int)k;
    return -1;
}

static bool same_atoms(const struct constant_terms *c, const struct virtual_site *a, const struct virtual_site *b)
{
    for (uint32_t k = 0; k < b->count; k++)
        if (place_of(c, a, c->sys->site_atoms[b->first + k]) < 0)
            return false;
    return true;
}

/* What a term has to do with sites. */
struct of_sites {
    const struct virtual_site *first; /* of the term; NULL: it has none */
    bool one_frame; /* all its sites are placed by the same atoms, and all its other atoms are among those */
    bool first_two; /* its other atoms are the first two of those */
    bool all_fixed; /* all sites are at a fixed distance from the atom that places them first */
    bool all_fad;   /* all sites are of the kind 3fad */
};

static bool has_fixed_distance(const struct virtual_site *s)
{
    return s->kind == SITE_3FD || s->kind == SITE_3FAD || s->kind == SITE_4FDN;
}

/* counts: sites of other numbers of atoms are in another frame. */
static struct of_sites look(const struct constant_terms *c, const int *atom, int n, bool counts)
{
    struct of_sites o = {.one_frame = true, .first_two = true, .all_fixed = true, .all_fad = true};
    for (int k = 0; k < n; k++) {
        const struct virtual_site *s = site_at_atom(c, atom[k]);
        if (!s)
            continue;
        o.first = o.first ? o.first : s;
        o.all_fixed &= has_fixed_distance(s);
        o.all_fad &= s->kind == SITE_3FAD;
        o.one_frame &= s->count == o.first->count ? same_atoms(c, o.first, s) : !counts;
    }
    for (int k = 0; k < n && o.first; k++) {
        int place = site_at_atom(c, atom[k]) ? 0 : place_of(c, o.first, atom[k]);
        o.one_frame &= place >= 0;
        o.first_two &= place < 2;
    }
    return o;
}

/* Whether constraints hold each of the atoms that place a site to the next, and the last to the first. */
static bool is_rigid(const struct constant_terms *c, const struct virtual_site *s)
{
    const int *from = c->sys->site_atoms + s->first;
    for (uint32_t k = 0; k < s->count; k++)
        if (!is_held(c, from[k], from[(k + 1) % s->count]))
            return false;
    return true;
}

bool constant_bond(const struct constant_terms *c, const int atom[2], bool constraint)
{
    for (int k = 0; k < 2; k++) {
        const struct virtual_site *s = site_at_atom(c, atom[k]);
        if (s && (has_fixed_distance(s) || (constraint && s->kind == SITE_3OUT)) && !site_at_atom(c, atom[1 - k]) &&
            place_of(c, s, atom[1 - k]) == 0)
            return true;
    }
    struct of_sites o = look(c, atom, 2, true);
    return o.first && o.one_frame && ((o.all_fixed && o.first_two) || is_rigid(c, o.first));
}

bool constant_angle(const struct constant_terms *c, const int atom[3])
{
    struct of_sites o = look(c, atom, 3, true);
    return o.first && o.one_frame && ((o.all_fad && o.first_two) || is_rigid(c, o.first));
}

bool constant_dihedral(const struct constant_terms *c, const int atom[4])
{
    struct of_sites o = look(c, atom, 4, false);
    return o.first && o.one_frame;
}

enum bond_fate constant_terms_bond(const struct constant_terms *c, const int atom[2])
{
    const bool rigid = fixed_distance_constrains(c->sys, atom, c->how);
    if (constant_bond(c, atom, rigid))
        return BOND_CONSTANT;
    const bool of_site = site_at_atom(c, atom[0]) || site_at_atom(c, atom[1]);
    return rigid && !(of_site && c->how == CONSTRAIN_H_BONDS) ? BOND_CONSTRAINED : BOND_STAYS;
}

enum bond_fate constant_terms_rare(const struct constant_terms *c, const struct rare_term *r)
{
    switch (rare_kinds[r->kind].part) {
    case RARE_PART_BOND_LENGTH:
        return constant_terms_bond(c, r->atom);
    case RARE_PART_ANGLE:
        return constant_angle(c, r->atom) ? BOND_CONSTANT : BOND_STAYS;
    case RARE_PART_BOND:
    case RARE_PART_DIHEDRAL:
    case RARE_PART_RESTRAINT:
        return BOND_STAYS;
    }
    return BOND_STAYS;
}
