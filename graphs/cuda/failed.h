/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of libraries that work on a CUDA device.
 */
#ifndef SHOAL_GRAPHS_CUDA_FAILED_H
#define SHOAL_GRAPHS_CUDA_FAILED_H

#include "graphs/dev.h"

/* A library's call failed: e is its code (ERR_MEMORY: of memory) and "call: what it said (in words)". Adds what the
 * device's own failures say; ERR_DEVICE, and the device is lost, where an error of the device's is behind it. Returns
 * -e->code. */
int cuda_library_failed(struct dev *d, struct err *e);

#endif
