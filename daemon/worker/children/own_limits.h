/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits that a child of the service puts on itself before it reads anything of a user's.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_OWN_LIMITS_H
#define SHOAL_DAEMON_WORKER_CHILDREN_OWN_LIMITS_H

#include "engine/base/err.h"

/* Processor time in s (then SIGXCPU) and memory in MiB (then out of memory), as texts of options; no core file; lower
 * priority than the service; SIGKILL when the service's thread that started it ends. ERR_USAGE. */
int own_limits(const char *seconds, const char *mib, struct err *e);

#endif
