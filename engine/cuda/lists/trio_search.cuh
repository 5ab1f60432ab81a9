/* SPDX-License-Identifier: Apache-2.0
 *
 * Which trios are around a trio: those of which some atom may come within a list's reach of one of its atoms, before
 * first atoms have moved by more than half the skin. Here small systems, which try each trio with each other;
 * region_members.cuh has large ones.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_TRIO_SEARCH_CUH
#define SHOAL_ENGINE_CUDA_LISTS_TRIO_SEARCH_CUH

#include "engine/cuda/lists/halo.h"
#include "engine/cuda/lists/images.cuh"

#define MEMBER_TRIO ((1u << MEMBER_OWN_SHIFT) - 1)
#define READ_AT_ONCE 4 /* of memory that is far, by a thread */

/* Along one edge of the box, see region_members.cuh. */
struct cut {
    uint32_t regions;
    uint32_t halo[2]; /* grid positions above a region in which there are members: waters, others */
};

/* A grid position. */
struct place {
    uint32_t x, y, z;
};

/* An atom of a region's member, from the middle of the region and what is in reach above it, nm; and its square. */
struct alignas(16) spot {
    float x, y, z, square;
};

/* Trios that have rows of lists: all, or the members of a region. */
struct rows {
    bool whole;             /* all trios, by their own numbers; else shared_members() */
    uint32_t members_at;    /* words of shared memory */
    uint32_t count, waters; /* of the trios */
    size_t first;           /* row of the first of them */
};

/* Vector between two positions, grid units, to the nearest image. */
struct apart {
    float x, y, z;
};

static __device__ __forceinline__ struct apart apart_of(struct place to, struct place from)
{
    struct apart d = {(float)(int32_t)(to.x - from.x), (float)(int32_t)(to.y - from.y),
                      (float)(int32_t)(to.z - from.z)};
    return d;
}

static __device__ __forceinline__ uint32_t lane_of_warp(void)
{
    return threadIdx.x % WARP;
}

/* Bits of lanes that fill a list together: all of them, and those before this one. */
struct lanes {
    uint32_t all, below;
};

/* n lanes each, a power of two. */
static __device__ __forceinline__ struct lanes lanes_of(uint32_t n)
{
    const uint32_t before = (1u << lane_of_warp()) - 1, rest = (1u << lane_of_warp() / n * n) - 1;
    struct lanes l = {(uint32_t)(((1ull << n) - 1) << lane_of_warp() / n * n), before & ~rest};
    return l;
}

struct build {
    struct args_list_build a;
    const struct pair_table *t;
    struct pair_lists *lists;
    bool search; /* trios around are looked for; else they are known */
    struct cell32 cell;
    uint32_t images; /* of a vector that are tried (image_of) */
    bool nearest;    /* of ANY_IMAGE: of the images from a trio's first atom to an atom in its lists' reach, the nearest
                        alone is tried */
    double width[3]; /* of the box, nm */
    struct cut cut[3];
    struct halo_edges edges;     /* of the box */
    bool spots;                  /* there are regions, and the way that stays in one is that to the nearest image */
    float slack;                 /* nm^2, that squared distances of spots may be off: they are sums of larger ones */
    float widest_other;          /* how far an atom of a trio that is no water was ever from its first, nm */
    float extent[2];             /* of waters and others, that the search counts on, nm */
    float reach2[2][LIST_KINDS]; /* squared radii of lists, from a water or another trio to an atom of a kind, nm^2 */
    float near2[2][LIST_KINDS];  /* squared radii of near pairs, in the same order, nm^2 */
    double inverse[BOX_SIZE];    /* of the box, 1/nm */
};

/* By the array's name, as what is read through another pointer may be anywhere as far as the compiler knows. */
static __device__ __forceinline__ int32_t *shared_words(void)
{
    alignas(16) extern __shared__ int32_t words[];
    return words;
}

/* Of the rows' trios, [count][TRIO], where there are no spots. */
static __device__ __forceinline__ struct place *shared_places(void)
{
    return (struct place *)shared_words();
}

static __device__ __forceinline__ struct spot *shared_spots(void)
{
    return (struct spot *)shared_words();
}

static __device__ __forceinline__ struct member *shared_members(const struct rows *rows)
{
    return (struct member *)(shared_words() + rows->members_at);
}

/* Where the atom of a slot is taken to be: what blocks have written before others make lists. */
static __device__ __forceinline__ uint4 taken_at(const struct build *b, uint32_t slot)
{
    return __ldcg((const uint4 *)b->a.built + slot);
}

