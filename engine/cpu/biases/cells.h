/* SPDX-License-Identifier: Apache-2.0
 *
 * Atoms of a coordination's groups in the order of cells of the box, so that pairs out of reach need not be looked at.
 * Cells are made anew for every evaluation, of positions alone: what is summed, and in which order, does not depend on
 * what came before.
 */
#ifndef SHOAL_ENGINE_CPU_BIASES_CELLS_H
#define SHOAL_ENGINE_CPU_BIASES_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/math/box.h"
#include "engine/system/biases.h"

enum { CELLS_ROWS_LEAST = 16 }; /* of the first group: for fewer atoms it is not worth it */

/* With room for all of a group. */
struct cell_atoms {
    double *x[3];
    int32_t *atom;
    uint32_t *place; /* in the group */
};

struct cells {
    uint32_t n[3], total; /* along each edge; 1 in all: atoms are in the order of the group */
    uint32_t reach[3];    /* so many cells to each side */
    uint32_t *first[2];   /* [total + 1], of each group; of one group both are the same, so are the atoms */
    struct cell_atoms of[2];
    struct cell_atoms near; /* of the second group, about one cell */
    uint32_t nnear;
};

static inline size_t cells_bytes(const struct coordination *c)
{
    const size_t atoms = (size_t)c->count[0] + 2 * (size_t)c->count[1], starts = 2 * ((size_t)c->count[1] + 2);
    return atoms * (3 * sizeof(double) + sizeof(int32_t) + sizeof(uint32_t)) +
           (starts * sizeof(uint32_t) + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

/* In memory of cells_bytes. */
static inline struct cells cells_at(void *memory, const struct coordination *c)
{
    struct cells s = {.n = {1, 1, 1}, .total = 1};
    struct cell_atoms *const lists[3] = {&s.of[0], &s.of[1], &s.near};
    const uint32_t room[3] = {c->count[0], c->count[1], c->count[1]};
    double *reals = memory;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++, reals += room[k])
            lists[k]->x[d] = reals;
    uint32_t *whole = (uint32_t *)reals;
    for (int k = 0; k < 3; k++, whole += 2 * room[k - 1]) {
        lists[k]->atom = (int32_t *)whole;
        lists[k]->place = whole + room[k];
    }
    s.first[0] = whole;
    s.first[1] = whole + c->count[1] + 2;
    if (c->pairs == COORDINATION_WITHIN) {
        s.of[0] = s.of[1];
        s.first[0] = s.first[1];
    }
    return s;
}

/* Half as wide as the function reaches, but with two atoms or more on average; one cell where others would leave most
 * pairs. */
static inline void cells_divide(struct cells *s, const struct coordination *c, const double box[BOX_SIZE])
{
    const double reach = sqrt(c->f.farthest2);
    double width[3], part = 1;
    if (c->pairs == COORDINATION_PAIRED || !c->periodic || isinf(reach) || c->count[0] < CELLS_ROWS_LEAST)
        return;
    box_widths(box, width);
    const double edge = fmax(0.5 * reach, cbrt(2 * box_volume(box) / c->count[1]));
    for (int d = 0; d < 3; d++)
        s->n[d] = (uint32_t)fmax(1, fmin(floor(width[d] / edge), c->count[1]));
    while ((uint64_t)s->n[0] * s->n[1] * s->n[2] > c->count[1]) /* a flat box */
        for (int d = 0; d < 3; d++)
            s->n[d] = (s->n[d] + 1) / 2;
    for (int d = 0; d < 3; d++) {
        s->reach[d] = (uint32_t)fmin(ceil(reach * s->n[d] / width[d] * (1 + 1e-9)), s->n[d]);
        part *= fmin(1, (2.0 * s->reach[d] + 1) / s->n[d]);
    }
    if (part > 0.75)
        s->n[0] = s->n[1] = s->n[2] = 1;
    s->total = s->n[0] * s->n[1] * s->n[2];
}

static inline uint32_t cell_of(const struct cells *s, const double inverse[BOX_SIZE], const double x[3])
{
    double f[3];
    uint32_t at[3];
    box_apply(inverse, x, f);
    for (int d = 0; d < 3; d++) {
        const double k = floor((f[d] - floor(f[d])) * s->n[d]);
        at[d] = k < s->n[d] ? (uint32_t)k : s->n[d] - 1;
    }
    return (at[2] * s->n[1] + at[1]) * s->n[0] + at[0];
}

static inline void cell_take(const struct cell_atoms *to, uint32_t at, int32_t atom, uint32_t place,
                             const double (*x)[3])
{
    for (int d = 0; d < 3; d++)
        to->x[d][at] = x[atom][d];
    to->atom[at] = atom;
    to->place[at] = place;
}

/* The g-th group: its atoms by cells, in each in the order of the group. */
static inline void cells_fill(struct cells *s, int g, const int32_t *atom, uint32_t n, const double (*x)[3],
                              const double box[BOX_SIZE])
{
    uint32_t *first = s->first[g], *of = s->near.place; /* room for either group */
    double inverse[BOX_SIZE];
    box_invert(box, inverse);
    for (uint32_t k = 0; k < s->total + 2; k++)
        first[k] = 0;
    for (uint32_t i = 0; i < n && s->total > 1; i++)
        first[2 + (of[i] = cell_of(s, inverse, x[atom[i]]))]++;
    for (uint32_t k = 2; k < s->total + 2; k++)
        first[k] += first[k - 1];
    for (uint32_t i = 0; i < n; i++)
        cell_take(&s->of[g], s->total > 1 ? first[1 + of[i]]++ : i, atom[i], i, x);
    if (s->total == 1)
        first[1] = n;
}

/* Cells [from, to). */
static inline void cells_add_near(struct cells *s, uint32_t from, uint32_t to)
{
    for (uint32_t k = s->first[1][from]; k < s->first[1][to]; k++, s->nnear++) {
        for (int d = 0; d < 3; d++)
            s->near.x[d][s->nnear] = s->of[1].x[d][k];
        s->near.atom[s->nnear] = s->of[1].atom[k];
        s->near.place[s->nnear] = s->of[1].place[k];
    }
}

/* A piece of a row of cells, of those behind `cell` if `behind`. */
static inline void cells_add_piece(struct cells *s, uint32_t cell, bool behind, uint32_t from, uint32_t to)
{
    if (behind && from <= cell)
        from = cell + 1;
    if (from < to)
        cells_add_near(s, from, to);
}

/* Those of a row in reach of place `at` in it, across its ends. */
static inline void cells_add_row(struct cells *s, uint32_t cell, bool behind, uint32_t row, uint32_t at)
{
    const uint32_t n = s->n[0], reach = s->reach[0], first = row * n;
    if (2 * reach + 1 >= n) {
        cells_add_piece(s, cell, behind, first, first + n);
        return;
    }
    const uint32_t from = at < reach ? 0 : at - reach, to = at + reach + 1;
    if (to > n)
        cells_add_piece(s, cell, behind, first, first + to - n);
    cells_add_piece(s, cell, behind, first + from, first + (to < n ? to : n));
    if (at < reach)
        cells_add_piece(s, cell, behind, first + n - (reach - at), first + n);
}

/* How many places of dimension d are in reach, and the k-th of them. */
static inline uint32_t cells_reached(const struct cells *s, int d)
{
    return 2 * s->reach[d] + 1 < s->n[d] ? 2 * s->reach[d] + 1 : s->n[d];
}

static inline uint32_t cells_reach(const struct cells *s, int d, uint32_t at, uint32_t k)
{
    return cells_reached(s, d) == s->n[d] ? k : (at + s->n[d] - s->reach[d] + k) % s->n[d];
}

/* s->near: atoms of the second group that those of the first in a cell may be in reach of. Within one group every two
 * cells meet once: first the cell's own, then of cells behind it. */
static inline void cells_gather(struct cells *s, uint32_t cell, bool within)
{
    const uint32_t x = cell % s->n[0], y = cell / s->n[0] % s->n[1], z = cell / s->n[0] / s->n[1];
    if (s->total == 1) { /* they are there */
        s->near = s->of[1];
        s->nnear = s->first[1][1];
        return;
    }
    s->nnear = 0;
    if (within)
        cells_add_near(s, cell, cell + 1);
    for (uint32_t k = 0; k < cells_reached(s, 2); k++)
        for (uint32_t j = 0; j < cells_reached(s, 1); j++) {
            const uint32_t row = cells_reach(s, 2, z, k) * s->n[1] + cells_reach(s, 1, y, j);
            cells_add_row(s, cell, within, row, x);
        }
}

#endif
