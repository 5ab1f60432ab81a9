/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists on the CPU device. A list with all pairs closer than some reach at a box L0 holds every pair that can be
 * inside the cut-off while d1 + d2 <= (L/L0) reach - cut-off, with d1 and d2 the two largest displacements since,
 * measured in grid positions times the box now, L; so volume moves count, and those that only scale cost little. The
 * reach is cut-off + buffer, but no more than the distance of opposite faces when the list is made: up to there the
 * images next to an atom's own suffice.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cpu/isa.h"
#include "engine/run/ctl.h"
#include "engine/cpu/nonbonded_tables.h"
#include "engine/math/search.h"

ISA_FN(list_check)
{
    struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    struct nb_list *list = a->list;
    const double *x = a->x;
    double *grid = a->grid, *built = a->grid_built, first = 0, second = 0, ratio = INFINITY;
    size_t n = (size_t)p->natoms;
    if (c->halt)
        return;
    double to[BOX_SIZE], back[BOX_SIZE];
    nb_grid_inverse(c->box, to);
    nb_grid_scale(c->box, back);
    for (size_t i = 0; i < n; i++) {
        double g[3], d[3];
        box_apply(to, x + 3 * i, g);
        for (size_t k = 0; k < 3; k++) {
            g[k] = rint(g[k]);
            grid[k * n + i] = g[k];
            d[k] = g[k] - built[k * n + i];
        }
        box_apply(back, d, d);
        double d2 = vec_dot(d, d);
        if (d2 <= second)
            continue;
        if (!isfinite(d2)) {
            ctl_halt(c, HALT_NONFINITE, (uint32_t)i, 0, d2);
            return;
        }
        second = d2 > first ? first : d2;
        first = d2 > first ? d2 : first;
    }
    for (int k = 0; k < 3; k++)
        ratio = fmin(ratio, c->box[k] / list->built_box[k]); /* infinite before the first build */
    list->rebuild = list->built_box[0] == 0 || sqrt(first) + sqrt(second) > ratio * list->reach - p->cutoff;
}

/* ---- building ---- */

struct bounds {
    double middle[3], half[3]; /* nm */
};

struct list_candidate {
    uint32_t cluster, shift;
};

struct key {
    double z;
    int32_t atom, column;
};

struct list_build {
    const struct nb_params *p;
    const struct args_list_build *a;
    struct nb_slots slots;
    struct bounds *boxes, *groups;
    struct list_candidate *candidates;
    struct key *keys;
    uint8_t *excluded; /* [nclusters] bits of the current slot's excluded partners */
    int32_t *slot_of;  /* [natoms], -1: perturbed */
    int32_t *column_start;
    double edge[BOX_SIZE], nm[BOX_SIZE]; /* box; nm per grid position */
    double reach2;                       /* nm^2 */
    bool triclinic;
    uint32_t entries, pairs;
};

static void scratch_layout(struct list_build *b)
{
    const struct nb_params *p = b->p;
    size_t slots = (size_t)p->nslots, clusters = (size_t)p->nclusters, groups = clusters / NB_GROUP + 1;
    unsigned char *at = b->a->scratch;
    b->keys = (struct key *)at, at += slots * sizeof *b->keys;
    b->boxes = (struct bounds *)at, at += clusters * sizeof *b->boxes;
    b->groups = (struct bounds *)at, at += groups * sizeof *b->groups;
    b->candidates = (struct list_candidate *)at, at += 27 * clusters * sizeof *b->candidates;
    b->column_start = (int32_t *)at, at += ((size_t)p->columns[0] * (size_t)p->columns[1] + 1) * sizeof(int32_t);
    b->slot_of = (int32_t *)at, at += (size_t)p->natoms * sizeof(int32_t);
    b->excluded = at;
    memset(b->excluded, 0, clusters);
}

static int by_z(const void *a, const void *b)
{
    const struct key *k = a, *l = b;
    if (k->z != l->z)
        return k->z < l->z ? -1 : 1;
    return k->atom < l->atom ? -1 : 1;
}

/* Sorts the unperturbed atoms along a path that fills the box: columns along z, walked up and down in turn, rows of
 * columns walked to and fro. Eight neighbours on the path are close together, and no cluster but the last has a gap. */