/* Where there are no regions; yet to be staged. */
static __device__ inline struct rows rows_of_all(const struct build *b)
{
    return {true, 0, (uint32_t)b->t->ntrios, (uint32_t)b->t->nwaters, 0};
}

/* nm^2; a little more than the square */
static __device__ inline float reach_square(const struct build *b, double reach)
{
    return REACH_ROUNDED * (float)(reach * reach) + b->slack;
}

/* How far first atoms of two kinds of trios, waters and others, may be from each other, nm. */
static __device__ inline float search_reach(const struct build *b, uint32_t kind, uint32_t other)
{
    const double reach = kind || other ? b->t->list_cutoff : b->t->cutoff;
    return REACH_ROUNDED * ((float)(reach + b->t->skin) + b->extent[kind] + b->extent[other]);
}

/* Vectors between grid positions. In a triclinic box one that is within reach need not be the one that rounding the
 * fractions gives, unless reach is less than half the distance of opposite faces: it may be any of the eight that have
 * the fractions' other neighbours too, as long as no fraction is above 1. Image 0 is the rounded one. */
static __device__ inline float beside(float u, uint32_t yes)
{
    return yes ? u - copysignf(GRID_EDGE, u) : u;
}

static __device__ __forceinline__ uint32_t images_of(const struct build *b)
{
    return LISTS_BOX != RECTANGULAR ? b->images : 1;
}

static __device__ __forceinline__ bool nearest_alone(const struct build *b)
{
    return LISTS_BOX == ANY_IMAGE && b->nearest;
}

static __device__ inline struct vec32 image_of(const struct build *b, float x, float y, float z, struct vec32 from,
                                               uint32_t image)
{
    if (LISTS_BOX == RECTANGULAR)
        return cell32_vector<false>(&b->cell, x, y, z, from);
    return cell32_vector<true>(&b->cell, beside(x, image & 1), beside(y, image & 2), beside(z, image & 4), from);
}

/* The least squared length of the vector from one of `n` places (nm, from a point) to another point, u away; those
 * above `enough` need not be exact if there is another below. */
static __device__ inline float least_square(const struct build *b, struct apart u, const struct vec32 *from, int n,
                                            float enough)
{
    float least = INFINITY;
    for (uint32_t image = 0; image < images_of(b) && !(least < enough); image++)
        for (int k = 0; k < n; k++)
            least = fminf(least, square32(image_of(b, u.x, u.y, u.z, from[k], image)));
    return least;
}

/* Puts a value of those lanes that have one behind the `count` that are there; returns how many there are now. Counts
 * on where there is no room. */
template <class T>
static __device__ __forceinline__ uint32_t append(struct lanes lanes, bool has, uint32_t value, T *list, uint32_t count,
                                                  uint32_t cap)
{
    uint32_t who = __ballot_sync(WARP_ALL, has), at = count + __popc(who & lanes.below);
    if (has && at < cap)
        list[at] = (T)value;
    return count + __popc(who & lanes.all);
}

/* Positions of some trios, all if `members` is NULL, into shared memory. For the whole block. */
static __device__ inline void stage_places(const struct build *b, const struct member *members, uint32_t count)
{
    struct place *to = shared_places();
    for (uint32_t from = threadIdx.x; from < TRIO * count; from += READ_AT_ONCE * blockDim.x) {
        uint4 g[READ_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++) {
            const uint32_t slot = min(from + n * blockDim.x, TRIO * count - 1);
            g[n] = taken_at(b, members ? TRIO * (members[slot / TRIO].trio & MEMBER_TRIO) + slot % TRIO : slot);
        }
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++)
            if (from + n * blockDim.x < TRIO * count)
                to[from + n * blockDim.x] = {g[n].x, g[n].y, g[n].z};
    }
    __syncthreads();
}

/* A trio that others are tried with. */
struct seeker {
    uint32_t trio;
    struct place own;
    float reach2[2]; /* of waters and others, nm^2 */
};

/* Room in the pool for the lists of a row a lane with so many trios around it, if !has for none; none where the pool is
 * too short, which is noted. For a warp. */
