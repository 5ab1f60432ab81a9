/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the kernel table of a list, in one C file:
 *
 *   #include "engine/cpu/kernels.h"                  (which names KERNELS_DEF and includes graphs/kernels.h)
 *   #define KERNELS_TABLE engine_kernels
 *   #include "graphs/kernels_table.h"            const struct kernel_table engine_kernels
 *
 * Each kernel needs   void cpu_<kernel>(const struct launch *, const struct args_<kernel> *);   (declared by kernels.h)
 * and may have        extern "C" __global__ void cuda_<kernel>(struct args_<kernel>);           a K
 *                     int cuda_<kernel>(void *stream, const void *args, struct err *);          an L
 * where a V's arguments are those of its family: struct args_<base>, in C.
 * The CUDA symbols are weak: a row says NULL where the object is not linked in (link static libraries of .cu files
 * whole). A CPU function works on the launch's whole grid.
 *
 * With KERNELS_ON_CUDA_ALONE defined there are no CPU functions, and every CUDA function must be there.
 */
#ifdef KERNELS_ON_CUDA_ALONE
#define KERNELS_CUDA
#define KERNELS_CPU(kernel, base)
#define KERNELS_CPU_NAME(kernel) NULL
#else
#define KERNELS_CUDA __attribute__((weak))
#define KERNELS_CPU(kernel, base)                                                                                      \
    static void call_##kernel(const struct launch *launch, const void *args)                                           \
    {                                                                                                                  \
        cpu_##kernel(launch, args);                                                                                    \
    }
#define KERNELS_CPU_NAME(kernel) call_##kernel
#endif
#define F(type, name) {#name, FIELD_##type},
#define FIELDS_OF(kernel, ...)                                                                                         \
    static const struct field fields_of_##kernel[] = {F(PTR, echo) F(U32, launch) F(U32, pad_) __VA_ARGS__};
#define V(kernel, base)                                                                                                \
    extern void cuda_##kernel(struct args_##base args) KERNELS_CUDA;                                                   \
    KERNELS_CPU(kernel, base)
#define K(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    V(kernel, kernel)
#define L(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    extern int cuda_##kernel(void *stream, const void *args, struct err *e) KERNELS_CUDA;                              \
    KERNELS_CPU(kernel, kernel)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef FIELDS_OF
#undef F

static const struct kernel kernel_rows[] = {
#define ROW(kernel, base, kind_, ...)                                                                                  \
    {.name = #kernel,                                                                                                  \
     .kind = kind_,                                                                                                    \
     .args_size = sizeof(struct args_##base),                                                                          \
     .nfields = sizeof fields_of_##base / sizeof fields_of_##base[0],                                                  \
     .fields = fields_of_##base,                                                                                       \
     .cpu = KERNELS_CPU_NAME(kernel),                                                                                  \
     __VA_ARGS__},
#define V(kernel, base) ROW(kernel, base, LAUNCH_KERNEL, .cuda = (const void *)cuda_##kernel)
#define K(kernel, fields_) V(kernel, kernel)
#define L(kernel, fields_) ROW(kernel, kernel, LAUNCH_LIBRARY, .enqueue = cuda_##kernel)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef ROW
};

const struct kernel_table KERNELS_TABLE = {kernel_rows, KERNEL_COUNT};
