/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of lines, of any length: Stockham's algorithm, one pass for each factor of the length
 * (Cochran et al. 1967, doi 10.1109/PROC.1967.5957). Not normalized, and forward only: the conjugate of a line's
 * transform back is the transform of its conjugate. Many lines in a block's shared memory, a pass from one half of it
 * to the other, the first from where they come and the last to where they go; or one line in the registers of a thread.
 * Both give the same bits: what is fused is spelled out.
 *
 * Real lines go through in pairs, Z = A + iB, so A(k) = (Z(k) + Z*(n - k))/2 and B(k) = (Z(k) - Z*(n - k))/2i.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_FFT_LINES_CUH
#define SHOAL_ENGINE_CUDA_MESH_FFT_LINES_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/cuda/mesh/mesh.h"
#include "engine/cuda/mesh/fft_plan.h"

static __device__ inline float2 complex_mul(float2 a, float2 b)
{
    return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}

static __device__ inline float2 complex_add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ inline float2 complex_sub(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

/* times -i */
static __device__ inline float2 turn_right(float2 a)
{
    return make_float2(a.y, -a.x);
}

/* exp(-2 pi i k / n) */
template <int n> struct turns {
    float x[n], y[n];
    constexpr turns() : x(), y()
    {
        for (int k = 0; k < n; k++) {
            x[k] = (float)cos_turn(k, n);
            y[k] = (float)-sin_turn(k, n);
        }
    }
};

/* ---- one transform of a radix ---- */

/* Odd radices: sums and differences of what lies opposite. */
template <int radix> static __device__ __forceinline__ void butterfly(float2 *v)
{
    constexpr turns<radix> turn;
    constexpr int h = radix / 2;
    float2 sum[h], difference[h], first = v[0];
#pragma unroll
    for (int j = 1; j <= h; j++) {
        sum[j - 1] = complex_add(v[j], v[radix - j]);
        difference[j - 1] = turn_right(complex_sub(v[j], v[radix - j]));
        v[0] = complex_add(v[0], sum[j - 1]);
    }
#pragma unroll
    for (int k = 1; k <= h; k++) {
        float2 even = first, odd = make_float2(0, 0);
#pragma unroll
        for (int j = 1; j <= h; j++) {
            float c = turn.x[j * k % radix], s = -turn.y[j * k % radix];
            even = make_float2(fmaf(c, sum[j - 1].x, even.x), fmaf(c, sum[j - 1].y, even.y));
            odd = make_float2(fmaf(s, difference[j - 1].x, odd.x), fmaf(s, difference[j - 1].y, odd.y));
        }
        v[k] = complex_add(even, odd);
        v[radix - k] = complex_sub(even, odd);
    }
}

template <> __device__ __forceinline__ void butterfly<2>(float2 *v)
{
    float2 a = v[0], b = v[1];
    v[0] = complex_add(a, b);
    v[1] = complex_sub(a, b);
}

template <> __device__ __forceinline__ void butterfly<4>(float2 *v)
{
    float2 a = complex_add(v[0], v[2]), b = complex_sub(v[0], v[2]);
    float2 c = complex_add(v[1], v[3]), d = turn_right(complex_sub(v[1], v[3]));
    v[0] = complex_add(a, c);
    v[1] = complex_add(b, d);
    v[2] = complex_sub(a, c);
    v[3] = complex_sub(b, d);
}

template <> __device__ __forceinline__ void butterfly<8>(float2 *v)
{
    const float h = 0.70710678f;
    float2 even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    butterfly<4>(even);
    butterfly<4>(odd);
    odd[1] = make_float2(h * (odd[1].x + odd[1].y), h * (odd[1].y - odd[1].x));
    odd[2] = turn_right(odd[2]);
    odd[3] = make_float2(h * (odd[3].y - odd[3].x), -h * (odd[3].x + odd[3].y));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = complex_add(even[k], odd[k]);
        v[k + 4] = complex_sub(even[k], odd[k]);
    }
}

/* Of a radix that is a product: the transform of a line in two passes. */
template <int a, int b> static __device__ __forceinline__ void butterflies(float2 *v)
{
    constexpr turns<a * b> turn;
    float2 w[a * b];
#pragma unroll
    for (int i = 0; i < b; i++) {
        float2 x[a];
#pragma unroll
        for (int r = 0; r < a; r++)
            x[r] = v[i + r * b];
        butterfly<a>(x);
#pragma unroll
        for (int r = 0; r < a; r++)
            w[i * a + r] = x[r];
    }
#pragma unroll
    for (int k = 0; k < a; k++) {
        float2 x[b];
#pragma unroll
        for (int r = 0; r < b; r++)
            x[r] = k * r ? complex_mul(w[k + r * a], make_float2(turn.x[k * r], turn.y[k * r])) : w[k + r * a];
        butterfly<b>(x);
#pragma unroll
        for (int r = 0; r < b; r++)
            v[k + r * a] = x[r];
    }
}

