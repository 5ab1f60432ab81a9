/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the kernel table of a list, in one C file:
 *
 *   #include "engine/cpu/kernels.h"                  (which names KERNELS_DEF and includes graphs/kernels.h)
 *   #define KERNELS_TABLE engine_kernels
 *   #define KERNELS_CPU                          its kernels have functions for the CPU device
 *   #define KERNELS_GPU(kernel) kind_##kernel    and for a kind of GPU, by these names: either or both
 *   #include "graphs/kernels_table.h"            const struct kernel_table engine_kernels
 *
 *   void cpu_<kernel>(const struct launch *, const struct args_<kernel> *);     (declared by kernels.h) the whole grid
 *   extern "C" __global__ void kind_<kernel>(struct args_<kernel>);             a K or V
 *   int kind_<kernel>(void *stream, const void *args, struct err *);            an L
 *
 * where a V's arguments are those of its family: struct args_<base>, in C. Every function must be there. In a table
 * with both those of the GPU are weak: a row says NULL where the object is not linked in (link static libraries of them
 * whole).
 */
#ifdef KERNELS_GPU
#ifdef KERNELS_CPU
#define GPU_LINKAGE __attribute__((weak))
#else
#define GPU_LINKAGE
#endif
#define GPU_KERNEL(kernel, base) extern void KERNELS_GPU(kernel)(struct args_##base args) GPU_LINKAGE;
#define GPU_LIBRARY(kernel) extern int KERNELS_GPU(kernel)(void *stream, const void *args, struct err *e) GPU_LINKAGE;
#define GPU_NAME(kernel) KERNELS_GPU(kernel)
#else
#define GPU_KERNEL(kernel, base)
#define GPU_LIBRARY(kernel)
#define GPU_NAME(kernel) NULL
#endif
#ifndef KERNELS_CPU
#define CPU_KERNEL(kernel, base)
#define CPU_NAME(kernel) NULL
#else
#define CPU_KERNEL(kernel, base)                                                                                       \
    static void call_##kernel(const struct launch *launch, const void *args)                                           \
    {                                                                                                                  \
        cpu_##kernel(launch, args);                                                                                    \
    }
#define CPU_NAME(kernel) call_##kernel
#endif
#define F(type, name) {#name, FIELD_##type, 1},
#define FLOATS(name, count) {#name, FIELD_F32, count},
#define FIELDS_OF(kernel, ...)                                                                                         \
    static const struct field fields_of_##kernel[] = {F(PTR, echo) F(U32, launch) F(U32, pad_) __VA_ARGS__};
#define V(kernel, base)                                                                                                \
    GPU_KERNEL(kernel, base)                                                                                           \
    CPU_KERNEL(kernel, base)
#define K(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    V(kernel, kernel)
#define L(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    GPU_LIBRARY(kernel)                                                                                                \
    CPU_KERNEL(kernel, kernel)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef FIELDS_OF
#undef FLOATS
#undef F

static const struct kernel kernel_rows[] = {
#define ROW(kernel, base, kind_, ...)                                                                                  \
    {.name = #kernel,                                                                                                  \
     .kind = kind_,                                                                                                    \
     .args_size = sizeof(struct args_##base),                                                                          \
     .nfields = sizeof fields_of_##base / sizeof fields_of_##base[0],                                                  \
     .fields = fields_of_##base,                                                                                       \
     .cpu = CPU_NAME(kernel),                                                                                          \
     __VA_ARGS__},
#define V(kernel, base) ROW(kernel, base, LAUNCH_KERNEL, .gpu = (const void *)GPU_NAME(kernel))
#define K(kernel, fields_) V(kernel, kernel)
#define L(kernel, fields_) ROW(kernel, kernel, LAUNCH_LIBRARY, .enqueue = GPU_NAME(kernel))
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef ROW
};

const struct kernel_table KERNELS_TABLE = {kernel_rows, KERNEL_COUNT};