static __device__ struct row_place take_place(const struct build *b, bool has, uint32_t around, bool water)
{
    const uint32_t lane = lane_of_warp(), words = has ? row_words(around, b->a.near_cap, water) : 0;
    uint32_t upto = words;
    for (uint32_t step = 1; step < WARP; step *= 2) {
        const uint32_t before = __shfl_sync(WARP_ALL, upto, (int)((lane - step) % WARP));
        upto += lane >= step ? before : 0;
    }
    const uint32_t all = __shfl_sync(WARP_ALL, upto, WARP - 1);
    uint32_t first = lane == 0 ? atomicAdd(&b->lists->needed, all) : 0;
    first = __shfl_sync(WARP_ALL, first, 0);
    const bool fits = first + upto <= b->a.cap && has;
    return {fits ? first + upto - words : 0, fits ? around : 0};
}

static __device__ __forceinline__ uint16_t *around_of(const struct build *b, struct row_place place)
{
    return in_global((uint16_t *)b->a.pool + 2 * (size_t)place.start);
}

/* Tries one trio a lane: whether it is in reach. */
static __device__ inline bool try_trio(const struct build *b, const struct rows *rows, const struct seeker *s, bool has,
                                       uint32_t other)
{
    const uint32_t kind = other < rows->waters ? 0 : 1;
    const struct vec32 none = {0, 0, 0};
    const struct apart d = apart_of(shared_places()[TRIO * other], s->own);
    return has && least_square(b, d, &none, 1, s->reach2[kind]) < s->reach2[kind] && !(other == s->trio && kind == 0);
}

/* Of two trios of one kind, the one that has the pair in its list: each has half of the others, whatever their number.
 * The m-th trio that the l-th of n of a kind has in its list. */
static __device__ inline uint32_t owned_count(uint32_t l, uint32_t n)
{
    return l / 2 + (n - l) / 2;
}

static __device__ inline uint32_t owned(uint32_t l, uint32_t m)
{
    return m < l / 2 ? l % 2 + 2 * m : l + 1 + 2 * (m - l / 2);
}

/* The same rule, asked of one pair of a kind: has trio l its pair with k in its list? Waters have none with themselves.
 */
static __device__ inline bool trio_owns(uint32_t l, uint32_t k, bool water)
{
    return ((l ^ k) & 1) == (k > l) && !(water && l == k);
}

static __device__ uint32_t candidates(const struct pair_table *t, uint32_t trio)
{
    uint32_t waters = (uint32_t)t->nwaters, all = (uint32_t)t->ntrios;
    if (trio < waters)
        return owned_count(trio, waters);
    return waters + owned_count(trio - waters, all - waters) + 1; /* 1: itself */
}

static __device__ inline uint32_t candidate(const struct pair_table *t, uint32_t trio, uint32_t m)
{
    uint32_t waters = (uint32_t)t->nwaters, others = (uint32_t)t->ntrios - waters;
    if (trio < waters)
        return owned(trio, m);
    if (m < waters)
        return m;
    m -= waters;
    return m < owned_count(trio - waters, others) ? waters + owned(trio - waters, m) : trio;
}

/* Puts the trios around one into the pool; which candidates these are is found first, into `seen`, a bit each, to know
 * how many. For a warp. */
static __device__ struct row_place search_around(const struct build *b, const struct rows *rows, uint32_t trio,
                                                 uint32_t *seen)
{
    const uint32_t kind = trio < rows->waters ? 0 : 1, total = candidates(b->t, trio), lane = lane_of_warp();
    const float reach[2] = {search_reach(b, kind, 0), search_reach(b, kind, 1)};
    const struct seeker s = {trio, shared_places()[TRIO * trio], {reach[0] * reach[0], reach[1] * reach[1]}};
    uint32_t count = 0;
    for (uint32_t base = 0; base < total; base += WARP) {
        const uint32_t m = base + lane;
        const bool in = try_trio(b, rows, &s, m < total, candidate(b->t, trio, m < total ? m : 0));
        const uint32_t who = __ballot_sync(WARP_ALL, in);
        if (lane == 0)
            seen[base / WARP] = who;
        count += __popc(who);
    }
    __syncwarp();
    struct row_place place = take_place(b, lane == 0, count, kind == 0);
    place.start = __shfl_sync(WARP_ALL, place.start, 0), place.around = __shfl_sync(WARP_ALL, place.around, 0);
    uint16_t *around = around_of(b, place);
    for (uint32_t base = 0, at = 0; base < total && place.around; base += WARP) {
        const uint32_t who = seen[base / WARP];
        if (who >> lane & 1)
            around[at + __popc(who & lanes_of(WARP).below)] = (uint16_t)candidate(b->t, trio, base + lane);
        at += __popc(who);
    }
    __syncwarp();
    return place;
}

#endif
