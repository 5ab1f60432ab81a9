/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replicas of one ensemble share in this worker: its spec, its system and the model on the device. Read from
 * DIRECTORY/input when the first replica asks, and counted. The last one that was used is kept when nobody holds it,
 * since a freed slot is mostly refilled from the same ensemble.
 */
#ifndef SHOAL_DAEMON_WORKER_MODELS_H
#define SHOAL_DAEMON_WORKER_MODELS_H

#include "daemon/spec/spec.h"
#include "engine/run/sim.h"

struct shared_model {
    struct spec *spec;
    struct system system;
    struct model *model;
    char *directory;
    int holders;
    struct shared_model *next;
};

/* Zeroed but for dev is valid and empty. */
struct models {
    struct dev *dev;
    struct shared_model *first;
};

/* The model of the ensemble in `directory`, held until models_put. Spec and input files are read from directory/input
 * and nowhere else. Errors are those of reading and of model_new. */
int models_get(struct models *m, const char *directory, struct shared_model **out, struct err *e);
/* Puts in a model made from a spec and a system in memory, under the name `directory`; takes both over, whatever
 * happens. Held until models_put. */
int models_add(struct models *m, const char *directory, struct spec *spec, struct system *sys,
               struct shared_model **out, struct err *e);
void models_put(struct models *m, struct shared_model *s);
/* Frees all; nothing may be held. */
void models_close(struct models *m);

#endif
