/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists, for boxes of the kind LISTS_BOX (enum box_kind), which the including file defines first. A kernel
 * returns at once where no list is asked for (place.cuh). When a list is too short the needed length is noted, and the
 * last block halts the replica.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_BUILD_CUH
#define SHOAL_ENGINE_CUDA_LISTS_BUILD_CUH

#include "engine/cuda/lists/entries.cuh"
#include "engine/cuda/lists/region_parts.cuh"
#include "engine/cuda/lists/place.cuh"

/* Work of one build, in the order in which blocks take it. A block that waits for earlier work waits for blocks that
 * have begun with it and wait for nothing later, so it does not matter how many run at a time. */
struct plan {
    uint32_t take_end;    /* tasks: slots, as many as a block has threads */
    uint32_t prepare_end; /* regions: whose members are to be found by others than make their lists */
    uint32_t group_end, end;
    uint32_t groups; /* of a region, before the first build; later ones go by struct region_part */
    uint32_t parts;  /* of a perturbed atom's slots */
};

static __device__ struct plan plan_of(const struct build *b)
{
    const struct pair_table *t = b->t;
    const struct args_list_build *a = &b->a;
    const uint32_t regions = t->whole ? 1 : a->regions_x * a->regions_y * a->regions_z;
    struct plan p;
    p.groups = list_groups(t->whole ? (uint32_t)t->ntrios : a->region_cap, a->group);
    const uint32_t known = t->whole ? 0 : *(volatile const uint32_t *)&b->lists->parts;
    const uint32_t tasks = known ? known : regions * p.groups;
    p.take_end = list_groups((uint32_t)t->nslots, blockDim.x);
    p.prepare_end = p.take_end + (b->search && !t->whole && tasks != regions ? regions : 0);
    p.group_end = p.prepare_end + tasks;
    p.parts = ((uint32_t)t->nslots + PERTURBED_SLOTS - 1) / PERTURBED_SLOTS;
    p.end = p.group_end + (p.parts * (uint32_t)t->nperturbed + BUILD_WARPS - 1) / BUILD_WARPS;
    return p;
}

/* What a block knows, in shared memory. */
struct builder {
    struct build b;
    struct plan plan;
    struct rows rows;   /* that are staged */
    struct space space; /* their region, if there are regions */
    bool staged;
    uint32_t cost[LIST_GROUP]; /* of the rows of a group, where there are no regions */
};

/* Of whole blocks, as all of these. */
static __device__ uint32_t next_task(struct pair_lists *lists)
{
    __shared__ uint32_t task;
    __syncthreads();
    if (threadIdx.x == 0)
        task = atomicAdd(&lists->taken, 1u);
    __syncthreads();
    return task;
}

static __device__ void wait_for(struct pair_lists *lists, uint32_t tasks)
{
    if (threadIdx.x == 0) {
        while (*(volatile uint32_t *)&lists->done < tasks)
            ;
        __threadfence();
    }
    __syncthreads();
}

static __device__ void task_done(struct pair_lists *lists)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&lists->done, 1u);
}

/* Positions of the rows into shared memory, unless they are there. */
static __device__ void stage(struct builder *w, uint32_t region)
{
    const struct build *b = &w->b;
    const bool there = w->staged && (b->t->whole || w->space.region == region);
    __syncthreads();
    if (there)
        return;
    struct rows rows;
    struct space space = {0};
    if (b->t->whole) {
        rows = rows_of_all(b);
        stage_places(b, NULL, rows.count);
    } else {
        space = space_of(b, region);
        rows = stage_region(b, &space);
    }
    if (threadIdx.x == 0)
        w->staged = true, w->rows = rows, w->space = space;
    __syncthreads();
}

/* A block's share of the rows: bundles of as many as it makes lists for at a time. Of all trios they are neighbours; of
 * a region's members every so many-th bundle, as those in front have longer lists. */
struct share {
    uint32_t first, step, end; /* from one bundle to the next */
};

static __device__ uint32_t bundle_of(const struct args_list_build *a)
{
    return blockDim.x / a->lanes;
}

