/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/kernels.h"

#define KERNELS_TABLE cuda_kernels
#define KERNELS_GPU(kernel) cuda_##kernel
#include "graphs/kernels_table.h"
