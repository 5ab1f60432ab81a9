/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs and MIG slices by the ids that NVIDIA's driver has for them: "cuda:GPU-3f6b" as "cuda:MIG-8c1d..". CUDA finds
 * them where CUDA_VISIBLE_DEVICES has the id before its first call; such a device is number 0 of its process then. So a
 * process opens one of them and nothing else.
 */
#ifndef SHOAL_GRAPHS_CUDA_IDS_H
#define SHOAL_GRAPHS_CUDA_IDS_H

#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/err.h"

/* Before the first call of CUDA: the environment of this process says which device it is, where the name has an id.
 * ERR_USAGE: the process has opened another device, and one of the two has an id. */
int gpu_ids_choose(const char *name, struct err *e);
/* ERR_DEVICE: CUDA finds no device of that name; says which ids there are, as far as nvidia-smi does. */
int gpu_ids_missing(const char *name, struct err *e);
/* Calls `gpu` with "cuda:ID" for each id of a list as in CUDA_VISIBLE_DEVICES (NULL: none), if one of them is a MIG
 * slice: by their numbers CUDA shows a process the first alone. How many. */
size_t gpu_ids_slices(const char *visible, void (*gpu)(void *ctx, const char *name), void *ctx);

#endif
