/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble takes of devices, before any of its replicas is there.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_SIZES_H
#define SHOAL_DAEMON_WORKER_DEVICE_SIZES_H

#include <jansson.h>

#include "daemon/spec/spec.h"

/* Of devices that are known by name and limits alone: submission_sizes_fn. devices: "cuda=LIMITS;cpu=LIMITS"
 * (device.h), a char *. Devices that cannot run it are left out. */
json_t *sizes_of_kinds(void *devices, const struct spec *spec, const struct system *sys);
/* Of the GPUs of this machine, which are asked for their memory: the API's Fit for each; *not_asked: a text for each
 * that does not answer or cannot run it. Both are the caller's. */
json_t *sizes_here(const struct spec *spec, const struct system *sys, json_t **not_asked);

#endif
