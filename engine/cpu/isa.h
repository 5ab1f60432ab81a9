/* SPDX-License-Identifier: Apache-2.0
 *
 * Hot kernels of the CPU device are compiled once per instruction set (engine/meson.build), each time with ISA defined;
 * the plain kernel (isa.c) picks one when it is called. Compiled with -ffp-contract=off and MATH_FMA, the two sets with
 * fused multiply-add give the same bits.
 */
#ifndef SHOAL_ENGINE_CPU_ISA_H
#define SHOAL_ENGINE_CPU_ISA_H

#include "engine/cpu/kernels.h"

#define ISA_KERNELS(K)                                                                                                 \
    K(list_check)                                                                                                      \
    K(list_build)                                                                                                      \
    K(pairs)                                                                                                           \
    K(pairs_perturbed) K(pairs_apart) K(mesh_spread) K(mesh_gather) K(observe_rdf) K(biases) K(observe_coordination)

#define ISA_JOIN_(kernel, isa) cpu_##kernel##_##isa
#define ISA_JOIN(kernel, isa) ISA_JOIN_(kernel, isa)
#define ISA_FN(kernel) void ISA_JOIN(kernel, ISA)(const struct launch *launch, const struct args_##kernel *a)

#define ISA_DECLARE(kernel)                                                                                            \
    void cpu_##kernel##_base(const struct launch *, const struct args_##kernel *);                                     \
    void cpu_##kernel##_avx2(const struct launch *, const struct args_##kernel *);                                     \
    void cpu_##kernel##_avx512(const struct launch *, const struct args_##kernel *);
ISA_KERNELS(ISA_DECLARE)

#endif
