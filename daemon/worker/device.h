/* SPDX-License-Identifier: Apache-2.0
 *
 * The device a command works on, with the engine's kernels.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_H

#include "graphs/dev.h"

/* ERR_UNSUPPORTED: the device is there, but not every kernel has a version for it. */
int device_open(struct dev **out, const char *name, struct err *e);
/* How many replicas keep it busy, when nobody says. */
unsigned device_slots(const char *name);

#endif
