/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations and biases on a GPU. Who adds what is settled by the groups alone, and sums across warps are in fixed
 * point: the same bits in whatever order warps come.
 */
#include "engine/cuda/biases/tiles.h"
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/biases.h"

/* A lane's part of a tile. */
struct tile {
    const struct coordination *c;
    const struct bias_table *t;
    struct ctl *ctl;
    const double (*x)[3];
    struct bias_sums sums;
    struct fixed_sum *value;
    const unsigned char *work; /* where the coordination's order is */
    const uint32_t *entry;     /* of its order; NULL: it has none */
    uint32_t which, lane;
    uint32_t row, rows_end, column; /* of the groups, or in the order */
    bool gradient, sample;
};

/* The place of a row and of a column in its group. Within one group rows are in the order of columns. */
static __device__ __forceinline__ uint32_t column_place(const struct tile *p, uint32_t column)
{
    return p->entry ? p->entry[column] % (1u << ORDER_PLACE_BITS) : column;
}

static __device__ __forceinline__ uint32_t row_place(const struct tile *p, uint32_t row)
{
    return p->c->pairs == COORDINATION_WITHIN ? column_place(p, row) : row;
}

/* Row `row` of the tile: s is the lane's, g and r too, of the pair that it is in; false: no lane is in reach of
 * anything. */
static __device__ __forceinline__ bool tile_row(const struct tile *p, uint32_t row, double *s, double r[3], double g[3])
{
    const struct coordination *c = p->c;
    const bool pair = p->column < c->count[1] && (c->pairs != COORDINATION_WITHIN || p->column > row);
    const bool reaches =
        pair && coordination_reaches(c, p->ctl->box, p->x, p->t->atoms[c->first[0] + row_place(p, row)],
                                     p->t->atoms[c->first[1] + column_place(p, p->column)], r);
    *s = g[0] = g[1] = g[2] = 0;
    if (!reaches)
        r[0] = r[1] = r[2] = 0;
    else
        *s = coordination_of(p->c, r, g);
    return __any_sync(WARP_ALL, reaches);
}

/* The gradient of a row's atom: a lane has one of its components. */
static __device__ __forceinline__ void add_row_gradient(const struct tile *p, uint32_t row, const double g[3],
                                                        struct accumulate *sum)
{
    int64_t *to = p->sums.gradient[p->c->first[0] + row_place(p, row)];
    for (int d = 0; d < 3; d++) {
        const double all = GRADIENT_UNITS * warp_sum(g[d]);
        if (p->lane != (uint32_t)d)
            continue;
        acc_add(&to[d], fixed_clamped(all, FIXED_FORCE_LIMIT));
        acc_clamped(sum, CLAMPED_FORCE, fixed_beyond(all, FIXED_FORCE_LIMIT));
    }
}

static __device__ void add_virial(const struct tile *p, const double virial[9], struct accumulate *sum)
{
    for (int k = 0; k < 9; k++) {
        const double all = warp_sum(virial[k]);
        if (p->lane == 0)
            gradient_virial_add(sum, &p->sums.virial[p->which][k], all);
    }
}

/* A bit for each row that may be in reach of something. */
static __device__ __forceinline__ uint32_t rows_near(const struct tile *p)
{
    const uint32_t rows = p->rows_end - p->row;
    if (!p->entry)
        return (1u << rows) - 1;
    const double *sphere = coordination_order_at((void *)p->work, p->c).sphere[p->column / WARP];
    const double reach = sqrt(p->c->f.farthest2) + sphere[3] + 1e-6; /* nm; far more than rounding */
    double r[3] = {reach, 0, 0};
    if (p->lane < rows)
        box_image(p->x[p->t->atoms[p->c->first[0] + row_place(p, p->row + p->lane)]], sphere, p->ctl->box, r);
    return __ballot_sync(WARP_ALL, p->lane < rows && vec_dot(r, r) < reach * reach);
}

static __device__ void add_tile(const struct tile *p, struct accumulate *sum)
{
    const bool paired = p->c->pairs == COORDINATION_PAIRED;
    double total = 0, own[3] = {0, 0, 0}, virial[9] = {}, s, r[3], g[3];
    for (uint32_t rows = rows_near(p); rows; rows &= rows - 1) {
        const uint32_t row = p->row + (uint32_t)__ffs((int)rows) - 1;
        if (!tile_row(p, paired ? p->column : row, &s, r, g))
            continue;
        total += s;
        vec_add(own, -1, g);
        for (int k = 0; k < 9 && p->sample; k++)
            virial[k] += 0.5 * r[k / 3] * g[k % 3];
        if (p->gradient && !paired)
            add_row_gradient(p, row, g, sum);
    }
    total = warp_sum(total);
    if (p->lane == 0 && total != 0)
        coordination_add(p->value, total);
    if (p->sample)
        add_virial(p, virial, sum);
    if (!p->gradient || p->column >= p->c->count[1])
        return;
    gradient_add(sum, p->sums.gradient[p->c->first[1] + column_place(p, p->column)], own);
    const double other[3] = {-own[0], -own[1], -own[2]};
    if (paired)
        gradient_add(sum, p->sums.gradient[p->c->first[0] + p->column], other);
}

