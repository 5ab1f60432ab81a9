/* SPDX-License-Identifier: Apache-2.0
 *
 * A device in the hands of a thread that does not own it: each call is carried out by the owner's thread while the
 * guest's waits. So tables are made beside the thread that feeds the device, and copied there: the guest fills mapped
 * memory piece by piece, the owner submits and goes on, the guest waits.
 */
#ifndef SHOAL_GRAPHS_REMOTE_DEV_H
#define SHOAL_GRAPHS_REMOTE_DEV_H

#include "graphs/dev.h"

/* How a thread that does not own a device has the owner call fn(arg, e), and waits for what that returned. */
struct dev_owner {
    int (*call)(void *ctx, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
    void *ctx;
};

/* Memory, lanes, copies from the host and the device's limits, no work: the other entries of its table are NULL. */
struct guest {
    struct dev base;
    struct dev *dev;
    const struct dev_owner *owner; /* NULL: calls go straight to the device, from its own thread */
};

void guest_init(struct guest *g, struct dev *dev, const struct dev_owner *owner);

#endif
