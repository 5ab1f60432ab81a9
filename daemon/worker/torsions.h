/* SPDX-License-Identifier: Apache-2.0
 *
 * Which torsions of what the alchemy changes were seen to turn, in the trajectories of an ensemble.
 */
#ifndef SHOAL_DAEMON_WORKER_TORSIONS_H
#define SHOAL_DAEMON_WORKER_TORSIONS_H

#include "engine/estimate/json_writer.h"
#include "engine/system/torsions.h"

/* A trajectory in which a torsion never turned, and where it stayed. */
struct stay {
    int repeat, window;
    double angle; /* mean, radians */
    bool grouped;
};

struct watched {
    const struct system *sys; /* borrowed */
    int n;
    struct torsion torsions[TORSIONS_MAX];
    bool twofold[TORSIONS_MAX];
    int64_t turns[TORSIONS_MAX];      /* of all trajectories */
    struct stay *stays[TORSIONS_MAX]; /* owned; trajectories without a turn */
    int nstays[TORSIONS_MAX];
    int64_t frames;
    double interval;  /* ps, the longest from one frame to the next; 0: not known */
    int trajectories; /* of two frames or more */
};

/* Torsions to watch, without any frame. */
struct watched watched_of(const struct system *sys, const struct alchemy_settings *set);
void watched_close(struct watched *t);
/* The frames in the first `bytes` of the trajectory of a window; a file that is not there, or that cannot be read, has none. */
void watched_add(struct watched *t, const char *path, uint64_t bytes, int repeat, int window);
/* Members of an open object, as results.json has them. */
void watched_json(struct watched *t, struct writer *w);

#endif
