/* SPDX-License-Identifier: Apache-2.0
 *
 * What each kind of device (graphs/kinds.def) defines for dev_open() and dev_gpus(); for graphs/ only.
 */
#ifndef SHOAL_GRAPHS_DEV_OPEN_H
#define SHOAL_GRAPHS_DEV_OPEN_H

#include "graphs/dev.h"

enum { DEV_NAME = 96 }; /* bytes of a name, with its end */

/* Opens a device and sets *out if it could. name: as it was given, without options; number: threads, or which GPU, 0
 * where the name has an id. Errors: see dev_open. */
typedef int dev_open_fn(struct dev **out, const char *name, uint32_t number, struct kernel_table kernels,
                        struct err *e);
/* How many GPUs of the kind there are, usable or not; none where there is no driver. ERR_DEVICE: the driver does not
 * tell, or has GPUs and this program no way to them. */
typedef int dev_count_fn(uint32_t *out, struct err *e);
/* Calls `gpu` with the name of each GPU or slice that this process was given by its id and has no number for. How many.
 */
typedef size_t dev_slices_fn(void (*gpu)(void *ctx, const char *name), void *ctx);

#define HOST(kind) dev_open_fn dev_##kind##_open;
#define GPU(kind)                                                                                                      \
    dev_open_fn dev_##kind##_open;                                                                                     \
    dev_count_fn dev_##kind##_count;                                                                                   \
    dev_slices_fn dev_##kind##_slices;
#include "graphs/kinds.def"

#endif
