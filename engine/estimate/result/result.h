/* SPDX-License-Identifier: Apache-2.0
 *
 * What is found from the samples and output/results_json.c writes.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_RESULT_RESULT_H
#define SHOAL_ENGINE_ESTIMATE_RESULT_RESULT_H

#include "engine/base/statistics/repeats.h"
#include "engine/estimate/estimate.h"
#include "engine/estimate/estimators/forecast.h"
#include "engine/estimate/estimators/solution.h"
#include "engine/series/dhdl.h"

#define ESTIMATE_FRACTIONS 10
#define ESTIMATE_OVERLAP 0.03     /* neighbours below do not converge: alchemlyb, docs/visualisation.rst */
#define ESTIMATE_APART 1e-3       /* neighbours below share nothing: no number */
#define ESTIMATE_UNCORRELATED 30  /* uncorrelated rows that a window needs: below, g itself is not known */
#define ESTIMATE_FREEDOM 25       /* degrees of freedom of an error: it is known to 14 % */
#define ESTIMATE_SLOW 2.2         /* standard errors, `slow` of a range: 1 % are above where nothing is slow */
#define ESTIMATE_DRIFT 2.7        /* standard errors, `drift` of a range: 2 % are above where nothing drifts */
#define ESTIMATE_VISIT 3e-3       /* chance that a part of a run lies so far off the others, in any window of a range */
#define ESTIMATE_DISAGREE 3       /* standard errors */
#define ESTIMATE_SIGNIFICANT 4    /* standard errors, where many windows are looked at */
#define ESTIMATE_ROUNDING 1e-4    /* kT: numbers nearer than this are one, whatever their errors */
#define ESTIMATE_QUADRATURE 0.5   /* kT: what TI's integral may be off where that is most of its error */
#define ESTIMATE_NONFINITE 0.01   /* share of a window's rows; without them a free energy may be off by as many kT */
#define ESTIMATE_DRIFT_LEVEL 0.01 /* chance that a drift is found in a stationary window */
#define ESTIMATE_CROSSINGS 10     /* from end to end that a run in which the state changes needs */
#define ESTIMATE_FEWEST_ROWS 4    /* a window with fewer has no samples */
#define ESTIMATE_NUMBERS                                                                                               \
    (16 << 20) /* energies kept of all windows together, 8 bytes each; denser files are thinned                        \
                */

struct average {
    char *name;
    const char *unit;
    double value, error;
};

/* Rows that are frames of a trajectory (rows/changed_ladder.c). Zeroed: there are none. */
struct frame_rows {
    bool given;
    size_t rows, of;    /* so many, of so many rows that the window had made then */
    size_t thinned;     /* rows after them that were left out */
    size_t compared;    /* energies at neighbours known exactly too */
    double sum, square; /* of the differences, kJ/mol */
};

struct window_result {
    enum estimate_kind status;
    char reason[1000];
    bool seeded;
    uint64_t seed;
    bool read; /* dhdl.xvg was: the counts below hold */
    size_t rows, stride, nonfinite, discarded, used;
    struct frame_rows frames;
    size_t drift;                      /* rows at the start that lie off the rest */
    bool drifted;                      /* they matter to the free energy, which leaves them out */
    size_t left_out;                   /* rows at the start that matter to averages, which leave them out */
    double used_from;                  /* ps, time of the first row after those */
    double *times;                     /* [used] ps, of the rows used, until energy.xvg has been read */
    double discarded_ps, sampled_ps;   /* of what is in the file */
    double inefficiency, uncorrelated; /* g in rows used, and used / g */
    double visit;                      /* as stats_visit, of rows used */
    double foreign;                    /* by how many errors the samples are not those of the state */
    struct volume_moves moves;         /* as in struct estimate_replica */
    struct water_moves waters;         /* the same */
    struct longrun part; /* of the variance of the estimate, kT^2, what the rows used bring; dof 0: not known */
    int ndhdl, naverages, nfluctuations;
    struct average *dhdl, *averages, *fluctuations;
    size_t nvisits;
    int *visits;         /* [nvisits] the replica that was here before the first exchange, before the second, ... */
    double *visit_times; /* [nvisits] ps, of the first row of each */
};