/* The warp's tile, the number-th of all coordinations. */
static __device__ __forceinline__ void find_tile(struct tile *p, uint32_t number)
{
    uint32_t tiles;
    while (number >= (tiles = coordination_tiles(&p->t->coordinations[p->which]))) {
        number -= tiles;
        p->work += coordination_order_bytes(&p->t->coordinations[p->which]);
        p->which++;
    }
    p->c = &p->t->coordinations[p->which];
    p->entry = coordination_ordered(p->c) ? coordination_order_at((void *)p->work, p->c).entry : NULL;
    const uint32_t columns = coordination_columns(p->c);
    p->column = WARP * (number % columns) + p->lane;
    p->row = TILE_ROWS * (number / columns);
    p->rows_end = p->c->pairs == COORDINATION_PAIRED ? 1 : min(p->row + TILE_ROWS, p->c->count[0]);
}

KERNEL(coordinations, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    struct tile p = {};
    struct accumulate sum = {};
    p.ctl = (struct ctl *)a.ctl;
    if (!block_goes_on(p.ctl) || thread / WARP >= a.tiles)
        return;
    p.t = (const struct bias_table *)a.table;
    p.x = (const double(*)[3])a.x;
    p.sums = bias_sums_at(a.sums, p.t->ncoordinations);
    p.lane = thread % WARP;
    p.gradient = evaluates_forces(a.mode);
    p.sample = a.mode == EVALUATE_SAMPLE;
    p.work = (const unsigned char *)a.work;
    find_tile(&p, thread / WARP);
    p.value = &p.ctl->coordination[p.which];
    add_tile(&p, &sum);
    acc_finish(&sum, &p.ctl->sum);
}

KERNEL(observe_coordination, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct observed *s = (const struct observed *)a.seen;
    struct tile p = {};
    struct accumulate nothing = {};
    p.ctl = (struct ctl *)a.ctl;
    if (p.ctl->halt || !s->now || thread / WARP >= a.tiles)
        return;
    p.t = &((const struct coordination_table *)t->own)->of;
    p.x = (const double(*)[3])a.x;
    p.lane = thread % WARP;
    p.value = (struct fixed_sum *)observed_state(t, s);
    p.work = (const unsigned char *)a.work;
    find_tile(&p, thread / WARP);
    add_tile(&p, &nothing);
}

KERNEL(observe_coordination_end, a)
{
    ECHO(a);
    const struct observe_table *t = (const struct observe_table *)a.table;
    struct observed *s = (struct observed *)a.seen;
    struct fixed_sum *sum = (struct fixed_sum *)observed_state(t, s);
    if (((const struct ctl *)a.ctl)->halt || !s->now || threadIdx.x)
        return;
    coordination_observe(t, (const struct coordination_table *)t->own, s, coordination_value_of(*sum));
    *sum = {0, 0};
}

/* The coordination that the k-th atom of all groups is of. */
static __device__ uint32_t coordination_of_place(const struct bias_table *t, uint32_t k)
{
    uint32_t which = 0;
    while (k - t->coordinations[which].first[0] >= t->coordinations[which].count[0] &&
           k - t->coordinations[which].first[1] >= t->coordinations[which].count[1])
        which++;
    return which;
}

static __device__ void take_gradient(int64_t sum[3], double gradient[3])
{
    for (int d = 0; d < 3; d++) {
        gradient[d] = fixed_value(sum[d]) / GRADIENT_UNITS;
        sum[d] = 0;
    }
}

/* Also of a replica that has halted: nobody knows how far its pairs have come. */
KERNEL(biases, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct bias_table *t = (const struct bias_table *)a.table;
    const struct bias_sums sums = bias_sums_at(a.sums, t->ncoordinations);
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    struct accumulate sum = {};
    GRID_LOOP(k, evaluates_forces(a.mode) ? a.atoms : 0)
    {
        double gradient[3];
        take_gradient(sums.gradient[k], gradient);
        bias_pull(t, k, bias_slope(t, c, coordination_of_place(t, k)), gradient, (int64_t(*)[3])a.f, &sum);
    }
    if (a.mode == EVALUATE_SAMPLE && first < t->ncoordinations)
        bias_virial(&sums, first, bias_slope(t, c, first), &sum);
    if (a.mode != EVALUATE_STEP && first == 0)
        bias_energies(t, c, a.mode, &sum, (struct fixed_sum *)a.energy_at_window);
    acc_finish(&sum, &c->sum);
}
