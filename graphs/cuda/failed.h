/* SPDX-License-Identifier: Apache-2.0
 *
 * For libraries that work on a CUDA device: which device their calls are for, and their errors.
 */
#ifndef SHOAL_GRAPHS_CUDA_FAILED_H
#define SHOAL_GRAPHS_CUDA_FAILED_H

#include "graphs/dev.h"

/* Before a library's call outside of any operation of the device: CUDA's calls of this thread are for it from now on.
 * ERR_DEVICE: it is lost. */
int cuda_make_current(struct dev *d, struct err *e);
/* A library's call failed: e is its code (ERR_MEMORY: of memory) and "call: what it said (in words)". Adds what the
 * device's own failures say; ERR_DEVICE, and the device is lost, where an error of the device's is behind it. Returns
 * -e->code. */
int cuda_library_failed(struct dev *d, struct err *e);

#endif
