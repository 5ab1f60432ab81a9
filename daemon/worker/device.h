/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work a device can take.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_H

#include "engine/run/sim.h"

/* How many replicas keep it busy, when nobody says. */
unsigned device_slots(const char *name);

#endif
