/* SPDX-License-Identifier: Apache-2.0
 *
 * CMAP corrections: lines of [ cmaptypes ], by five types or by five pairs TYPE-RESIDUE, and which of them five atoms
 * have.
 */
#include "engine/io/top/top.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"

enum { CMAP_SIDE_MAX = 180 }; /* one point for two degrees; force fields have 24 */

/* Values of a grid from word `first` on. */
static int read_grid(struct top *t, int first, int side, double **values, struct err *e)
{
    int n = side * side, rc = 0;
    if (t->nwords - first != n)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s, expected %d for a grid of %d by %d", t->nwords - first,
                        number_word(t->nwords - first, "value", "values"), n, side, side);
    double *v = xcalloc((size_t)n, sizeof *v);
    for (int i = 0; i < n && !rc; i++)
        rc = top_real(t, first + i, "a value", &v[i], e);
    if (rc)
        free(v);
    else
        *values = v;
    return rc;
}

/* TYPE-RESIDUE: the word becomes the type alone, unless a type is called so. ERR_TOPOLOGY: some have a residue, others
 * none. */
static int split_residues(struct top *t, char residue[5][16], struct err *e)
{
    int n = 0;
    for (int i = 0; i < 5 && i < t->nwords; i++) {
        char *w = t->words[i], *dash = strchr(w, '-');
        if (!dash || hash_table_get(&t->bonded_names, w, strlen(w)) >= 0)
            continue;
        *dash = '\0';
        if (!dash[1] || strlen(dash + 1) >= sizeof residue[i])
            return top_fail(t, e, ERR_TOPOLOGY, "read '%.40s-%.40s', expected TYPE or TYPE-RESIDUE", w, dash + 1);
        memcpy(residue[i], dash + 1, strlen(dash + 1) + 1);
        n++;
    }
    return n == 0 || n == 5
               ? 0
               : top_fail(t, e, ERR_TOPOLOGY, "read %d types with a residue, expected 5 (TYPE-RESIDUE) or none", n);
}

static void add_cmap(struct top *t, const int types[5], struct top_cmap_type *c)
{
    int last = hash_table_get(&t->cmap_index, types, sizeof(int[5]));
    c->next = -1;
    while (last >= 0 && t->cmaps[last].next >= 0)
        last = t->cmaps[last].next;
    if (last >= 0)
        t->cmaps[last].next = t->ncmaps;
    else
        hash_table_add(&t->cmap_index, types, sizeof(int[5]), t->ncmaps);
    t->cmaps = grow_array(t->cmaps, t->ncmaps, &t->cmaps_cap, sizeof *t->cmaps);
    t->cmaps[t->ncmaps++] = *c;
}

/* The one that is found first, as grompp does. */
static bool is_known_cmap(struct top *t, const int types[5], const struct top_cmap_type *c)
{
    int i = hash_table_get(&t->cmap_index, types, sizeof(int[5]));
    while (i >= 0 && memcmp(t->cmaps[i].residue, c->residue, sizeof c->residue) != 0)
        i = t->cmaps[i].next;
    if (i < 0)
        return false;
    const struct top_cmap_type *known = &t->cmaps[i];
    if (known->side != c->side ||
        memcmp(known->values, c->values, (size_t)(c->side * c->side) * sizeof *c->values) != 0)
        top_note(t, NOTE_REDEFINED,
                 "values for these types are defined before and are others; those hold, as for grompp");
    return true;
}

/* Five types, function 1, the numbers of points along phi and psi, and the values, psi running faster. */
int top_cmap_type(struct top *t, struct err *e)
{
    struct top_cmap_type c = {0};
    int types[5];
    long funct, side, other;
    int rc = split_residues(t, c.residue, e);
    if (rc || (rc = top_type_names(t, 0, 5, false, types, e)) ||
        (rc = top_int(t, 5, "a function number", 1, 100, &funct, e)))
        return rc;
    if (funct != 1)
        return top_no_function(t, "cmap", funct, e);
    if ((rc = top_int(t, 6, "a number of points", 2, CMAP_SIDE_MAX, &side, e)) ||
        (rc = top_int(t, 7, "a number of points", 2, CMAP_SIDE_MAX, &other, e)))
        return rc;
    if (side != other)
        return top_fail(t, e, ERR_UNSUPPORTED, "a grid of %ld by %ld: only square ones are computed", side, other);
    c.side = (int)side;
    if ((rc = read_grid(t, 8, c.side, &c.values, e)))
        return rc;
    if (is_known_cmap(t, types, &c))
        free(c.values);
    else
        add_cmap(t, types, &c);
    return 0;
}

int top_find_cmap(const struct top *t, const struct top_molecule *m, const int atom[5], int state)
{
    int types[5];
    for (int i = 0; i < 5; i++)
        types[i] = t->types[m->atoms[atom[i]].type[state]].bonded;
    int found = hash_table_get(&t->cmap_index, types, sizeof types);
    for (; found >= 0; found = t->cmaps[found].next) {
        bool fits = true;
        for (int i = 0; i < 5; i++) {
            const char *residue = t->cmaps[found].residue[i];
            fits &= !residue[0] || !strcmp(residue, "*") || !strcmp(residue, m->atoms[atom[i]].resname);
        }
        if (fits)
            return found;
    }
    return -1;
}
