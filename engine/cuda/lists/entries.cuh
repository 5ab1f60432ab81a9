/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a trio's lists: atoms of the trios around it, of which a few lanes look at one each at a time. A warp
 * works on several trios so. What order entries come in does not matter.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_ENTRIES_CUH
#define SHOAL_ENGINE_CUDA_LISTS_ENTRIES_CUH

#include "engine/cuda/lists/trio_search.cuh"
#include "engine/math/search.h"

static __device__ __forceinline__ uint32_t lane_of_row(const struct args_list_build *a)
{
    return threadIdx.x & (a->lanes - 1);
}

/* One list of a trio, as it grows. */
template <class T> struct growing {
    T *at;
    uint32_t cap, n;
};

/* What the squared distances of the owner's atoms from another go by. Without spots: d is the vector from there to the
 * first, arm that from the first to an atom, and |d + arm|^2 = d^2 + arm (2 d + arm). With spots: |p - s|^2 = p^2 + s
 * (s - 2 p). */
struct reaching {
    struct vec32 twice[TRIO]; /* 2 arm, or -2 s */
    float square[TRIO];
};

/* A trio that lists are made for. What the loops over those around it need of arguments is here, as memory that is
 * written could be theirs as far as the compiler knows. */
struct owner {
    uint32_t trio;
    bool water;
    uint32_t partners, last_partner; /* the first and the last trio with an excluded partner, where it is no water */
    struct place first;              /* without spots */
    struct vec32 arm[TRIO];          /* from the first atom, nm */
    struct reaching reaching;
    struct lanes lanes; /* that work on it */
    struct growing<uint32_t> near;
    struct growing<uint16_t> far, hydrogen; /* far: oxygens where it is a water, else all */
};

static __device__ __forceinline__ uint32_t trio_of(const struct rows *rows, uint32_t k)
{
    return rows->whole ? k : shared_members(rows)[k].trio & MEMBER_TRIO;
}

template <class T>
static __device__ __forceinline__ void grow(struct lanes lanes, struct growing<T> *list, bool has, uint32_t value)
{
    list->n = append(lanes, has, value, list->at, list->n, list->cap);
}

/* Sets the first and the last trio with an excluded partner; the trio counts as its own. Not of a water. */
static __device__ void find_partners(const struct pair_table *t, struct owner *o)
{
    const int32_t *start = t->partner_start + TRIO * (o->trio - (uint32_t)t->nwaters);
    o->partners = o->last_partner = o->trio;
    for (uint32_t k = 0; k < TRIO; k++) {
        if (start[k] == start[k + 1])
            continue;
        o->partners = min(o->partners, (uint32_t)t->partner[start[k]] / TRIO);
        o->last_partner = max(o->last_partner, (uint32_t)t->partner[start[k + 1] - 1] / TRIO);
    }
}

/* Which of the three pairs of a trio that is no water with an atom are to be computed. Waters have no partners but
 * themselves. */
static __device__ uint32_t pair_mask(const struct pair_table *t, uint32_t trio, uint32_t slot)
{
    uint32_t mask = 7, waters = (uint32_t)t->nwaters;
    if (slot / TRIO < waters)
        return mask;
    if (slot / TRIO == trio) { /* each inner pair once; no atom with itself */
        mask = (1u << slot % TRIO) - 1;
        for (uint32_t k = 0; k < TRIO; k++)
            if (t->atom[TRIO * trio + k] < 0)
                mask &= ~(1u << k);
    }
    for (uint32_t k = 0; k < TRIO; k++) {
        const int32_t *start = t->partner_start + (TRIO * (trio - waters) + k);
        if (search_sorted(t->partner, start[0], start[1], (int32_t)slot))
            mask &= ~(1u << k);
    }
    return mask;
}

/* Squared distance of an atom from the nearest of the owner's, nm^2, by one image: the nearest to the first, or that of
 * rounded fractions. */
template <bool SPOTS>
static __device__ __forceinline__ float near_square(const struct cell32 *cell, const struct owner *o, uint32_t slot)
{
    const struct vec32 none = {0, 0, 0};
    struct spot at;
    if (SPOTS) {
        at = shared_spots()[slot];
    } else {
        const struct apart u = apart_of(o->first, shared_places()[slot]);
        const struct vec32 d = LISTS_BOX == ANY_IMAGE
                                   ? shortest32_of(cell, u.x, u.y, u.z).r
                                   : cell32_vector<LISTS_BOX != RECTANGULAR>(cell, u.x, u.y, u.z, none);
        at = {d.x, d.y, d.z, square32(d)};
    }
    float more[TRIO];
#pragma unroll
    for (uint32_t k = 0; k < TRIO; k++)
        more[k] =
            k == 0 && !SPOTS
                ? 0
                : fmaf(at.x, o->reaching.twice[k].x,
                       fmaf(at.y, o->reaching.twice[k].y, fmaf(at.z, o->reaching.twice[k].z, o->reaching.square[k])));
    return at.square + fminf(more[0], fminf(more[1], more[2]));
}

