/* SPDX-License-Identifier: Apache-2.0
 *
 * The regions of large systems (layout.h): their members, and the trios around a member that its pairs in the region
 * are with.
 *
 * Positions are told from a region's lower corner and do not go around the box: u < 2^32 holds the region and what is
 * in reach above it, since there are at least two regions along an edge, and nothing is farther than half of it. Two
 * members have their pair here if along each edge one of them is in the region, and if the way between them that stays
 * here is the one to the nearest image. Then the lower one is in the region, and no other region sees them so.
 *
 * Members are sorted by kind, by the upper faces that they are above, by odd and even numbers, and roughly by number:
 * what a warp's next members may have pairs with is then together, because the numbers of two members decide which has
 * their pair (trio_owns).
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_REGION_MEMBERS_CUH
#define SHOAL_ENGINE_CUDA_LISTS_REGION_MEMBERS_CUH

#include "engine/cuda/lists/trio_search.cuh"

#define REGION_BINS 2048 /* of rows by how long their lists are */
#define SORTS 16         /* of members of a kind, by upper faces and odd numbers */
#define WORDS_AT_ONCE 8  /* of what is around a member */

/* ---- geometry ---- */

/* One region. */
struct space {
    uint32_t region, at[3]; /* at: number along each edge */
    uint32_t lower[3];      /* grid positions of its corner */
    uint32_t length[3];     /* grid positions */
};

static __device__ inline uint32_t region_along(uint32_t g, uint32_t regions)
{
    return (uint32_t)((uint64_t)g * regions >> 32);
}

/* The least grid position of the k-th region along an edge. */
static __device__ inline uint32_t lower_of(uint32_t k, uint32_t regions)
{
    return (uint32_t)((((uint64_t)k << 32) + regions - 1) / regions);
}

/* How far a trio of a kind may be from another that it has to do with, nm. */
static __device__ inline float farthest_reach(const struct build *b, uint32_t kind)
{
    const uint32_t waters = (uint32_t)b->t->nwaters, trios = (uint32_t)b->t->ntrios;
    return fmaxf(waters ? search_reach(b, kind, 0) : 0, waters < trios ? search_reach(b, kind, 1) : 0);
}

/* Grid positions along an edge, at most half of it, that are no less than a distance between faces, nm. */
static __device__ inline uint32_t grid_length(const struct build *b, int d, float distance)
{
    return (uint32_t)fminf(LENGTH_ROUNDED * distance / (float)b->width[d] * GRID_EDGE, 0.5f * GRID_EDGE);
}

static __device__ void cut_box(struct build *b)
{
    const uint32_t regions[3] = {b->a.regions_x, b->a.regions_y, b->a.regions_z};
    for (int d = 0; d < 3; d++) {
        b->cut[d].regions = regions[d];
        for (int kind = 0; kind < 2; kind++)
            b->cut[d].halo[kind] = grid_length(b, d, farthest_reach(b, kind));
    }
}

static __device__ struct space space_of(const struct build *b, uint32_t region)
{
    const struct cut *c = b->cut;
    struct space s;
    s.region = region;
    s.at[0] = region % c[0].regions;
    s.at[1] = region / c[0].regions % c[1].regions;
    s.at[2] = region / c[0].regions / c[1].regions;
    for (int d = 0; d < 3; d++) {
        s.lower[d] = lower_of(s.at[d], c[d].regions);
        s.length[d] = lower_of(s.at[d] + 1, c[d].regions) - s.lower[d];
    }
    return s;
}

/* ---- members ---- */

/* Is a trio, whose first atom is at g, one of the region's? *trio becomes that of struct member. Of two with a pair
 * here one is below each upper face that the other is above. */
static __device__ bool member_of(const struct build *b, const struct space *s, uint32_t *trio, uint32_t kind,
                                 const uint32_t g[3])
{
    const float reach = LENGTH_ROUNDED * farthest_reach(b, kind);
    float above[3] = {0, 0, 0};
    uint32_t faces = 0;
    for (int d = 0; d < 3; d++) {
        if (region_along(g[d], b->cut[d].regions) == s->at[d]) {
            *trio |= 1u << (MEMBER_OWN_SHIFT + d);
            continue;
        }
        const uint32_t units = g[d] - s->lower[d] - s->length[d];
        if (units >= b->cut[d].halo[kind])
            return false;
        above[d] = (float)units / GRID_EDGE;
        faces++;
    }
    /* where another image may be the nearest, the way that stays here says nothing */
    return faces < 2 || images_of(b) > 1 || halo_square(&b->edges, above) < reach * reach;
}