template <> __device__ __forceinline__ void butterfly<6>(float2 *v)
{
    butterflies<2, 3>(v);
}

template <> __device__ __forceinline__ void butterfly<9>(float2 *v)
{
    butterflies<3, 3>(v);
}

template <> __device__ __forceinline__ void butterfly<10>(float2 *v)
{
    butterflies<2, 5>(v);
}

/* ---- a line in registers ---- */

/* The passes from the one on before which the product of the factors was `done`. */
template <int n, int done = 1> static __device__ __forceinline__ void transform_line(float2 *v)
{
    if constexpr (done < n) {
        constexpr int radix = next_radix(n / done), part = n / radix, stride = part / done;
        constexpr turns<n> turn;
        float2 w[n];
#pragma unroll
        for (int i = 0; i < part; i++) {
            const int k = i % done;
            float2 x[radix];
#pragma unroll
            for (int r = 0; r < radix; r++) {
                x[r] = v[i + r * part];
                if (k * r)
                    x[r] = complex_mul(x[r], make_float2(turn.x[k * r * stride], turn.y[k * r * stride]));
            }
            butterfly<radix>(x);
#pragma unroll
            for (int r = 0; r < radix; r++)
                w[(i - k) * radix + k + r * done] = x[r];
        }
        transform_line<n, done * radix>(w);
#pragma unroll
        for (int k = 0; k < n; k++)
            v[k] = w[k];
    }
}

/* ---- lines in a block's memory ---- */

/* Line l, point k of a plane is at l * line + k * point. One of the two is 1 and the other odd, or neighbours meet in
 * banks. */
struct lines {
    struct divisor count;
    uint32_t line, point;
};

/* Which point of which line: along, neighbouring threads have neighbouring points, else neighbouring lines. */
template <bool along>
static __device__ inline void share_out(uint32_t work, struct divisor count, struct divisor points, uint32_t *line,
                                        uint32_t *i)
{
    const uint32_t slow = divided(work, along ? points : count);
    *line = along ? slow : work - slow * count.by;
    *i = along ? work - slow * points.by : slow;
}

/* Lines on their way through a block: the first pass takes in(line, point), the last gives out(line, point, value),
 * between them they lie in two planes, from one to the other. */
template <class IN, class OUT> struct way {
    struct lines lines;
    const struct mesh_axis *axis;
    const float2 *twiddle;
    float2 *even, *odd; /* planes that passes write to by their number, but for the last */
    IN in;
    OUT out;
};

/* Pass p. */
template <int radix, bool along, class WAY>
static __device__ __forceinline__ void pass_of(const WAY &w, const struct mesh_pass &pass, uint32_t p, bool last)
{
    const struct lines l = w.lines;
    const uint32_t part = pass.part.by, done = pass.done.by;
    const float2 *from = p % 2 ? w.even : w.odd;
    float2 *to = p % 2 ? w.odd : w.even;
    BLOCK_LOOP(work, l.count.by * part)
    {
        uint32_t line, i;
        float2 v[radix];
        share_out<along>(work, l.count, pass.part, &line, &i);
        const uint32_t k = i - divided(i, pass.done) * done, turn = k * pass.stride, first = (i - k) * radix + k;
        if (p == 0) {
#pragma unroll
            for (int r = 0; r < radix; r++)
                v[r] = w.in(line, i + r * part);
        } else {
            const float2 *x = from + line * l.line + i * l.point;
#pragma unroll
            for (int r = 0; r < radix; r++)
                v[r] = r ? complex_mul(x[r * part * l.point], w.twiddle[r * turn]) : x[0];
        }
        butterfly<radix>(v);
        if (last) {
#pragma unroll
            for (int r = 0; r < radix; r++)
                w.out(line, first + r * done, v[r]);
            continue;
        }
        float2 *y = to + line * l.line + first * l.point;
#pragma unroll
        for (int r = 0; r < radix; r++)
            y[r * done * l.point] = v[r];
    }
}

/* A pass of any radix: every output by itself. */
template <bool along, class WAY>
static __device__ __forceinline__ void pass_of_any(const WAY &w, const struct mesh_pass &pass, uint32_t p, bool last)
{
    const struct lines l = w.lines;
    const uint32_t radix = pass.radix, n = w.axis->points.by, part = pass.part.by, done = pass.done.by;
    const float2 *from = p % 2 ? w.even : w.odd;
    float2 *to = p % 2 ? w.odd : w.even;
    if (p == 0) { /* twiddles are read already */
        copies_end();
        __syncthreads();
    }
    BLOCK_LOOP(work, l.count.by * n)
    {
        uint32_t line, o; /* output point: (i - k) radix + k + r done */
        share_out<along>(work, l.count, w.axis->points, &line, &o);
        uint32_t k = o % done, r = o / done % radix, i = o / (done * radix) * done + k;
        uint32_t turn = (k + r * done) * pass.stride, at = 0; /* of n, per input */
        float2 sum = make_float2(0, 0);
        for (uint32_t s = 0; s < radix; s++) {
            const uint32_t point = i + s * part;
            const float2 x = p ? from[line * l.line + point * l.point] : w.in(line, point);
            sum = complex_add(sum, complex_mul(x, w.twiddle[at]));
            at += turn;
            at = at < n ? at : at - n;
        }
        if (last)
            w.out(line, o, sum);
        else
            to[line * l.line + o * l.point] = sum;
    }
}

