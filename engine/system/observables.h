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

enum observable_kind {
#define OBSERVABLE(KIND, word, launch) OBSERVE_##KIND,
#include "engine/system/observables.def"
    OBSERVE_KINDS
};
/* Of each kind: the key in a spec, and the kind in results. */
extern const char *const observable_words[OBSERVE_KINDS];
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

/* Lags of time, of an msd and a vacf. */
struct lag_choice {
    double max;     /* the longest one */
    double restart; /* between origins of time; 0: every frame is one; negative: so long at most, in whole frames */
    bool molecules; /* of centers of mass of each molecule's atoms, else of atoms */
    bool center;    /* the motion of the group's center of mass is taken out */
};

struct msd_choice {
    double fit[2];      /* lags that the diffusion constant is from */
    double viscosity;   /* mPa s, for the correction to an infinite box; 0: none */
    double temperature; /* K */
};

struct coordination_distribution {
    struct coordination of; /* but for its atoms */
    double max, bin;        /* max: a whole number of bins */
};

enum { SAXS_FILL_MAX = 16 };

/* What scatters without the sample: a profile that was written before, and how much of it there is. */
struct saxs_background {
    char *name;            /* of its file */
    int n;                 /* rows; 0: none */
    double *q, *i, *error; /* [n] rising; 1/nm, electrons^2 */
    double volume, scale;  /* nm^3; parts of the sample's volume */
};
#define SAXS_VOLUME_KEY "mean volume" /* of its line in such a file */

/* X-ray scattering; engine/observe/saxs_frame.h has the formulas. */
struct saxs_choice {
    double spacing;    /* nm between points of the grid, at most; where `grid` has none */
    int grid[3];       /* points along the edges; 0: by spacing */
    int supersampling; /* so many times as many along each edge */
    int order;         /* of the splines */
    bool euler;        /* divide by the Euler spline, not by the spline's transform */
    double max, bin;   /* of |q|, 1/nm; max: a whole number of bins */
    double padding;    /* the cell's edges over the box's, 1 or more */
    enum saxs_outside { SAXS_NOTHING, SAXS_AVERAGE, SAXS_SOLVENT } outside; /* what is in the cell outside of the box */
    int nfill;
    struct saxs_fill {
        char symbol[4];
        double density;    /* 1/nm^3 */
    } fill[SAXS_FILL_MAX]; /* of SAXS_SOLVENT */
    struct saxs_background background;
};

struct dielectric_choice {
    double temperature; /* K */
};

struct observable {
    enum observable_kind kind;
    char *name;      /* of its file */
    uint64_t every;  /* timesteps between its frames in a run */
    double interval; /* ps between its frames; NAN: unknown, or not always the same */
    int ngroups;
    struct atom_group group[OBSERVABLE_GROUPS];
    struct rdf_choice rdf;
    struct lag_choice lags;
    struct msd_choice msd;
    struct coordination_distribution coordination;
    struct saxs_choice saxs;
    struct dielectric_choice dielectric;
};

/* Frees what it owns; zeroed is fine. */
void observable_close(struct observable *o);

#endif
