/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of lines, of any length: Stockham's algorithm, one pass for each factor of the length (Cochran et
 * al. 1967, doi 10.1109/PROC.1967.5957). Not normalized, and forward only: the conjugate of a line's transform back is the
 * transform of its conjugate. Many lines in a block's shared memory, a pass from one half of it to the other; or one line in
 * the registers of a thread. Both give the same bits: what is fused is spelled out.
 *
 * Real lines go through in pairs, Z = A + iB, so A(k) = (Z(k) + Z*(n - k))/2 and B(k) = (Z(k) - Z*(n - k))/2i.
 */
#ifndef SHOAL_ENGINE_CUDA_LINES_CUH
#define SHOAL_ENGINE_CUDA_LINES_CUH

#include "engine/cuda/device.cuh"
#include "engine/cuda/mesh.h"
#include "engine/cuda/turn.h"

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

/* ---- lines in shared memory ---- */

/* Line l, point k is at l * line + k * point: neighbouring threads have neighbouring lines, so one of the two is 1 and the other
 * odd, or they meet in banks. */
struct lines {
    struct divisor count;
    uint32_t line, point;
};

/* Which point of which line. */
static __device__ inline void share_out(uint32_t work, struct lines l, uint32_t *line, uint32_t *i)
{
    *i = divided(work, l.count);
    *line = work - *i * l.count.by;
}

/* One pass. */
template <int radix>
static __device__ inline void pass_of(const float2 *in, float2 *out, struct lines l, uint32_t n,
                                      const struct mesh_pass &pass, const float2 *twiddle)
{
    const uint32_t part = n / radix, done = pass.done.by;
    BLOCK_LOOP(work, l.count.by * part)
    {
        uint32_t line, i;
        share_out(work, l, &line, &i);
        const uint32_t k = i - divided(i, pass.done) * done, turn = k * pass.stride;
        const float2 *x = in + line * l.line + i * l.point;
        float2 v[radix];
#pragma unroll
        for (int r = 0; r < radix; r++) {
            v[r] = x[r * part * l.point];
            if (r && done > 1)
                v[r] = complex_mul(v[r], twiddle[r * turn]);
        }
        butterfly<radix>(v);
        float2 *y = out + line * l.line + ((i - k) * radix + k) * l.point;
#pragma unroll
        for (int r = 0; r < radix; r++)
            y[r * done * l.point] = v[r];
    }
}

/* One pass of any radix: every output by itself. */
static __device__ inline void pass_of_any(const float2 *in, float2 *out, struct lines l, uint32_t n,
                                          const struct mesh_pass &pass, const float2 *twiddle)
{
    const uint32_t radix = pass.radix, part = n / radix, done = pass.done.by;
    BLOCK_LOOP(work, l.count.by * n)
    {
        uint32_t line, o; /* output point: (i - k) radix + k + r done */
        share_out(work, l, &line, &o);
        uint32_t k = o % done, r = o / done % radix, i = o / (done * radix) * done + k;
        uint32_t turn = (k + r * done) * pass.stride, at = 0; /* of n, per input */
        const float2 *x = in + line * l.line + i * l.point;
        float2 sum = make_float2(0, 0);
        for (uint32_t s = 0; s < radix; s++) {
            sum = complex_add(sum, complex_mul(x[s * part * l.point], twiddle[at]));
            at += turn;
            at = at < n ? at : at - n;
        }
        out[line * l.line + o * l.point] = sum;
    }
}

/* Transforms the lines in `from`, with `other` as scratch; returns where the result is. For the whole block; begins and ends
 * with everybody through. twiddle: in shared memory. */
static __device__ inline float2 *transform_lines(float2 *from, float2 *other, struct lines l,
                                                 const struct mesh_axis *axis, const float2 *twiddle)
{
    const uint32_t n = (uint32_t)axis->size;
    __syncthreads();
    for (int p = 0; p < axis->npasses; p++) {
        const struct mesh_pass pass = axis->pass[p];
        switch (pass.radix) {
#define PASS(radix)                                                                                                    \
    case radix:                                                                                                        \
        pass_of<radix>(from, other, l, n, pass, twiddle);                                                              \
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
            pass_of_any(from, other, l, n, pass, twiddle);
        }
        __syncthreads();
        float2 *swap = from;
        from = other;
        other = swap;
    }
    return from;
}

/* ---- pairs of real lines ---- */

/* Their transforms at k from z = Z(k) and w = Z(n - k). */
static __device__ inline void split_pair(float2 z, float2 w, float2 *first, float2 *second)
{
    *first = make_float2(0.5f * (z.x + w.x), 0.5f * (z.y - w.y));
    *second = make_float2(0.5f * (z.y + w.y), 0.5f * (w.x - z.x));
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
