/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's kernels: numbers, argument structs and emit functions, from engine/cpu/kernels.def.
 */
#ifndef SHOAL_ENGINE_CPU_KERNELS_H
#define SHOAL_ENGINE_CPU_KERNELS_H

#define KERNELS_DEF "engine/cpu/kernels.def"
#include "graphs/kernels.h"

extern const struct kernel_table cpu_kernels;

#endif
