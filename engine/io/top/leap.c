/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of an improper's atoms under _FF_AMBER_LEAP_ATOM_REORDERING, which amber14sb.ff and amber19sb.ff of GROMACS
 * define. It changes the angle, so it is that of grompp 2026 (manual, "AMBER", "Dihedrals"), and independent of the
 * parameters:
 *
 * 1. The line of [ dihedraltypes ] that fits the types of state A names the four atoms; X is a blank, before all
 * letters.
 * 2. Where that line has a force constant, the atoms are turned round so that the first name is not after the last; if
 * both are equal, the second is not after the third.
 * 3. The third atom is the center then. An improper whose four names, and whose four atoms, no earlier one of its
 * function has had (over all molecule types) stays so. In all others the three around the center are sorted by name,
 * then by number.
 */
#include "engine/io/top/top.h"

#include <stdlib.h>
#include <string.h>

struct corner {
    const char *name;
    int type, atom;
};

/* grompp names a bonded type by the atom type of the same number: another name where bonded types are fewer than atom
 * types. */
static struct corner corner_of(const struct top *t, int type, int atom)
{
    return (struct corner){type == WILDCARD ? " " : t->types[type].name, type, atom};
}

static int by_name(const void *a, const void *b)
{
    const struct corner *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : (p->atom > q->atom) - (p->atom < q->atom);
}

static void turn(struct corner c[4])
{
    for (int i = 0; i < 2; i++) {
        struct corner swap = c[i];
        c[i] = c[3 - i];
        c[3 - i] = swap;
    }
}

/* Whether names and atoms are both new to the function; then they are known from now on. */
static bool is_first(struct top *t, enum top_kind kind, const struct corner c[4])
{
    const int types[5] = {(int)kind, c[0].type, c[1].type, c[2].type, c[3].type};
    const int atoms[5] = {(int)kind, c[0].atom, c[1].atom, c[2].atom, c[3].atom};
    if (hash_table_get(&t->leap_types, types, sizeof types) >= 0 ||
        hash_table_get(&t->leap_atoms, atoms, sizeof atoms) >= 0)
        return false;
    hash_table_add(&t->leap_types, types, sizeof types, 0);
    hash_table_add(&t->leap_atoms, atoms, sizeof atoms, 0);
    return true;
}

/* The three around the third. */
static void sort_around(struct corner c[4])
{
    struct corner around[3] = {c[0], c[1], c[3]};
    qsort(around, 3, sizeof *around, by_name);
    c[0] = around[0];
    c[1] = around[1];
    c[3] = around[2];
}

/* Of the current molecule type; between molecules, where the system is one for grompp, of the system. */
static const struct top_atom *atom_of(const struct top *t, int atom)
{
    const struct top_molecule *m = &t->molecules[t->nmolecules - 1];
    for (int k = 0; t->intermolecular; k++) {
        m = &t->molecules[t->counts[k].kind];
        if (atom < t->counts[k].count * m->natoms)
            return &m->atoms[atom % m->natoms];
        atom -= t->counts[k].count * m->natoms;
    }
    return &m->atoms[atom];
}

void top_leap_order(struct top *t, enum top_kind kind, int atom[4])
{
    int types[4], n;
    struct corner c[4];
    if ((kind != KIND_IMPROPER && kind != KIND_PERIODIC_IMPROPER) ||
        !pp_defined(&t->pp, "_FF_AMBER_LEAP_ATOM_REORDERING"))
        return;
    for (int i = 0; i < 4; i++)
        types[i] = t->types[atom_of(t, atom[i])->type[0]].bonded;
    const struct top_bonded_type *line = top_find(t, kind, types, &n);
    if (!line)
        return;
    bool forward = top_fits(line, types);
    for (int i = 0; i < 4; i++)
        c[i] = corner_of(t, line->atom[forward ? i : 3 - i], atom[i]);
    int ends = strcmp(c[0].name, c[3].name);
    if (line->c[0][1] != 0 && (ends > 0 || (ends == 0 && strcmp(c[1].name, c[2].name) > 0)))
        turn(c);
    if (!is_first(t, kind, c))
        sort_around(c);
    for (int i = 0; i < 4; i++)
        atom[i] = c[i].atom;
}
