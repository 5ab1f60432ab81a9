/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine: what a model is made of. Users see engine/run/sim.h.
 */
#ifndef SHOAL_ENGINE_RUN_MODEL_H
#define SHOAL_ENGINE_RUN_MODEL_H

#include "engine/math/bodies/center.h"
#include "engine/observe/device_tables.h"
#include "engine/run/program.h"
#include "engine/run/readonly.h"
#include "engine/prepare/device_tables.h"
#include "engine/prepare/lambda_rows.h"
#include "engine/prepare/waters/water_table.h"
#include "graphs/remote_dev.h"

struct model {
    struct dev *dev;
    struct guest guest; /* of dev, for the thread that makes the tables */
    const struct program *program;
    const struct system *sys;
    const struct settings *set;
    struct nonbonded *nonbonded;
    enum pme_form pme; /* how replicas are to do the mesh */
    int nstarts;
    double (**x)[3]; /* [nstarts][natoms], start coordinates with whole molecules: of each window, or one for all */
    struct lambda_rows windows;
    struct lambda_rows schedule;       /* of switches; without rows: settings have none */
    struct center_rule center;         /* whether the motion of the center of mass is taken out */
    double mass;                       /* u, in state A */
    char *stretched;                   /* see model_stretched; NULL */
    int nunits;                        /* what a volume move scales */
    uint32_t nbonded, nrare;           /* bonded terms but the next; those in the lists of kernels/rare_terms.h */
    uint32_t ncenters;                 /* restraints between centers */
    uint32_t nwaters, nbodies;         /* bodies: waters, clusters and lone atoms */
    struct readonly shared;            /* the tables below */
    const struct bonded_table *bonded; /* device addresses */
    const struct site_table *sites;    /* NULL: no virtual sites */
    const struct bias_table *biases;   /* NULL: no coordinations */
    size_t bias_bytes;                 /* of a replica's struct bias_sums */
    const struct water_table *waters;  /* NULL: none are exchanged */
    const struct motion_table *motion;
    const struct observe_table *observed[OBSERVABLES_MAX]; /* of the system's observables */
    void *observe_plan[OBSERVABLES_MAX];                   /* see struct observe_kind */
    size_t observed_at[OBSERVABLES_MAX + 1]; /* where a replica's sums of each begin; where the last end */
    struct err damage; /* code ERR_NONE, or what is wrong with the tables, for all that use them */
};

/* Timesteps go by gangs (gang.h). */
static inline bool model_in_gangs(const struct model *m)
{
    return m->program->in_gangs && m->program->in_gangs(m->nonbonded);
}

/* Bytes of what a replica's observables accumulate. */
static inline size_t model_observed_bytes(const struct model *m)
{
    return m->observed_at[m->sys->nobservables];
}

/* Launches that make digests of all its tables, and the words that those are. */
void model_emit_digests(const struct model *m, uint64_t *digests, struct tape *t);
size_t model_chunks(const struct model *m);
/* Of what they made: 0, or ERR_DRIFT says what has changed of the tables; what is found once is found ever after. */
int model_check(struct model *m, const uint64_t *digests, struct lane *lane, struct err *e);

#endif
