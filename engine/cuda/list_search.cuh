/* SPDX-License-Identifier: Apache-2.0
 *
 * Which trios are around a trio: those of which some atom may come within a list's reach of one of its atoms, before first atoms
 * have moved by more than half the skin. Here small systems, which try each trio with each other; list_regions.cuh has large
 * ones.
 */
#ifndef SHOAL_ENGINE_CUDA_LIST_SEARCH_CUH
#define SHOAL_ENGINE_CUDA_LIST_SEARCH_CUH

#include "engine/cuda/pair32.cuh"

#define GRID_EDGE 4294967296.0f
#define SEARCH_CHUNK 1024  /* trios whose places a block notes at a time */
#define EXTENT_SLACK 1.02f /* extents may grow by that factor.. */
#define EXTENT_MORE 0.002f /* ..and this much, nm, until there is a new search */

/* Along one edge of the box, see list_regions.cuh. */
struct cut {
    uint32_t regions;
    uint32_t halo[2];   /* grid positions above a region in which there are members: waters, others */
    uint32_t box_cells; /* of the whole edge */
    uint32_t cells;     /* of a region and what is above it */
};

/* Trios that have rows of lists: all, or the members of a region. */
struct rows {
    const struct member *members; /* NULL: all trios, by their own numbers */
    uint32_t count, waters;       /* of the trios */
    size_t first, first_other;    /* row of the first of them; in `other`, that of the first that is no water */
};

struct build {
    const struct args_list_build *a;
    const struct pair_table *t;
    struct pair_lists *lists;
    bool search; /* trios around are looked for; else they are known */
    struct cell32 cell;
    bool triclinic;
    double width[3]; /* of the box, nm */
    struct cut cut[3];
    float extent[2];      /* of waters and others, that the search counts on, nm */
    float reach2, near2;  /* squared radii of the lists and of the near ones, nm^2 */
    float near_hydrogen2; /* of waters' hydrogens near a water */
    uint32_t lane, below; /* below: bits of the lanes before this one */
};

/* How far first atoms of two kinds of trios may be from each other, nm. */
static __device__ inline float search_reach(const struct build *b, uint32_t kind, uint32_t other)
{
    return 1.00001f * ((float)(b->t->list_cutoff + b->t->skin) + b->extent[kind] + b->extent[other]);
}

/* Vectors between grid positions. In a triclinic box one that is within reach need not be the one that rounding the fractions
 * gives: it may be any of the eight that have the fractions' other neighbours too, as long as no fraction is above 1. Image 0 is
 * the rounded one. */
static __device__ inline float beside(float u, uint32_t yes)
{
    return yes ? u - copysignf(GRID_EDGE, u) : u;
}

static __device__ inline struct vec32 image_of(const struct build *b, float x, float y, float z, struct vec32 from,
                                               uint32_t image)
{
    if (!b->triclinic)
        return cell32_vector<false>(&b->cell, x, y, z, from);
    return cell32_vector<true>(&b->cell, beside(x, image & 1), beside(y, image & 2), beside(z, image & 4), from);
}

/* The least squared length of the vector from one of `n` places (nm, from a point) to another point, u away; those above `enough`
 * need not be exact if there is another below. */
static __device__ inline float least_square(const struct build *b, const float u[3], const struct vec32 *from, int n,
                                            float enough)
{
    float least = INFINITY;
    for (uint32_t image = 0; image < (b->triclinic ? 8 : 1) && !(least < enough); image++)
        for (int k = 0; k < n; k++)
            least = fminf(least, square32(image_of(b, u[0], u[1], u[2], from[k], image)));
    return least;
}

/* Puts a value of those lanes that have one behind the `count` that are there; returns how many there are now. Counts on where
 * there is no room. */
template <class T>
static __device__ __forceinline__ uint32_t append(uint32_t below, bool has, uint32_t value, T *list, uint32_t count,
                                                  uint32_t cap)
{
    uint32_t who = __ballot_sync(~0u, has), at = count + __popc(who & below);
    if (has && at < cap)
        list[at] = (T)value;
    return count + __popc(who);
}

/* A trio that others are tried with. */
struct seeker {
    uint32_t trio, x, y, z;
    float reach2[2]; /* of waters and others, nm^2 */
    uint16_t *around;
    uint32_t count;
};

/* Tries one trio a lane. */
static __device__ inline void try_trio(const struct build *b, struct seeker *s, bool has, uint32_t other)
{
    const struct args_list_build *a = b->a;
    const uint32_t waters = (uint32_t)b->t->nwaters, kind = other < waters ? 0 : 1;
    const struct vec32 none = {0, 0, 0};
    const float d[3] = {(float)(int32_t)(((const uint32_t *)a->first_x)[other] - s->x),
                        (float)(int32_t)(((const uint32_t *)a->first_y)[other] - s->y),
                        (float)(int32_t)(((const uint32_t *)a->first_z)[other] - s->z)};
    has =
        has && least_square(b, d, &none, 1, s->reach2[kind]) < s->reach2[kind] && !(other == s->trio && other < waters);
    s->count = append(b->below, has, other, s->around, s->count, a->cap);
}

/* Of two trios of one kind, the one that has the pair in its list: each has half of the others, whatever their number. The
 * m-th trio that the l-th of n of a kind has in its list. */
static __device__ inline uint32_t owned_count(uint32_t l, uint32_t n)
{
    return l / 2 + (n - l) / 2;
}

static __device__ inline uint32_t owned(uint32_t l, uint32_t m)
{
    return m < l / 2 ? l % 2 + 2 * m : l + 1 + 2 * (m - l / 2);
}

/* The same rule, asked of one pair of a kind: has trio l its pair with k in its list? Waters have none with themselves. */
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

/* The trios around one; how many. For a warp. */
static __device__ uint32_t search_around(const struct build *b, uint32_t trio, uint16_t *around)
{
    const uint32_t kind = trio < (uint32_t)b->t->nwaters ? 0 : 1, total = candidates(b->t, trio);
    const float reach[2] = {search_reach(b, kind, 0), search_reach(b, kind, 1)};
    const uint4 g = ((const uint4 *)b->a->grid)[TRIO * trio];
    struct seeker s = {trio, g.x, g.y, g.z, {reach[0] * reach[0], reach[1] * reach[1]}, around, 0};
    for (uint32_t base = 0; base < total; base += 32) {
        uint32_t m = base + b->lane;
        try_trio(b, &s, m < total, candidate(b->t, trio, m < total ? m : 0));
    }
    __syncwarp();
    return s.count;
}

/* Notes where first atoms are. */
static __device__ void note_chunk(const struct build *b, uint32_t chunk)
{
    const struct args_list_build *a = b->a;
    const uint32_t end = min((chunk + 1) * SEARCH_CHUNK, (uint32_t)b->t->ntrios);
    uint32_t *first[3] = {(uint32_t *)a->first_x, (uint32_t *)a->first_y, (uint32_t *)a->first_z};
    for (uint32_t trio = chunk * SEARCH_CHUNK + threadIdx.x; trio < end; trio += blockDim.x) {
        const uint4 g = ((const uint4 *)a->grid)[TRIO * trio];
        first[0][trio] = g.x, first[1][trio] = g.y, first[2][trio] = g.z;
    }
}

#endif
