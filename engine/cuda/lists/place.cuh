/* SPDX-License-Identifier: Apache-2.0
 *
 * What an evaluation of forces begins with: atoms on the grid, no forces on them yet, and whether the lists still hold.
 * `place` does that for all atoms; kernels of a timestep do it for those that they move, so that the next step finds it
 * done.
 *
 * A list of all pairs that are taken to be closer than cut-off + B + B', with B the buffers of two kinds of atoms, at a
 * box L0, has every pair that is inside the cut-off while each atom's d <= k B - (1 - k) cut-off / 2, with k = min(1,
 * L/L0) and d how far it is from where it was taken to be, measured in grid positions times the box now, L; so volume
 * moves count. A pair leaves the near list's reach by no more than that either.
 *
 * The atoms of a list are taken from the trios around a trio (trio_search.cuh). Those are searched for less often:
 * first atoms go less far than hydrogens do. Those are found whose first atoms are taken to be closer than R + skin + e
 * + e' at a box L0, with e somewhat more than the extents of trios of two kinds, and R = cut-off for two waters, else
 * with the buffers of two other atoms. So none is missed while 2 d <= k (R + skin) - R and extents are below k e, with
 * d the largest distance of first atoms from there; then there is a new search and a new list. For what is missed then
 * has no atoms inside the cut-off. Of two waters that is so at any time, as they are rigid (extents of the last
 * `place`). Extents of others are those before lists are made (build.cuh), where lists take them to be; until the next
 * ones they grow by twice their buffer at most, and so there is no need to know what they are meanwhile. A trio of one
 * atom, mostly a hydrogen, reaches nowhere and may have gone farther by e.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_PLACE_CUH
#define SHOAL_ENGINE_CUDA_LISTS_PLACE_CUH

#include "engine/cuda/device/vector32.cuh"
#include "engine/cuda/lists/position.cuh"
#include "engine/cuda/lists/layout.h"

/* Least ratio of the box to that of earlier, at most 1; 0: it had none. Exact while the box stays. */
static __device__ inline float least_ratio(const struct ctl *c, const double earlier[3])
{
    float ratio = 1;
    for (int d = 0; d < 3; d++) {
        uint64_t now, then;
        memcpy(&now, &c->box[d], sizeof now);
        memcpy(&then, &earlier[d], sizeof then);
        if (then != now)
            ratio = then == 0 ? 0 : fminf(ratio, (float)c->box[d] / (float)earlier[d]);
    }
    return ratio;
}

/* One replica's atoms on their way to the grid. */
struct placing {
    struct ctl *c;
    const struct pair_table *t;
    struct pair_lists *lists;
    uint4 *grid, *atom_grid;
    const uint4 *built;
    const uint32_t *searched[3]; /* where trios' first atoms were */
    int64_t (*f)[3];
    struct grid_units units;
    struct cell32 cell;
    float lambda;   /* of charges */
    float farthest; /* nm: no atom goes half an edge in one step */
    /* squared displacements that end lists, and searches, of trios and of those of one atom, nm^2; -1: there are none
     */
    float most2[LIST_KINDS], search_most2[2];
};

/* Rounding, of lengths of a few nm, is below PLACE_SPARE. */
#define PLACE_SPARE 2e-6f /* nm */

static __device__ inline float squared_or_none(float allowed)
{
    return allowed > 0 ? allowed * allowed : -1;
}

/* a: arguments with PLACE_FIELDS */
template <class A> static __device__ __forceinline__ struct placing placing_of(const A &a)
{
    struct placing p;
    p.c = (struct ctl *)a.ctl;
    p.t = (const struct pair_table *)a.table;
    p.lists = (struct pair_lists *)a.lists;
    p.grid = (uint4 *)a.grid, p.atom_grid = (uint4 *)a.atom_grid, p.built = (const uint4 *)a.built;
    p.searched[0] = (const uint32_t *)a.first_x;
    p.searched[1] = (const uint32_t *)a.first_y;
    p.searched[2] = (const uint32_t *)a.first_z;
    p.f = (int64_t(*)[3])a.f;
    p.units = grid_units_of(p.c->box);
    p.cell = cell32_of(p.c);
    p.farthest = (float)(0.5 * box_least_edge(p.c->box));
    p.lambda = (float)p.c->lambda[LAMBDA_COULOMB];
    const float kept = least_ratio(p.c, p.lists->built_box), lost = 0.5f * (1 - kept) * (float)p.t->cutoff;
    const float wide = least_ratio(p.c, p.lists->searched_box), list_cutoff = (float)p.t->list_cutoff;
    for (int kind = 0; kind < LIST_KINDS; kind++)
        p.most2[kind] = squared_or_none(kept * (float)p.t->buffer[kind] - lost - PLACE_SPARE);
    const float skin = 0.5f * (wide * (list_cutoff + (float)p.t->skin) - list_cutoff) - PLACE_SPARE;
    p.search_most2[0] = squared_or_none(skin);
    p.search_most2[1] = squared_or_none(skin + wide * p.lists->searched_extent[1]);
    return p;
}

