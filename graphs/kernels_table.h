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
 * The CUDA symbols are weak: a row says NULL where the object is not linked in (link static libraries of .cu files
 * whole). A CPU function works on the launch's whole grid.
 *
 * With KERNELS_ON_CUDA_ALONE defined there are no CPU functions, and every CUDA function must be there.
 */
#ifdef KERNELS_ON_CUDA_ALONE
#define KERNELS_CUDA
#define KERNELS_CPU(kernel)
#define KERNELS_CPU_NAME(kernel) NULL
#else
#define KERNELS_CUDA __attribute__((weak))
#define KERNELS_CPU(kernel)                                                                                            \
    static void call_##kernel(const struct launch *launch, const void *args)                                           \
    {                                                                                                                  \
        cpu_##kernel(launch, args);                                                                                    \
    }
#define KERNELS_CPU_NAME(kernel) call_##kernel
#endif
#define F(type, name) {#name, FIELD_##type},
#define FIELDS_OF(kernel, ...)                                                                                         \
    static const struct field fields_of_##kernel[] = {F(PTR, echo) F(U32, launch) F(U32, pad_) __VA_ARGS__};           \
    KERNELS_CPU(kernel)
#define K(kernel, fields_)                                                                                             \
    extern void cuda_##kernel(struct args_##kernel args) KERNELS_CUDA;                                                 \
    FIELDS_OF(kernel, fields_)
#define L(kernel, fields_)                                                                                             \
    extern int cuda_##kernel(void *stream, const void *args, struct err *e) KERNELS_CUDA;                              \
    FIELDS_OF(kernel, fields_)
#include KERNELS_DEF
#undef L
#undef K
#undef FIELDS_OF
#undef F

static const struct kernel kernel_rows[] = {
#define F(type, name)
#define ROW(kernel, kind_, ...)                                                                                        \
    {.name = #kernel,                                                                                                  \
     .kind = kind_,                                                                                                    \
     .args_size = sizeof(struct args_##kernel),                                                                        \
     .nfields = sizeof fields_of_##kernel / sizeof fields_of_##kernel[0],                                              \
     .fields = fields_of_##kernel,                                                                                     \
     .cpu = KERNELS_CPU_NAME(kernel),                                                                                  \
     __VA_ARGS__},
#define K(kernel, fields_) ROW(kernel, LAUNCH_KERNEL, .cuda = (const void *)cuda_##kernel)
#define L(kernel, fields_) ROW(kernel, LAUNCH_LIBRARY, .enqueue = cuda_##kernel)
#include KERNELS_DEF
#undef L
#undef K
#undef ROW
#undef F
};

const struct kernel_table KERNELS_TABLE = {kernel_rows, KERNEL_COUNT};
