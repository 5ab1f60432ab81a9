/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies from the work of non-equilibrium switches. A forward switch takes lambda from 0 to 1, a backward one
 * from 1 to 0 by the same protocol; the work of a switch is the work done on the system by its own path, so that
 * <W_forward> >= G(1) - G(0) >= -<W_backward>.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_SWITCHING_SWITCHING_H
#define SHOAL_ENGINE_ESTIMATE_SWITCHING_SWITCHING_H

#include "engine/estimate/result/result.h"
#include "engine/estimate/switching/pace.h"
#include "engine/series/work_table.h"

/* The work of one switch, kJ/mol, by the rows of one dhdl.xvg. */
struct slow_growth {
    double work;
    double coarse;      /* by how much the work from every second row is more */
    double begin;       /* ps, time of the first row */
    double length;      /* ps */
    double temperature; /* K; 0: the file does not say */
};

/* Works of one way, in the order of their snapshots. Zeroed: none. */
struct switch_works {
    size_t n;
    double *w;            /* [n] kJ/mol as read, of walkers also some that are no finite numbers; kT after works_scale,
                             all of them finite */
    double *length;       /* [n] ps; 0: from a file of works */
    double *coarse;       /* [n] as in struct slow_growth; 0 from a file of works */
    int *walker;          /* [n] from 1 on, whose snapshot it began from; 0: not known */
    int walkers;          /* that are known */
    int failed;           /* walkers that failed: their works are not here */
    double refused;       /* volume moves that a cut-off forbade, as the largest share of a walker */
    size_t nonfinite;     /* works left out that are no finite numbers */
    size_t incomplete;    /* switches left out that are shorter than the longest */
    size_t other_length;  /* the same of walkers, whose switches became longer */
    size_t cut_short;     /* tables whose last line is not whole, and was left out */
    size_t slow_growth;   /* works of n that come from dH/dlambda */
    bool reversed_sign;   /* backward works came with the sign of the forward direction, as pmx writes them */
    double temperature;   /* K, as files say; 0: none does */
    double begin;         /* ps, time of the first row of every dhdl.xvg */
    const char *reported; /* the file that said the temperature, borrowed */
};

/* Adds the works of files: dhdl.xvg of one switch where the name has ".xvg" in it; works of a walker in a file that
 * ends with work.tsv; else lines of one work, or of a name and a work as pmx writes them. unit: kJ/mol of one unit of
 * the last. ERR_MISSING_FILE, ERR_UNSUPPORTED. */
int works_read(struct switch_works *w, char *const *paths, int n, enum switch_way way, double unit, struct err *e);
/* Adds the works of one walker, after those of others. */
void works_add_walker(struct switch_works *w, const struct work_table *t);
/* Leaves out switches of known lengths other than this one (ps), and makes kT of kJ/mol. */
void works_scale(struct switch_works *w, double beta, double length);
/* Whether a switch of one length (ps) counts as one of the other. */
bool works_of_length(double length, double other);
/* The longest with a work, ps; 0: no switch has a known length. */
double works_length(const struct switch_works *w);
/* Adds those of `from` that have this length, of the same walkers. */
void works_add_of_length(struct switch_works *w, const struct switch_works *from, double length);
void works_close(struct switch_works *w);

/* slow_growth.c: lambda goes evenly from 0 to 1, or back, from the first row to the last. SLOW_GROWTH_BEGUN: the file
 * has fewer than 3 rows, as a run that has just begun leaves it. ERR_UNSUPPORTED. */
enum { SLOW_GROWTH_BEGUN = 1 };
int slow_growth_read(struct slow_growth *s, const char *path, enum switch_way way, struct err *e);

/* One way alone; kT. */
struct one_way {
    double mean, mean_error, deviation;
    double inefficiency;                 /* g of the works in order */
    double dissipated, dissipated_error; /* mean less the free energy of the way; NAN: there is none */
    double effective;                    /* uncorrelated works that Jarzynski's mean rests on */
    double bias;            /* of Jarzynski's estimate, expected to second order; above 0: it is too high */
    struct range jarzynski; /* G(1) - G(0) */
    struct verdict verdict; /* on it */
};

struct value_error {
    double value, error; /* NAN: not known */
};

/* To first order BAR is a sum of what each walker adds. */
struct walker_spread {
    int walkers;         /* of both ways, that have works; 0: not known, or fewer than 4 of one way */
    double error;        /* kT, of BAR, from how much walkers differ */
    double inefficiency; /* its square over that of as many works that share nothing */
    double drift;        /* of BAR from the earlier half of the works of every walker to the later half, in standard
                            errors; NAN: of one end no two walkers have two works */
};

/* The number of the works of walkers before their switches became longer. It is no part of any other. */
struct switch_earlier {
    double length; /* ps; 0: there are none */
    size_t n[SWITCH_WAYS];
    struct range bar;
    struct value_error lag;
};

struct switching {
    double temperature, beta; /* K, mol/kJ */
    struct switch_works works[SWITCH_WAYS];
    struct one_way way[SWITCH_WAYS];
    struct range bar;         /* G(1) - G(0), kT */
    double overlap;           /* as bar_overlap; NAN */
    struct value_error slope; /* of ln P_forward(W) / P_backward(-W) by W in kT; 1 by Crooks' relation */
    struct value_error lag;   /* <W_forward> + <W_backward>, kT: hysteresis */
    struct range gaussian;
    struct walker_spread spread;
    struct switch_earlier earlier;
    double longer;            /* kT, error of BAR to expect from as many switches of twice the length; NAN: not known */
    double skew[SWITCH_WAYS]; /* of the works, in its standard errors for Gaussian works */
    struct verdict bar_verdict, gaussian_verdict;
    char reason[1000]; /* why BAR has no answer; empty: it has */
};

/* From works in kJ/mol, all of it: all numbers with their verdicts. */
void switching_solve(struct switching *s);
/* Whether a way has works enough to be looked at. */
bool switching_has(const struct switching *s, enum switch_way way);
/* From works in kT: all numbers without verdicts. */
void switching_crooks(struct switching *s);
void switching_one_way(struct switching *s, enum switch_way way);
void switching_gaussian(struct switching *s);
/* Snapshots of a walker may remember each other for longer than its works show, and walkers share nothing. Where there
 * are 12 of each end or more, the error of BAR becomes that of their spread, or that of as many works that share
 * nothing if it is larger; of fewer, but 4 or more, that of their spread where it is larger. */
void switching_walkers(struct switching *s);
/* What twice the length would do, once BAR has its error and its verdict. */
void switching_longer(struct switching *s);
/* From what the first dissipate both ways together, kT. */
struct switch_choice switching_doublings(const struct value_error *lag, const struct switch_pace *pace);
/* How long later switches are to be, from the works of the first in kJ/mol alone (temperature and works of *first;
 * closed here). */
struct switch_choice switching_choose(struct switching *first, const struct switch_pace *pace);
void switching_judge(struct switching *s);
void switching_close(struct switching *s);

#endif
