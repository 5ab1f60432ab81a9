/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program where Shoal was built without CUDA: no kernels; opening a CUDA device says why.
 */
#include "engine/run/program.h"

static const struct kernel_table none;
const struct program cuda_program = {.device = "cuda", .kernels = &none};
