/* SPDX-License-Identifier: Apache-2.0
 *
 * Grid positions and pair lists. A list made with cut-off + buffer at a box L0 holds every pair that can be inside the cut-off
 * while 2 d <= min(1, L/L0) (cut-off + buffer) - cut-off, with d the largest displacement since, measured in grid positions
 * times the box now, L; so volume moves count. A pair leaves the near list's reach by no more than that either.
 *
 * list_build returns at once where no list is asked for. Else a warp at a time makes the list of one trio: it looks for trios
 * whose first atom is near enough, puts them into a queue, and looks at their atoms 32 trios at a time. What order entries come
 * in does not matter. When a list is too short the needed length is noted, and the last block halts the replica.
 */
#include "engine/cuda/pair32.cuh"
#include "engine/math/search.h"

#define BUILD_WARPS 8
#define QUEUE 64
#define PERTURBED_SLOTS 1024 /* slots that a warp tries with one perturbed atom */
#define GRID_EDGE 4294967296.0

/* A position as fraction of the box; what lies outside comes in. */
static __device__ inline uint32_t grid_position(double x, double edge)
{
    return (uint32_t)(uint64_t)__double2ll_rn(x * (GRID_EDGE / edge));
}

/* How far the atom of a slot is from its trio's first, nm: the largest since the replica began is kept. */
static __device__ void note_extent(struct pair_lists *lists, const struct pair_table *t, const double *x,
                                   const double *box, uint32_t slot, int32_t atom)
{
    const double *from = x + 3 * (size_t)t->atom[slot - slot % TRIO];
    double r2 = 0;
    for (int d = 0; d < 3; d++) {
        double dx = x[3 * (size_t)atom + d] - from[d];
        dx -= box[d] * rint(dx / box[d]);
        r2 += dx * dx;
    }
    uint32_t bits = __float_as_uint((float)sqrt(r2) * 1.0001f);
    uint32_t *extent = &lists->extent[slot < TRIO * (uint32_t)t->nwaters ? 0 : 1];
    if (bits > *(volatile uint32_t *)extent)
        atomicMax(extent, bits);
}

/* Squared displacement that ends a list, nm^2; -1: there is none. */
static __device__ double allowed2(const struct ctl *c, const struct pair_lists *lists, const struct pair_table *t)
{
    double ratio = 1;
    if (lists->built_box[0] == 0)
        return -1;
    for (int d = 0; d < 3; d++)
        ratio = fmin(ratio, c->box[d] / lists->built_box[d]);
    double allowed = 0.5 * (ratio * t->list_cutoff - t->cutoff) - 1e-6;
    return allowed > 0 ? allowed * allowed : -1;
}

KERNEL(place, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    struct pair_lists *lists = (struct pair_lists *)a.lists;
    const double *x = (const double *)a.x;
    uint32_t *first[3] = {(uint32_t *)a.first_x, (uint32_t *)a.first_y, (uint32_t *)a.first_z};
    if (c->halt)
        return;
    const double most = allowed2(c, lists, t), lambda = c->lambda[LAMBDA_COULOMB];
    GRID_LOOP(slot, (uint32_t)t->nslots)
    {
        int32_t entry = t->atom[slot], atom = entry < 0 ? ~entry : entry;
        const uint4 built = ((const uint4 *)a.built)[slot];
        const uint32_t was[3] = {built.x, built.y, built.z};
        uint32_t g[3];
        double moved2 = 0;
        bool finite = true;
        for (int d = 0; d < 3; d++) {
            double xd = x[3 * (size_t)atom + d];
            finite = finite && fabs(xd) < 1e6 * c->box[d];
            g[d] = grid_position(xd, c->box[d]);
            double moved = (double)(int32_t)(g[d] - was[d]) * (c->box[d] / GRID_EDGE);
            moved2 += moved * moved;
        }
        if (!finite)
            halt_once(c, HALT_NONFINITE, (uint32_t)atom, 0, x[3 * (size_t)atom]);
        float charge = entry < 0 ? 0.0f : (float)(t->charge[atom] + lambda * t->change[atom]);
        const uint4 placed = make_uint4(g[0], g[1], g[2], __float_as_uint(charge));
        ((uint4 *)a.grid)[slot] = placed;
        if (entry >= 0)
            ((uint4 *)a.atom_grid)[atom] = placed;
        if (moved2 > most)
            lists->rebuild = 1;
        if (slot >= TRIO * (uint32_t)t->ntrios)
            continue;
        if (slot % TRIO == 0)
            for (int d = 0; d < 3; d++)
                first[d][slot / TRIO] = g[d];
        else if (finite)
            note_extent(lists, t, x, c->box, slot, atom);
    }
}

