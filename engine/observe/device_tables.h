/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device holds of an observable: a read-only table that all replicas share, and what one replica has
 * accumulated.
 *
 * Accumulated is a struct observed and behind it, for each of OBSERVE_BLOCKS blocks of equally many frames, so many
 * whole numbers and so many doubles; then the kind's own state, if it has one. When all blocks are full, neighbours are
 * added and the blocks that come have twice the frames: the blocks say how far off the sums are, and their number
 * stays. What threads add at a time, in any order, goes into whole numbers; doubles are added to frame after frame.
 */
#ifndef SHOAL_ENGINE_OBSERVE_DEVICE_TABLES_H
#define SHOAL_ENGINE_OBSERVE_DEVICE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/math/fn.h"
#include "engine/system/observables.h"

enum { OBSERVE_BLOCKS = 16 };

/* Read-only; pointers are device addresses. */
struct observe_table {
    uint64_t every;         /* a frame every so many timesteps */
    uint64_t sampled;       /* 1: without step 0, whose constraint virial is unknown */
    uint64_t counts, reals; /* numbers of each block */
    double least_width;     /* of the box, nm: the first narrower frame ends it */
    double most_edge[3];    /* so does the first with a longer edge */
    const int32_t *atom[OBSERVABLE_GROUPS];
    uint32_t natoms[OBSERVABLE_GROUPS];
    const void *own; /* the kind's */
};

struct observed {
    int64_t frames;
    int64_t per_block; /* frames of a full block; 0: none yet */
    int64_t blocks;    /* begun, the last of them perhaps not full */
    int64_t in_block;  /* frames in the last one */
    int64_t now;       /* 1: the frame at hand is one of its */
    int64_t narrow;    /* 1: a frame's box was too narrow: nothing was added from there on */
    int64_t narrow_step;
    double narrow_width; /* nm */
};

/* Of one block. */
MATH_FN int64_t *observed_counts(const struct observe_table *t, const struct observed *s, int64_t block)
{
    return (int64_t *)(uintptr_t)(s + 1) + (uint64_t)block * t->counts;
}

MATH_FN double *observed_reals(const struct observe_table *t, const struct observed *s, int64_t block)
{
    return (double *)observed_counts(t, s, OBSERVE_BLOCKS) + (uint64_t)block * t->reals;
}

MATH_FN void *observed_state(const struct observe_table *t, const struct observed *s)
{
    return observed_reals(t, s, OBSERVE_BLOCKS);
}

/* Of an msd or a vacf. A particle is an atom, or the center of a molecule's atoms in the group: they follow each other
 * there. */
struct lag_table {
    uint32_t lags, restart, origins, particles; /* in frames; origins: kept at a time */
    const int32_t *first;                       /* [particles + 1], of its atoms */
    const double *weight;                       /* [atoms], of an atom in its particle */
    const double *share;                        /* [particles], of the center; NULL: it stays in */
    uint32_t velocities, pad_;                  /* 1: a vacf */
};

/* The state: of an msd positions of atoms in the last frame, and where they came to without the box, [atoms][3] each;
 * then positions of particles without the box, or their velocities, now, [particles][3], and at each origin,
 * [origins][particles][3]. nm, ps. Of each block: how many origins a lag had, and the sum over them of the mean square
 * displacement, or product of velocities; then the sum of the box's cube root. */

/* Of a coordination, the only one of the table. Of each block: frames by bins of its value, and last those beyond; sums
 * of it and of its square. The state is a struct fixed_sum, zero between frames. */
struct coordination_table {
    struct bias_table of;
    double bin;
    uint32_t bins, pad_;
};

/* Of a dielectric constant. A molecule is its atoms in the group, whole: each where it is nearest to the one before it.
 * Of each block: sums of what enum dielectric_real says. */
struct dielectric_table {
    uint32_t molecules, pad_;
    const int32_t *first;      /* [molecules + 1], of its atoms */
    const double (*charge)[2]; /* [atoms], e: in states A and B */
};
enum dielectric_real {
    DIPOLE_X, /* of all molecules, e nm */
    DIPOLE_Y,
    DIPOLE_Z,
    DIPOLE_SQUARE,
    DIPOLE_MOLECULE, /* the mean of the absolute value of one's, e nm */
    DIPOLE_VOLUME,   /* nm^3 */
    DIPOLE_REALS
};

/* Of a pressure, which has no table of its own: sums of each block, bar. */
enum pressure_real { PRESSURE_XX, PRESSURE_YY, PRESSURE_ZZ, PRESSURE_XY, PRESSURE_XZ, PRESSURE_YZ, PRESSURE_REALS };

/* Of an rdf. */
struct rdf_table {
    double max, bin;            /* nm */
    uint32_t bins, same;        /* same: the groups are one */
    const int32_t *molecule[2]; /* of each atom of the groups */
    uint32_t within,
        overlapping; /* pairs within molecules count; some atom is in both groups, which are not the same */
};

#endif
