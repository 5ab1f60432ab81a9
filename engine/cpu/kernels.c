/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/kernels.h"

#define KERNELS_TABLE cpu_kernels
#define KERNELS_CPU
#include "graphs/kernels_table.h"