/* The same without divisors, of a constant. */
template <uint32_t points, bool along>
static __device__ inline void share_out(uint32_t work, struct divisor count, uint32_t *line, uint32_t *i)
{
    const uint32_t slow = along ? work / points : divided(work, count);
    *line = along ? slow : work - slow * count.by;
    *i = along ? work % points : slow;
}

/* Both passes of a length that is a product of two radices. */
template <int n, bool along, class WAY> static __device__ __forceinline__ void two_passes(const WAY &w)
{
    constexpr uint32_t first = next_radix(n), second = n / first;
    const struct lines l = w.lines;
    uint32_t line, i;
    BLOCK_LOOP(work, l.count.by * second)
    {
        float2 v[first];
        share_out<second, along>(work, l.count, &line, &i);
#pragma unroll
        for (uint32_t r = 0; r < first; r++)
            v[r] = w.in(line, i + r * second);
        butterfly<first>(v);
        float2 *y = w.even + line * l.line + i * (first * l.point);
#pragma unroll
        for (uint32_t r = 0; r < first; r++)
            y[r * l.point] = v[r];
    }
    copies_end();
    __syncthreads();
    BLOCK_LOOP(work, l.count.by * first)
    {
        float2 v[second];
        share_out<first, along>(work, l.count, &line, &i);
        const float2 *x = w.even + line * l.line + i * l.point;
#pragma unroll
        for (uint32_t r = 0; r < second; r++)
            v[r] = r ? complex_mul(x[r * (first * l.point)], w.twiddle[r * i]) : x[0];
        butterfly<second>(v);
#pragma unroll
        for (uint32_t r = 0; r < second; r++)
            w.out(line, i + r * first, v[r]);
    }
    __syncthreads();
}

/* For the whole block, and all of it is through at the end. twiddle: in shared memory, may still be copied. The last
 * pass reads one of the planes at most, so `out` may write to the other: `even` where the number of passes is odd.
 * usual: loops for the lengths of MESH_PLANE_LENGTHS, too. */
template <bool usual, bool along, class IN, class OUT>
static __device__ __forceinline__ void transform_lines(struct lines l, const struct mesh_axis *axis,
                                                       const float2 *twiddle, float2 *even, float2 *odd, IN in, OUT out)
{
    const struct way<IN, OUT> w = {
        l, axis, twiddle, even, odd, in, out
    };
    if constexpr (usual) {
        switch (axis->size) {
#define LENGTH(n)                                                                                                      \
    case n:                                                                                                            \
        two_passes<n, along>(w);                                                                                       \
        return;
            MESH_PLANE_LENGTHS(LENGTH)
#undef LENGTH
        }
    }
    const uint32_t passes = (uint32_t)axis->npasses;
    for (uint32_t p = 0; p < passes; p++) {
        const struct mesh_pass pass = axis->pass[p];
        const bool last = p + 1 == passes;
        switch (pass.radix) {
#define PASS(radix)                                                                                                    \
    case radix:                                                                                                        \
        pass_of<radix, along>(w, pass, p, last);                                                                       \
        break;
            PASS(2)
            PASS(3)
            PASS(4)
            PASS(5)
            PASS(6)
            PASS(7)
            PASS(8)
            PASS(9)
            PASS(10)
#undef PASS
        default:
            pass_of_any<along>(w, pass, p, last);
        }
        copies_end();
        __syncthreads();
    }
}

/* ---- pairs of real lines ---- */

/* Their transforms at k from z = Z(k) and w = Z(n - k). */
static __device__ inline void split_pair(float2 z, float2 w, float2 *first, float2 *second)
{
    *first = make_float2(0.5f * (z.x + w.x), 0.5f * (z.y - w.y));
    *second = make_float2(0.5f * (z.y + w.y), 0.5f * (w.x - z.x));
}

/* One of the two. */
static __device__ inline float2 split_line(float2 z, float2 w, bool second)
{
    const float a = second ? z.y : z.x, b = second ? w.y : w.x, c = second ? w.x : z.y, d = second ? z.x : w.y;
    return make_float2(0.5f * (a + b), 0.5f * (c - d));
}

/* The way back begins with conjugates, a and b, of the spectra: those of A + iB at k and at n - k. */
static __device__ inline float2 join_pair(float2 a, float2 b)
{
    return make_float2(a.x + b.y, a.y - b.x);
}

static __device__ inline float2 join_opposite(float2 a, float2 b)
{
    return make_float2(a.x - b.y, -a.y - b.x);
}

#endif