static __device__ struct share share_of(const struct builder *w, struct region_part p)
{
    const uint32_t bundle = bundle_of(&w->b.a), size = w->b.a.group, count = w->rows.count;
    if (w->b.t->whole)
        return {p.part * size, bundle, min((p.part + 1) * size, count)};
    return {p.part * bundle, p.parts * bundle, count};
}

/* Of the task-th group or part. */
static __device__ struct region_part part_of(const struct builder *w, uint32_t task)
{
    const uint32_t groups = w->plan.groups;
    if (!w->b.t->whole && w->b.lists->parts)
        return ((const struct region_part *)w->b.a.parts)[task];
    return {task / groups, (uint16_t)(task % groups), (uint16_t)groups};
}

static __device__ struct row_place *place_at(const struct builder *w, uint32_t k)
{
    return in_global((struct row_place *)w->b.a.places) + w->rows.first + k;
}

/* The trios around those of the share, each by a warp. */
static __device__ void search_trios(const struct builder *w, struct share share)
{
    const uint32_t bundle = bundle_of(&w->b.a), warp = threadIdx.x / WARP;
    uint32_t *seen = shared_bins() + warp * (REGION_BINS / BUILD_WARPS);
    for (uint32_t first = share.first; first < share.end; first += share.step)
        for (uint32_t k = first + warp; k < min(first + bundle, share.end); k += BUILD_WARPS) {
            const struct row_place place = search_around(&w->b, &w->rows, k, seen);
            if (lane_of_warp() == 0)
                *place_at(w, k) = place;
        }
}

/* The members around those of the share, each by a thread. */
static __device__ void search_region(const struct builder *w, struct share share)
{
    const uint32_t bundle = bundle_of(&w->b.a), bundles = (share.end - share.first + share.step - 1) / share.step;
    for (uint32_t i = threadIdx.x; i - lane_of_warp() < bundles * bundle; i += blockDim.x) {
        const uint32_t k = share.first + i / bundle * share.step + i % bundle, row = min(k, share.end - 1);
        const bool has = i < bundles * bundle && k < share.end;
        const uint32_t found = w->b.spots ? search_members<true>(&w->b, &w->space, &w->rows, row, has)
                                          : search_members<false>(&w->b, &w->space, &w->rows, row, has);
        const struct row_place place = take_place(&w->b, has, found, row < w->rows.waters);
        put_members(&w->b, &w->rows, place);
        if (has)
            *place_at(w, k) = place;
    }
}

static __device__ void search_rows(const struct builder *w, struct share share)
{
    if (!w->rows.whole)
        search_region(w, share);
    else
        search_trios(w, share);
    __syncthreads();
}

/* What the lanes of a row know of it before they come to it. */
struct ahead {
    uint32_t k, head; /* the row, the lane's first of the trios around it */
    struct row_place place;
};

/* The i-th row of the share, or the last. Neighbours in the order of the last build had lists of about the same length;
 * a search has new members. */
static __device__ uint32_t row_of(const struct builder *w, struct share share, uint32_t i)
{
    i = min(i, share.end - 1);
    return w->b.search ? i : listed_at(&w->b, &w->rows, i)->row;
}

static __device__ __forceinline__ struct ahead ahead_of(const struct builder *w, uint32_t k, struct row_place place)
{
    return {k, around_of(&w->b, place)[lane_of_row(&w->b.a)], place};
}

static __device__ struct trio_counts list_of_row(const struct builder *w, struct ahead row, bool has)
{
    const struct row_place place = {row.place.start, has ? row.place.around : 0};
    return w->b.spots ? list_trio<true>(&w->b, &w->rows, row.k, place, row.head)
                      : list_trio<false>(&w->b, &w->rows, row.k, place, row.head);
}

/* The lists of the share, each row's by some lanes. What they need of the next rows is on its way while they work on
 * one. */
