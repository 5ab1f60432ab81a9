/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl.xvg: lines of it, appended to buffers (dhdl_write.c), and what its columns mean (dhdl_read.c). Units: ps,
 * kJ/mol.
 */
#ifndef SHOAL_ENGINE_SERIES_DHDL_H
#define SHOAL_ENGINE_SERIES_DHDL_H

#include <stdbool.h>

#include "engine/series/legends.h"
#include "engine/series/xvg.h"
#include "engine/system/sample.h"
#include "engine/system/settings.h"

/* dhdl.xvg as GROMACS writes it: components in GROMACS's order, differences to every window, pV when the stage has
 * pressure coupling. */
void dhdl_header(struct buf *out, const struct settings *set, int window, bool pv);
void dhdl_row(struct buf *out, const struct settings *set, bool pv, const struct sample *s);

struct dhdl {
    double temperature; /* K, as the subtitle says; 0 when it does not */
    int state;          /* index of the sampled state; -1: it changes along the file */
    int ncomponents;
    enum lambda component[LAMBDA_FILE_COUNT]; /* in the order of the lambda vectors */
    double lambda[LAMBDA_FILE_COUNT];         /* of the sampled state, where that is one */
    int nstates;
    double *states;   /* [nstates][ncomponents] foreign lambda vectors, the own one among them */
    size_t seen;      /* rows in the file */
    size_t stride;    /* every how many of them were taken */
    size_t n;         /* rows of which all energies are known */
    size_t nonfinite; /* rows dropped: energies that are no numbers, or -infinity, or infinite in the own state */
    size_t slopeless; /* rows of n with a dH/dlambda that is not finite */
    bool cut_short;
    bool derivatives; /* dH/dlambda of every component is there, and finite in all rows */
    char *stretched;  /* a constraint whose length differs between windows; NULL */
    int *at;          /* [n] the state of each row where it changes along the file; else NULL */
    size_t *dropped;  /* [nstates] with `at`: rows of each state in nonfinite */
    double *time;     /* [n], ps */
    double *dhdl;     /* [n][ncomponents], kJ/mol; of mass: 0 */
    double *dh;       /* [n][nstates], kJ/mol: U(foreign) - U(own); INFINITY where the other state cannot be so */
};

/* Reads one window, or a run in which the state changes (expanded ensembles, AWH along lambda: a "Thermodynamic state"
 * column). Errors as xvg_read; ERR_UNSUPPORTED: slow growth, or a state that changes without dH/dlambda. Total or
 * potential energy and pV are the same in every state's reduced potential, cancel from all estimators at one
 * temperature and pressure, and are not kept. */
int dhdl_read(struct dhdl *d, const char *name, const char *text, size_t len, struct err *e);
/* As xvg_read_file. */
int dhdl_read_file(struct dhdl *d, const char *name, const char *path, uint64_t bytes, size_t most, struct err *e);
void dhdl_close(struct dhdl *d);

#endif
