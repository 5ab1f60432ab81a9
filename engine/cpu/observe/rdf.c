/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of two groups by their distance: all pairs, a piece of the second group at a time, so that the loop over it is
 * one over neighbouring numbers.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/isa.h"
#include "engine/kernels/observe.h"
#include "engine/kernels/rdf.h"

enum { PIECE = 256 };

/* Atoms of the second group. */
struct piece {
    uint32_t first, n;
    double x[3][PIECE]; /* nm */
    int32_t bin[PIECE]; /* of the distance to the atom at hand */
};

static void gather(struct piece *p, const double (*x)[3], const int32_t *atom, uint32_t first, uint32_t n)
{
    p->first = first;
    p->n = n;
    for (uint32_t k = 0; k < n; k++)
        for (int d = 0; d < 3; d++)
            p->x[d][k] = x[atom[first + k]][d];
}

static void measure(struct piece *p, const double from[3], const double box[BOX_SIZE], double width)
{
    const double per_edge[3] = {1 / box[BOX_XX], 1 / box[BOX_YY], 1 / box[BOX_ZZ]};
    for (uint32_t k = 0; k < p->n; k++)
        p->bin[k] = rdf_bin(p->x[0][k] - from[0], p->x[1][k] - from[1], p->x[2][k] - from[2], box, per_edge, width);
}

/* Pairs of atom i of the first group with those of the piece from number `from` on. */
static void count(const struct args_observe_rdf *a, const struct piece *p, uint32_t i, uint32_t from, int64_t *pairs)
{
    const struct observe_table *t = a->table;
    const struct rdf_table *own = t->own;
    uint32_t near[PIECE], n = 0; /* those that have a bin, found without a branch: which ones is not to be foreseen */
    for (uint32_t k = from; k < p->n; k++) {
        near[n] = k;
        n += (uint32_t)p->bin[k] < own->bins;
    }
    for (uint32_t m = 0; m < n; m++) {
        const uint32_t k = near[m], j = p->first + k;
        if (own->overlapping && t->atom[0][i] == t->atom[1][j])
            continue;
        if (!own->within && own->molecule[0][i] == own->molecule[1][j])
            continue;
        pairs[p->bin[k]]++;
    }
}

ISA_FN(observe_rdf)
{
    const struct ctl *c = a->ctl;
    const struct observe_table *t = a->table;
    const struct rdf_table *own = t->own;
    struct observed *s = a->seen;
    const double(*x)[3] = a->x;
    struct piece p;
    if (c->halt || !s->now)
        return;
    int64_t *pairs = observed_counts(t, s, s->blocks - 1);
    for (uint32_t first = 0; first < t->natoms[1]; first += PIECE) {
        const uint32_t left = t->natoms[1] - first, n = left < PIECE ? left : PIECE;
        const uint32_t end = own->same ? first + n : t->natoms[0];
        gather(&p, x, t->atom[1], first, n);
        for (uint32_t i = 0; i < end; i++) {
            measure(&p, x[t->atom[0][i]], c->box, own->bin);
            count(a, &p, i, own->same && i >= first ? i - first + 1 : 0, pairs);
        }
    }
    observed_reals(t, s, s->blocks - 1)[0] += 1 / box_volume(c->box);
}
