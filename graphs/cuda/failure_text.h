/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a call of CUDA that failed. Knows nothing of CUDA itself.
 */
#ifndef SHOAL_GRAPHS_CUDA_FAILURE_TEXT_H
#define SHOAL_GRAPHS_CUDA_FAILURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

struct gpu_failure {
    const char *name;               /* of the device: "cuda:0" */
    const char *call, *code, *text; /* "cudaMalloc", "cudaErrorMemoryAllocation", "out of memory"; or all in call */
    const char *model;              /* "NVIDIA H200"; NULL: not known yet, nor what follows */
    int major, minor;               /* compute capability */
    size_t free_bytes, total_bytes; /* of its memory */
    bool before;                    /* these bytes are of an earlier time: the device does not answer now */
    bool lost;                      /* it is of no use any more */
};

/* ERR_DEVICE with all of that. */
int gpu_failed(const struct gpu_failure *f, struct err *e);

#endif
