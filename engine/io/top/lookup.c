/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters that a line leaves to its types.
 */
#include "engine/io/top/top.h"

#include <math.h>

/* First line of the types in their order or reversed, whichever comes first in the file; -1: none. */
static int find_either(const struct top_bonded_types *list, const int *types, int natoms)
{
    int forward[4] = {0}, reverse[4] = {0};
    for (int i = 0; i < natoms; i++) {
        forward[i] = types[i];
        reverse[i] = types[natoms - 1 - i];
    }
    int a = hash_table_get(&list->index, forward, sizeof forward),
        b = hash_table_get(&list->index, reverse, sizeof reverse);
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Dihedrals may have wildcards: the most types that fit without one win, then the first in the file. */
static int find_wild(const struct top_bonded_types *list, const int *types)
{
    for (int specific = 4; specific >= 0; specific--) {
        int best = -1;
        for (int mask = 0; mask < 16; mask++) {
            if (__builtin_popcount((unsigned)mask) != specific)
                continue;
            int masked[4];
            for (int i = 0; i < 4; i++)
                masked[i] = mask >> i & 1 ? types[i] : WILDCARD;
            int found = find_either(list, masked, 4);
            if (found >= 0 && (best < 0 || found < best))
                best = found;
        }
        if (best >= 0)
            return best;
    }
    return -1;
}

const struct top_bonded_type *top_find(const struct top *t, enum top_kind kind, const int *types, int *n)
{
    const struct top_bonded_types *list = &t->bonded_types[kind];
    int natoms = top_kinds[kind].natoms;
    int first = natoms == 4 ? find_wild(list, types) : find_either(list, types, natoms);
    *n = 0;
    if (first < 0)
        return NULL;
    while (first + *n < list->n && list->items[first + *n].block == first)
        ++*n;
    return &list->items[first];
}

bool top_fits(const struct top_bonded_type *line, const int types[4])
{
    for (int i = 0; i < 4; i++)
        if (line->atom[i] != WILDCARD && line->atom[i] != types[i])
            return false;
    return true;
}

void top_lj_params(const struct top *t, int a, int b, double c[2])
{
    int key[2] = {a < b ? a : b, a < b ? b : a};
    int i = hash_table_get(&t->nonbonded_index, key, sizeof key);
    const double *p = t->types[a].c, *q = t->types[b].c;
    if (i >= 0) {
        c[0] = t->nonbonded[i].c[0];
        c[1] = t->nonbonded[i].c[1];
        return;
    }
    c[1] = sqrt(p[1] * q[1]);
    if (t->comb_rule == 1) {
        c[0] = sqrt(p[0] * q[0]);
        return;
    }
    /* A negative sigma means "no attraction" and keeps that meaning through the rule. */
    c[0] = t->comb_rule == 2 ? 0.5 * (fabs(p[0]) + fabs(q[0])) : sqrt(fabs(p[0] * q[0]));
    if (p[0] < 0 || q[0] < 0)
        c[0] = -c[0];
}

bool top_pair_params(const struct top *t, int a, int b, double c[2])
{
    int n, types[2] = {a, b};
    const struct top_bonded_type *p = top_find(t, KIND_PAIR, types, &n);
    if (p) {
        c[0] = p->c[0][0];
        c[1] = p->c[0][1];
        return true;
    }
    if (!t->gen_pairs)
        return false;
    top_lj_params(t, a, b, c);
    c[0] *= t->comb_rule == 1 ? t->fudge_lj : 1;
    c[1] *= t->fudge_lj;
    return true;
}

struct lj top_lj(const struct top *t, const double c[2])
{
    if (t->comb_rule == 1)
        return (struct lj){.c6 = c[0], .c12 = c[1]};
    double s3 = c[0] * c[0] * c[0], s6 = s3 * s3;
    return (struct lj){.c6 = c[0] >= 0 ? 4 * c[1] * s6 : 0, .c12 = 4 * c[1] * s6 * s6};
}
