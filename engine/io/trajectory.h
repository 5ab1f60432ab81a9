/* SPDX-License-Identifier: Apache-2.0
 *
 * Trajectories of a system, frame after frame: .xtc, .trr and .gro of several frames, told apart by what is in them.
 */
#ifndef SHOAL_ENGINE_IO_TRAJECTORY_H
#define SHOAL_ENGINE_IO_TRAJECTORY_H

#include "engine/system/system.h"

struct trajectory;

/* What it points to is the trajectory's, until the next one is read. */
struct trajectory_frame {
    uint64_t number; /* from 1 */
    double time;     /* ps; NAN: the file does not say */
    double (*x)[3];  /* [natoms], nm; molecules may be broken across the box */
    double (*v)[3];  /* nm/ps; NULL */
    double box[BOX_SIZE];
};

enum { TRAJECTORY_END = 1 };

/* ERR_MISSING_FILE, ERR_COORDINATES. `sys`: whose frames they are to be, borrowed. */
int trajectory_open(struct trajectory **out, const char *path, const struct system *sys, struct err *e);
/* The next frame that has positions; TRAJECTORY_END. ERR_COORDINATES, ERR_UNSUPPORTED: which frame, at which byte, and
 * what is wrong with it. */
int trajectory_next(struct trajectory *t, struct trajectory_frame *f, struct err *e);
/* Passes over the next frame, of an .xtc without unpacking it; as trajectory_next. */
int trajectory_pass(struct trajectory *t, struct err *e);
/* The frame that trajectory_next refused is the last, and not whole (of .xtc and .trr): it is still being written, or
 * its writer was stopped. */
bool trajectory_is_cut(const struct trajectory *t);
/* How much of the file has been read, 0 to 1. */
double trajectory_read_part(const struct trajectory *t);
void trajectory_close(struct trajectory *t);

#endif
