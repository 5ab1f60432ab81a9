/* SPDX-License-Identifier: Apache-2.0
 *
 * A trajectory that a thread of its own reads ahead of who takes its frames: a few frames, so that reading and
 * computing take as long as the longer of them.
 */
#ifndef SHOAL_DAEMON_WORKER_OBSERVE_READ_AHEAD_H
#define SHOAL_DAEMON_WORKER_OBSERVE_READ_AHEAD_H

#include "engine/io/trajectory.h"

struct read_ahead;

/* As the functions of engine/io/trajectory.h; what a frame points to stays until the next one is asked for. ERR_MEMORY,
 * too. */
int read_ahead_open(struct read_ahead **out, const char *path, const struct system *sys, struct err *e);
int read_ahead_next(struct read_ahead *r, struct trajectory_frame *f, struct err *e);
double read_ahead_part(const struct read_ahead *r); /* up to the frame that was taken last */
void read_ahead_close(struct read_ahead *r);        /* NULL is fine */

#endif
