/* SPDX-License-Identifier: Apache-2.0
 *
 * Which torsions of what the alchemy changes were seen to turn, in the trajectories of an ensemble.
 */
#ifndef SHOAL_DAEMON_WORKER_TORSIONS_H
#define SHOAL_DAEMON_WORKER_TORSIONS_H

#include "engine/estimate/json_writer.h"
#include "engine/system/torsions.h"

struct watched {
    const struct system *sys; /* borrowed */
    int n;
    struct torsion torsions[TORSIONS_MAX];
    int64_t turns[TORSIONS_MAX]; /* of all trajectories */
    int still[TORSIONS_MAX];     /* trajectories without one */
    int64_t frames;
    int trajectories; /* of two frames or more */
};

/* Torsions to watch, without any frame. */
struct watched watched_of(const struct system *sys, const struct alchemy_settings *set);
/* The frames in the first `bytes` of a trajectory; a file that is not there, or that cannot be read, has none. */
void watched_add(struct watched *t, const char *path, uint64_t bytes);
/* Members of an open object, as results.json has them. */
void watched_json(const struct watched *t, struct writer *w);

#endif
