/* SPDX-License-Identifier: Apache-2.0
 *
 * What another kind of GPU has its own of: the marks of engine/math/fn.h, and what CUDA C has no words for, in PTX.
 * (PTX besides: shapes of launches in graphs/cuda/echo.cuh.) nvcc reads this before any source of engine/cuda.
 */
#ifndef SHOAL_ENGINE_CUDA_DEVICE_ARCH_CUH
#define SHOAL_ENGINE_CUDA_DEVICE_ARCH_CUH

#include <stddef.h>
#include <stdint.h>

/* Of a launch that may begin early (LAUNCH_EARLY), for all threads: the launch that comes after it may begin; and a
 * wait for what comes before it. In front of that it reads nothing that earlier launches of the step write. */
static __device__ inline void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ inline void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* A pointer to global memory, known as such: as far as the compiler knows, one that was read from memory may point
 * anywhere. Accesses through such a one take longer, atomics above all, and are not moved past others. */
template <class T> static __device__ __forceinline__ T *in_global(T *p)
{
#ifdef __CUDA_ARCH__
    size_t at = __cvta_generic_to_global(p);
    asm("" : "+l"(at)); /* keeps the compiler from cancelling the two conversions */
    return (T *)__cvta_global_to_generic(at);
#else
    return p;
#endif
}

/* Begins to copy 4 or 8 bytes from global to shared memory; the thread has what it began to copy after copies_end,
 * others of its block after the barrier that follows. */
template <class T> static __device__ inline void copy_begin(T *to, const T *from)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
                 "n"(sizeof(T))
                 : "memory");
#else
    *to = *from;
#endif
}

static __device__ inline void copies_end()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* What is in memory is not kept in registers besides. */
static __device__ __forceinline__ void forget()
{
    asm volatile("" ::: "memory");
}

#ifndef SHOAL_TESTS_LIB_EMULATE_CUDA_H /* which has its own */

/* 1/sqrt(a), off by up to 2^-22.9 of it. */
static __device__ __forceinline__ float rsqrt_approx(float a)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

/* ---- engine/math/fn.h ---- */

#ifndef MATH_FN
#define MATH_FN static inline __host__ __device__
#endif
#define MATH_FN_APART static __noinline__ __host__ __device__
#define MATH_FMA(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define MATH_BOTH(k) for (int k = 0; k < 2; k++)

#ifdef __CUDA_ARCH__
#define MATH_ATOMIC
#define MATH_ROOT_START(a) rsqrt64_approx(a)
#define MATH_RECIPROCAL_START(a) reciprocal64_approx(a)
#endif

static __device__ __forceinline__ double rsqrt64_approx(double a)
{
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
    return r;
}

static __device__ __forceinline__ double reciprocal64_approx(double a)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
    return r;
}

#endif

#endif
