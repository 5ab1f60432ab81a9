/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of many lines in a block's shared memory, of any length: Stockham's algorithm, one pass for each
 * factor of the length, from one half of the memory to the other (Cochran et al. 1967, doi 10.1109/PROC.1967.5957). Not
 * normalized.
 */
#ifndef SHOAL_ENGINE_CUDA_LINES_CUH
#define SHOAL_ENGINE_CUDA_LINES_CUH

#include "engine/cuda/device.cuh"
#include "engine/cuda/mesh.h"

/* Line l, point k is at l * line + k * point. */
struct lines {
    uint32_t count, line, point;
};

static __device__ inline float2 complex_mul(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static __device__ inline float2 complex_add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ inline float2 complex_sub(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

/* exp(-+ 2 pi i k / size), sign -1 or +1 */
static __device__ inline float2 twiddle_at(const float2 *twiddle, uint32_t k, float sign)
{
    float2 w = twiddle[k];
    w.y = sign < 0 ? w.y : -w.y;
    return w;
}

/* Which point of which line: neighbouring threads get neighbouring addresses. */
static __device__ inline void share_out(uint32_t work, struct lines l, uint32_t points, uint32_t *line, uint32_t *i)
{
    bool whole = l.point == 1;
    *line = whole ? work / points : work % l.count;
    *i = whole ? work % points : work / l.count;
}

/* One pass of radix 4; `done`: product of the factors before it. */
static __device__ inline void pass_of_four(const float2 *in, float2 *out, struct lines l, uint32_t n, uint32_t done,
                                           const float2 *twiddle, float sign)
{
    uint32_t quarter = n / 4, stride = quarter / done;
    BLOCK_LOOP(work, l.count * quarter)
    {
        uint32_t line, i;
        share_out(work, l, quarter, &line, &i);
        uint32_t k = i % done;
        const float2 *x = in + line * l.line;
        float2 v[4];
        for (uint32_t r = 0; r < 4; r++) {
            v[r] = x[(i + r * quarter) * l.point];
            if (r)
                v[r] = complex_mul(v[r], twiddle_at(twiddle, k * r * stride, sign));
        }
        float2 a = complex_add(v[0], v[2]), b = complex_sub(v[0], v[2]);
        float2 c = complex_add(v[1], v[3]), d = complex_sub(v[1], v[3]);
        float2 turned = make_float2(-sign * d.y, sign * d.x); /* i sign d */
        float2 *y = out + line * l.line + ((i - k) * 4 + k) * l.point;
        y[0] = complex_add(a, c);
        y[done * l.point] = complex_add(b, turned);
        y[2 * done * l.point] = complex_sub(a, c);
        y[3 * done * l.point] = complex_sub(b, turned);
    }
}

/* One pass of any radix: every output by itself. */
static __device__ inline void pass_of_any(const float2 *in, float2 *out, struct lines l, uint32_t n, uint32_t radix,
                                          uint32_t done, const float2 *twiddle, float sign)
{
    uint32_t part = n / radix, stride = part / done;
    BLOCK_LOOP(work, l.count * n)
    {
        uint32_t line, o; /* output point: (i - k) radix + k + r done */
        share_out(work, l, n, &line, &o);
        uint32_t k = o % done, r = o / done % radix, i = o / (done * radix) * done + k;
        uint32_t turn = (k + r * done) * stride, at = 0; /* of n, per input */
        const float2 *x = in + line * l.line + i * l.point;
        float2 sum = make_float2(0, 0);
        for (uint32_t s = 0; s < radix; s++) {
            sum = complex_add(sum, complex_mul(x[s * part * l.point], twiddle_at(twiddle, at, sign)));
            at += turn;
            at = at < n ? at : at - n;
        }
        out[line * l.line + o * l.point] = sum;
    }
}

/* Transforms the lines in `from` (sign -1: forward), with `other` as scratch; returns where the result is. For the whole
 * block; begins and ends with everybody through. twiddle: in shared memory. */
static __device__ inline float2 *transform_lines(float2 *from, float2 *other, struct lines l,
                                                 const struct mesh_axis *axis, const float2 *twiddle, float sign)
{
    uint32_t done = 1, n = (uint32_t)axis->size;
    __syncthreads();
    for (int pass = 0; pass < axis->npasses; pass++) {
        uint32_t radix = (uint32_t)axis->radix[pass];
        if (radix == 4)
            pass_of_four(from, other, l, n, done, twiddle, sign);
        else
            pass_of_any(from, other, l, n, radix, done, twiddle, sign);
        __syncthreads();
        float2 *swap = from;
        from = other;
        other = swap;
        done *= radix;
    }
    return from;
}

/* A block's shared memory: two planes and the twiddles of two axes. */
struct plane_memory {
    float2 *plane[2], *twiddle[2];
};

static __device__ inline struct plane_memory plane_memory_of(float2 *shared, const struct mesh_axis *a,
                                                             const struct mesh_axis *b)
{
    uint32_t half = (uint32_t)b->size / 2 + 1, lines = ((uint32_t)a->size + 1) / 2;
    uint32_t points = max((uint32_t)a->size * half, lines * (uint32_t)b->size);
    struct plane_memory m = {{shared, shared + points}, {shared + 2 * points, shared + 2 * points + a->size}};
    BLOCK_LOOP(k, (uint32_t)a->size)
    m.twiddle[0][k] = ((const float2 *)a->twiddle)[k];
    BLOCK_LOOP(k, (uint32_t)b->size)
    m.twiddle[1][k] = ((const float2 *)b->twiddle)[k];
    return m;
}

#endif