static __device__ void list_rows(struct builder *w, struct share share)
{
    const struct args_list_build *a = &w->b.a;
    struct trio_counts *counts = in_global((struct trio_counts *)a->counts + w->rows.first);
    uint32_t i = share.first + threadIdx.x / a->lanes;
    struct ahead now = ahead_of(w, row_of(w, share, i), *place_at(w, row_of(w, share, i)));
    uint32_t k = row_of(w, share, i + share.step), then = row_of(w, share, i + 2 * share.step);
    struct row_place place = *place_at(w, k);
    for (; __any_sync(WARP_ALL, i < share.end); i += share.step) {
        const struct ahead next = ahead_of(w, k, place);
        const bool has = i < share.end;
        k = then;
        place = *place_at(w, k);
        then = row_of(w, share, i + 3 * share.step);
        struct trio_counts is = {0, 0, 0, 0};
        if (__any_sync(WARP_ALL, has && now.place.around > 0))
            is = list_of_row(w, now, has);
        if (has && lane_of_row(a) == 0)
            counts[now.k] = is;
        if (has && lane_of_row(a) == 0 && w->rows.whole)
            w->cost[now.k - share.first] =
                (now.k < w->rows.waters ? 1u << 31 : 0) | (is.oxygen + is.hydrogen + is.other);
        now = next;
    }
}

/* Trios of a group by what their lists cost: those that one warp works on together then cost about the same. */
static __device__ void order_group(const struct builder *w, uint32_t first, uint32_t end)
{
    const uint32_t trio = first + threadIdx.x;
    if (trio >= end)
        return;
    uint32_t rank = 0;
    for (uint32_t k = 0; k < end - first; k++)
        rank += w->cost[k] > w->cost[threadIdx.x] || (w->cost[k] == w->cost[threadIdx.x] && k < threadIdx.x);
    note_listed(&w->b, &w->rows, first + rank, trio);
}

/* How far a water's atom will go in the time that lists look ahead, grid positions; not quite to the end of its buffer.
 */
static __device__ struct place way_ahead(const struct build *b, enum list_kind kind, const double v[3])
{
    const double most = BUFFER_AHEAD * b->t->buffer[kind];
    double way[3];
    for (int d = 0; d < 3; d++)
        way[d] = b->t->ahead * v[d];
    const double length2 = vec_dot(way, way), part = length2 > most * most ? most / sqrt(length2) : 1;
    if (!(length2 < 1e6)) /* nor if it is not a number */
        return {0, 0, 0};
    box_apply(b->inverse, way, way);
    return {grid_of(part * way[0]), grid_of(part * way[1]), grid_of(part * way[2])};
}

/* Where the atoms of some slots are taken to be, and after a search whence first ones may go. */
static __device__ void take_slots(const struct build *b, uint32_t task)
{
    const struct args_list_build *a = &b->a;
    const struct pair_table *t = b->t;
    const uint32_t slot = task * blockDim.x + threadIdx.x, trio = slot / TRIO;
    if (slot >= (uint32_t)t->nslots)
        return;
    const enum list_kind kind = list_kind_of(slot, (uint32_t)t->nwaters);
    uint4 g = ((const uint4 *)a->grid)[slot];
    if (kind != OTHER_ATOM && t->ahead > 0) {
        const struct place way = way_ahead(b, kind, ((const double(*)[3])a->v)[t->atom[slot]]);
        g.x += way.x, g.y += way.y, g.z += way.z;
    }
    ((uint4 *)a->built)[slot] = g;
    if (b->search && slot % TRIO == 0 && trio < (uint32_t)t->ntrios) {
        ((uint32_t *)a->first_x)[trio] = g.x;
        ((uint32_t *)a->first_y)[trio] = g.y;
        ((uint32_t *)a->first_z)[trio] = g.z;
    }
}

/* What was staged makes way. */
static __device__ void prepare(struct builder *w, uint32_t region)
{
    make_region(&w->b, region);
    if (threadIdx.x == 0)
        w->staged = false;
    __syncthreads();
}