/* count[k] becomes the sum of those before k, of n (the threads of the block times what is left to a thread at most).
 * For the whole block. */
static __device__ void sum_before(uint32_t *count, uint32_t n)
{
    __shared__ uint32_t before[2][WARP * BUILD_WARPS];
    const uint32_t share = (n + blockDim.x - 1) / blockDim.x, me = threadIdx.x;
    const uint32_t from = min(me * share, n), to = min(from + share, n);
    uint32_t sum = 0, turn = 0;
    __syncthreads();
    for (uint32_t k = from; k < to; k++)
        sum += count[k];
    before[0][me] = sum;
    for (uint32_t step = 1; step < blockDim.x; step *= 2, turn ^= 1) {
        __syncthreads();
        before[turn ^ 1][me] = before[turn][me] + (me >= step ? before[turn][me - step] : 0);
    }
    sum = before[turn][me] - sum;
    for (uint32_t k = from; k < to; k++) {
        const uint32_t next = sum + count[k];
        count[k] = sum;
        sum = next;
    }
    __syncthreads();
}

/* For the block, one use at a time. */
static __device__ inline uint32_t *shared_bins(void)
{
    __shared__ uint32_t bins[REGION_BINS];
    return bins;
}

/* f(trio as in struct member, kind) for every member, each by one thread of the block, roughly by their numbers;
 * positions are read several at a time. */
template <class F> static __device__ __forceinline__ void for_members(const struct build *b, const struct space *s, F f)
{
    const uint32_t trios = (uint32_t)b->t->ntrios, waters = (uint32_t)b->t->nwaters;
    for (uint32_t base = 0; base < trios; base += READ_AT_ONCE * blockDim.x) {
        const uint32_t from = base + threadIdx.x;
        uint4 first[READ_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++)
            first[n] = taken_at(b, TRIO * min(from + n * blockDim.x, trios - 1));
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++) {
            const uint32_t kind = from + n * blockDim.x >= waters, g[3] = {first[n].x, first[n].y, first[n].z};
            uint32_t trio = from + n * blockDim.x;
            if (trio < trios && member_of(b, s, &trio, kind, g))
                f(trio, kind);
        }
        __syncthreads(); /* or some warps would be far ahead of others */
    }
}

static __device__ inline uint32_t sort_of(uint32_t trio, uint32_t kind)
{
    return kind * SORTS + 2 * (trio >> MEMBER_OWN_SHIFT) + (trio & 1);
}

/* Finds the members. */
static __device__ void make_region(const struct build *b, uint32_t region)
{
    __shared__ uint32_t found;
    uint32_t *count = shared_bins(), *trios = (uint32_t *)shared_words();
    const uint32_t cap = b->a.region_cap, waters = (uint32_t)b->t->nwaters;
    const struct space s = space_of(b, region);
    struct member *members = (struct member *)b->a.members + region * (size_t)cap;
    struct region *r = (struct region *)b->a.regions + region;
    BLOCK_LOOP(k, 2 * SORTS + 1)
    count[k] = 0;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for_members(b, &s, [&](uint32_t trio, uint32_t kind) {
        const uint32_t at = atomicAdd(&found, 1u);
        if (at >= cap)
            return;
        trios[at] = trio;
        atomicAdd(&count[sort_of(trio, kind)], 1u);
    });
    sum_before(count, 2 * SORTS + 1);
    if (threadIdx.x == 0) {
        r->members = min(found, cap);
        r->waters = count[SORTS];
        r->rows = r->others = 0;
        atomicMax(&b->lists->crowd, found);
    }
    __syncthreads();
    BLOCK_LOOP(k, min(found, cap))
    {
        const uint32_t trio = trios[k], kind = (trio & MEMBER_TRIO) >= waters;
        members[atomicAdd(&count[sort_of(trio, kind)], 1u)].trio = trio;
    }
}