static void sort_atoms(struct list_build *b)
{
    const struct nb_params *p = b->p;
    const double *grid = b->a->grid;
    size_t n = (size_t)p->natoms;
    int32_t ny = p->columns[1], columns = p->columns[0] * ny, *start = b->column_start;
    struct key *sorted = (struct key *)b->candidates; /* not in use yet, and larger */
    memset(start, 0, ((size_t)columns + 1) * sizeof *start);
    for (int32_t k = 0; k < p->nplain; k++) {
        size_t i = (size_t)p->plain[k];
        double f[3];
        for (size_t d = 0; d < 3; d++)
            f[d] = grid[d * n + i] * (1 / NB_GRID) - floor(grid[d * n + i] * (1 / NB_GRID));
        int32_t ix = (int32_t)(f[0] * p->columns[0]), iy = (int32_t)(f[1] * ny);
        ix = ix < p->columns[0] ? ix : p->columns[0] - 1;
        iy = iy < ny ? iy : ny - 1;
        int32_t column = ix * ny + (ix % 2 ? ny - 1 - iy : iy);
        b->keys[k] = (struct key){column % 2 ? -f[2] : f[2], (int32_t)i, column};
        start[column + 1]++;
    }
    for (int32_t k = 0; k < columns; k++)
        start[k + 1] += start[k];
    for (int32_t k = p->nplain - 1; k >= 0; k--)
        sorted[--start[b->keys[k].column + 1]] = b->keys[k];
    for (int32_t k = 1; k <= columns; k++) {
        int32_t end = k < columns ? start[k + 1] : p->nplain;
        qsort(sorted + start[k], (size_t)(end - start[k]), sizeof *sorted, by_z);
    }
    memcpy(b->keys, sorted, (size_t)p->nplain * sizeof *sorted);
}

static void fill_list_slots(struct list_build *b)
{
    const struct nb_params *p = b->p;
    struct nb_slots *s = &b->slots;
    const double *grid = b->a->grid;
    size_t n = (size_t)p->natoms;
    for (int32_t i = 0; i < p->natoms; i++)
        b->slot_of[i] = -1;
    for (int32_t slot = 0; slot < p->nslots; slot++) {
        bool spare = slot >= p->nplain;
        int32_t atom = b->keys[spare ? p->nplain - 1 : slot].atom;
        for (size_t d = 0; d < 3; d++) {
            double g = grid[d * n + (size_t)atom];
            s->wrap[d][slot] = -NB_GRID * floor(g * (1 / NB_GRID));
            s->x[d][slot] = g + s->wrap[d][slot];
        }
        s->charge[slot] = spare ? 0 : p->charge[atom];
        s->type[slot] = p->type[0][atom];
        s->atom[slot] = spare ? -1 : atom;
        if (!spare)
            b->slot_of[atom] = slot;
    }
}

static struct bounds bounds_of(const double low[3], const double high[3])
{
    struct bounds box;
    for (int d = 0; d < 3; d++) {
        box.middle[d] = 0.5 * (low[d] + high[d]);
        box.half[d] = 0.5 * (high[d] - low[d]) + 1e-9; /* room for rounding */
    }
    return box;
}

static void make_boxes(struct list_build *b)
{
    double group_low[3] = {0}, group_high[3] = {0};
    for (int32_t c = 0; c < b->p->nclusters; c++) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int32_t slot = NB_WIDTH * c; slot < NB_WIDTH * (c + 1); slot++) {
            const double u[3] = {b->slots.x[0][slot], b->slots.x[1][slot], b->slots.x[2][slot]};
            double x[3];
            box_apply(b->nm, u, x);
            for (int d = 0; d < 3; d++) {
                low[d] = fmin(low[d], x[d]);
                high[d] = fmax(high[d], x[d]);
            }
        }
        for (int d = 0; d < 3; d++) {
            group_low[d] = c % NB_GROUP ? fmin(group_low[d], low[d]) : low[d];
            group_high[d] = c % NB_GROUP ? fmax(group_high[d], high[d]) : high[d];
        }
        b->boxes[c] = bounds_of(low, high);
        b->groups[c / NB_GROUP] = bounds_of(group_low, group_high);
    }
}

/* Squared gap of two boxes along one dimension, i moved by `shift` nm. */
static double gap2(const struct bounds *i, const struct bounds *j, int d, double shift)
{
    double gap = fabs(i->middle[d] + shift - j->middle[d]) - (i->half[d] + j->half[d]);
    return gap > 0 ? gap * gap : 0;
}

static void shift_of(uint32_t code, int shift[3])
{
    shift[0] = (int)(code / 9) - 1;
    shift[1] = (int)(code / 3 % 3) - 1;
    shift[2] = (int)(code % 3) - 1;
}

/* The shifts of i that bring two boxes closer than the list's reach; returns how many. The edges' triangle makes one
 * dimension after the other known, from the last on. */
