/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts behind estimate.h: file reading, decorrelation, the three estimators. Free energies and reduced potentials
 * are in kT here; files are in kJ/mol. Zeroed structs are valid to close.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_PARTS_H
#define SHOAL_ENGINE_ESTIMATE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

/* ---- xvg_read.c: a table as Grace and GROMACS write it */

struct xvg {
    char *subtitle;    /* NULL when there is none */
    int subtitle_line; /* for messages */
    int nlegends;
    char **legend; /* of columns 1.. ; column 0 is the time */
    int *legend_line;
    size_t nrows;
    double *v;      /* [nrows][1 + nlegends] */
    bool cut_short; /* the last line was not whole and was left out */
};

/* `name` is only for messages, text[len] is NUL. ERR_IO: "name:line: what was read, what was expected"; rows of a wrong
 * width and times that do not increase are errors, a last line that is short or has no newline is left out. */
int xvg_read(struct xvg *x, const char *name, const char *text, size_t len, struct err *e);
void xvg_close(struct xvg *x);

/* ---- dhdl.c: the meaning of dhdl.xvg's columns */

enum dhdl_component { DHDL_FEP, DHDL_MASS, DHDL_COUL, DHDL_VDW, DHDL_BONDED, DHDL_RESTRAINT, DHDL_COMPONENTS };
extern const char *const dhdl_component_names[DHDL_COMPONENTS]; /* "fep-lambda", ... in GROMACS's order */

struct dhdl {
    double temperature; /* K, as the subtitle says; 0 when it does not */
    int state;          /* index of the sampled state */
    int ncomponents;
    enum dhdl_component component[DHDL_COMPONENTS]; /* in the order of the lambda vectors */
    double lambda[DHDL_COMPONENTS];                 /* of the sampled state */
    int nstates;
    double *states;   /* [nstates][ncomponents] foreign lambda vectors, the own one among them */
    size_t n;         /* rows with finite values */
    size_t nonfinite; /* rows dropped */
    bool cut_short;
    bool derivatives; /* dH/dlambda of every component is there */
    double *time;     /* [n], ps */
    double *dhdl;     /* [n][ncomponents], kJ/mol */
    double *dh;       /* [n][nstates], kJ/mol: U(foreign) - U(own) */
};

/* Reads one window. Errors as xvg_read; expanded-ensemble files (a "Thermodynamic state" column) are ERR_UNSUPPORTED.
 * Total or potential energy and pV stand in every state's reduced potential alike, cancel from all estimators at one
 * temperature and pressure, and are not kept. */
int dhdl_read(struct dhdl *d, const char *name, const char *text, size_t len, struct err *e);
void dhdl_close(struct dhdl *d);

/* ---- statistics.c: correlated series */

double stats_mean(const double *x, size_t n);
/* Sum of squared deviations over n - 1; 0 for n < 2. */
double stats_variance(const double *x, size_t n);
/* g = 1 + 2 tau >= 1 by the integrated autocorrelation function (Chodera et al. 2007, doi 10.1021/ct0502864).
 */
double stats_inefficiency(const double *x, size_t n);
/* Start of the equilibrated part: where (n - start) / g(start) is largest (Chodera 2016, doi 10.1021/acs.jctc.5b00784).
 */
size_t stats_equilibration(const double *x, size_t n);
/* Indices start + round(i g) below n; `index` has room for n. Returns how many. */
size_t stats_subsample(size_t start, size_t n, double g, size_t *index);

/* ---- linear_algebra.c: small dense systems, row-major */

/* Solves a x = b for symmetric positive definite a (its lower triangle is overwritten), x in b. False: not positive
 * definite to working precision. */
bool linalg_cholesky(double *a, double *b, int n);
/* Solves a X = B (nrhs columns, in place) by LU with partial pivoting. False: singular. */
bool linalg_lu(double *a, double *b, int n, int nrhs);

/* ---- sampling: uncorrelated samples of all windows, as every estimator wants them */

struct sampling {
    int nstates, ncomponents;
    const double *lambda; /* [nstates][ncomponents], borrowed */
    size_t *start;        /* [nstates + 1]: samples of state k are start[k] .. start[k+1); none: an unsampled state */
    double *u;            /* [total][nstates], kT: reduced potential in each state less that in the own one */
    double *dhdl;         /* [total][ncomponents], kT; NULL when some window has no derivatives */
};

static inline size_t sampling_count(const struct sampling *s, int k)
{
    return s->start[k + 1] - s->start[k];
}
/* Part [from, to) of every window's samples, as fractions of their number, into *out (u only). */
void sampling_part(struct sampling *out, const struct sampling *s, double from, double to);
void sampling_close(struct sampling *s);

/* G(to) - G(from) and its standard error, kT; ok is false when the estimator has no answer for these ends. */
struct range {
    int from, to;
    bool ok;
    double value, error;
};

/* ---- mbar.c */

struct mbar {
    int n;           /* states */
    double *f;       /* [n], f[0] = 0 */
    double *theta;   /* [n][n]: asymptotic covariance, up to a constant that cancels from differences */
    double *overlap; /* [n][n] */
    int sweeps;      /* passes over the samples that the solution took */
};

/* Shirts and Chodera 2008. `guess`: [nstates] or NULL. ERR_ESTIMATE: no samples, no convergence, states without
 * overlap. */
int mbar_solve(struct mbar *m, const struct sampling *s, const double *guess, struct err *e);
void mbar_range(const struct mbar *m, struct range *r);
void mbar_close(struct mbar *m);

/* ---- bar.c */

/* Bennett's acceptance ratio of two states from forward work wf (kT, U1 - U0 sampled in 0) and reverse work wr (U0 - U1
 * sampled in 1). phi_f, phi_r: the Fermi weights over their means, for errors. ERR_ESTIMATE. */
int bar_pair(const double *wf, size_t nf, const double *wr, size_t nr, double *df, double *phi_f, double *phi_r,
             struct err *e);

/* Pairs of consecutive sampled states; unsampled ones are stepped over. */
struct bar {
    int npairs;
    int *state;         /* [npairs + 1]: the sampled states */
    double *df;         /* [npairs] */
    double *variance;   /* [npairs] */
    double *covariance; /* [npairs]: of pair p with pair p + 1, which share the samples of the state between them */
};

int bar_solve(struct bar *b, const struct sampling *s, struct err *e);
void bar_range(const struct bar *b, struct range *r);
void bar_close(struct bar *b);

/* ---- ti.c */

struct ti {
    int n, ncomponents;
    const double *lambda; /* borrowed from the sampling */
    bool *sampled;        /* [n] */
    double *mean;         /* [n][ncomponents], kT */
    double *covariance;   /* [n][ncomponents][ncomponents], of the means */
};

/* ERR_ESTIMATE: no derivatives, or fewer than two sampled states. */
int ti_solve(struct ti *t, const struct sampling *s, struct err *e);
/* Trapezoid along the path of lambda vectors; unsampled states between the ends are stepped over. */
void ti_range(const struct ti *t, struct range *r);
/* Gauss-Legendre quadrature over the whole of [0, 1] when exactly one component moves, every state has samples and the
 * states are the nodes to 4 decimals (the precision of dhdl.xvg); else false. */
bool ti_gauss(const struct ti *t, double *value, double *error);
void ti_close(struct ti *t);

#endif
