/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H
#define SHOAL_ENGINE_ESTIMATE_OUTPUT_OUTPUT_H

#include "engine/estimate/result/result.h"

struct writer;
struct switching;

/* results_json.c: results.json. */
void report_write(struct report *r, struct buf *json);
/* Its part about exchanges, in walks_json.c. */
void report_exchanges(struct writer *w, const struct report *r);
/* What the estimate means and lacks, in advice_json.c; total NULL: there is none. */
void report_meaning(struct writer *w, const struct report *r, const struct range *total);

/* One of an ensemble that switches. */
struct walker_result {
    int repeat, end, walker; /* end 0: A, the first window; 1: B, the last */
    enum estimate_kind status;
    char reason[1000]; /* why it is not done, or its works cannot be read; empty: neither */
    bool seeded;
    uint64_t seed;
    size_t works;
    struct water_moves waters; /* of production; no batches where none are exchanged */
};

/* Where works are of an ensemble: what is said of that, the switches of each repeat, and its walkers. */
struct walkers_report {
    const struct report *report; /* its repeats and whole are not looked at */
    int nrepeats, nwalkers;
    const struct switching *repeats; /* [nrepeats] */
    const struct walker_result *walkers;
    struct switch_choice choice; /* how long later switches are, */
    struct switch_pace pace;     /* where they may be longer */
};

/* switches_json.c: results.json of works of switches; whether it has a free energy. of: NULL for works of files. */
bool switches_write(const struct switching *s, const struct walkers_report *of, struct buf *json);
/* lengthened_json.c: of walkers whose switches became longer, or may; of: NULL for works of files. */
void lengthened_write(struct writer *w, const struct switching *s, const struct walkers_report *of);
/* distributions_json.c: how many works lie where. */
void distributions_write(struct writer *w, const struct switching *s);
/* walkers_json.c: the walkers of an ensemble; those that are not done, in words. */
void walkers_write(struct writer *w, const struct walkers_report *of);
void walkers_list(const struct walkers_report *of, struct buf *reason);
/* Parts of results_json.c that they share: an energy in kT or null, a verdict, where the samples come from, methods and
 * split; observables, torsions and fold. */
void report_energy(struct writer *w, const char *key, double beta, const struct range *x);
void report_verdict(struct writer *w, const struct verdict *v);
void report_about(struct writer *w, const struct estimate_about *a);
void report_methods(struct writer *w, const struct report *r);
void report_watched(struct writer *w, const struct report *r);
/* Exchange of waters in the production of a replica; nothing where there was no batch. */
void report_waters(struct writer *w, const struct water_moves *m);
/* What results.json calls the state of a replica. */
extern const char *const estimate_status[];

/* hand_out.c: targets of r->production; false: nothing is known of what windows need. */
bool report_allocate(struct report *r);

/* The estimator of the estimate: MBAR, or TI where a constraint's length changes. */
enum estimator report_headline(const struct report *r);

#endif
