/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices there are, as the worker program tells: one name a line, and on standard error why it leaves a GPU out.
 * The service itself never touches CUDA.
 */
#ifndef SHOAL_DAEMON_HOST_DEVICES_H
#define SHOAL_DAEMON_HOST_DEVICES_H

#include <jansson.h>

#define DEVICES_MAX 64
#define DEVICES_NAME 96 /* bytes of a name, with its end */

/* Fills in the names of devices [DEVICES_MAX], of which there are *n, where none is named: those that the worker names,
 * the CPU where it names none. Names live as long as the program. Returns what was said of those left out, an array of
 * texts that is the caller's; it is logged too. */
json_t *devices_choose(const char *worker, const char **devices, int *n);

#endif
