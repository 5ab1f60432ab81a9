/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/union_find.h"

#include <stdlib.h>

#include "engine/base/buf.h"

void forest_init(struct forest *f, int natoms)
{
    *f = (struct forest){.natoms = natoms};
    f->parent = xcalloc((size_t)natoms, sizeof *f->parent);
    f->edge = xcalloc((size_t)natoms, sizeof *f->edge);
    for (int i = 0; i < natoms; i++)
        f->parent[i] = i;
}

void forest_close(struct forest *f)
{
    free(f->parent);
    free(f->edge);
    *f = (struct forest){0};
}

static int root_of(struct forest *f, int atom)
{
    while (f->parent[atom] != atom) {
        f->parent[atom] = f->parent[f->parent[atom]];
        atom = f->parent[atom];
    }
    return atom;
}

bool forest_join(struct forest *f, int a, int b)
{
    int ra = root_of(f, a), rb = root_of(f, b);
    if (ra == rb)
        return false;
    f->parent[ra > rb ? ra : rb] = ra > rb ? rb : ra;
    f->edge[f->nedges][0] = a;
    f->edge[f->nedges++][1] = b;
    return true;
}

int forest_number(struct forest *f, const bool *member, int *tree)
{
    int n = 0;
    for (int i = 0; i < f->natoms; i++) {
        int root = root_of(f, i); /* the lowest atom of its tree, so it was numbered before the others */
        if (member && !member[i])
            tree[i] = -1;
        else
            tree[i] = root == i ? n++ : tree[root];
    }
    return n;
}
