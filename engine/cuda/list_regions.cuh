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
 * Members are sorted by cells, waters and others apart; a row of cells in x is one run of members.
 */
#ifndef SHOAL_ENGINE_CUDA_LIST_REGIONS_CUH
#define SHOAL_ENGINE_CUDA_LIST_REGIONS_CUH

#include "engine/cuda/list_search.cuh"

#define CELLS_A_REACH 3 /* along an edge */
#define CELL_LANES 8    /* that try a row of cells: 32 / CELL_LANES rows at a time */
#define REGION_BINS 2048
#define STARTS (2 * REGION_CELLS + 1) /* of a region's cells */

/* ---- geometry ---- */

/* One region. */
struct space {
    uint32_t region, at[3]; /* at: number along each edge */
    uint32_t lower[3];      /* grid positions of its corner */
    uint32_t length[3];     /* grid positions */
    uint32_t all;           /* cells of one kind of trios */
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

static __device__ inline uint32_t cell_along(const struct cut *cut, uint32_t u)
{
    return (uint32_t)((uint64_t)u * cut->box_cells >> 32);
}

static __device__ inline uint32_t cell_of(const struct build *b, const uint32_t u[3], uint32_t kind)
{
    const struct cut *c = b->cut;
    const uint32_t z = kind * c[2].cells + cell_along(&c[2], u[2]);
    return (z * c[1].cells + cell_along(&c[1], u[1])) * c[0].cells + cell_along(&c[0], u[0]);
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

static __device__ void count_cells(struct cut *cut, uint32_t box_cells)
{
    const uint64_t length = (((uint64_t)1 << 32) + cut->regions - 1) / cut->regions;
    const uint64_t end = length + max(cut->halo[0], cut->halo[1]);
    cut->box_cells = box_cells;
    cut->cells = cell_along(cut, (uint32_t)(min(end, (uint64_t)1 << 32) - 1)) + 1;
}

static __device__ void cut_box(struct build *b)
{
    const uint32_t regions[3] = {b->a->regions_x, b->a->regions_y, b->a->regions_z};
    struct cut *c = b->cut;
    const float reach[2] = {farthest_reach(b, 0), farthest_reach(b, 1)};
    for (int d = 0; d < 3; d++) {
        const float cells = CELLS_A_REACH * (float)b->width[d] / fmaxf(reach[0], reach[1]);
        c[d].regions = regions[d];
        for (int kind = 0; kind < 2; kind++)
            c[d].halo[kind] = grid_length(b, d, reach[kind]);
        count_cells(&c[d], max(1u, (uint32_t)cells));
    }
    while (c[0].cells * c[1].cells * c[2].cells > REGION_CELLS) {
        int most = c[0].cells >= c[1].cells ? 0 : 1;
        most = c[most].cells >= c[2].cells ? most : 2;
        count_cells(&c[most], (c[most].box_cells + 1) / 2);
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
    s.all = c[0].cells * c[1].cells * c[2].cells;
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

/* For the block, one use at a time: STARTS or REGION_BINS words. */
static __device__ inline uint32_t *shared_bins(void)
{
    __shared__ uint32_t bins[STARTS > REGION_BINS ? STARTS : REGION_BINS];
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

/* Finds the members. */
static __device__ void make_region(const struct build *b, uint32_t region)
{
    uint32_t *count = shared_bins();
    const struct args_list_build *a = b->a;
    const struct space s = space_of(b, region);
    const uint32_t cap = a->region_cap;
    struct member *members = (struct member *)a->members + region * (size_t)cap;
    uint16_t *start = (uint16_t *)a->cell_start + region * (size_t)STARTS;
    struct region *r = (struct region *)a->regions + region;
    BLOCK_LOOP(k, STARTS)
    count[k] = 0;
    __syncthreads();
    for_members(b, &s, [&](struct placed m, uint32_t kind) { atomicAdd(&count[cell_of(b, m.u, kind)], 1u); });
    sum_before(count, 2 * s.all + 1);
    const uint32_t found = count[2 * s.all];
    BLOCK_LOOP(k, 2 * s.all + 1)
    start[k] = (uint16_t)min(count[k], cap);
    if (threadIdx.x == 0) {
        r->members = min(found, cap);
        r->waters = min(count[s.all], cap);
        r->rows = 0;
        atomicMax(&b->lists->crowd, found);
    }
    __syncthreads();
    for_members(b, &s, [&](struct placed m, uint32_t kind) {
        const uint32_t at = atomicAdd(&count[cell_of(b, m.u, kind)], 1u);
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

/* ---- searching, by a warp ---- */

/* Does a member have its pair with another in its list, and in this region? */
static __device__ inline bool has_pair(const struct placed *own, const struct placed *other, uint32_t kind,
                                       uint32_t other_kind)
{
    const uint32_t l = own->trio & MEMBER_TRIO, k = other->trio & MEMBER_TRIO;
    bool yes = (own->trio | other->trio) >> MEMBER_OWN_SHIFT == 7;
    for (int d = 0; d < 3; d++)
        yes = yes && (own->u[d] >= other->u[d]) == ((int32_t)(own->u[d] - other->u[d]) >= 0);
    return yes && (kind != other_kind || trio_owns(l, k, kind == 0));
}

/* Cells in reach along one edge, up to the region's upper face for what is above it. */
struct stretch {
    uint32_t from, end;
};

static __device__ inline struct stretch stretch_of(const struct build *b, const struct space *s,
                                                   const struct placed *own, int d, float reach)
{
    const uint32_t u = own->u[d], length = grid_length(b, d, reach);
    const bool in = own->trio >> (MEMBER_OWN_SHIFT + d) & 1;
    const uint32_t most = in ? ~0u : s->length[d] - 1, last = u > ~0u - length ? ~0u : u + length;
    struct stretch cells = {cell_along(&b->cut[d], u > length ? u - length : 0),
                            min(cell_along(&b->cut[d], min(last, most)) + 1, b->cut[d].cells)};
    return cells;
}

/* Distance along an edge from a point (in cells) to a cell, in cells. */
static __device__ inline float cells_between(float at, uint32_t cell)
{
    const float low = (float)cell - at;
    return fmaxf(fmaxf(low, -1 - low), 0);
}

/* Of a row of cells, those within `reach` cells of the member, the square of which is given. */
static __device__ inline struct stretch shorten(struct stretch x, float at, float reach2)
{
    if (reach2 < 0) {
        x.end = x.from;
        return x;
    }
    const float half = reach2 * rsqrt_approx(reach2 + 1e-12f), from = floorf(at - half), last = floorf(at + half);
    x.from = from > (float)x.from ? (uint32_t)from : x.from;
    x.end = last + 1 < (float)x.end ? (uint32_t)(last + 1) : x.end;
    return x;
}

struct member_seeker {
    const struct build *b;
    const struct rows *rows;
    const struct space *space;
    struct placed own;
    uint32_t kind, other_kind;
    float reach, reach2;
    uint16_t *around;
    uint32_t count, cap;
};

static __device__ __forceinline__ struct placed placed_of(const struct rows *rows, const struct space *space,
                                                          uint32_t k)
{
    const struct place p = rows->places[TRIO * k];
    return {{p.x - space->lower[0], p.y - space->lower[1], p.z - space->lower[2]}, rows->members[k].trio};
}

/* Tries one member a lane. */
static __device__ __forceinline__ void try_member(struct member_seeker *s, bool has, uint32_t k)
{
    const struct build *b = s->b;
    const struct placed other = placed_of(s->rows, s->space, has ? k : 0);
    const struct vec32 none = {0, 0, 0};
    const struct apart d = {(float)(int32_t)(other.u[0] - s->own.u[0]), (float)(int32_t)(other.u[1] - s->own.u[1]),
                            (float)(int32_t)(other.u[2] - s->own.u[2])};
    const float square = b->triclinic ? least_square(b, d, &none, 1, s->reach2)
                                      : square32(cell32_vector<false>(&b->cell, d.x, d.y, d.z, none));
    has = has && square < s->reach2 && has_pair(&s->own, &other, s->kind, s->other_kind);
    s->count = append(lanes_of(32), has, k, s->around, s->count, s->cap);
}

/* Tries those of one kind that are in reach. */
static __device__ void try_cells(struct member_seeker *s)
{
    const struct build *b = s->b;
    const struct space *space = s->space;
    const struct cut *c = b->cut;
    const struct stretch x = stretch_of(b, space, &s->own, 0, s->reach), y = stretch_of(b, space, &s->own, 1, s->reach),
                         z = stretch_of(b, space, &s->own, 2, s->reach);
    if (x.from >= x.end || y.from >= y.end || z.from >= z.end)
        return;
    const uint16_t *start = (const uint16_t *)b->a->cell_start + space->region * (size_t)STARTS +
                            s->other_kind * c[2].cells * c[1].cells * c[0].cells;
    const uint32_t rows = c[1].cells, row = c[0].cells;
    float at[3], edge[3]; /* in cells; of a cell, nm */
    for (int d = 0; d < 3; d++) {
        at[d] = (float)s->own.u[d] / GRID_EDGE * (float)c[d].box_cells;
        edge[d] = (float)b->width[d] / (float)c[d].box_cells;
    }
    const float inverse2 = 1 / (edge[0] * edge[0]), most2 = 1.001f * s->reach2 * inverse2;
    const float y2 = edge[1] * edge[1] * inverse2, z2 = edge[2] * edge[2] * inverse2;
    uint32_t cy = y.from + lane_of_warp() / CELL_LANES, cz = z.from;
    for (;; cy += 32 / CELL_LANES) {
        for (; cy >= y.end; cz++)
            cy -= y.end - y.from;
        if (!__any_sync(~0u, cz < z.end))
            return;
        uint32_t from = 0, end = 0;
        if (cz < z.end) {
            const float dy = cells_between(at[1], cy), dz = cells_between(at[2], cz);
            const struct stretch run = b->triclinic ? x : shorten(x, at[0], most2 - dy * dy * y2 - dz * dz * z2);
            const uint16_t *cells = start + (cz * rows + cy) * row;
            from = run.from < run.end ? cells[run.from] : 0;
            end = run.from < run.end ? cells[run.end] : 0;
        }
        const uint32_t most = __reduce_max_sync(~0u, end - from);
        for (uint32_t m = lane_of_warp() % CELL_LANES; m - lane_of_warp() % CELL_LANES < most; m += CELL_LANES)
            try_member(s, from + m < end, from + m);
    }
}

/* The members around one of them that it has a pair with here; how many. */
static __device__ uint32_t search_region(const struct build *b, const struct space *space, const struct rows *rows,
                                         uint32_t k, uint16_t *around)
{
    const uint32_t kind = k < rows->waters ? 0 : 1;
    struct member_seeker s = {b, rows, space, placed_of(rows, space, k), kind, 0, 0, 0, around, 0, b->a->cap};
    for (s.other_kind = rows->waters ? 0 : 1; s.other_kind <= kind; s.other_kind++) {
        s.reach = search_reach(b, kind, s.other_kind);
        s.reach2 = s.reach * s.reach;
        try_cells(&s);
    }
    return s.count;
}

/* ---- order ---- */

/* Members whose lists cost about the same have one bin, those that cost most the first, those without entries the last. */
static __device__ inline uint32_t bin_of(struct trio_counts n, bool water)
{
    if (n.near + n.oxygen + n.hydrogen + n.other == 0)
        return REGION_BINS - 1;
    if (!water)
        return 1022 - min((n.near + n.other) / 8, 1022u);
    return 1023 + 1023 - (min((n.hydrogen + 7) / 8, 63u) * 16 + min((n.oxygen + 7) / 8, 15u));
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
            const uint32_t at = atomicAdd(&count[bin_of(n, k < rows->waters)], 1u);
            if (pass)
                order[at] = k;
        }
        if (pass)
            break;
        sum_before(count, REGION_BINS);
        if (threadIdx.x == 0)
            ((struct region *)b->a->regions)[region].rows = count[REGION_BINS - 1];
        __syncthreads();
    }
}

#endif
