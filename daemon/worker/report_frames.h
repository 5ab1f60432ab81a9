/* SPDX-License-Identifier: Apache-2.0
 *
 * What a replica reports, as a frame for shoald (daemon/processes/frames.h).
 */
#ifndef SHOAL_DAEMON_WORKER_REPORT_FRAMES_H
#define SHOAL_DAEMON_WORKER_REPORT_FRAMES_H

#include <jansson.h>

#include "daemon/worker/replica/replica.h"

/* Appends it to `out`. For progress and checkpoints, which are told all the time, no other memory is taken. replica:
 * its number in messages. */
void report_frame_put(struct buf *out, json_int_t replica, const struct replica_report *what);

#endif