/* Where an atom is, of a trio whose first is at `first`. */
static __device__ __forceinline__ struct spot spot_of(const struct build *b, const uint32_t middle[3], uint4 first,
                                                      uint4 g)
{
    const struct vec32 none = {0, 0, 0};
    const struct vec32 arm = image_of(b, (float)(int32_t)(g.x - first.x), (float)(int32_t)(g.y - first.y),
                                      (float)(int32_t)(g.z - first.z), none, 0);
    const struct vec32 at = image_of(b, (float)(int32_t)(first.x - middle[0]), (float)(int32_t)(first.y - middle[1]),
                                     (float)(int32_t)(first.z - middle[2]), arm, 0);
    return {at.x, at.y, at.z, square32(at)};
}

/* Spots of members into shared memory; the last again in place of those that candidates tried together go beyond. For
 * the whole block. */
static __device__ void stage_spots(const struct build *b, const struct space *s, const struct member *members,
                                   uint32_t count)
{
    uint32_t middle[3];
    for (int d = 0; d < 3; d++)
        middle[d] = s->lower[d] + s->length[d] / 2 + max(b->cut[d].halo[0], b->cut[d].halo[1]) / 2;
    for (uint32_t k = threadIdx.x; count && k < region_places(count); k += blockDim.x) {
        const uint32_t atom = TRIO * (members[min(k, count - 1)].trio & MEMBER_TRIO);
        const uint4 g[TRIO] = {taken_at(b, atom), taken_at(b, atom + 1), taken_at(b, atom + 2)};
#pragma unroll
        for (uint32_t l = 0; l < TRIO; l++)
            shared_spots()[TRIO * k + l] = spot_of(b, middle, g[0], g[l]);
    }
    __syncthreads();
}

/* Puts members and where they are into shared memory. For the whole block. */
static __device__ struct rows stage_region(const struct build *b, const struct space *space)
{
    const struct args_list_build *a = &b->a;
    const uint32_t cap = a->region_cap, region = space->region;
    const struct region *r = (const struct region *)a->regions + region;
    const struct member *from = (const struct member *)a->members + region * (size_t)cap;
    const uint32_t count = __ldcg(&r->members);
    const struct rows rows = {false, (uint32_t)(TRIO * sizeof(struct spot) / sizeof(int32_t)) * region_places(cap),
                              count, __ldcg(&r->waters), region * (size_t)cap};
    BLOCK_LOOP(k, count)
    shared_members(&rows)[k].trio = __ldcg(&from[k].trio);
    __syncthreads();
    if (b->spots)
        stage_spots(b, space, shared_members(&rows), count);
    else
        stage_places(b, shared_members(&rows), count);
    return rows;
}

/* ---- searching ---- */

/* May a vector of pairs in reach, and `more` (nm), be another than that which rounding the fractions gives, or the way
 * between two members that stays in the region? Not where a longer one lies between opposite faces. */
static __device__ inline bool reach_is_long(const struct build *b, float more)
{
    const float least = (float)fmin(fmin(b->width[0], b->width[1]), b->width[2]);
    const float reach = fmaxf((float)b->t->list_cutoff, fmaxf(farthest_reach(b, 0), farthest_reach(b, 1)));
    return !(reach + more < HALF_ROUNDED * least);
}

/* A lane's own member, which others are tried with. */
struct member_seeker {
    uint32_t u[3];       /* without spots: its first atom, grid positions from the region's lower corner */
    struct spot spot;    /* with spots: its first atom */
    uint32_t trio, kind; /* trio: as in struct member */
    float reach2[2];     /* of waters and others, nm^2; -1: it has no pairs with them in its list */
};

/* Numbers of the trios of a kind that some lane of a warp has its pair with, if they are in reach: even and odd ones.
 */
struct wanted {
    uint32_t below[2], above[2];
};

/* Of candidates of a kind, as trio_owns has it. */
static __device__ struct wanted wanted_by_warp(const struct member_seeker *s, bool has, uint32_t kind)
{
    const uint32_t number = s->trio & MEMBER_TRIO;
    const bool alike = has && s->kind == kind, all = has && s->kind > kind;
    struct wanted w;
    for (uint32_t odd = 0; odd < 2; odd++) {
        const bool same = (number & 1) == odd;
        w.below[odd] = __reduce_max_sync(WARP_ALL, all ? ~0u : alike && same ? number + 1 : 0);
        w.above[odd] = __reduce_min_sync(WARP_ALL, alike && !same ? number : ~0u);
    }
    return w;
}