/* What production keeps at a mean, so that what goes with it fluctuates. */
struct bath {
    bool thermostat;
    double pressure; /* bar; NAN: none, the volume stays */
};

/* The path. */
struct ladder {
    int nstates, ncomponents;
    enum lambda component[LAMBDA_FILE_COUNT]; /* in the order of dhdl.xvg */
    double *lambda;                           /* [nstates][ncomponents] */
    double temperature, beta;                 /* K, mol/kJ */
    const char *molecule;                     /* that alone is decoupled, its inner pairs kept; NULL */
    bool b_states;                            /* lambda leads from state A of the topology to its state B */
    bool allow_no_change;                     /* as in struct alchemy_settings */
    int nlegs;                                /* 0: nothing changes */
    struct range *legs;                       /* from and to only */
};

/* The components that the spec names. */
void ladder_of_settings(struct ladder *l, const struct settings *set);
void ladder_of_file(struct ladder *l, const struct dhdl *d);
/* Name of the leg that begins at window `from`: the components that change, joined by '+'. */
void ladder_leg_name(const struct ladder *l, int from, struct buf *out);
/* Whether a component changes between windows from .. to. */
bool ladder_moves(const struct ladder *l, enum lambda component, int from, int to);
void ladder_close(struct ladder *l);
/* Numbers that one window's table may have, so that all together stay within ESTIMATE_NUMBERS. */
size_t window_most(int nstates);

/* ---- verdicts */

enum verdict_kind { VERDICT_CONVERGED, VERDICT_UNCONVERGED, VERDICT_FAILED };
extern const char *const verdict_words[];

struct reason {
    enum verdict_kind kind; /* what it makes of the number */
    const char *code;       /* as in schemas/results.schema.json */
    char *text;
};

struct verdict {
    enum verdict_kind kind;
    int nreasons;
    struct reason *reasons;
};