/* nm^2 */
static __device__ inline float moved2(const struct cell32 *cell, const uint32_t now[3], const uint32_t was[3])
{
    return square32(cell32_vector<true>(cell, (float)(int32_t)(now[0] - was[0]), (float)(int32_t)(now[1] - was[1]),
                                        (float)(int32_t)(now[2] - was[2]), {0, 0, 0}));
}

/* What is read of an atom's slot before it is placed. */
struct slot_read {
    int32_t slot;
    bool first; /* of a trio */
    float charge;
    uint4 built;
    uint32_t searched[3]; /* of a first one */
};

static __device__ __forceinline__ struct slot_read read_slot(const struct placing *p, int32_t atom)
{
    struct slot_read s = {in_global(p->t->slot)[atom]};
    s.first = s.slot % TRIO == 0 && s.slot < TRIO * p->t->ntrios;
    const float *charge = in_global(p->t->states)[atom].charge;
    s.charge = __fmaf_rn(p->lambda, __fsub_rn(charge[1], charge[0]), charge[0]);
    s.built = in_global(p->built)[s.slot];
    for (int d = 0; d < 3 && s.first; d++)
        s.searched[d] = in_global(p->searched[d])[s.slot / TRIO];
    return s;
}

/* A search that does not hold asks for new lists at once; one that nearly does not is made with the next. */
static __device__ __forceinline__ void ask_for_search(struct pair_lists *lists, bool now)
{
    in_global(lists)->search = 1;
    if (now)
        in_global(lists)->rebuild = 1;
}

static __device__ __forceinline__ void check_search(const struct placing *p, const struct slot_read &s,
                                                    const uint32_t g[3])
{
    const bool alone = s.slot >= TRIO * p->t->nwaters && in_global(p->t->atom)[s.slot + 1] < 0;
    const float most2 = p->search_most2[alone], moved = moved2(&p->cell, g, s.searched);
    if (moved > (float)(SEARCH_SOON * SEARCH_SOON) * most2)
        ask_for_search(p->lists, moved > most2);
}

/* Atoms that a trio lacks are placed where its first atom is. */
static __device__ __forceinline__ void place_missing(const struct placing *p, int32_t first, const uint32_t g[3])
{
    for (int32_t slot = first + 1; slot < first + TRIO && first >= TRIO * p->t->nwaters; slot++)
        if (in_global(p->t->atom)[slot] < 0)
            in_global(p->grid)[slot] = make_uint4(g[0], g[1], g[2], __float_as_uint(0.0f));
}

static __device__ __forceinline__ void place_atom(const struct placing *p, const struct slot_read &s, int32_t atom,
                                                  const double x[3])
{
    uint32_t g[3];
    grid_position(x, &p->units, g);
    const uint4 placed = make_uint4(g[0], g[1], g[2], __float_as_uint(s.charge));
    const uint32_t was[3] = {s.built.x, s.built.y, s.built.z};
    in_global(p->grid)[s.slot] = placed;
    in_global(p->atom_grid)[atom] = placed;
    for (int d = 0; d < 3; d++)
        in_global(p->f)[atom][d] = 0;
    if (moved2(&p->cell, g, was) > p->most2[list_kind_of((uint32_t)s.slot, (uint32_t)p->t->nwaters)])
        in_global(p->lists)->rebuild = 1;
    if (!s.first)
        return;
    check_search(p, s, g);
    place_missing(p, s.slot, g);
}

/* The sums that a timestep's forces add to, by one thread; for the whole grid: the mesh's charges. */
static __device__ inline void clear_step_sums(struct ctl *c)
{
    int64_t *sum = (int64_t *)&c->sum;
    for (uint32_t k = 0; k < (uint32_t)(sizeof c->sum / sizeof *sum); k++)
        sum[k] = 0;
    for (uint32_t k = 0; k < COORDINATIONS_MOST; k++)
        c->coordination[k] = {0, 0};
    c->pressure_correction = 0;
}

static __device__ inline void clear_charges(void *charges, uint32_t points)
{
    GRID_LOOP(i, points)
    ((int32_t *)charges)[i] = 0;
}

#endif
