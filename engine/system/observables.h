/* SPDX-License-Identifier: Apache-2.0
 *
 * What is to be observed: of which atoms, how often, with which numbers. Made from a spec; what becomes of it is
 * engine/observe's. Units: nm, ps.
 */
#ifndef SHOAL_ENGINE_SYSTEM_OBSERVABLES_H
#define SHOAL_ENGINE_SYSTEM_OBSERVABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/system/biases.h"

enum observable_kind { OBSERVE_RDF, OBSERVE_MSD, OBSERVE_COORDINATION, OBSERVE_KINDS };
enum { OBSERVABLES_MAX = 16, OBSERVABLE_GROUPS = 2 };

/* Sorted atoms, each once, counted from 0. */
struct atom_group {
    char *label; /* as people named it */
    int *atom;
    int n;
};

struct rdf_choice {
    double max, bin; /* max: a whole number of bins */
    bool within;     /* pairs within molecules count */
};

struct msd_choice {
    double max;         /* the longest lag */
    double restart;     /* between origins of time; 0: every frame is one */
    double fit[2];      /* lags that the diffusion constant is from */
    bool molecules;     /* of centers of mass of each molecule's atoms, else of atoms */
    bool center;        /* the motion of the group's center of mass is taken out */
    double viscosity;   /* mPa s, for the correction to an infinite box; 0: none */
    double temperature; /* K */
};

struct coordination_distribution {
    struct coordination of; /* but for its atoms */
    double max, bin;        /* max: a whole number of bins */
};

struct observable {
    enum observable_kind kind;
    char *name;      /* of its file */
    uint64_t every;  /* timesteps between its frames in a run */
    double interval; /* ps between its frames; NAN: unknown, or not always the same */
    int ngroups;
    struct atom_group group[OBSERVABLE_GROUPS];
    struct rdf_choice rdf;
    struct msd_choice msd;
    struct coordination_distribution coordination;
};

/* Frees what it owns; zeroed is fine. */
void observable_close(struct observable *o);

#endif
