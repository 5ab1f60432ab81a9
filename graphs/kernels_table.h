/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the kernel table of a list, in one C file:
 *
 *   #include "engine/cpu/kernels.h"                  (which names KERNELS_DEF and includes graphs/kernels.h)
 *   #define KERNELS_TABLE engine_kernels
 *   #include "graphs/kernels_table.h"            const struct kernel_table engine_kernels
 *
 * Each kernel needs   void cpu_<kernel>(const struct launch *, const struct args_<kernel> *);   (declared by kernels.h)
 * and may have        extern "C" __global__ void cuda_<kernel>(struct args_<kernel>);
 * The CUDA symbols are weak: a row says NULL where the object is not linked in (link static libraries of .cu files
 * whole). A CPU function works on the launch's whole grid.
 *
 * With KERNELS_ON_CUDA_ALONE defined there are no CPU functions, and every CUDA function must be there.
 */
#ifdef KERNELS_ON_CUDA_ALONE
#define KERNELS_CUDA(kernel) extern void cuda_##kernel(struct args_##kernel args);
#define KERNELS_CPU(kernel)
#define KERNELS_CPU_NAME(kernel) NULL
#else
#define KERNELS_CUDA(kernel) extern void cuda_##kernel(struct args_##kernel args) __attribute__((weak));
#define KERNELS_CPU(kernel)                                                                                            \
    static void call_##kernel(const struct launch *launch, const void *args)                                           \
    {                                                                                                                  \
        cpu_##kernel(launch, args);                                                                                    \
    }
#define KERNELS_CPU_NAME(kernel) call_##kernel
#endif
#define F(type, name) {#name, FIELD_##type},
#define K(kernel, fields_)                                                                                             \
    KERNELS_CUDA(kernel)                                                                                               \
    static const struct field fields_of_##kernel[] = {fields_};                                                        \
    KERNELS_CPU(kernel)
#include KERNELS_DEF
#undef K
#undef F

static const struct kernel kernel_rows[] = {
#define F(type, name)
#define K(kernel, fields_)                                                                                             \
    {#kernel,                                                                                                          \
     sizeof(struct args_##kernel),                                                                                     \
     sizeof fields_of_##kernel / sizeof fields_of_##kernel[0],                                                         \
     fields_of_##kernel,                                                                                               \
     KERNELS_CPU_NAME(kernel),                                                                                         \
     (const void *)cuda_##kernel},
#include KERNELS_DEF
#undef K
#undef F
};

const struct kernel_table KERNELS_TABLE = {kernel_rows, KERNEL_COUNT};
