/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work a device can take, and whose numbers it gives.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H

#include "engine/run/sim.h"

/* "cpu avx2, build 1a2b3c4d": replicas repeat each other's bits where this is the same. The build is the program as it was linked
 * and the version of the C library, whose functions round in their own ways. */
void device_model(const struct dev *d, struct buf *out);
/* How many replicas keep it busy, when nobody says; a GPU to begin with. */
unsigned device_slots(const char *name);
bool device_is_gpu(const char *name);

#endif
