/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the host. An allocation hardly ever fails on Linux: where there is too little, the kernel ends the worker
 * later, and with it everybody's replicas. So a caller that is about to take much asks first, and fails alone: what
 * begins (an ensemble, a replica) leaves much to spare for those that run; a frame or a checkpoint of those needs less
 * beside it. Rows have their room from the start. Small things are not asked for; the spare is theirs.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_MEMORY_H
#define SHOAL_DAEMON_WORKER_DEVICE_MEMORY_H

#include <stdint.h>

#include "engine/base/err.h"

/* What reading and a model take for each byte of input. Measured: 20 with 100,000 molecule types of one atom each, 18
 * with 27,000 waters. */
#define BYTES_OF_TEXT 24

/* ERR_MEMORY, with the numbers, when this process cannot have `bytes` more, with something to spare, by its own limits
 * (RLIMIT_AS, RLIMIT_DATA), those of its control groups, and what the machine has available. It reads files. */
int memory_to_begin(uint64_t bytes, const char *what, struct err *e);
int memory_to_go_on(uint64_t bytes, const char *what, struct err *e);
/* Bytes that this process could have more, by all of these. */
uint64_t memory_left(void);

#endif