static __device__ __forceinline__ bool is_wanted(const struct wanted *w, uint32_t trio)
{
    const uint32_t number = trio & MEMBER_TRIO;
    return number < (trio & 1 ? w->below[1] : w->below[0]) || number > (trio & 1 ? w->above[1] : w->above[0]);
}

/* Of the candidates of a warp, one a lane, those that may be in a pair of this region, if they are in reach: a bit
 * each. Each pair has a member in the region along each edge. */
struct fitting {
    uint32_t mine, some; /* with a member; with that of some lane, or a few more */
};

/* owned: bits of all lanes' members */
static __device__ __forceinline__ struct fitting fitting_of(uint32_t trio, uint32_t owned, uint32_t candidate)
{
    struct fitting fit = {~0u, ~0u};
    for (int d = 0; d < 3; d++) {
        const uint32_t in = __ballot_sync(WARP_ALL, candidate >> (MEMBER_OWN_SHIFT + d) & 1);
        fit.mine &= trio >> (MEMBER_OWN_SHIFT + d) & 1 ? ~0u : in;
        fit.some &= owned >> (MEMBER_OWN_SHIFT + d) & 1 ? ~0u : in;
    }
    return fit;
}

/* Squared distance less that of the reach, nm^2; INFINITY where another way is nearer than the one that stays in the
 * region. */
static __device__ inline float beyond_reach(const struct build *b, const struct space *space,
                                            const struct member_seeker *s, struct place p, float reach2)
{
    const uint32_t other[3] = {p.x - space->lower[0], p.y - space->lower[1], p.z - space->lower[2]};
    const struct vec32 none = {0, 0, 0};
    float d[3];
    bool nearest = true;
    for (int k = 0; k < 3; k++) {
        const int32_t apart = (int32_t)(other[k] - s->u[k]);
        nearest = nearest && (s->u[k] >= other[k]) == (apart <= 0);
        d[k] = (float)apart;
    }
    return nearest ? least_square(b, {d[0], d[1], d[2]}, &none, 1, reach2) - reach2 : INFINITY;
}

/* The same of spots: p^2 - 2 p s + s^2. */
static __device__ __forceinline__ float beyond_reach(const struct vec32 *minus_twice, struct spot p, float less)
{
    return fmaf(p.x, minus_twice->x, fmaf(p.y, minus_twice->y, fmaf(p.z, minus_twice->z, p.square + less)));
}

/* Those of the members first .. first + 31 that are in reach, a bit each; only those of `some` need be right. */
template <bool SPOTS>
static __device__ __forceinline__ uint32_t in_reach(const struct build *b, const struct space *space,
                                                    const struct member_seeker *s, uint32_t first, uint32_t some,
                                                    float reach2)
{
    const struct vec32 minus_twice = {-2 * s->spot.x, -2 * s->spot.y, -2 * s->spot.z};
    const float less = s->spot.square - reach2;
    uint32_t in = 0; /* the first tried is the highest bit */
    for (uint32_t m = 0; m < 32; m += TRIED_AT_ONCE) {
        if (!(some >> m & ((1u << TRIED_AT_ONCE) - 1))) {
            in <<= TRIED_AT_ONCE;
            continue;
        }
#pragma unroll
        for (uint32_t n = 0; n < TRIED_AT_ONCE; n++) {
            const uint32_t slot = TRIO * (first + m + n);
            const float beyond = SPOTS ? beyond_reach(&minus_twice, shared_spots()[slot], less)
                                       : beyond_reach(b, space, s, shared_places()[slot], reach2);
            in = in << 1 | __float_as_uint(beyond) >> 31;
        }
    }
    return __brev(in);
}

/* Tries those of the members first .. first + 31 that are among `some`, all of one kind; which are around, a bit each.
 */
