/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies of an ensemble: the dhdl.xvg of its replicas -> results.json (schemas/results.schema.json). MBAR, BAR
 * and TI from all rows, with errors that know of correlation, a verdict on every number, overlap matrix, forward and
 * backward convergence.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATE_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATE_H

#include "engine/base/buf.h"
#include "engine/base/statistics/allocate.h"
#include "engine/base/json/json_writer.h"
#include "engine/derive/finite_size.h"
#include "engine/estimate/switching/pace.h"
#include "engine/system/settings.h"
#include "engine/derive/standard_state.h"
#include "engine/system/volume_moves.h"
#include "engine/system/water_moves.h"

enum estimate_kind { ESTIMATE_DONE, ESTIMATE_PARTIAL, ESTIMATE_RUNNING, ESTIMATE_FAILED, ESTIMATE_WAITS };

/* What became of a replica. One that stopped early or still runs takes part with what it has; a failed one does
 * not. One that runs and has no samples yet waits: this is found, not told. */
struct estimate_replica {
    enum estimate_kind kind;
    const char *reason; /* why it is not done; may be NULL */
    bool seeded;        /* `seed` is known */
    uint64_t seed;
    bool
        vouched; /* only the first bytes of its files count, as a checkpoint vouches for them; 0 bytes: there is none */
    uint64_t dhdl_bytes, energy_bytes, work_bytes;
    struct volume_moves moves; /* of production; zeroed where that is not known, or the volume stays */
    struct water_moves waters; /* the same; zeroed where none are exchanged */
    const char *origin;    /* folder below the ensemble's of what it sampled before there were other windows; its first
                              rows are of    frames then. NULL: there is none */
    uint64_t origin_bytes; /* of dhdl.xvg there that count; 0: there is nothing any more, or never was */
};

struct estimate_label {
    const char *key, *value;
};

/* What results.json says of the ensemble and the estimators do not need. NULL and 0: unknown. */
struct estimate_about {
    const char *id, *key, *name, *spec_hash;
    size_t revision;
    double ns_per_day; /* of all replicas together */
    double running;    /* s, in which any of them had a place on a device */
    int ndevices;
    const char *const *devices; /* [ndevices] models of device that it ran on */
    int nlabels;
    const struct estimate_label *labels;
    const char *placed; /* the windows, as a pilot placed them: the text of results.json's object; NULL: none did */
};

/* Two molecules that restraints hold together at an end of the ladder. */
struct estimate_held {
    const char *molecule[2];
    struct standard_state state;
};

/* Production that is to be handed out to windows (engine/base/statistics/allocate.h), in steps. */
struct estimate_production {
    int64_t share, budget, every;
    struct allocate_window *windows; /* [windows]; results.json says their targets */
};

struct estimate_ensemble {
    const char
        *directory; /* repeat 0 alone: DIRECTORY/lambda_KK; else DIRECTORY/repeat_RR/lambda_KK (two digits or more) */
    const struct settings *set;
    bool npt;                /* production holds the pressure of `set` */
    size_t exchanges_alone;  /* that windows which were added did not take part in, nor anybody then */
    int repeats;             /* replicas of each window, 1 or more */
    int walkers;             /* of each end, which switch to the other; those of end A come first. 0: no switches */
    struct switch_pace pace; /* of their switches */
    const struct estimate_replica *replicas;         /* [repeats][estimate_windows] */
    const struct estimate_held *held;                /* NULL: nothing is */
    const struct finite_size *finite_size;           /* NULL: not asked for */
    struct estimate_production *production;          /* NULL: none is */
    void (*methods)(void *of, struct writer *w);     /* writes elements of its list of methods; NULL: not known */
    const char *split;                               /* the text of results.json's object; NULL: there is none */
    const char *remark;                              /* a warning that results.json repeats; NULL: none */
    void (*observables)(void *of, struct writer *w); /* writes elements of results.json's list; NULL: there is none */
    void (*torsions)(void *of,
                     struct writer *w); /* writes members of results.json's object of torsions; NULL: there is none */
    void (*fold)(void *of, struct writer *w); /* the same of its object of the fold; NULL: there is none */
    const char *fold_remark;                  /* one more warning; NULL: none */
    void *observables_of;                     /* what all four are given */
    struct estimate_about about;
    bool umbrella;      /* windows differ in biases alone: profiles along their coordinations are wanted */
    struct err *unread; /* of a file that could not be read but may be another time: these results are not to be kept;
                           NULL: not wanted */
    struct buf *integrals; /* [2] lines of a name and a work in kJ/mol, as pmx writes integA.dat and integB.dat, are
                              appended where there are walkers; NULL: not wanted */
    struct buf *walks;     /* [repeats] what walks.xvg is to hold (rows/walks.c) is appended where replicas exchange
                              windows; NULL: not wanted */
};

/* Replicas of one repeat. */
static inline int estimate_windows(const struct estimate_ensemble *q)
{
    return q->walkers ? 2 * q->walkers : q->set->alchemy.nwindows;
}

/* Reads dhdl.xvg and energy.xvg of every replica and appends the JSON of results.json to `json`. It cannot fail: a
 * replica that cannot be read, or an estimator that has no answer, is reported in the result with its reason and the
 * others go on. A pure function of the files and arguments: equal input, equal bytes. Takes seconds and up to half a
 * gigabyte on large ensembles (128 MiB of energies, as much again for MBAR, and one file's table); what is denser is
 * thinned. */
void estimate_ensemble(const struct estimate_ensemble *q, struct buf *json);

/* The same of an ensemble with walkers, from the work.tsv of every replica: estimate_ensemble calls it. */
void estimate_walkers(const struct estimate_ensemble *q, struct buf *json);

/* The same from dhdl.xvg files of one ladder, of GROMACS or our own, gzipped or not: their headers say which windows
 * they are of. Several of one window are parts of one run, in any order; empty files are of windows that have not
 * begun. Or files are the parts of one run in which the state changes, as of an expanded ensemble or AWH along lambda.
 * Rows before `begin`, in ps, are left out (-INFINITY: none). *answered: there is a free energy. ERR_MISSING_FILE;
 * ERR_UNSUPPORTED for files that cannot be read or do not hold the energy differences to all states. */
int estimate_files(char *const *paths, int n, double begin, struct buf *json, bool *answered, struct err *e);

/* Works of non-equilibrium switches, files of forward ones and of backward ones, each in the order of their snapshots.
 */
struct estimate_switches {
    char *const *paths[2];
    int n[2];           /* one may be 0 */
    double temperature; /* K; 0: as dhdl.xvg files say */
    double unit;        /* kJ/mol of one unit of files of works */
    bool kt;            /* files of works are in kT, whatever `unit` is */
};

/* BAR, Jarzynski and the Gaussian intersection from dhdl.xvg files of switches (slow growth) and files of works, with
 * verdicts; results.json's text. Errors as estimate_files; ERR_USAGE: a temperature is needed. */
int estimate_switches(const struct estimate_switches *q, struct buf *json, bool *answered, struct err *e);

#endif
