/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters between bulk and a sphere (engine/kernels/waters.h): what a spec asks for, and how it went.
 */
#ifndef SHOAL_ENGINE_SYSTEM_WATER_MOVES_H
#define SHOAL_ENGINE_SYSTEM_WATER_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct water_settings {
    bool on;
    double radius;  /* of the sphere, nm */
    int every;      /* steps from one batch of moves to the next */
    uint32_t tries; /* moves of one water in a batch */
};

/* Of a stage. A batch is kept or undone as a whole. */
struct water_moves {
    uint64_t tried, moved; /* moves of one water; those that the approximate energy accepted */
    uint64_t kept;         /* of these, in batches that were kept */
    uint64_t batches;
    uint64_t changed, undone; /* batches that moved a water; those of them that the whole energy refused */
    uint64_t inside;          /* waters in the sphere after each batch, added up */
};

#endif