/* The verdict becomes `kind` where it was better. */
void verdict_add(struct verdict *v, enum verdict_kind kind, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends the reasons why there is no number, joined by "; ". */
void verdict_failure(const struct verdict *v, struct buf *out);
void verdict_close(struct verdict *v);

/* ---- one repeat, or all together */

enum estimator { ESTIMATOR_MBAR, ESTIMATOR_BAR, ESTIMATOR_TI, ESTIMATOR_TI_GAUSS, ESTIMATORS };
extern const char *const estimator_names[ESTIMATORS];

struct estimator_result {
    char reason[1000]; /* why it has no answer at all; empty: it has */
    struct range total;
    struct verdict verdict;                  /* on the total */
    struct range *legs, *steps, *cumulative; /* [nlegs], [nstates - 1], [nstates] */
};

struct convergence {
    struct range forward, backward;
    char reason[1000]; /* why one of them has no value; empty: both have */
};

/* Adds to the reason, after "; " where there is one. */
void convergence_lacks(struct convergence *c, const char *what, const char *why);

/* Windows with samples that follow each other, and their overlap by bar_overlap: elements of the matrix of all windows
 * fall with the number of windows and with the shares of rows. */
struct neighbours {
    int from, to;
    double overlap;
};

/* Windows with samples that follow each other: standard deviations at both ends of dH along the step, kT. Its
 * thermodynamic length is their mean. */
struct step_length {
    int from, to;
    double deviation[2];
};

/* Replicas that exchanged windows. Zeroed: there are none. */
struct walks {
    enum exchange_scheme scheme;
    int nstates;
    size_t first, exchanges; /* exchanges before all windows took part; since then */
    double *moves; /* [nstates][nstates] how often one went from window i to j at an exchange; i to i: it stayed */
    size_t *round_trips; /* [nstates] of each replica, from the first window to the last and back */
    bool *visited;       /* [nstates][nstates] replica, window */
    double eigenvalue;   /* of the matrix of moves, the largest but 1 */
};

/* Along a coordination, in bins of one width, which are in line in all repeats. */
struct profile_bin {
    size_t *rows;   /* [nstates] of each window */
    int state;      /* of `solution`; -1: too few rows */
    struct range f; /* from a bin that all repeats have to it */
};

struct free_energy_profile {
    int coordination;
    double from, width; /* bin b is from + (first + b) width to from + (first + b + 1) width */
    int first, n;
    struct profile_bin *bins;
    int nstates; /* bins that have a state */
    bool solved;
    struct solution solution; /* of windows and, behind them, bins; empty in that of all repeats */
};

struct result {
    const struct ladder *ladder;
    struct bath bath;
    char *stretched;               /* as in struct dhdl */
    struct window_result *windows; /* [nstates]; NULL in the result of several repeats */
    int nestimators;               /* 0, 3, or 4 with Gauss */
    struct estimator_result estimators[ESTIMATORS];
    double *overlap;  /* [nstates][nstates], NULL when MBAR failed */
    bool one_run;     /* in which the state changes */
    size_t crossings; /* of it from one end of the ladder to the other */
    bool *changes;    /* [nstates - 1] whether some row tells window k from the next */
    int nneighbours;
    struct neighbours *neighbours;
    int nlengths; /* 0 without dH/dlambda of every component */
    struct step_length *lengths;
    struct walks walks;
    struct convergence convergence[ESTIMATE_FRACTIONS]; /* part (i + 1)/10 */
    double moved,
        allowed; /* kT: by how much rows at the start that were discarded moved the total, and its error with them */
    bool wants_profiles;
    const struct result *before; /* the repeat before; NULL: it is the first */
    int nprofiles;
    struct free_energy_profile *profiles;
    bool forecasts;            /* one is wanted */
    struct forecast *forecast; /* NULL: MBAR has no answer */
    char **warnings;
    int nwarnings;
    struct err unread; /* of the last file that could not be read but may be another time */
};

/* A warning for results.json. */
void result_warn(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Empty windows, and no rows yet, of a ladder. */
void result_init(struct result *r, const struct ladder *l);
void sampling_init(struct sampling *s, const struct ladder *l);
/* Room for the ranges of n estimators, with their ends. */
void result_estimators(struct result *r, int n);
void result_close(struct result *r);
void profiles_close(struct free_energy_profile *profiles, int n);

struct report {
    const struct estimate_about *about;
    const struct estimate_held *held;            /* NULL: nothing is */
    const struct finite_size *finite_size;       /* NULL: not asked for */
    const char *remark;                          /* a warning of none of the repeats; NULL */
    double pressure;                             /* bar, that production holds; NAN: it holds none, or nobody knows */
    struct estimate_production *production;      /* NULL: none is to be handed out */
    void (*methods)(void *of, struct writer *w); /* NULL: not known */
    const char *split;                           /* JSON; NULL: there is none */
    void (*observables)(void *of, struct writer *w); /* NULL: there is none */
    void (*torsions)(void *of, struct writer *w);    /* NULL: there are none to watch */
    void (*fold)(void *of, struct writer *w);        /* NULL: there is no protein */
    const char *fold_remark;                         /* a warning; NULL */
    void *observables_of;
    const struct ladder *ladder;
    int nrepeats;
    struct result *repeats; /* [nrepeats] */
    struct result whole;    /* of several repeats; else empty */
    int nprofiles;
    struct free_energy_profile *profiles; /* of all repeats together */
};

/* What the report is about: the only repeat, or all of them. */
static inline const struct result *report_whole(const struct report *r)
{
    return r->nrepeats > 1 ? &r->whole : r->repeats;
}

/* thermodynamic_length.c: r->lengths of one repeat, and of all together. */
void result_lengths(struct result *r, const struct sampling *s);
void report_lengths(struct report *r);

/* repeats.c: the mean of every number over the repeats, in report->whole. */
void report_combine(struct report *r);
/* The mean of one range over the repeats, with its verdict; pick(repeat, a, b): that of one repeat. */
void repeats_combine(const struct report *r, struct range *out,
                     const struct range *(*pick)(const struct result *, int, int), int a, int b);

#endif
