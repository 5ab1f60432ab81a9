/* SPDX-License-Identifier: Apache-2.0
 *
 * Which torsions of what the alchemy changes were seen to turn, in the trajectories of an ensemble.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_TORSIONS_H
#define SHOAL_DAEMON_WORKER_CHILDREN_TORSIONS_H

#include "engine/base/json/json_writer.h"
#include "engine/io/trajectory.h"
#include "engine/derive/torsions.h"

/* A trajectory in which a torsion never turned, and where it stayed. */
struct stay {
    int repeat, window;
    double angle; /* mean, radians */
    bool grouped;
};

struct watched {
    const struct system *sys; /* borrowed */
    int n;
    struct bond_torsion torsions[TORSIONS_MAX];
    bool twofold[TORSIONS_MAX];
    int64_t turns[TORSIONS_MAX];      /* of all trajectories */
    struct stay *stays[TORSIONS_MAX]; /* owned; trajectories without a turn */
    int nstays[TORSIONS_MAX];
    int64_t frames;
    double interval;  /* ps, the longest from one frame to the next; 0: not known */
    int trajectories; /* of two frames or more */
    /* of the window whose frames come */
    struct torsion_turns of_window[TORSIONS_MAX];
    int64_t now;   /* frames */
    double before; /* ps, the time of the last one */
};

/* Torsions to watch, without any frame. */
struct watched watched_of(const struct system *sys, const struct alchemy_settings *set);
void watched_close(struct watched *t);
/* The frames that follow are of one window, and those were all of it. */
void watched_begin(struct watched *t);
void watched_frame(struct watched *t, const struct trajectory_frame *f);
void watched_end(struct watched *t, int repeat, int window);
/* Members of an open object, as results.json has them. */
void watched_json(struct watched *t, struct writer *w);

#endif
