/* SPDX-License-Identifier: Apache-2.0
 *
 * The regions of large systems (nonbonded_tables.h): their members, the trios around a member that its pairs in the region are
 * with, and the order of members in which pairs are computed.
 *
 * Positions are told from a region's lower corner and do not go around the box: u < 2^32 holds the region and what is in reach
 * above it, since there are at least two regions along an edge, and nothing is farther than half of it. Two members have their pair here if
 * along each edge one of them is in the region, and if the way between them that stays here is the one to the nearest image. Then
 * the lower one is in the region, and no other region sees them so.
 *
 * Members are sorted by kind and by the upper faces that they are above, so that most of a warp's next members are of one sort.
 */
#ifndef SHOAL_ENGINE_CUDA_LIST_REGIONS_CUH
#define SHOAL_ENGINE_CUDA_LIST_REGIONS_CUH

#include "engine/cuda/list_search.cuh"

#define REGION_BINS 2048   /* of rows by how long their lists are */
#define OTHER_BINS 1023u   /* the first of them, of no waters */
#define LONGEST 188u       /* list of hydrogens that has a bin of its own.. */
#define LONGEST_OXYGEN 80u /* ..and of oxygens, with four entries at a time or more */
#define SORTS 8            /* of members of a kind, by upper faces */
#define TRIED_AT_ONCE 4    /* candidates by a thread, so that it waits for several at a time */

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
    return (uint32_t)fminf(1.0001f * distance / (float)b->width[d] * GRID_EDGE, 0.5f * GRID_EDGE);
}

