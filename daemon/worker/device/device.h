/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work a device can take, and whose numbers it gives.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H

#include "daemon/host/room.h"
#include "engine/run/sim.h"

/* "cpu avx2, build 1a2b3c4d": replicas repeat each other's bits where this is the same. The build is the program as it was linked
 * and the version of the C library, whose functions round in their own ways. */
void device_model(const struct dev *d, struct buf *out);
/* How many replicas keep it busy, when nobody says; a GPU to begin with. */
unsigned device_slots(const char *name);
bool device_is_gpu(const char *name);

/* What of a device decides how much a replica takes there, as text, and back. False: it is none. */
enum { DEVICE_LIMITS = 80 };
void device_limits_write(const struct dev_limits *l, char out[DEVICE_LIMITS]);
bool device_limits_read(const char *text, struct dev_limits *out);

/* The frame with which a worker begins (daemon/frames.h). */
json_t *device_hello(struct dev *d, const char *name, unsigned slots);

/* Memory of the device of that name, and what of it replicas could have now. */
struct room device_room(struct dev *d, const char *name);

#endif
