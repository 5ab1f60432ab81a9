/* SPDX-License-Identifier: Apache-2.0
 *
 * Every interaction is a product over what takes part in it, so each atom has one factor: the root of s in the solute,
 * 1 elsewhere.
 */
#include "engine/derive/solute_tempering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/system/rare_kinds.h"

/* [natoms]; the caller frees it. */
static bool *find_solute(const struct system *sys, const struct tempered *set)
{
    bool *in = xcalloc((size_t)sys->natoms, sizeof *in);
    for (int i = 0; i < sys->natoms; i++)
        for (int k = 0; k < set->nmolecules; k++)
            in[i] |= !strcmp(sys->kinds[sys->molecules[sys->atoms[i].molecule].kind].name, set->molecule[k]);
    return in;
}

static bool all_in(const bool *in, const int *atom, int n)
{
    for (int i = 0; i < n; i++)
        if (!in[atom[i]])
            return false;
    return true;
}

/* ---- atom types ---- */

static bool has_lj(const struct system *sys, int type)
{
    const struct lj *row = &sys->lj[(size_t)type * (size_t)sys->ntypes];
    for (int k = 0; k < sys->ntypes; k++)
        if (row[k].c6 != 0 || row[k].c12 != 0)
            return true;
    return false;
}

/* The table with copies of types: row and column `type` is that of from[type], weakened where it is a copy. */
static void widen_table(struct system *sys, int ntypes, const int *from, double root)
{
    const size_t n = (size_t)ntypes, before = (size_t)sys->ntypes;
    struct lj *wide = xcalloc(n * n, sizeof *wide);
    sys->type_names = xrealloc(sys->type_names, n, sizeof *sys->type_names);
    sys->type_numbers = xrealloc(sys->type_numbers, n, sizeof *sys->type_numbers);
    for (size_t i = 0; i < n; i++) {
        memmove(sys->type_names[i], sys->type_names[from[i]], sizeof *sys->type_names);
        sys->type_numbers[i] = sys->type_numbers[from[i]];
        for (size_t j = 0; j < n; j++) {
            const struct lj *lj = &sys->lj[(size_t)from[i] * before + (size_t)from[j]];
            const double factor = (i < before ? 1 : root) * (j < before ? 1 : root);
            wide[i * n + j] = (struct lj){factor * lj->c6, factor * lj->c12};
        }
    }
    free(sys->lj);
    sys->lj = wide;
    sys->ntypes = ntypes;
}

/* Types of the solute get copies, which its atoms have in B. A type that has no Lennard-Jones needs none. */
static int make_types(struct system *sys, const bool *in, double root, struct err *e)
{
    int n = sys->ntypes, *copy = xcalloc((size_t)n, sizeof *copy), *from = xcalloc(2 * (size_t)n, sizeof *from);
    for (int i = 0; i < n; i++)
        copy[i] = from[i] = i;
    for (int i = 0; i < sys->natoms; i++) {
        const int type = sys->atoms[i].type[0];
        if (in[i] && copy[type] == type && has_lj(sys, type)) {
            from[n] = type;
            copy[type] = n++;
        }
    }
    if (n <= SYSTEM_TYPES_MAX) {
        for (int i = 0; i < sys->natoms; i++)
            if (in[i])
                sys->atoms[i].type[1] = copy[sys->atoms[i].type[0]];
        widen_table(sys, n, from, root);
    }
    free(copy);
    free(from);
    return n <= SYSTEM_TYPES_MAX ? 0
                                 : err_set(e, ERR_UNSUPPORTED, "%d atom types with those of state B, at most %d can be",
                                           n, SYSTEM_TYPES_MAX);
}

/* ---- terms ---- */

static void temper_pair(struct pair14 *p, const bool *in, double root)
{
    const double both = (in[p->atom[0]] ? root : 1) * (in[p->atom[1]] ? root : 1);
    if (p->fixed)
        return;
    p->lj[1] = (struct lj){both * p->lj[0].c6, both * p->lj[0].c12};
    p->qq[1] = both * p->qq[0];
}

static void temper_terms(struct system *sys, const bool *in, double s)
{
    for (int i = 0; i < sys->npairs14; i++)
        temper_pair(&sys->pairs14[i], in, sqrt(s));
    for (int i = 0; i < sys->ndihedrals; i++)
        if (all_in(in, sys->dihedrals[i].atom, 4))
            sys->dihedrals[i].k[1] = s * sys->dihedrals[i].k[0];
    for (int i = 0; i < sys->nimpropers; i++)
        if (all_in(in, sys->impropers[i].atom, 4))
            sys->impropers[i].k[1] = s * sys->impropers[i].k[0];
    for (int i = 0; i < sys->nrb_dihedrals; i++)
        for (int n = 0; n < 6 && all_in(in, sys->rb_dihedrals[i].atom, 4); n++)
            sys->rb_dihedrals[i].c[1][n] = s * sys->rb_dihedrals[i].c[0][n];
    for (int i = 0; i < sys->ncmaps; i++)
        if (all_in(in, sys->cmaps[i].atom, 5))
            sys->cmaps[i].share[1] = s * sys->cmaps[i].share[0];
}

int temper_make(struct system *sys, const struct tempered *set, double temperature, struct err *e)
{
    const double s = temperature / set->to;
    bool *in = find_solute(sys, set);
    int rc = make_types(sys, in, sqrt(s), e);
    for (int i = 0; i < sys->natoms && !rc; i++)
        if (in[i])
            sys->atoms[i].charge[1] = sqrt(s) * sys->atoms[i].charge[0];
    if (!rc)
        temper_terms(sys, in, s);
    free(in);
    return rc;
}

struct temper_left temper_left_of(const struct system *sys, const struct tempered *set)
{
    struct temper_left left = {0};
    bool *in = find_solute(sys, set);
    for (int i = 0; i < sys->nrare; i++) {
        const struct rare_term *r = &sys->rare[i];
        bool dihedral = rare_kinds[r->kind].part == RARE_PART_DIHEDRAL;
        left.dihedrals += dihedral && all_in(in, r->atom, 4);
    }
    for (int i = 0; i < sys->npairs14; i++)
        left.pairs += sys->pairs14[i].fixed && all_in(in, sys->pairs14[i].atom, 2);
    for (int i = 0; i < sys->npairs_nb; i++)
        left.pairs += all_in(in, sys->pairs_nb[i].atom, 2);
    free(in);
    return left;
}
