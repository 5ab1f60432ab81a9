/* SPDX-License-Identifier: Apache-2.0
 *
 * Atoms of a coordination's second group in the order of cells, those of one cell in the order of the group; a block
 * for each coordination. Sorted four bits at a time, each thread counting and moving a run of its own, so that nothing
 * depends on who comes first.
 */
#include "engine/cuda/biases/tiles.h"
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/biases.h"

enum { DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS };

/* Spreads the bits of a number below 16, three places apart. */
static __device__ __forceinline__ uint32_t spread_bits(uint32_t k)
{
    return (k & 1) | (k & 2) << 2 | (k & 4) << 4 | (k & 8) << 6;
}

static __device__ __forceinline__ uint32_t curve_cell(const double inverse[BOX_SIZE], const double x[3])
{
    const uint32_t cells = 1 << ORDER_EDGE_BITS;
    uint32_t cell = 0;
    double f[3];
    box_apply(inverse, x, f);
    for (int d = 0; d < 3; d++) {
        const double k = floor((f[d] - floor(f[d])) * cells);
        cell |= spread_bits(k < cells ? (uint32_t)k : cells - 1) << d;
    }
    return cell;
}

/* Sum of what threads before this one have. For the whole block. */
static __device__ uint32_t sum_before(uint32_t own)
{
    __shared__ uint32_t warps[ORDER_THREADS / WARP];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t sum = own, before = 0;
    for (uint32_t step = 1; step < WARP; step *= 2) {
        const uint32_t other = __shfl_sync(WARP_ALL, sum, (int)((lane - step) % WARP));
        sum += lane >= step ? other : 0;
    }
    __syncthreads();
    if (lane == WARP - 1)
        warps[warp] = sum;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        before += warps[w];
    return before + sum - own;
}

/* Sorts by DIGIT_BITS bits from `shift` on; what is equal in them stays in its order. For the whole block. */
static __device__ void sort_digit(const uint32_t *from, uint32_t *to, uint32_t n, uint32_t shift)
{
    __shared__ uint32_t counts[DIGITS * ORDER_THREADS]; /* by digits, in these by threads */
    const uint32_t run = (n + ORDER_THREADS - 1) / ORDER_THREADS, first = min(n, threadIdx.x * run);
    const uint32_t end = min(n, first + run);
    uint32_t *own = counts + threadIdx.x, *span = counts + DIGITS * threadIdx.x, sum = 0;
    for (uint32_t digit = 0; digit < DIGITS; digit++)
        own[digit * ORDER_THREADS] = 0;
    for (uint32_t i = first; i < end; i++)
        own[(from[i] >> shift) % DIGITS * ORDER_THREADS]++;
    __syncthreads();
    for (uint32_t k = 0; k < DIGITS; k++)
        sum += span[k];
    sum = sum_before(sum);
    for (uint32_t k = 0; k < DIGITS; k++) {
        const uint32_t count = span[k];
        span[k] = sum;
        sum += count;
    }
    __syncthreads();
    for (uint32_t i = first; i < end; i++)
        to[own[(from[i] >> shift) % DIGITS * ORDER_THREADS]++] = from[i];
    __syncthreads();
}

static __device__ __forceinline__ double warp_least(double v)
{
    for (int step = WARP / 2; step > 0; step >>= 1)
        v = fmin(v, __shfl_xor_sync(WARP_ALL, v, step));
    return v;
}

/* A sphere around the atoms of one tile, by its warp: around the middle of the least box that has them. */
static __device__ void surround(const double box[BOX_SIZE], const double first[3], const double x[3], double sphere[4])
{
    double r[3], off = 0;
    box_image(x, first, box, r);
    for (int d = 0; d < 3; d++) {
        const double middle = 0.5 * (warp_least(r[d]) - warp_least(-r[d]));
        off += (r[d] - middle) * (r[d] - middle);
        sphere[d] = first[d] + middle;
    }
    sphere[3] = sqrt(-warp_least(-off));
}

static __device__ void surround_tiles(const struct ctl *ctl, const struct coordination *c, const int32_t *atoms,
                                      const double (*x)[3], const struct coordination_order *o)
{
    const uint32_t lane = threadIdx.x % WARP, mask = (1u << ORDER_PLACE_BITS) - 1;
    for (uint32_t column = threadIdx.x / WARP; column < coordination_columns(c); column += ORDER_THREADS / WARP) {
        const uint32_t at = min(WARP * column + lane, c->count[1] - 1);
        double sphere[4];
        surround(ctl->box, x[atoms[o->entry[WARP * column] & mask]], x[atoms[o->entry[at] & mask]], sphere);
        if (lane == 0)
            for (int d = 0; d < 4; d++)
                o->sphere[column][d] = sphere[d];
    }
}

/* For the whole block. */
static __device__ void put_in_order(const struct ctl *ctl, const struct coordination *c, const int32_t *all,
                                    const double (*x)[3], void *memory)
{
    const struct coordination_order o = coordination_order_at(memory, c);
    const int32_t *atoms = all + c->first[1];
    const uint32_t n = c->count[1];
    double inverse[BOX_SIZE];
    uint32_t *from = o.swap, *to = o.entry; /* an odd number of times */
    box_invert(ctl->box, inverse);
    BLOCK_LOOP(i, n)
    from[i] = curve_cell(inverse, x[atoms[i]]) << ORDER_PLACE_BITS | i;
    __syncthreads();
    for (uint32_t bit = 0; bit < 3 * ORDER_EDGE_BITS; bit += DIGIT_BITS) {
        sort_digit(from, to, n, ORDER_PLACE_BITS + bit);
        uint32_t *was = from;
        from = to;
        to = was;
    }
    surround_tiles(ctl, c, atoms, x, &o);
}

static_assert(3 * ORDER_EDGE_BITS / DIGIT_BITS % 2 == 1, "the order ends where nobody looks");

KERNEL(order_coordinations, a, __launch_bounds__(ORDER_THREADS))
{
    ECHO(a);
    const struct ctl *ctl = (const struct ctl *)a.ctl;
    const struct bias_table *t = (const struct bias_table *)a.table;
    const struct coordination *c = &t->coordinations[blockIdx.x];
    unsigned char *memory = (unsigned char *)a.work;
    if (!block_goes_on(ctl) || !coordination_ordered(c))
        return;
    for (uint32_t before = 0; before < blockIdx.x; before++)
        memory += coordination_order_bytes(&t->coordinations[before]);
    put_in_order(ctl, c, t->atoms, (const double(*)[3])a.x, memory);
}

KERNEL(observe_order_coordination, a, __launch_bounds__(ORDER_THREADS))
{
    ECHO(a);
    const struct ctl *ctl = (const struct ctl *)a.ctl;
    const struct observe_table *t = (const struct observe_table *)a.table;
    const struct bias_table *of = &((const struct coordination_table *)t->own)->of;
    if (!block_goes_on(ctl) || !((const struct observed *)a.seen)->now)
        return;
    put_in_order(ctl, of->coordinations, of->atoms, (const double(*)[3])a.x, (void *)a.work);
}