/* ---- building ---- */

struct build {
    const struct args_list_build *a;
    const struct pair_table *t;
    struct pair_lists *lists;
    const uint4 *grid;
    struct cell32 cell;
    float reach2, near2;  /* squared radii of the lists and of the near ones, nm^2 */
    uint32_t lane, below; /* below: bits of the lanes before this one */
    uint32_t *queue;      /* of this warp */
};

static __device__ inline struct vec32 between(const struct build *b, uint4 i, uint4 j)
{
    struct vec32 none = {0, 0, 0};
    return cell32_vector(&b->cell, (float)(int32_t)(i.x - j.x), (float)(int32_t)(i.y - j.y),
                         (float)(int32_t)(i.z - j.z), none);
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
    if (!t->half)
        return all;
    if (trio < waters)
        return owned_count(trio, waters);
    return waters + owned_count(trio - waters, all - waters) + 1; /* 1: itself */
}

static __device__ inline uint32_t candidate(const struct pair_table *t, uint32_t trio, uint32_t m)
{
    uint32_t waters = (uint32_t)t->nwaters, others = (uint32_t)t->ntrios - waters;
    if (!t->half)
        return m;
    if (trio < waters)
        return owned(trio, m);
    if (m < waters)
        return m;
    m -= waters;
    return m < owned_count(trio - waters, others) ? waters + owned(trio - waters, m) : trio;
}

static __device__ bool is_partner(const struct pair_table *t, uint32_t slot, uint32_t other)
{
    const int32_t *start = t->partner_start + (slot - TRIO * (uint32_t)t->nwaters);
    return search_sorted(t->partner, start[0], start[1], (int32_t)other);
}

/* Which of the three pairs of a trio with an atom are to be computed. Waters have no partners but themselves. */
static __device__ uint32_t pair_mask(const struct pair_table *t, uint32_t trio, uint32_t slot)
{
    uint32_t mask = 7, waters = (uint32_t)t->nwaters;
    if (trio < waters)
        return slot / TRIO == trio ? 0 : mask;
    if (slot / TRIO == trio) { /* each inner pair once, or from both sides; no atom with itself */
        uint32_t l = slot % TRIO;
        mask = t->half ? (1u << l) - 1 : 7 & ~(1u << l);
        for (uint32_t k = 0; k < TRIO; k++)
            if (t->atom[TRIO * trio + k] < 0)
                mask &= ~(1u << k);
    }
    if (slot / TRIO < waters)
        return mask;
    for (uint32_t k = 0; k < TRIO; k++)
        if (is_partner(t, TRIO * trio + k, slot))
            mask &= ~(1u << k);
    return mask;
}

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

static __device__ uint32_t append_far(const struct build *b, bool has, uint32_t slot, void *list, size_t start,
                                      uint32_t count, uint32_t cap)
{
    if (b->t->wide)
        return append(b, has, slot, (uint32_t *)list + start, count, cap);
    return append(b, has, slot, (uint16_t *)list + start, count, cap);
}

