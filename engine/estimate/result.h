/* SPDX-License-Identifier: Apache-2.0
 *
 * What estimate.c finds and results_json.c writes.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_RESULT_H
#define SHOAL_ENGINE_ESTIMATE_RESULT_H

#include "engine/estimate/estimate.h"
#include "engine/estimate/parts.h"

#define ESTIMATE_FRACTIONS 10
#define ESTIMATE_OVERLAP 0.03 /* neighbours below are warned about: alchemlyb, docs/visualisation.rst */

struct average {
    char *name;
    double value, error; /* units as the file's */
};

struct window_result {
    enum estimate_kind status;
    const struct estimate_replica *replica;
    char reason[1000];
    bool read; /* dhdl.xvg was: the counts below hold */
    size_t rows, nonfinite, equilibration, used;
    double equilibrated; /* ps, time of the first sample used */
    double equilibration_ps, inefficiency;
    int ndhdl, naverages;
    struct average *dhdl, *averages;
};

/* The path, in the components that the spec names. */
struct ladder {
    int nstates, ncomponents;
    const char *name[LAMBDA_COUNT];         /* as in a spec */
    enum dhdl_component file[LAMBDA_COUNT]; /* as in dhdl.xvg */
    double *lambda;                         /* [nstates][ncomponents] */
};

enum estimator { ESTIMATOR_MBAR, ESTIMATOR_BAR, ESTIMATOR_TI, ESTIMATOR_TI_GAUSS, ESTIMATORS };

struct estimator_result {
    bool ok;
    char reason[1000];
    struct range total;
    int nlegs, nsteps, ncumulative;
    struct range *legs, *steps, *cumulative;
};

struct convergence {
    struct range forward, backward;
};

/* Windows with samples that follow each other, and the smaller of their two entries in the overlap matrix. */
struct neighbours {
    int from, to;
    double overlap;
};

struct result {
    const struct settings *set;
    const struct estimate_about *about;
    double beta; /* mol/kJ */
    struct ladder ladder;
    struct window_result *windows; /* [ladder.nstates] */
    int nlegs;
    struct range *legs; /* from and to only */
    int nestimators;    /* 0, 3, or 4 with Gauss */
    struct estimator_result estimators[ESTIMATORS];
    double *overlap; /* [nstates][nstates], NULL when MBAR failed */
    int nneighbours;
    struct neighbours *neighbours;
    struct convergence convergence[ESTIMATE_FRACTIONS]; /* part (i + 1)/10; only when MBAR is ok */
    char **warnings;
    int nwarnings;
};

/* A warning for results.json. */
void result_warn(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Name of a leg: the components that change from window `from` to the next, joined by '+'. */
void ladder_leg_name(const struct ladder *l, int from, struct buf *out);
/* results.json. */
void estimate_report(const struct result *r, struct buf *json);

/* decorrelate.c: reads one window, cuts and decorrelates it, appends its samples to `s` (lengths grow;
 * s->start[index] and s->start[index + 1] are set). What goes wrong is in the window's status and reason, and then it
 * adds no samples. */
void estimate_read_window(struct result *r, const char *directory, int index, struct sampling *s);

#endif
