/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the host. An allocation hardly ever fails on Linux: where there is too little, the kernel ends the worker later, and
 * with it everybody's replicas. So whoever is about to take much asks first, and fails alone. What is not asked for (rows,
 * frames, checkpoints of replicas that run: all in proportion to what was asked for them) ends the worker when it is not there.
 */
#ifndef SHOAL_DAEMON_WORKER_MEMORY_H
#define SHOAL_DAEMON_WORKER_MEMORY_H

#include <stdint.h>

#include "engine/base/err.h"

/* ERR_MEMORY, with the numbers, when this process cannot have `bytes` more, with something to spare, by its own limits
 * (RLIMIT_AS, RLIMIT_DATA), those of its control groups, and what the machine has available. */
int memory_room(uint64_t bytes, const char *what, struct err *e);

#endif
