/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign gather: what the results of a campaign's ensembles come to. Everything in kJ/mol; NAN is not known.
 */
#ifndef SHOAL_CLIENT_GATHER_GATHER_H
#define SHOAL_CLIENT_GATHER_GATHER_H

#include "client/campaign/model/model.h"
#include "client/statistics/compare.h"
#include "client/statistics/contradictions.h"
#include "client/statistics/network.h"

#define GATHER_KCAL 4.184 /* kJ */

struct out;
struct table;

struct number {
    double value, error;
};

/* In order of what counts when several meet. */
enum verdict {
    VERDICT_NONE, /* nothing is in it */
    VERDICT_CONVERGED,
    VERDICT_UNCONVERGED,
    VERDICT_FAILED,
    VERDICT_PENDING /* it has no number yet: it was not submitted, or has too few samples */
};
const char *verdict_word(enum verdict v);
/* For people: "unconverged so far". */
const char *verdict_text(enum verdict v, bool so_far);

/* One ensemble. */
struct gathered_ensemble {
    const json_t *planned, *present;    /* present NULL: not submitted */
    struct number estimate;             /* of the last window less the first */
    double standard_state, finite_size; /* what is to be added to it; NAN: there is none */
    enum verdict verdict;
    bool so_far;      /* it has not ended, and the number is of the samples that it has */
    char reason[200]; /* why there is no number */
    int unwatched;    /* torsions that no trajectory shows */
    int still;        /* torsions that no window saw turn */
    /* For pages; NULL and NAN where they were not asked for, or there is none. */
    json_t *convergence, *reasons; /* of results.json, the verdict's; owned */
    json_t *run;                   /* of results.json what gather_run shows; owned */
    char *spec;                    /* of the first of every leg; owned */
    double overlap;                /* the least of neighbours */
};

/* One leg of a system or an edge: the mean of its repeats, corrections added. */
struct leg_sum {
    const json_t *leg;
    int first;        /* row of its first repeat */
    int planned, got; /* repeats; with a number */
    struct number mean;
    double own_error; /* root mean square of the repeats' own errors */
    double deviation; /* standard deviation of the repeats, OpenFE's figure for an error; NAN for fewer than two */
    enum verdict verdict;
    bool so_far;      /* it has a number, and not all repeats have ended */
    char reason[160]; /* what only the repeats' comparison shows; "": nothing */
};

/* A system or an edge: the sum of its legs, each times its sign. */
struct gathered_item {
    const char *name;
    bool is_edge;
    int i, j; /* systems; j -1: it is one */
    struct leg_sum *legs;
    int nlegs;
    struct number sum;
    double deviation; /* the root of the sum of the legs' squared deviations */
    double experiment, experiment_error;
    enum verdict verdict;
    bool so_far; /* one of the legs is */
};

struct gathered {
    const struct campaign_view *campaign;
    bool detailed;    /* with what pages show of every ensemble */
    json_t *services; /* what each service has of the campaign, which rows refer to; owned */
    int twice;        /* ensembles that a service has and one before has, too: they are left out */
    struct gathered_ensemble *rows;
    int nrows;
    struct gathered_item *items; /* systems that have legs in the sum, then edges */
    int nitems, nedges;
    int nsystems;
    struct number *experiments;     /* [nsystems] */
    struct network network;         /* of all systems, where there are edges */
    struct measurement *measured;   /* what it is made of: edges, then systems */
    struct gathered_item **of_item; /* [nmeasured] whose sum it is */
    int nmeasured;
    struct loop *loops; /* of edges: numbers in measured */
    int nloops;
    struct contradiction *contradictions; /* of measured */
    int ncontradictions;
    bool wide;                            /* repeats of all legs spread further than their own errors allow */
    enum verdict *verdicts;               /* [nsystems] of values */
    bool *values_so_far;                  /* [nsystems] whether something that a value depends on is */
    struct comparison absolute, relative; /* with experiment */
    /* [nsystems] what is added to values without a zero of their own, so that they have the mean of the experiment;
     * NAN: no value */
    double *shift;
    json_t *remarks; /* sentences about torsions, the network and the comparison with experiment; owned */
};

/* The sum of what is to be added to a row's estimate; NAN: nothing is. */
double gather_corrections(const struct gathered_ensemble *r);
/* sums.c: from rows that are filled. */
void gather_sum(struct gathered *g);
void gather_free(struct gathered *g);
enum verdict gather_worse(enum verdict a, enum verdict b);
void gather_network(struct gathered *g);    /* network.c: values of the systems, from the sums */
void gather_comparison(struct gathered *g); /* compare.c: values and edges beside experiment */
void gather_remark(struct gathered *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *gather_system(const struct gathered *g, int i);
/* The system or edge that a planned ensemble is of. */
struct gathered_item *gather_item(const struct gathered *g, const json_t *planned);
/* Whether not all ensembles have ended. */
bool gather_so_far(const struct gathered *g);
/* Whether not all that a loop goes through have. */
bool gather_loop_so_far(const struct gathered *g, const struct loop *l);
/* The best value of a system: of the network, else of its legs. */
struct number gather_value(const struct gathered *g, int system);
/* Whether there are edges, and nothing that was measured reaches it: it has no value. */
bool gather_apart(const struct gathered *g, int system);
/* Whether it can be compared with experiment: not where it is the only one with an experiment of a part that has no
 * zero of its own. */
bool gather_comparable(const struct gathered *g, int system);

/* tables.c: tables in kcal/mol. */
void gather_number_cell(struct table *t, struct number x); /* "-" where it is not known */
void gather_put(const struct out *s, const struct gathered *g);
/* page.c: the same with figures, the network and values beside experiment, as one HTML page. */
void gather_page(const struct gathered *g, struct buf *out);
void gather_figures(const struct gathered *g, struct buf *out); /* figures.c: those of the page */
/* provenance.c: specs from the service, and what was run, as a part of the page. */
void gather_specs(struct gathered *g, const struct client *c);
void gather_run(const struct gathered *g, struct buf *out);
/* json.c */
json_t *gather_json(const struct gathered *g);
json_t *gather_energy_json(struct number x); /* as results.json has energies; null: not known */
/* files.c */
/* One line for everything, values between tabs; with headings where wanted. */
void gather_tsv(const struct gathered *g, bool headings, struct buf *out);
/* gather.json, gather.tsv and report.html, and what other programs read: dg.tsv, ddg.tsv, raw.tsv, cinnabar.csv. */
int gather_files(const struct gathered *g, const char *folder, struct err *e);

/* campaign gather, and the page that it writes by itself; exit codes. */
int campaign_gather(struct client *c, const char *file);
int campaign_report(struct client *c, const char *file);
/* What gather.json has, a new reference; NULL: *rc is the exit code, after saying why. */
json_t *campaign_gathered(struct client *c, const char *file, int *rc);

#endif
