/* SPDX-License-Identifier: Apache-2.0
 *
 * How far backbone and ligand of an ensemble are from the start structure, window by window over production, and what
 * there is to warn of.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_FOLD_H
#define SHOAL_DAEMON_WORKER_CHILDREN_FOLD_H

#include "daemon/spec/sections/fold.h"
#include "engine/base/json/json_writer.h"
#include "engine/io/trajectory.h"

enum { FOLD_POINTS = 50 /* of a window over time, in results */ };

/* Of one trajectory: each frame of production. */
struct fold_series {
    int repeat, window, n;
    double *time, (*rmsd)[FOLD_GROUPS]; /* [n] ps, nm; owned */
};

struct folds {
    const struct spec *spec; /* borrowed */
    struct fold_atoms atoms;
    struct fold *fold; /* NULL: there is no protein */
    struct fold_series *series;
    int nseries;
};

/* Which atoms of the spec's system to follow, without any frame. Groups that cannot be found are none. */
void folds_open(struct folds *f, const struct spec *spec, struct source *src, const struct system *sys);
void folds_close(struct folds *f);
/* The frames that follow are of this window. */
void folds_begin(struct folds *f, int repeat, int window);
void folds_frame(struct folds *f, const struct trajectory_frame *frame);
/* Members of an open object, as results.json has them. */
void folds_json(const struct folds *f, struct writer *w);
/* What to warn of, a sentence; empty: nothing. */
void folds_warn(const struct folds *f, struct buf *out);

#endif
