/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices there are, as the worker program tells: one name a line, and on standard error why it leaves a GPU out. The service
 * itself never touches CUDA.
 */
#ifndef SHOAL_DAEMON_HOST_DEVICES_H
#define SHOAL_DAEMON_HOST_DEVICES_H

#include <jansson.h>

#include "daemon/options.h"

/* Fills in the devices of options that name none; the CPU where the worker names none. Returns what was said of those left out, an
 * array of texts that is the caller's; it is logged too. */
json_t *devices_choose(const char *worker, struct options *o);

#endif