template <bool SPOTS>
static __device__ __forceinline__ uint32_t try_members(const struct build *b, const struct space *space,
                                                       const struct rows *rows, const struct member_seeker *s,
                                                       uint32_t first, uint32_t fit, uint32_t some, uint32_t kind)
{
    const bool alike = s->kind == kind;
    const uint32_t own = s->trio & MEMBER_TRIO;
    uint32_t taken = 0, left = in_reach<SPOTS>(b, space, s, first, some, s->reach2[kind]) & fit & some;
    while (left) { /* two at a time, as each is waited for */
        uint32_t bit[2], number[2];
        bool takes[2];
#pragma unroll
        for (int n = 0; n < 2; n++) {
            bit[n] = left ? 31 - (uint32_t)__clz((int)left) : 0;
            takes[n] = left != 0;
            left &= ~(1u << bit[n]);
        }
#pragma unroll
        for (int n = 0; n < 2; n++)
            number[n] = shared_members(rows)[first + bit[n]].trio & MEMBER_TRIO;
#pragma unroll
        for (int n = 0; n < 2; n++) {
            takes[n] = takes[n] & (!alike | trio_owns(own, number[n], kind == 0));
            taken |= (uint32_t)takes[n] << bit[n];
        }
    }
    return taken;
}

/* Of a thread: which members are around its own, a word for 32 each. */
static __device__ __forceinline__ uint32_t *seen_of(const struct build *b, uint32_t word)
{
    const uint32_t words = (b->a.region_cap + 31) / 32;
    return in_global((uint32_t *)b->a.seen) + (blockIdx.x * (size_t)words + word) * blockDim.x + threadIdx.x;
}

/* The members around the k-th that it has a pair with here (seen_of); how many. Each lane has a member, or none if
 * !has. */
template <bool SPOTS>
static __device__ uint32_t search_members(const struct build *b, const struct space *space, const struct rows *all,
                                          uint32_t k, bool has)
{
    const struct rows here = *all, *rows = &here; /* not to be read again */
    const uint32_t kind = k < rows->waters ? 0 : 1;
    struct member_seeker s = {{}, {}, shared_members(rows)[k].trio, kind, {-1, -1}};
    uint32_t count = 0;
    if (SPOTS) {
        s.spot = shared_spots()[TRIO * k];
    } else {
        const struct place p = shared_places()[TRIO * k];
        s.u[0] = p.x - space->lower[0], s.u[1] = p.y - space->lower[1], s.u[2] = p.z - space->lower[2];
    }
    for (uint32_t other = 0; has && other <= kind; other++)
        s.reach2[other] = reach_square(b, search_reach(b, kind, other));
    const struct wanted waters = wanted_by_warp(&s, has, 0), others = wanted_by_warp(&s, has, 1);
    const uint32_t owned = __reduce_or_sync(WARP_ALL, has ? s.trio : 0);
    uint32_t next = shared_members(rows)[min(lane_of_warp(), rows->count - 1)].trio;
    for (uint32_t first = 0; first < rows->count; first += WARP) {
        const uint32_t m = first + lane_of_warp(), candidate = next;
        const bool is_water = m < rows->waters, is_other = !is_water && m < rows->count;
        next = shared_members(rows)[min(m + WARP, rows->count - 1)].trio;
        const struct fitting fit = fitting_of(s.trio, owned, candidate);
        const uint32_t some = fit.some & __ballot_sync(WARP_ALL, is_water && is_wanted(&waters, candidate));
        const uint32_t rest = fit.some & __ballot_sync(WARP_ALL, is_other && is_wanted(&others, candidate));
        uint32_t taken = 0;
        if (some)
            taken |= try_members<SPOTS>(b, space, rows, &s, first, fit.mine, some, 0);
        if (rest)
            taken |= try_members<SPOTS>(b, space, rows, &s, first, fit.mine, rest, 1);
        *seen_of(b, first / 32) = taken;
        count += __popc(taken);
    }
    return count;
}

/* Puts them into the pool. Words are read several at a time, as each is waited for. */
static __device__ void put_members(const struct build *b, const struct rows *rows, struct row_place place)
{
    uint16_t *around = around_of(b, place);
    const uint32_t words = (rows->count + 31) / 32;
    for (uint32_t from = 0; place.around && from < words; from += WORDS_AT_ONCE) {
        uint32_t left[WORDS_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < WORDS_AT_ONCE; n++)
            left[n] = from + n < words ? *seen_of(b, from + n) : 0;
#pragma unroll
        for (uint32_t n = 0; n < WORDS_AT_ONCE; n++)
            for (; left[n]; left[n] &= left[n] - 1)
                *around++ = (uint16_t)(32 * (from + n) + (uint32_t)__ffs((int)left[n]) - 1);
    }
}

#endif