/* The same by as many images as it takes; squares above `enough` need not be exact. */
template <bool SPOTS>
static __device__ inline float nearest2(const struct build *b, const struct owner *o, uint32_t slot, float enough)
{
    if (SPOTS || nearest_alone(b))
        return near_square<SPOTS>(&b->cell, o, slot);
    return least_square(b, apart_of(o->first, shared_places()[slot]), o->arm, TRIO, enough);
}

/* Atom l of one trio for each lane (none: `has` is false), into the lists of the owner. k: the trio's number in its
 * rows; others: some lane has no water. */
template <bool SPOTS>
static __device__ inline void take_atom(const struct build *b, const struct rows *rows, struct owner *o, bool has,
                                        uint32_t k, uint32_t trio, uint32_t l, bool others)
{
    const struct pair_table *t = b->t;
    const uint32_t slot = TRIO * k + l;
    const bool is_water = k < rows->waters;
    const enum list_kind kind = list_kind_of(slot, rows->waters);
    const float reach2 = b->reach2[!o->water][kind], least = nearest2<SPOTS>(b, o, slot, reach2);
    uint32_t mask = 7;
    has = has && least < reach2;
    if (others && has && !is_water && t->atom[TRIO * trio + l] < 0)
        mask = 0;
    else if (others && has && !is_water && trio >= o->partners && trio <= o->last_partner)
        mask = pair_mask(t, o->trio, TRIO * trio + l);
    const bool near = has && mask && (mask != 7 || least < b->near2[!o->water][kind]), far = has && mask && !near;
    grow(o->lanes, &o->near, near, slot | mask << NEAR_MASK_SHIFT);
    if (!o->water || l == 0)
        grow(o->lanes, &o->far, far, slot);
    else
        grow(o->lanes, &o->hydrogen, far, slot);
}

/* Only near entries may be more than there is room for. */
static __device__ void note_need(const struct build *b, uint32_t near)
{
    if (near > b->a.near_cap)
        atomicMax(&b->lists->near, near);
}

/* ---- a water's, by one image: most of all lists ---- */

/* Squared radii of lists, and the box; copies, as memory that is written could be theirs as far as the compiler knows.
 */
struct reaches {
    struct cell32 cell;
    float lists2[2], near2[2]; /* to a first atom, to another */
};

/* Atom l of one water for each lane; least: its squared distance from the nearest of the owner's. */
static __device__ __forceinline__ void take_water_atom(const struct reaches *reach, struct owner *o, bool has,
                                                       uint32_t slot, uint32_t l, float least)
{
    const uint32_t other = l ? 1 : 0;
    const bool in = has && least < reach->lists2[other], near = in && least < reach->near2[other];
    grow(o->lanes, &o->near, near, slot | 7u << NEAR_MASK_SHIFT);
    if (l == 0)
        grow(o->lanes, &o->far, in && !near, slot);
    else
        grow(o->lanes, &o->hydrogen, in && !near, slot);
}

/* All that is around a water: waters. `first`: the lane's in the first turn; the others are read two turns ahead, by
 * turns into one of two words: to move one that has not come would be to wait for it. */
template <bool SPOTS>
static __device__ __forceinline__ void list_water(const struct build *b, struct owner *o, const uint16_t *around,
                                                  uint32_t count, uint32_t first)
{
    const uint32_t lanes = b->a.lanes;
    const struct reaches reach = {b->cell,
                                  {b->reach2[0][WATER_FIRST], b->reach2[0][WATER_OTHER]},
                                  {b->near2[0][WATER_FIRST], b->near2[0][WATER_OTHER]}};
    uint32_t at = lane_of_row(&b->a), ahead[2] = {first, around[at + lanes < count ? at + lanes : 0]};
    for (;;) {
#pragma unroll
        for (int turn = 0; turn < 2; turn++, at += lanes) {
            if (!__any_sync(WARP_ALL, at < count))
                return;
            const bool has = at < count;
            const uint32_t slot = TRIO * (has ? ahead[turn] : 0);
            ahead[turn] = around[at + 2 * lanes < count ? at + 2 * lanes : 0];
            float least[TRIO];
#pragma unroll
            for (uint32_t l = 0; l < TRIO; l++)
                least[l] = near_square<SPOTS>(&reach.cell, o, slot + l);
#pragma unroll
            for (uint32_t l = 0; l < TRIO; l++)
                take_water_atom(&reach, o, has, slot + l, l, least[l]);
        }
    }
}

/* Where the owner's atoms are. */
template <bool SPOTS> static __device__ __forceinline__ void see(const struct build *b, struct owner *o, uint32_t slot)
{
    const struct vec32 none = {0, 0, 0};
    if (!SPOTS)
        o->first = shared_places()[slot];
#pragma unroll
    for (uint32_t l = 0; l < TRIO; l++) {
        struct reaching *r = &o->reaching;
        if (SPOTS) {
            const struct spot s = shared_spots()[slot + l];
            r->twice[l] = {-2 * s.x, -2 * s.y, -2 * s.z};
            r->square[l] = s.square;
            continue;
        }
        const struct apart d = apart_of(shared_places()[slot + l], o->first);
        o->arm[l] = image_of(b, d.x, d.y, d.z, none, 0);
        r->twice[l] = {2 * o->arm[l].x, 2 * o->arm[l].y, 2 * o->arm[l].z};
        r->square[l] = square32(o->arm[l]);
    }
}

