/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows at equal thermodynamic length along the path of a pilot. A leg is a run of steps along which the same lambda
 * components change; where legs meet there is always a window, so that the path is the pilot's.
 */
#ifndef SHOAL_ENGINE_BASE_LADDER_SPACING_H
#define SHOAL_ENGINE_BASE_LADDER_SPACING_H

#include "engine/base/err.h"

#define SPACING_MOST 1000    /* windows of a ladder */
#define SPACING_AIM_MOST 0.2 /* overlap that can be aimed at; more than 0.24 no long ladder has */

/* A step between two windows of the pilot that were sampled: standard deviations at both ends of the energy change
 * along it, kT. In between they go on as a straight line. */
struct spacing_step {
    int from, to;
    double deviation[2];
};

struct spacing_pilot {
    int nstates, ncomponents, nsteps;
    const double *lambda;             /* [nstates][ncomponents] */
    const struct spacing_step *steps; /* [nsteps], each from where the one before went to */
};

struct spacing_leg {
    int from, to; /* windows of the pilot */
    double length;
    int intervals; /* between the windows proposed in it */
};

struct spacing {
    int nwindows, nlegs;
    double *lambda; /* [nwindows][ncomponents], to 4 decimals as in dhdl.xvg */
    double *at;     /* [nwindows] thermodynamic length from the first */
    double overlap; /* the least that neighbours are expected to have */
    struct spacing_leg *legs;
};

/* A ladder of `nwindows`. ERR_UNSUPPORTED: fewer than the legs need, or so many that some are equal to 4 decimals. */
int spacing_make(struct spacing *s, const struct spacing_pilot *p, int nwindows, struct err *e);
void spacing_close(struct spacing *s);
/* The fewest windows whose neighbours are expected to overlap by `aim` or more; 0: there is no such number. */
int spacing_fewest(const struct spacing_pilot *p, double aim);
/* Least overlap of neighbours among n windows with as many samples each, at distances at[n] from the first: the entry
 * of the overlap matrix of MBAR if energy differences are normally distributed, as those of harmonic oscillators that
 * are displaced. */
double spacing_overlap(const double *at, int n);

#endif