/* The atoms of one trio of the queue for each lane (none: `has` is false), into the lists of `trio`. */
static __device__ void take_trio(const struct build *b, uint32_t trio, bool has, uint32_t other, struct trio_counts *n)
{
    const struct pair_table *t = b->t;
    const struct args_list_build *a = b->a;
    const uint32_t waters = (uint32_t)t->nwaters;
    const bool water = trio < waters;
    const size_t row = t->half && !water ? trio - waters : trio;
    uint4 own[TRIO];
    for (uint32_t k = 0; k < TRIO; k++)
        own[k] = b->grid[TRIO * trio + k];
    for (uint32_t l = 0; l < TRIO; l++) {
        uint32_t slot = TRIO * other + l, mask = 0;
        float least = b->reach2;
        if (has && t->atom[slot] >= 0) {
            uint4 g = b->grid[slot];
            for (uint32_t k = 0; k < TRIO; k++)
                least = fminf(least, square32(between(b, own[k], g)));
            if (least < b->reach2)
                mask = pair_mask(t, trio, slot);
        }
        bool near = mask && (mask != 7 || least < b->near2), far = mask && !near;
        bool in_water = water && other < waters;
        n->near = append(b, near, slot | mask << NEAR_MASK_SHIFT,
                         (uint32_t *)a->near + trio * (size_t)list_near_cap(a->cap), n->near, list_near_cap(a->cap));
        if (water && l == 0)
            n->oxygen = append_far(b, far && in_water, slot, a->oxygen, trio * (size_t)list_near_cap(a->cap), n->oxygen,
                                   list_near_cap(a->cap));
        else if (water)
            n->hydrogen = append_far(b, far && in_water, slot, a->hydrogen, trio * (size_t)a->cap, n->hydrogen, a->cap);
        if (!water || !t->half)
            n->other = append_far(b, far && !in_water, slot, a->other, row * list_other_cap(a->cap), n->other,
                                  list_other_cap(a->cap));
    }
}

static __device__ void build_trio(const struct build *b, uint32_t trio)
{
    const struct pair_table *t = b->t;
    const struct args_list_build *a = b->a;
    const uint32_t *fx = (const uint32_t *)a->first_x, *fy = (const uint32_t *)a->first_y,
                   *fz = (const uint32_t *)a->first_z;
    const uint32_t waters = (uint32_t)t->nwaters, total = candidates(t, trio);
    const float radius = sqrtf(b->reach2), mine = __uint_as_float(b->lists->extent[trio < waters ? 0 : 1]);
    const float reach[2] = {radius + mine + __uint_as_float(b->lists->extent[0]),
                            radius + mine + __uint_as_float(b->lists->extent[1])};
    const float reach2[2] = {reach[0] * reach[0] * 1.0001f, reach[1] * reach[1] * 1.0001f};
    const uint32_t x = fx[trio], y = fy[trio], z = fz[trio];
    struct trio_counts n = {0, 0, 0, 0};
    uint32_t queued = 0;
    for (uint32_t base = 0; base < total; base += 32) {
        uint32_t m = base + b->lane, other = candidate(t, trio, m < total ? m : 0);
        struct vec32 none = {0, 0, 0};
        struct vec32 d = cell32_vector(&b->cell, (float)(int32_t)(fx[other] - x), (float)(int32_t)(fy[other] - y),
                                       (float)(int32_t)(fz[other] - z), none);
        bool near = m < total && square32(d) < reach2[other < waters ? 0 : 1];
        queued = append(b, near, other, b->queue, queued, QUEUE);
        __syncwarp();
        if (queued >= 32) {
            take_trio(b, trio, true, b->queue[b->lane], &n);
            queued -= 32;
            __syncwarp();
            if (b->lane < queued)
                b->queue[b->lane] = b->queue[b->lane + 32];
            __syncwarp();
        }
    }
    if (queued)
        take_trio(b, trio, b->lane < queued, b->queue[b->lane < queued ? b->lane : 0], &n);
    __syncwarp();
    if (b->lane)
        return;
    ((struct trio_counts *)a->counts)[trio] = n;
    uint32_t need = max(max(2 * n.near, 2 * n.oxygen), max(n.hydrogen, (n.other + 3) / 4));
    if (need > a->cap)
        atomicMax(&b->lists->needed, need);
}