static __device__ void build_part(struct builder *w, struct region_part part)
{
    if (w->b.search && !w->b.t->whole && w->plan.prepare_end == w->plan.take_end)
        prepare(w, part.region);
    stage(w, part.region);
    const struct share share = share_of(w, part);
    if (share.first < share.end && w->b.search)
        search_rows(w, share);
    if (share.first < share.end)
        list_rows(w, share);
    __syncthreads();
    if (w->b.t->whole)
        order_group(w, share.first, share.end);
    else if (last_of(&((struct region *)w->b.a.regions)[part.region].done, part.parts))
        order_region(&w->b, part.region, &w->rows);
}

static __device__ void build_perturbed(const struct build *b, uint32_t parts, uint32_t task)
{
    const uint32_t work = task * BUILD_WARPS + threadIdx.x / WARP;
    if (work < parts * (uint32_t)b->t->nperturbed)
        list_perturbed(b, TRIO * (uint32_t)b->t->ntrios + work / parts, work % parts * PERTURBED_SLOTS);
}

static __device__ void do_task(struct builder *w, uint32_t task)
{
    const struct plan *p = &w->plan;
    if (task < p->take_end) {
        take_slots(&w->b, task);
        return;
    }
    if (task < p->prepare_end) {
        wait_for(w->b.lists, p->take_end);
        prepare(w, task - p->take_end);
        return;
    }
    wait_for(w->b.lists, p->prepare_end);
    if (task >= p->group_end)
        build_perturbed(&w->b, p->parts, task - p->group_end);
    else
        build_part(w, part_of(w, task - p->prepare_end));
}

/* Of the box, nm^2, or somewhat more. */
static __device__ inline double longest_diagonal2(const double box[BOX_SIZE])
{
    const double x = box[BOX_XX] + fabs(box[BOX_YX]) + fabs(box[BOX_ZX]), y = box[BOX_YY] + fabs(box[BOX_ZY]);
    return x * x + y * y + box[BOX_ZZ] * box[BOX_ZZ];
}

static __device__ struct build build_of(const struct args_list_build *a, const struct ctl *c)
{
    const struct pair_table *t = (const struct pair_table *)a->table;
    struct build b;
    b.a = *a, b.t = t, b.lists = (struct pair_lists *)a->lists;
    b.search = *(volatile const uint32_t *)&b.lists->search;
    b.cell = cell32_of(c);
    b.images = LISTS_BOX != RECTANGULAR ? 8 : 1;
    box_widths(c->box, b.width);
    b.edges = halo_edges_of(c->box);
    b.slack = DIAGONAL2_ROUNDING * (float)longest_diagonal2(c->box);
    for (int from = 0; from < 2; from++)
        for (int kind = 0; kind < LIST_KINDS; kind++) {
            const double buffers = t->buffer[from ? OTHER_ATOM : WATER_OTHER] + t->buffer[kind];
            const bool bare = from == 0 && kind == WATER_OTHER; /* of Lennard-Jones */
            b.reach2[from][kind] = reach_square(&b, (bare ? t->coulomb_cutoff : t->cutoff) + buffers);
            b.near2[from][kind] = reach_square(&b, t->near[from][kind]);
        }
    box_invert(c->box, b.inverse);
    return b;
}

/* How far an atom of a trio that is no water is from its first now, at most, nm. For the whole block. */
static __device__ float widest_other(const struct build *b)
{
    const uint4 *grid = (const uint4 *)b->a.grid;
    const uint32_t end = TRIO * (uint32_t)b->t->ntrios;
    const struct vec32 none = {0, 0, 0};
    float widest2 = 0;
    for (uint32_t slot = TRIO * (uint32_t)b->t->nwaters + threadIdx.x; slot < end; slot += blockDim.x) {
        const uint4 at = grid[slot], first = grid[slot - slot % TRIO];
        const struct apart d = apart_of({at.x, at.y, at.z}, {first.x, first.y, first.z});
        widest2 = fmaxf(widest2, least_square(b, d, &none, 1, 0));
    }
    return LENGTH_ROUNDED * (float)sqrt(block_largest((double)widest2));
}

