/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of a frame of observables take, one by one.
 */
#ifndef SHOAL_DAEMON_WORKER_OBSERVE_STAGE_TIMES_H
#define SHOAL_DAEMON_WORKER_OBSERVE_STAGE_TIMES_H

#include "engine/base/json/json_writer.h"
#include "engine/run/sim.h"

/* Adds an array "stages" to an open JSON object; the state is of no use afterwards. */
int stage_times(struct sim *s, struct writer *w, struct err *e);

#endif
