/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replicas of one ensemble share in this worker while they are in one phase of its protocol
 * (daemon/spec/spec.h): its spec, its system and the model on the device. Read from DIRECTORY/input and built by a job
 * when the first replica asks (others that ask meanwhile wait for it), and counted. The last one that was used is kept
 * when nobody holds it, since a freed slot is mostly refilled from the same ensemble.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_MODELS_H
#define SHOAL_DAEMON_WORKER_DEVICE_MODELS_H

#include "daemon/spec/spec.h"
#include "daemon/worker/device/mesh_choice.h"
#include "daemon/worker/threads/jobs.h"
#include "engine/run/sim.h"

enum model_state { MODEL_MAKING, MODEL_READY, MODEL_BROKEN };

struct shared_model {
    enum model_state state;
    struct err why;    /* broken: what is wrong with the input, if that was it */
    struct job *maker; /* making: the job that does */
    struct dev *dev;
    struct spec *spec;
    int phase; /* of the spec; the three below are its own */
    struct settings settings;
    struct system system;
    struct model *model;
    struct mesh_choice mesh; /* of meshes.h */
    char *directory;
    int ladder;     /* revision that made the ensemble's windows what they are here */
    uint64_t stage; /* that it was asked for */
    int holders;
    struct shared_model *next;
};

/* Zeroed but for dev is valid and empty. */
struct models {
    struct dev *dev;
    struct shared_model *first;
};

#define MODELS_ANY UINT64_MAX /* stage: whichever is at hand, else that of the first */

/* The model for a stage of the ensemble in `directory`, whose windows are as revision `ladder` made them. Spec and
 * input files are read from directory/input and nowhere else. *out is set before it yields and held until models_put,
 * whatever comes back. Errors are those of reading and of model_new. */
int CO_FN models_get(struct models *m, struct jobs *jobs, struct job *job, const char *directory, int ladder,
                     uint64_t stage, struct shared_model **out, struct err *e);
/* Whether one that is ready is for a stage. */
bool models_fit(const struct shared_model *s, uint64_t stage);
/* False while somebody else than the owner of `job` makes it: models_get waits for that. */
bool models_ready(const struct shared_model *s, const struct job *job);
/* Puts in a model made from a spec of one phase and a system in memory, under the name `directory`; takes both over,
 * whatever happens. Held until models_put. */
int models_add(struct models *m, const char *directory, struct spec *spec, struct system *sys,
               struct shared_model **out, struct err *e);
void models_put(struct models *m, struct shared_model *s);
/* Somebody else holds it, too, until a models_put of their own. */
static inline void models_hold(struct shared_model *s)
{
    s->holders++;
}
/* Frees all; nothing may be held. */
void models_close(struct models *m);

#endif