/* Extents that a search counts on; a new one where others than waters reach farther than the last one did. other:
 * widest_other() */
static __device__ void set_extents(struct build *b, const struct ctl *c, float other)
{
    const float water = __uint_as_float(b->lists->extent[0]);
    b->widest_other = fmaxf(__uint_as_float(b->lists->extent[1]), other);
    b->search |= other > least_ratio(c, b->lists->searched_box) * b->lists->searched_extent[1];
    for (int kind = 0; kind < 2; kind++)
        b->extent[kind] = EXTENT_SLACK * (kind ? b->widest_other : water) + EXTENT_MORE;
    if (!reach_is_long(b, 0))
        b->images = 1;
    if (LISTS_BOX == ANY_IMAGE)
        b->nearest = images_of(b) > 1 && (float)b->t->list_cutoff + fmaxf(b->extent[0], b->extent[1]) <
                                             LIMIT_ROUNDED * (float)box_cutoff_limit(c->box);
    /* Members are those of the last search, spots are of now: a first atom may have left its region by half the skin
     * since (alone, by an extent more), and be taken to be somewhat farther; the farthest member above the region has
     * gone as far. */
    b->spots = !b->t->whole && !reach_is_long(b, (float)(b->t->skin + 2 * b->t->buffer[WATER_FIRST]) + b->extent[1]);
    if (!b->t->whole)
        cut_box(b);
}

/* By the last block: the lists that were found are valid, or the replica halts for longer lists. */
static __device__ void finish_lists(const struct build *b, struct ctl *c)
{
    struct pair_lists *lists = b->lists;
    const uint32_t needed = __ldcg(&lists->needed), found = __ldcg(&lists->found);
    const uint32_t crowd = __ldcg(&lists->crowd);
    const uint32_t near = __ldcg(&lists->near);
    const bool fits = needed <= b->a.cap && near <= b->a.near_cap && found <= b->a.pair_cap && crowd <= b->a.region_cap;
    if (crowd > b->a.region_cap)
        halt_once(c, HALT_LIST, 2, 0, crowd);
    else if (needed > b->a.cap)
        halt_once(c, HALT_LIST, 0, 0, needed);
    else if (near > b->a.near_cap)
        halt_once(c, HALT_LIST, 3, 0, near);
    else if (!fits)
        halt_once(c, HALT_LIST, 1, 0, found);
    for (int d = 0; d < 3; d++) {
        lists->built_box[d] = fits ? c->box[d] : 0;
        if (b->search)
            lists->searched_box[d] = fits ? c->box[d] : 0;
    }
    for (int kind = 0; b->search && kind < 2; kind++)
        lists->searched_extent[kind] = b->extent[kind];
    lists->extent[1] = __float_as_uint(b->widest_other);
    lists->builds++;
    lists->searches += b->search;
    lists->pairs = fits ? found : 0;
    lists->needed = lists->near = lists->found = lists->crowd = lists->rebuild = lists->search = lists->taken =
        lists->done = 0;
}

/* By blocks of BUILD_WARPS. */
static __device__ __forceinline__ void build_lists(const struct args_list_build &a)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const uint32_t asked = *(volatile const uint32_t *)&((struct pair_lists *)a.lists)->rebuild; /* beside ctl.halt */
    if (!block_goes_on(c) || !asked)
        return;
    __shared__ struct builder w;
    if (threadIdx.x == 0)
        w.b = build_of(&a, c);
    __syncthreads();
    const float other = widest_other(&w.b);
    if (threadIdx.x == 0) {
        set_extents(&w.b, c, other);
        w.plan = plan_of(&w.b);
        w.staged = false;
    }
    __syncthreads();
    for (uint32_t task; (task = next_task(w.b.lists)) < w.plan.end; task_done(w.b.lists))
        do_task(&w, task);
    if (!last_block(&w.b.lists->arrived))
        return;
    if (!w.b.t->whole)
        share_regions(&w.b);
    if (threadIdx.x == 0)
        finish_lists(&w.b, c);
}

#endif
