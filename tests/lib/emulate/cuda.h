/* SPDX-License-Identifier: Apache-2.0
 *
 * What engine/cuda's kernels take from CUDA, for a C++ compiler: included before all else where a .cu file is compiled
 * to be run on the CPU (emulate.cc). Threads of a block are coroutines on one thread of the machine: a collective is a
 * place where all of a warp, or of a block, have to arrive. So races between threads of a block are not seen here, and
 * speed says nothing.
 */
#ifndef SHOAL_TESTS_LIB_EMULATE_CUDA_H
#define SHOAL_TESTS_LIB_EMULATE_CUDA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>

using std::max;
using std::min;

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(most, ...) most
#define __restrict__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ thread_local /* of the one block that runs */

/* Sums as a GPU adds to them, all else of engine/math/fn.h as this machine has it. */
#define MATH_ATOMIC

/* In place of graphs/cuda/echo.cuh: the CPU device does the echo. */
#define SHOAL_GRAPHS_CUDA_ECHO_CUH
/* cuda_most_*: threads of a block that it is compiled for, 0: any number; a GPU refuses to launch it with more. */
#define KERNEL(name, args, ...)                                                                                        \
    extern "C" const unsigned cuda_most_##name = __VA_ARGS__ + 0;                                                      \
    extern "C" void cuda_##name(const struct args_##name args)
#define ECHO(args)

struct uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
struct int2 {
    int x, y;
};
struct float2 {
    float x, y;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct dim3_now {
    unsigned x, y, z;
};

static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return uint2{x, y};
}

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    return float4{x, y, z, w};
}

extern thread_local dim3_now threadIdx, blockIdx, blockDim, gridDim;

/* ---- collectives ---- */

/* Waits for the other threads of the block, or of the warp. The value of each lane, 0 for lanes that have come to their
 * end; or a bit for each. */
void emulate_block(void);
const uint64_t *emulate_warp(uint64_t value, uint32_t *present);
uint32_t emulate_ballot(bool on);
int emulate_block_or(int value);

static inline void __syncthreads(void)
{
    emulate_block();
}

static inline int __syncthreads_or(int value)
{
    return emulate_block_or(value);
}

static inline void __syncwarp(unsigned mask = ~0u)
{
    uint32_t present;
    emulate_warp(0, &present);
}

template <class T> static inline T emulate_lane(T value, unsigned lane)
{
    uint32_t present;
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    word = emulate_warp(word, &present)[lane % 32];
    memcpy(&value, &word, sizeof value);
    return value;
}

template <class T> static inline T __shfl_sync(unsigned mask, T value, int lane)
{
    return emulate_lane(value, (unsigned)lane);
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits)
{
    return emulate_lane(value, (threadIdx.x % 32) ^ (unsigned)bits);
}

template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by)
{
    unsigned lane = threadIdx.x % 32 + by;
    return emulate_lane(value, lane < 32 ? lane : threadIdx.x % 32);
}

static inline unsigned __ballot_sync(unsigned mask, int on)
{
    return emulate_ballot(on != 0);
}

static inline int __any_sync(unsigned mask, int on)
{
    return __ballot_sync(mask, on) != 0;
}

template <class F> static inline unsigned emulate_reduce(unsigned value, unsigned of_none, F f)
{
    uint32_t present;
    const uint64_t *all = emulate_warp(value, &present);
    unsigned result = of_none;
    for (int l = 0; l < 32; l++)
        if (present >> l & 1)
            result = f(result, (unsigned)all[l]);
    return result;
}

static inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
    return emulate_reduce(value, 0, [](unsigned a, unsigned b) { return max(a, b); });
}

static inline unsigned __reduce_min_sync(unsigned mask, unsigned value)
{
    return emulate_reduce(value, ~0u, [](unsigned a, unsigned b) { return min(a, b); });
}

static inline unsigned __reduce_or_sync(unsigned mask, unsigned value)
{
    return emulate_reduce(value, 0, [](unsigned a, unsigned b) { return a | b; });
}

/* ---- memory ---- */

static inline void __threadfence(void)
{
}

static inline void __threadfence_system(void)
{
}

template <class T> static inline T __ldg(const T *at)
{
    return *at;
}

template <class T> static inline T __ldcg(const T *at)
{
    return *at;
}

/* *at may have been declared with another sign or size. */
template <class T, class U> static inline T atomicAdd(T *at, U value)
{
    T was, is;
    memcpy(&was, at, sizeof was);
    is = was + (T)value;
    memcpy(at, &is, sizeof is);
    return was;
}

static inline unsigned atomicOr(unsigned *at, unsigned bits)
{
    unsigned was = *at;
    *at = was | bits;
    return was;
}

static inline unsigned atomicMax(unsigned *at, unsigned value)
{
    unsigned was = *at;
    *at = max(was, value);
    return was;
}

static inline unsigned atomicInc(unsigned *at, unsigned most)
{
    unsigned was = *at;
    *at = was >= most ? 0 : was + 1;
    return was;
}

static inline unsigned atomicCAS(unsigned *at, unsigned expected, unsigned value)
{
    unsigned was = *at;
    if (was == expected)
        *at = value;
    return was;
}

/* ---- arithmetic ---- */

static inline unsigned __float_as_uint(float v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float __uint_as_float(unsigned bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline int __float_as_int(float v)
{
    return (int)__float_as_uint(v);
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

static inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

static inline int __clz(int bits)
{
    return bits ? __builtin_clz((unsigned)bits) : 32;
}

static inline unsigned __brev(unsigned bits)
{
    unsigned reversed = 0;
    for (int k = 0; k < 32; k++)
        reversed |= (bits >> k & 1) << (31 - k);
    return reversed;
}

static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}

static inline float __fsub_rn(float a, float b)
{
    return a - b;
}

/* rsqrt.approx.ftz.f32 with an error as large as the card's may be (2^-22.9 of it), some number between for each
 * argument. */
static inline float rsqrt_approx(float a)
{
    unsigned h = __float_as_uint(a) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    return (float)(1 / sqrt((double)a) * (1 + (h * 0x1p-31 - 1) * 0x1.126p-23));
}

static inline int __float2int_rn(float v)
{
    return (int)rintf(v);
}

static inline long long __float2ll_rn(float v)
{
    return (long long)rintf(v);
}

static inline long long __double2ll_rn(double v)
{
    return (long long)rint(v);
}

#endif
