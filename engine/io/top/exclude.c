/* SPDX-License-Identifier: Apache-2.0
 *
 * Exclusions of a molecule type: atoms up to nrexcl chemical bonds apart, and [ exclusions ]. SETTLE excludes
 * nothing, as in grompp: water topologies list its exclusions.
 */
#include "engine/io/top/top.h"

#include <stdlib.h>
#include <string.h>

#include "engine/system/rare_kinds.h"

/* Neighbour lists: of[start[i] .. start[i + 1]). */
struct bond_graph {
    int *start, *of;
};

/* The terms of a kind; NULL: they are no bonds, which exclude. */
static const struct top_terms *bonds_of(const struct top_molecule *m, int kind)
{
    const bool bonds = kind >= KIND_RARE ? rare_is_bond(kind - KIND_RARE)
                                         : kind == KIND_BOND || kind == KIND_CONNECTION || kind == KIND_CONSTRAINT;
    return bonds ? &m->terms[kind] : NULL;
}

static struct bond_graph graph_of_bonds(const struct top_molecule *m)
{
    struct bond_graph g = {.start = xcalloc((size_t)m->natoms + 2, sizeof(int))};
    int total = 0;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        const struct top_terms *list = bonds_of(m, kind);
        total += list ? 2 * list->n : 0;
        for (int i = 0; list && i < list->n; i++)
            for (int side = 0; side < 2; side++)
                g.start[list->items[i].atom[side] + 2]++;
    }
    for (int i = 0; i < m->natoms; i++)
        g.start[i + 2] += g.start[i + 1];
    g.of = xcalloc((size_t)total, sizeof(int));
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        const struct top_terms *list = bonds_of(m, kind);
        for (int i = 0; list && i < list->n; i++)
            for (int side = 0; side < 2; side++)
                g.of[g.start[list->items[i].atom[side] + 1]++] = list->items[i].atom[!side];
    }
    return g;
}

struct pair_list {
    int (*items)[2];
    int n, cap;
};

static void add_both(struct pair_list *p, int a, int b)
{
    p->items = grow_array(p->items, p->n + 1, &p->cap, sizeof *p->items);
    p->items[p->n][0] = a;
    p->items[p->n++][1] = b;
    p->items[p->n][0] = b;
    p->items[p->n++][1] = a;
}

/* Breadth first from `atom`; every later atom within nrexcl bonds. queue and depth: [natoms], depth all -1 between
 * calls. Ends when all are found, so that a molecule of which every atom is bonded to every other costs its bonds once.
 */
static void walk(const struct bond_graph *g, int atom, int natoms, int nrexcl, int *queue, int *depth,
                 struct pair_list *out)
{
    int n = 1;
    queue[0] = atom;
    depth[atom] = 0;
    for (int head = 0; head < n && n < natoms; head++) {
        int a = queue[head];
        if (depth[a] == nrexcl)
            break;
        for (int k = g->start[a]; k < g->start[a + 1]; k++) {
            int b = g->of[k];
            if (depth[b] >= 0)
                continue;
            depth[b] = depth[a] + 1;
            queue[n++] = b;
            if (b > atom)
                add_both(out, atom, b);
        }
    }
    for (int i = 0; i < n; i++)
        depth[queue[i]] = -1;
}

static int exclude_bonded(const struct top_molecule *m, struct pair_list *out)
{
    struct bond_graph g = graph_of_bonds(m);
    int *queue = xcalloc((size_t)m->natoms, sizeof *queue), *depth = xcalloc((size_t)m->natoms, sizeof *depth);
    for (int i = 0; i < m->natoms; i++)
        depth[i] = -1;
    for (int i = 0; i < m->natoms && out->n < TOP_EXCLUSIONS_MAX; i++)
        walk(&g, i, m->natoms, m->nrexcl, queue, depth, out);
    free(g.start);
    free(g.of);
    free(queue);
    free(depth);
    return out->n < TOP_EXCLUSIONS_MAX;
}

static int by_atoms(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

int top_exclude(struct top_molecule *m, struct err *e)
{
    struct pair_list p = {0};
    if (!exclude_bonded(m, &p)) {
        free(p.items);
        return err_set(e, ERR_UNSUPPORTED, "molecule type %s: more than %d exclusions", m->name, TOP_EXCLUSIONS_MAX);
    }
    for (int i = 0; i < m->nexclusions; i++)
        add_both(&p, m->exclusions[i][0], m->exclusions[i][1]);
    if (p.n)
        qsort(p.items, (size_t)p.n, sizeof *p.items, by_atoms);
    m->exclusion_start = xcalloc((size_t)m->natoms + 1, sizeof(int));
    m->exclusion = xcalloc((size_t)p.n, sizeof(int));
    int n = 0;
    for (int i = 0; i < p.n; i++) {
        if (i && !memcmp(p.items[i], p.items[i - 1], sizeof *p.items))
            continue;
        m->exclusion_start[p.items[i][0] + 1] = ++n;
        m->exclusion[n - 1] = p.items[i][1];
    }
    for (int i = 0; i < m->natoms; i++)
        if (m->exclusion_start[i + 1] == 0)
            m->exclusion_start[i + 1] = m->exclusion_start[i];
    free(p.items);
    return 0;
}
