/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine: what a model is made of. Users see engine/sim.h.
 */
#ifndef SHOAL_ENGINE_MODEL_H
#define SHOAL_ENGINE_MODEL_H

#include "engine/arena.h"
#include "engine/forces.h"
#include "engine/sim.h"
#include "engine/tables.h"
#include "graphs/check.h"

struct model {
    struct dev *dev;
    const struct system *sys;
    const struct settings *set;
    struct forces *forces;
    double (*x)[3]; /* [natoms], start coordinates with whole molecules */
    int nwindows;
    double (*lambda)[LAMBDA_COUNT];    /* [nwindows] */
    double freedom;                    /* degrees of freedom */
    int nunits;                        /* what a volume move scales */
    struct span shared;                /* device memory of the tables */
    const struct bonded_table *bonded; /* device addresses */
    const struct motion_table *motion;
};

#endif
