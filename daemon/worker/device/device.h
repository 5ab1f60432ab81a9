/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work a device can take, and whose numbers it gives.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_DEVICE_H

#include "daemon/host/room.h"
#include "engine/run/sim.h"

/* How many replicas keep it busy, when nobody says; a GPU to begin with. */
unsigned device_slots(const char *name);

/* What of a device decides how much a replica takes there, from the text of device_hello. False: it is none. */
bool device_limits_read(const char *text, struct dev_limits *out);

/* The frame with which a worker begins (daemon/processes/frames.h). d: one of its devices; room and energy: of all. */
json_t *device_hello(const struct dev *d, const char *name, unsigned slots, const struct room *room, uint64_t energy);

/* Energy that the device has taken, in millijoules since its driver was loaded; 0: it does not tell. */
uint64_t device_energy(struct dev *d);

/* Memory of the device of that name, and what of it replicas could have now. */
struct room device_room(struct dev *d, const char *name);

#endif