static uint32_t near_shifts(const struct list_build *b, const struct bounds *i, const struct bounds *j,
                            uint32_t codes[27])
{
    const double *e = b->edge;
    uint32_t n = 0;
    if (!b->triclinic && gap2(i, j, 0, 0) >= b->reach2 && gap2(i, j, 0, e[BOX_XX]) >= b->reach2 &&
        gap2(i, j, 0, -e[BOX_XX]) >= b->reach2)
        return 0; /* most are: neighbours on the path are close in x */
    for (int z = -1; z <= 1; z++) {
        double gap_z = gap2(i, j, 2, z * e[BOX_ZZ]);
        for (int y = -1; y <= 1 && gap_z < b->reach2; y++) {
            double gap_yz = gap_z + gap2(i, j, 1, y * e[BOX_YY] + z * e[BOX_ZY]);
            for (int x = -1; x <= 1 && gap_yz < b->reach2; x++)
                if (gap_yz + gap2(i, j, 0, x * e[BOX_XX] + y * e[BOX_YX] + z * e[BOX_ZX]) < b->reach2)
                    codes[n++] = (uint32_t)(9 * x + 3 * y + z + 13);
        }
    }
    return n;
}

/* Clusters c >= i, under every shift, that may hold a partner of one of cluster i's atoms. */
static uint32_t find_candidates(struct list_build *b, int32_t i)
{
    const struct bounds *mine = &b->boxes[i];
    int32_t groups = (b->p->nclusters + NB_GROUP - 1) / NB_GROUP;
    uint32_t n = 0, codes[27];
    for (int32_t g = i / NB_GROUP; g < groups; g++) {
        if (!near_shifts(b, mine, &b->groups[g], codes))
            continue;
        int32_t from = g * NB_GROUP > i ? g * NB_GROUP : i, to = (g + 1) * NB_GROUP;
        for (int32_t c = from; c < to && c < b->p->nclusters; c++)
            for (uint32_t k = near_shifts(b, mine, &b->boxes[c], codes); k > 0; k--)
                b->candidates[n++] = (struct list_candidate){(uint32_t)c, codes[k - 1]};
    }
    return n;
}

/* Bits of a cluster's atoms closer to the point than the list's reach. */
static uint32_t near_bits(const struct list_build *b, const double at[3], uint32_t cluster)
{
    const double *x = b->slots.x[0] + NB_WIDTH * cluster, *y = b->slots.x[1] + NB_WIDTH * cluster,
                 *z = b->slots.x[2] + NB_WIDTH * cluster;
    const double reach2 = b->reach2;
    static const uint64_t lane_bit[NB_WIDTH] = {1, 2, 4, 8, 16, 32, 64, 128};
    const double ax = at[0], ay = at[1], az = at[2], xx = b->nm[BOX_XX], yy = b->nm[BOX_YY], zz = b->nm[BOX_ZZ];
    const double yx = b->nm[BOX_YX], zx = b->nm[BOX_ZX], zy = b->nm[BOX_ZY];
    uint64_t bits = 0;
#pragma omp simd simdlen(8) reduction(| : bits)
    for (int l = 0; l < NB_WIDTH; l++) {
        double dx = ax - x[l], dy = ay - y[l], dz = az - z[l];
        dx = MATH_FMA(dx, xx, MATH_FMA(dy, yx, dz * zx));
        dy = MATH_FMA(dy, yy, dz * zy);
        dz = dz * zz;
        bits |= dx * dx + dy * dy + dz * dz < reach2 ? lane_bit[l] : 0;
    }
    return (uint32_t)bits;
}

static void mark_excluded(struct list_build *b, int32_t atom, bool set)
{
    const struct nb_params *p = b->p;
    for (int32_t k = p->exclusion_start[atom]; k < p->exclusion_start[atom + 1]; k++) {
        int32_t slot = b->slot_of[p->exclusion[k]];
        if (slot >= 0)
            b->excluded[slot / NB_WIDTH] = set ? b->excluded[slot / NB_WIDTH] | (uint8_t)(1u << slot % NB_WIDTH) : 0;
    }
}

/* Which of a candidate's eight pairs with this slot are to be computed; 0: none is close enough. */
static uint32_t pair_mask(const struct list_build *b, int32_t slot, const struct list_candidate *c)
{
    const struct nb_params *p = b->p;
    int shift[3];
    double from[3];
    shift_of(c->shift, shift);
    for (int d = 0; d < 3; d++)
        from[d] = b->slots.x[d][slot] + shift[d] * NB_GRID;
    uint32_t bits = near_bits(b, from, c->cluster), mask = 0xffu & ~(uint32_t)b->excluded[c->cluster];
    if (c->cluster == (uint32_t)slot / NB_WIDTH) /* each pair of the cluster once, never an atom with itself */
        mask &= 0xffu << (slot % NB_WIDTH + 1);
    if ((int32_t)c->cluster == p->nclusters - 1 && p->nplain % NB_WIDTH)
        mask &= (1u << p->nplain % NB_WIDTH) - 1;
    return mask & bits ? mask & 0xffu : 0;
}