static __device__ void cut_box(struct build *b)
{
    const uint32_t regions[3] = {b->a->regions_x, b->a->regions_y, b->a->regions_z};
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

/* A member where it is: its first atom, grid position from the region's lower corner. */
struct placed {
    uint32_t u[3];
    uint32_t trio; /* as in struct member */
};

/* Is a trio, whose first atom is at g, one of the region's? */
static __device__ bool member_of(const struct build *b, const struct space *s, uint32_t trio, uint32_t kind,
                                 const uint32_t g[3], struct placed *m)
{
    const float reach = 1.0001f * farthest_reach(b, kind);
    float away2 = 0; /* from upper faces */
    m->trio = trio;
    for (int d = 0; d < 3; d++) {
        m->u[d] = g[d] - s->lower[d];
        if (region_along(g[d], b->cut[d].regions) == s->at[d]) {
            m->trio |= 1u << (MEMBER_OWN_SHIFT + d);
            continue;
        }
        const uint32_t above = m->u[d] - s->length[d];
        if (above >= b->cut[d].halo[kind])
            return false;
        const float away = (float)above / GRID_EDGE * (float)b->width[d];
        away2 = b->triclinic ? 0 : away2 + away * away;
    }
    return away2 < reach * reach;
}

/* count[k] becomes the sum of those before k, of n (the threads of the block times what is left to a thread at most). For the
 * whole block. */
static __device__ void sum_before(uint32_t *count, uint32_t n)
{
    __shared__ uint32_t before[2][32 * BUILD_WARPS];
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

/* f(member, kind) for every member, each by one thread of the block; positions are read several at a time. */
template <class F> static __device__ __forceinline__ void for_members(const struct build *b, const struct space *s, F f)
{
    const uint4 *grid = (const uint4 *)b->a->grid;
    const uint32_t trios = (uint32_t)b->t->ntrios, waters = (uint32_t)b->t->nwaters;
    for (uint32_t from = threadIdx.x; from < trios; from += READ_AT_ONCE * blockDim.x) {
        uint4 first[READ_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++)
            first[n] = grid[TRIO * min(from + n * blockDim.x, trios - 1)];
#pragma unroll
        for (uint32_t n = 0; n < READ_AT_ONCE; n++) {
            const uint32_t trio = from + n * blockDim.x, kind = trio >= waters,
                           g[3] = {first[n].x, first[n].y, first[n].z};
            struct placed m;
            if (trio < trios && member_of(b, s, trio, kind, g, &m))
                f(m, kind);
        }
    }
}

static __device__ inline uint32_t sort_of(struct placed m, uint32_t kind)
{
    return kind * SORTS + (m.trio >> MEMBER_OWN_SHIFT);
}

/* Finds the members. */
static __device__ void make_region(const struct build *b, uint32_t region)
{
    uint32_t *count = shared_bins();
    const struct args_list_build *a = b->a;
    const struct space s = space_of(b, region);
    const uint32_t cap = a->region_cap;
    struct member *members = (struct member *)a->members + region * (size_t)cap;
    struct region *r = (struct region *)a->regions + region;
    BLOCK_LOOP(k, 2 * SORTS + 1)
    count[k] = 0;
    __syncthreads();
    for_members(b, &s, [&](struct placed m, uint32_t kind) { atomicAdd(&count[sort_of(m, kind)], 1u); });
    sum_before(count, 2 * SORTS + 1);
    if (threadIdx.x == 0) {
        r->members = min(count[2 * SORTS], cap);
        r->waters = min(count[SORTS], cap);
        r->rows = r->others = 0;
        atomicMax(&b->lists->crowd, count[2 * SORTS]);
    }
    __syncthreads();
    for_members(b, &s, [&](struct placed m, uint32_t kind) {
        const uint32_t at = atomicAdd(&count[sort_of(m, kind)], 1u);
        if (at < cap)
            members[at].trio = m.trio;
    });
}

/* Puts members and their positions into shared memory. For the whole block. */
static __device__ struct rows stage_region(const struct build *b, uint32_t region)
{
    const struct args_list_build *a = b->a;
    const uint32_t cap = a->region_cap, others = (uint32_t)(b->t->ntrios - b->t->nwaters);
    const struct region *r = (const struct region *)a->regions + region;
    const struct member *from = (const struct member *)a->members + region * (size_t)cap;
    const uint32_t count = __ldcg(&r->members);
    struct member *members = (struct member *)(shared_places() + TRIO * cap);
    BLOCK_LOOP(k, count)
    members[k].trio = __ldcg(&from[k].trio);
    __syncthreads();
    stage_places(b, members, count);
    return {shared_places(),
            members,
            count,
            __ldcg(&r->waters),
            region * (size_t)cap,
            region * (size_t)region_other_rows(cap, others)};
}

/* ---- searching ---- */

static __device__ __forceinline__ struct placed placed_of(const struct rows *rows, const struct space *space,
                                                          uint32_t k)
{
    const struct place p = rows->places[TRIO * k];
    return {{p.x - space->lower[0], p.y - space->lower[1], p.z - space->lower[2]}, rows->members[k].trio};
}

/* May the way between two members that stays in the region be another than that to the nearest image, for pairs in reach? */
static __device__ inline bool reach_is_long(const struct build *b)
{
    const float least = (float)fmin(fmin(b->width[0], b->width[1]), b->width[2]);
    return b->triclinic || !(fmaxf(farthest_reach(b, 0), farthest_reach(b, 1)) < 0.499f * least);
}

/* A member as all lanes of a warp see it: where it is, as grid positions or, where reaches are short, as bits of floats, nm. */
struct seen {
    uint32_t x, y, z, trio;
};

/* A lane's own member, which others are tried with. */
struct member_seeker {
    struct placed own;
    struct vec32 at; /* nm */
    uint32_t kind;
    float reach2[2]; /* of waters and others, nm^2; -1: it has no pairs with them in its list */
    uint16_t *around;
    uint32_t count, cap;
};

/* Of the candidates of a warp, a bit each: those that the seeker may have pairs with in this region, if they are in reach; and those
 * whose number is as odd as its own. */
struct sorted {
    uint32_t fit, same;
};

static __device__ __forceinline__ struct vec32 nm_of(const struct build *b, const uint32_t u[3])
{
    const struct vec32 none = {0, 0, 0};
    return cell32_vector<false>(&b->cell, (float)u[0], (float)u[1], (float)u[2], none);
}

/* Puts a candidate of each lane where the warp sees it. Each pair has a member in the region along each edge. */
static __device__ __forceinline__ struct sorted show(const struct build *b, struct seen *to, const struct placed *own,
                                                     bool there, struct placed other, bool exact)
{
    const struct vec32 at = nm_of(b, other.u);
    const uint32_t odd = __ballot_sync(~0u, other.trio & 1);
    struct sorted s = {__ballot_sync(~0u, there), own->trio & 1 ? odd : ~odd};
    for (int d = 0; d < 3; d++) {
        const uint32_t in = __ballot_sync(~0u, other.trio >> (MEMBER_OWN_SHIFT + d) & 1);
        s.fit &= own->trio >> (MEMBER_OWN_SHIFT + d) & 1 ? ~0u : in;
    }
    to[lane_of_warp()] = {exact ? other.u[0] : __float_as_uint(at.x), exact ? other.u[1] : __float_as_uint(at.y),
                          exact ? other.u[2] : __float_as_uint(at.z), other.trio & MEMBER_TRIO};
    __syncwarp();
    return s;
}

/* nm^2; INFINITY where another way is nearer than the one that stays in the region. */
template <bool EXACT>
static __device__ __forceinline__ float member_square(const struct build *b, const struct member_seeker *s,
                                                      const struct seen *c, float reach2)
{
    if (!EXACT) {
        const struct vec32 d = {s->at.x - __uint_as_float(c->x), s->at.y - __uint_as_float(c->y),
                                s->at.z - __uint_as_float(c->z)};
        return square32(d);
    }
    const uint32_t own[3] = {s->own.u[0], s->own.u[1], s->own.u[2]}, other[3] = {c->x, c->y, c->z};
    const struct vec32 none = {0, 0, 0};
    float d[3];
    bool nearest = true;
    for (int k = 0; k < 3; k++) {
        const int32_t apart = (int32_t)(other[k] - own[k]);
        nearest = nearest && (own[k] >= other[k]) == (apart <= 0);
        d[k] = (float)apart;
    }
    return nearest ? least_square(b, {d[0], d[1], d[2]}, &none, 1, reach2) : INFINITY;
}

/* Tries candidates from .. end - 1 of those seen, all of one kind; the first of them is member `first`. */
template <bool EXACT>
static __device__ __forceinline__ void try_members(const struct build *b, struct member_seeker *s,
                                                   const struct seen *seen, struct sorted sorted, uint32_t first,
                                                   uint32_t from, uint32_t end, uint32_t kind)
{
    const bool alike = s->kind == kind; /* of two of a kind one has the pair: trio_owns */
    const uint32_t number = alike ? s->own.trio & MEMBER_TRIO : ~0u, same = alike ? sorted.same : ~0u;
    const uint32_t fit = sorted.fit & ~0u << from & ~0u >> (32 - end);
    const float reach2 = s->reach2[kind];
    uint16_t *const around = settled(s->around);
    for (uint32_t m = from; m < end; m += TRIED_AT_ONCE) {
        bool yes[TRIED_AT_ONCE];
#pragma unroll
        for (uint32_t n = 0; n < TRIED_AT_ONCE; n++) {
            const uint32_t bit = 1u << m << n;
            const struct seen *c = &seen[(m + n) % 32];
            const bool owns = (c->trio > number) != ((same & bit) != 0);
            yes[n] = owns & ((fit & bit) != 0) & (member_square<EXACT>(b, s, c, reach2) < reach2);
        }
#pragma unroll
        for (uint32_t n = 0; n < TRIED_AT_ONCE; n++)
            if (yes[n]) {
                if (s->count < s->cap)
                    around[s->count] = (uint16_t)(first + m + n);
                s->count++;
            }
    }
}

/* The members around the k-th that it has a pair with here; how many. Each lane has a member, or none if !has. */
template <bool EXACT>
static __device__ uint32_t search_members(const struct build *b, const struct space *space, const struct rows *rows,
                                          uint32_t k, bool has, uint16_t *around)
{
    __shared__ struct seen shared[BUILD_WARPS][32];
    struct seen *seen = shared[threadIdx.x / 32];
    const uint32_t kind = k < rows->waters ? 0 : 1;
    struct member_seeker s = {placed_of(rows, space, k), {}, kind, {-1, -1}, around, 0, b->a->cap};
    s.at = nm_of(b, s.own.u);
    for (uint32_t other = 0; has && other <= kind; other++) {
        const float reach = search_reach(b, kind, other);
        s.reach2[other] = reach * reach;
    }
    for (uint32_t first = 0; first < rows->count; first += 32) {
        const uint32_t m = first + lane_of_warp(), n = min(rows->count - first, 32u);
        const uint32_t waters = rows->waters > first ? min(rows->waters - first, n) : 0;
        struct sorted sorted =
            show(b, seen, &s.own, m < rows->count, placed_of(rows, space, min(m, rows->count - 1)), EXACT);
        if (kind == 0 && k - first < 32) /* no water has a pair with itself */
            sorted.fit &= ~(1u << (k - first));
        const bool some = __any_sync(~0u, has && sorted.fit);
        if (some && waters)
            try_members<EXACT>(b, &s, seen, sorted, first, 0, waters, 0);
        if (some && n > waters)
            try_members<EXACT>(b, &s, seen, sorted, first, waters, n, 1);
        __syncwarp();
    }
    return s.count;
}

/* ---- order ---- */

/* Members whose lists cost about the same have one bin, those that cost most the first, those without entries the last. A warp takes
 * so many entries at a time of several waters: those that ask for as many turns cost the same. */
static __device__ inline uint32_t bin_of(struct trio_counts n, bool water, uint32_t at_a_time)
{
    if (n.near + n.oxygen + n.hydrogen + n.other == 0)
        return REGION_BINS - 1;
    if (!water)
        return OTHER_BINS - 1 - min((n.near + n.other) / 8, OTHER_BINS - 1);
    const uint32_t hydrogens = (min(n.hydrogen, LONGEST) + at_a_time - 1) / at_a_time;
    const uint32_t oxygens = (min(n.oxygen, LONGEST_OXYGEN) + at_a_time - 1) / at_a_time;
    return OTHER_BINS + 1023 - (hydrogens * (LONGEST_OXYGEN / at_a_time + 1) + oxygens);
}

/* When all lists of the region are made. For the whole block. */
static __device__ void order_region(const struct build *b, uint32_t region, const struct rows *rows)
{
    uint32_t *count = shared_bins();
    uint32_t *order = (uint32_t *)b->a->order + rows->first;
    BLOCK_LOOP(k, REGION_BINS)
    count[k] = 0;
    __syncthreads();
    for (int pass = 0; pass < 2; pass++) {
        BLOCK_LOOP(k, rows->count)
        {
            const uint4 word = __ldcg((const uint4 *)b->a->counts + rows->first + k);
            const struct trio_counts n = {word.x, word.y, word.z, word.w};
            const uint32_t at = atomicAdd(&count[bin_of(n, k < rows->waters, b->a->at_a_time)], 1u);
            if (pass)
                order[at] = k;
        }
        if (pass)
            break;
        sum_before(count, REGION_BINS);
        if (threadIdx.x == 0) {
            struct region *r = (struct region *)b->a->regions + region;
            r->rows = count[REGION_BINS - 1];
            r->others = count[OTHER_BINS];
        }
        __syncthreads();
    }
}

#endif
