/* SPDX-License-Identifier: Apache-2.0
 *
 * Which trios are around a trio: those of which some atom may come within a list's reach of one of its atoms, before first atoms
 * have moved by more than half the skin. Small systems try each trio with each other. In large ones trios are sorted by cells,
 * which are half as wide as the search reaches, and those of the cells in reach are tried; a row of cells in x is one run of slots.
 */
#ifndef SHOAL_ENGINE_CUDA_LIST_SEARCH_CUH
#define SHOAL_ENGINE_CUDA_LIST_SEARCH_CUH

#include "engine/cuda/pair32.cuh"

#define GRID_EDGE 4294967296.0f
#define SORT_CHUNK 1024    /* trios that a block sorts at a time */
#define EXTENT_SLACK 1.02f /* extents may grow by that factor.. */
#define EXTENT_MORE 0.002f /* ..and this much, nm, until there is a new search */
#define CELLS_MOST_EDGE 1023

/* Numbers of cells; waters have cells of their own, the first `all`, and so have other trios. */
struct cells {
    uint32_t n[3], all;
};

struct build {
    const struct args_list_build *a;
    const struct pair_table *t;
    struct pair_lists *lists;
    bool search;       /* trios around are looked for; else they are known */
    const uint4 *grid; /* nobody writes to it while trios are worked on */
    struct cell32 cell;
    bool triclinic;
    double width[3]; /* of the box, nm */
    struct cells cells;
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

static __device__ struct cells cells_of(const struct build *b)
{
    struct cells cells;
    const float reach = fmaxf(search_reach(b, 0, 0), search_reach(b, 1, 1));
    for (int d = 0; d < 3; d++)
        cells.n[d] = max(1u, min((uint32_t)(2 * (float)b->width[d] / reach), (uint32_t)CELLS_MOST_EDGE));
    while (cells.n[0] * cells.n[1] * cells.n[2] > b->t->cells_most) {
        int widest = cells.n[0] >= cells.n[1] ? 0 : 1;
        widest = cells.n[widest] >= cells.n[2] ? widest : 2;
        cells.n[widest] = (cells.n[widest] + 1) / 2;
    }
    cells.all = cells.n[0] * cells.n[1] * cells.n[2];
    return cells;
}

static __device__ inline uint32_t cell_along(const struct build *b, uint32_t g, int d)
{
    return (uint32_t)((uint64_t)g * b->cells.n[d] >> 32);
}

static __device__ inline uint32_t cell_at(const struct build *b, uint32_t trio, uint4 g)
{
    uint32_t kind = trio < (uint32_t)b->t->nwaters ? 0 : 1, y = cell_along(b, g.y, 1), z = cell_along(b, g.z, 2);
    return kind * b->cells.all + (z * b->cells.n[1] + y) * b->cells.n[0] + cell_along(b, g.x, 0);
}

/* ---- sorting: counting, starts of cells, moving; each for all trios before the next ---- */

static __device__ void count_chunk(const struct build *b, uint32_t chunk)
{
    const uint32_t end = min((chunk + 1) * SORT_CHUNK, (uint32_t)b->t->ntrios);
    for (uint32_t trio = chunk * SORT_CHUNK + threadIdx.x; trio < end; trio += blockDim.x) {
        uint32_t cell = cell_at(b, trio, ((const uint4 *)b->a->grid)[TRIO * trio]);
        ((uint32_t *)b->a->spot)[trio] = atomicAdd((uint32_t *)b->a->cell_count + cell, 1u);
    }
}

/* cell_start[k]: trios in cells before k. The counts are zero again. For the whole block. */
static __device__ void start_cells(const struct build *b)
{
    __shared__ uint32_t before[2][1024];
    uint32_t *count = (uint32_t *)b->a->cell_count, *start = (uint32_t *)b->a->cell_start;
    const uint32_t all = 2 * b->cells.all, share = (all + blockDim.x - 1) / blockDim.x, me = threadIdx.x;
    const uint32_t from = min(me * share, all), to = min(from + share, all);
    uint32_t sum = 0, turn = 0;
    for (uint32_t k = from; k < to; k++)
        sum += __ldcg(count + k);
    before[0][me] = sum;
    for (uint32_t step = 1; step < blockDim.x; step *= 2, turn ^= 1) {
        __syncthreads();
        before[turn ^ 1][me] = before[turn][me] + (me >= step ? before[turn][me - step] : 0);
    }
    sum = before[turn][me] - sum;
    for (uint32_t k = from; k < to; k++) {
        start[k] = sum;
        sum += __ldcg(count + k);
        count[k] = 0;
    }
    if (me == 0)
        start[all] = (uint32_t)b->t->ntrios;
}

/* Grid positions to `built`, in the new order; in small systems the order stays. */
static __device__ void move_chunk(const struct build *b, uint32_t chunk)
{
    const struct args_list_build *a = b->a;
    const uint4 *grid = (const uint4 *)a->grid;
    const uint32_t trios = (uint32_t)b->t->ntrios, end = min((chunk + 1) * SORT_CHUNK, trios);
    uint32_t *first[3] = {(uint32_t *)a->first_x, (uint32_t *)a->first_y, (uint32_t *)a->first_z};
    for (uint32_t trio = chunk * SORT_CHUNK + threadIdx.x; trio < end; trio += blockDim.x) {
        const uint4 g = grid[TRIO * trio];
        uint32_t to = trio;
        if (!b->t->half) {
            to = __ldcg((uint32_t *)a->cell_start + cell_at(b, trio, g)) + __ldcg((uint32_t *)a->spot + trio);
            ((uint32_t *)a->home_next)[to] = b->lists->ordered ? ((const uint32_t *)a->home)[trio] : trio;
        }
        for (uint32_t k = 0; k < TRIO; k++)
            ((uint4 *)a->built)[TRIO * to + k] = grid[TRIO * trio + k];
        first[0][to] = g.x, first[1][to] = g.y, first[2][to] = g.z;
    }
}

/* ---- searching, by a warp ---- */

/* Puts a value of those lanes that have one behind the `count` that are there; returns how many there are now. Counts on where
 * there is no room. */
template <class T>
static __device__ inline uint32_t append(const struct build *b, bool has, uint32_t value, T *list, uint32_t count,
                                         uint32_t cap)
{
    uint32_t who = __ballot_sync(~0u, has), at = count + __popc(who & b->below);
    if (has && at < cap)
        list[at] = (T)value;
    return count + __popc(who);
}

/* A trio that others are tried with. */
struct seeker {
    uint32_t trio, x, y, z;
    float reach2[2]; /* of waters and others, nm^2 */
    uint32_t *around, count;
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
    s->count = append(b, has, other, s->around, s->count, a->cap);
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

static __device__ void try_all(const struct build *b, struct seeker *s)
{
    const uint32_t total = candidates(b->t, s->trio);
    for (uint32_t base = 0; base < total; base += 32) {
        uint32_t m = base + b->lane;
        try_trio(b, s, m < total, candidate(b->t, s->trio, m < total ? m : 0));
    }
}

/* Cells in reach along one edge, around the box: `count` from `from` on. */
struct stretch {
    uint32_t from, count;
};

static __device__ struct stretch stretch_of(const struct build *b, uint32_t g, int d, float reach)
{
    const uint32_t n = b->cells.n[d], steps = (uint32_t)(reach * (float)n / (float)b->width[d]) + 1;
    struct stretch s = {0, n};
    if (2 * steps + 1 < n) {
        s.from = (cell_along(b, g, d) + n - steps) % n;
        s.count = 2 * steps + 1;
    }
    return s;
}

/* A row of cells, of which those of the stretch are tried. */
static __device__ void try_row(const struct build *b, struct seeker *s, const uint32_t *start, struct stretch x)
{
    const uint32_t n = b->cells.n[0], begin = start[0], end = start[n], until = x.from + x.count;
    const uint32_t first = start[x.from];
    const uint32_t count = until <= n ? start[until] - first : end - first + start[until - n] - begin;
    for (uint32_t base = 0; base < count; base += 32) {
        uint32_t m = base + b->lane, other = first + (m < count ? m : 0);
        try_trio(b, s, m < count, other < end ? other : other - (end - begin));
    }
}

static __device__ void try_cells(const struct build *b, struct seeker *s)
{
    const uint32_t waters = (uint32_t)b->t->nwaters, *n = b->cells.n;
    for (uint32_t kind = waters ? 0 : 1; kind < (waters < (uint32_t)b->t->ntrios ? 2 : 1); kind++) {
        const float reach = search_reach(b, s->trio < waters ? 0 : 1, kind);
        const struct stretch x = stretch_of(b, s->x, 0, reach), y = stretch_of(b, s->y, 1, reach),
                             z = stretch_of(b, s->z, 2, reach);
        for (uint32_t row = 0; row < y.count * z.count; row++) {
            uint32_t at_y = (y.from + row % y.count) % n[1], at_z = (z.from + row / y.count) % n[2];
            try_row(b, s, (const uint32_t *)b->a->cell_start + kind * b->cells.all + (at_z * n[1] + at_y) * n[0], x);
        }
    }
}

/* The trios around one; how many. */
static __device__ uint32_t search_around(const struct build *b, uint32_t trio, uint32_t *around)
{
    const uint32_t kind = trio < (uint32_t)b->t->nwaters ? 0 : 1;
    const float reach[2] = {search_reach(b, kind, 0), search_reach(b, kind, 1)};
    const uint4 g = b->grid[TRIO * trio];
    struct seeker s = {trio, g.x, g.y, g.z, {reach[0] * reach[0], reach[1] * reach[1]}, around, 0};
    if (b->t->half)
        try_all(b, &s);
    else
        try_cells(b, &s);
    __syncwarp();
    return s.count;
}

#endif