/* Entries of one slot. Those with all eight bits go behind those without: they are put at the far end first. Counts on
 * when there is no room. */
static void slot_entries(struct list_build *b, int32_t slot, uint32_t ncandidates)
{
    uint32_t *entries = b->a->entries, cap = b->a->entry_cap, start = b->entries, masked = 0, full = 0;
    struct nb_range *range = (struct nb_range *)b->a->ranges + slot;
    bool spare = slot >= b->p->nplain;
    if (!spare)
        mark_excluded(b, b->slots.atom[slot], true);
    for (uint32_t k = 0; k < ncandidates && !spare; k++) {
        const struct list_candidate *c = &b->candidates[k];
        uint32_t mask = pair_mask(b, slot, c);
        if (!mask)
            continue;
        bool room = start + masked + full < cap;
        uint32_t at = mask == 0xff ? cap - ++full : start + masked++;
        if (room)
            entries[at] = NB_ENTRY(mask, c->shift, c->cluster);
    }
    if (!spare)
        mark_excluded(b, b->slots.atom[slot], false);
    b->entries = start + masked + full;
    *range = (struct nb_range){start, start + masked, b->entries};
    if (b->entries <= cap)
        memmove(entries + start + masked, entries + cap - full, (size_t)full * sizeof *entries);
}

static void try_pair(struct list_build *b, int32_t i, int32_t j)
{
    const struct nb_params *p = b->p;
    const double *grid = b->a->grid;
    size_t n = (size_t)p->natoms;
    double du[3], dx[3];
    for (size_t d = 0; d < 3; d++)
        du[d] = grid[d * n + (size_t)i] - grid[d * n + (size_t)j];
    if (nb_shortest(b->nm, b->triclinic, du, dx) >= b->reach2 ||
        search_sorted(p->exclusion, p->exclusion_start[i], p->exclusion_start[i + 1], j))
        return;
    int32_t(*pairs)[2] = b->a->pairs;
    if (b->pairs < b->a->pair_cap) {
        pairs[b->pairs][0] = i;
        pairs[b->pairs][1] = j;
    }
    b->pairs++;
}

static void list_perturbed_pairs(struct list_build *b)
{
    const struct nb_params *p = b->p;
    for (int32_t k = 0; k < p->nperturbed; k++) {
        int32_t i = p->perturbed[k];
        for (int32_t l = 0; l < p->nplain; l++)
            try_pair(b, i, p->plain[l]);
        for (int32_t l = k + 1; l < p->nperturbed; l++)
            try_pair(b, i, p->perturbed[l]);
    }
}

ISA_FN(list_build)
{
    struct ctl *c = a->ctl;
    struct nb_list *list = a->list;
    const struct nb_params *p = a->params;
    if (c->halt || !list->rebuild)
        return;
    struct list_build b = {.p = p, .a = a, .slots = nb_slots_at(a->slots, p->nslots)};
    double reach = fmin(p->list_cutoff, box_least_width(c->box));
    b.reach2 = reach * reach;
    b.triclinic = box_triclinic(c->box);
    memcpy(b.edge, c->box, sizeof b.edge);
    nb_grid_scale(c->box, b.nm);
    scratch_layout(&b);
    if (p->nplain) {
        sort_atoms(&b);
        fill_list_slots(&b);
        make_boxes(&b);
    }
    for (int32_t i = 0; i < p->nclusters; i++) {
        uint32_t n = find_candidates(&b, i);
        for (int32_t slot = NB_WIDTH * i; slot < NB_WIDTH * (i + 1); slot++)
            slot_entries(&b, slot, n);
    }
    list_perturbed_pairs(&b);
    if (b.entries > a->entry_cap)
        ctl_halt(c, HALT_LIST, 0, 0, b.entries);
    else if (b.pairs > a->pair_cap)
        ctl_halt(c, HALT_LIST, 1, 0, b.pairs);
    if (c->halt) {
        list->built_box[0] = 0; /* slots and ranges no longer fit the entries */
        return;
    }
    memcpy(a->grid_built, a->grid, 3 * (size_t)p->natoms * sizeof(double));
    memcpy(list->built_box, c->box, sizeof list->built_box);
    list->pairs = b.pairs;
    list->reach = reach;
    list->rebuild = 0;
}
