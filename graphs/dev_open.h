/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices behind dev_open(); for graphs/ only. Each sets *out on success.
 */
#ifndef SHOAL_GRAPHS_DEV_OPEN_H
#define SHOAL_GRAPHS_DEV_OPEN_H

#include "graphs/dev.h"

int dev_cpu_open(struct dev **out, uint32_t threads, bool shuffle, struct kernel_table kernels, struct err *e);
int dev_cuda_open(struct dev **out, uint32_t ordinal, struct kernel_table kernels, struct err *e);

#endif