static __device__ __forceinline__ struct owner owner_of(const struct build *b, const struct rows *rows, uint32_t k,
                                                        struct row_place place)
{
    const struct args_list_build *a = &b->a;
    const uint32_t n = place.around, most = a->near_cap;
    uint32_t *lists = in_global((uint32_t *)a->pool) + place.start;
    struct owner o;
    o.trio = trio_of(rows, k);
    o.water = k < rows->waters;
    o.lanes = lanes_of(a->lanes);
    o.near = {lists + row_near(n), row_near_cap(n, most), 0};
    o.far = {(uint16_t *)(lists + row_far(n, most)), o.water ? n : TRIO * n, 0};
    o.hydrogen = {(uint16_t *)(lists + row_hydrogen(n, most)), o.water ? 2 * n : 0, 0};
    if (!o.water)
        find_partners(b->t, &o);
    return o;
}

/* The lists of the k-th trio of the rows, from the trios around; first_around: of these the lane's first. */
template <bool SPOTS>
static __device__ struct trio_counts list_trio(const struct build *b, const struct rows *rows, uint32_t k,
                                               struct row_place place, uint32_t first_around)
{
    struct owner o = owner_of(b, rows, k, place);
    const uint32_t lanes = b->a.lanes, count = place.around;
    const uint16_t *around = around_of(b, place);
    const bool quick = !__any_sync(WARP_ALL, !o.water) && (images_of(b) == 1 || nearest_alone(b));
    see<SPOTS>(b, &o, TRIO * k);
    if (quick)
        list_water<SPOTS>(b, &o, around, count, first_around);
    for (uint32_t at = lane_of_row(&b->a); !quick && __any_sync(WARP_ALL, at < count); at += lanes) {
        const bool has = at < count;
        const uint32_t other = has ? around[at] : 0, other_trio = trio_of(rows, other);
        const bool others = __any_sync(WARP_ALL, !o.water && other >= rows->waters);
        for (uint32_t l = 0; l < TRIO; l++)
            take_atom<SPOTS>(b, rows, &o, has, other, other_trio, l, others);
    }
    const uint32_t oxygen = o.water ? o.far.n : 0, other = o.water ? 0 : o.far.n;
    if (lane_of_row(&b->a) == 0)
        note_need(b, o.near.n);
    return {o.near.n, oxygen, o.hydrogen.n, other};
}

/* ---- perturbed atoms ---- */

static __device__ bool is_excluded(const struct pair_table *t, int32_t i, int32_t j)
{
    return search_sorted(t->exclusion, t->exclusion_start[i], t->exclusion_start[i + 1], j);
}

/* One slot a lane, its grid position p and its atom `other`. */
static __device__ __forceinline__ void take_perturbed(const struct build *b, int32_t atom, uint4 g, bool has, uint4 p,
                                                      int32_t other)
{
    const struct vec32 none = {0, 0, 0};
    const struct apart u = apart_of({g.x, g.y, g.z}, {p.x, p.y, p.z});
    const float reach2 = b->reach2[1][OTHER_ATOM];
    uint32_t at = 0;
    has = has && other >= 0 && least_square(b, u, &none, 1, reach2) < reach2 && !is_excluded(b->t, atom, other);
    const uint32_t who = __ballot_sync(WARP_ALL, has);
    if (lane_of_warp() == 0 && who)
        at = atomicAdd(&b->lists->found, (uint32_t)__popc(who));
    at = __shfl_sync(WARP_ALL, at, 0) + __popc(who & lanes_of(WARP).below);
    if (has && at < b->a.pair_cap)
        ((uint2 *)b->a.pairs)[at] = make_uint2((uint32_t)atom, (uint32_t)other);
}

/* Pairs of a perturbed atom's slot with slots from .. from + PERTURBED_SLOTS - 1: plain ones, and perturbed ones behind
 * it. */
static __device__ void list_perturbed(const struct build *b, uint32_t own, uint32_t from)
{
    const struct pair_table *t = b->t;
    const uint32_t plain = TRIO * (uint32_t)t->ntrios, end = min(from + PERTURBED_SLOTS, (uint32_t)t->nslots);
    const uint4 g = taken_at(b, own);
    const int32_t atom = t->atom[own];
    for (uint32_t base = from + lane_of_warp(); base - lane_of_warp() < end; base += WARP * READ_AT_ONCE) {
        uint4 p[READ_AT_ONCE];
        int32_t other[READ_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++) {
            const uint32_t slot = min(base + WARP * n, end - 1);
            p[n] = taken_at(b, slot), other[n] = t->atom[slot];
        }
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++) {
            const uint32_t slot = base + WARP * n;
            take_perturbed(b, atom, g, slot < end && (slot < plain || slot > own), p[n], other[n]);
        }
    }
}

#endif
