/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/isa.h"

#ifdef __x86_64__
#define ISA_PICK(kernel)                                                                                               \
    void cpu_##kernel(const struct launch *launch, const struct args_##kernel *a)                                      \
    {                                                                                                                  \
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))                                   \
            cpu_##kernel##_avx512(launch, a);                                                                          \
        else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                                      \
            cpu_##kernel##_avx2(launch, a);                                                                            \
        else                                                                                                           \
            cpu_##kernel##_base(launch, a);                                                                            \
    }
#else
#define ISA_PICK(kernel)                                                                                               \
    void cpu_##kernel(const struct launch *launch, const struct args_##kernel *a)                                      \
    {                                                                                                                  \
        cpu_##kernel##_base(launch, a);                                                                                \
    }
#endif
ISA_KERNELS(ISA_PICK)
