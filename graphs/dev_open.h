/* SPDX-License-Identifier: Apache-2.0
 *
 * What each kind of device (graphs/kinds.def) defines for dev_open() and dev_gpus(); for graphs/ only.
 */
#ifndef SHOAL_GRAPHS_DEV_OPEN_H
#define SHOAL_GRAPHS_DEV_OPEN_H

#include "graphs/dev.h"

/* Opens a device and sets *out if it could. number: threads, or which GPU. Errors: see dev_open. */
typedef int dev_open_fn(struct dev **out, uint32_t number, struct kernel_table kernels, struct err *e);
/* How many GPUs of the kind there are, usable or not; none where there is no driver. ERR_DEVICE: the driver does not
 * tell, or has GPUs and this program no way to them. */
typedef int dev_count_fn(uint32_t *out, struct err *e);

#define HOST(kind) dev_open_fn dev_##kind##_open;
#define GPU(kind)                                                                                                      \
    dev_open_fn dev_##kind##_open;                                                                                     \
    dev_count_fn dev_##kind##_count;
#include "graphs/kinds.def"

#endif