static __device__ bool is_excluded(const struct pair_table *t, int32_t i, int32_t j)
{
    return search_sorted(t->exclusion, t->exclusion_start[i], t->exclusion_start[i + 1], j);
}

/* Pairs of a perturbed atom's slot with slots from .. from + PERTURBED_SLOTS - 1: plain ones, and perturbed ones behind it. */
static __device__ void build_perturbed(const struct build *b, uint32_t own, uint32_t from)
{
    const struct pair_table *t = b->t;
    const uint32_t plain = TRIO * (uint32_t)t->ntrios, end = min(from + PERTURBED_SLOTS, (uint32_t)t->nslots);
    uint32_t(*pairs)[2] = (uint32_t(*)[2])b->a->pairs;
    const uint4 g = b->grid[own];
    for (uint32_t base = from; base < end; base += 32) {
        uint32_t slot = base + b->lane, at = 0;
        bool has = slot < end && (slot < plain || slot > own) && t->atom[slot] >= 0;
        has = has && square32(between(b, g, b->grid[slot])) < b->reach2 && !is_excluded(t, t->atom[own], t->atom[slot]);
        uint32_t who = __ballot_sync(~0u, has);
        if (b->lane == 0 && who)
            at = atomicAdd(&b->lists->found, (uint32_t)__popc(who));
        at = __shfl_sync(~0u, at, 0) + __popc(who & b->below);
        if (has && at < b->a->pair_cap) {
            pairs[at][0] = own;
            pairs[at][1] = slot;
        }
    }
}

/* By the last block: what was found stands, or the replica halts for longer lists. */
static __device__ void finish_lists(const struct args_list_build *a, struct ctl *c, struct pair_lists *lists)
{
    uint32_t needed = __ldcg(&lists->needed), found = __ldcg(&lists->found);
    bool fits = needed <= a->cap && found <= a->pair_cap;
    if (needed > a->cap)
        halt_once(c, HALT_LIST, 0, 0, needed);
    else if (!fits)
        halt_once(c, HALT_LIST, 1, 0, found);
    for (int d = 0; d < 3; d++)
        lists->built_box[d] = fits ? c->box[d] : 0;
    lists->builds++;
    lists->pairs = fits ? found : 0;
    lists->needed = lists->found = lists->rebuild = 0;
}

KERNEL(list_build, a, __launch_bounds__(32 * BUILD_WARPS))
{
    ECHO(a);
    __shared__ uint32_t queues[BUILD_WARPS][QUEUE];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    struct pair_lists *lists = (struct pair_lists *)a.lists;
    if (!block_goes_on(c) || !*(volatile const uint32_t *)&lists->rebuild)
        return;
    const uint32_t warp = threadIdx.x / 32;
    struct build b;
    b.a = &a, b.t = t, b.lists = lists, b.grid = (const uint4 *)a.grid;
    b.cell = cell32_of(c);
    b.reach2 = (float)(t->list_cutoff * t->list_cutoff), b.near2 = (float)(t->near * t->near);
    b.lane = threadIdx.x % 32, b.below = (1u << b.lane) - 1, b.queue = queues[warp];
    GRID_LOOP(slot, (uint32_t)t->nslots)
    ((uint4 *)a.built)[slot] = b.grid[slot];
    const uint32_t parts = ((uint32_t)t->nslots + PERTURBED_SLOTS - 1) / PERTURBED_SLOTS, trios = (uint32_t)t->ntrios;
    const uint32_t tasks = trios + parts * (uint32_t)t->nperturbed;
    for (uint32_t task = blockIdx.x * BUILD_WARPS + warp; task < tasks; task += gridDim.x * BUILD_WARPS) {
        if (task < trios)
            build_trio(&b, task);
        else
            build_perturbed(&b, TRIO * trios + (task - trios) / parts, (task - trios) % parts * PERTURBED_SLOTS);
    }
    if (last_block(&lists->arrived) && threadIdx.x == 0)
        finish_lists(&a, c, lists);
}
