/* SPDX-License-Identifier: Apache-2.0
 *
 * The ensemble spec: YAML text -> checked against schemas/ensemble.schema.json (embedded in the program, the one truth
 * for keys, types, units, ranges and defaults) -> struct spec. Every error names file:line, the key, the value and what
 * was expected, and suggests the nearest known key.
 */
#ifndef SHOAL_DAEMON_SPEC_SPEC_H
#define SHOAL_DAEMON_SPEC_SPEC_H

#include "daemon/spec/sections/selection.h"
#include "engine/base/buf.h"
#include "engine/io/io.h"
#include "engine/derive/fold.h"
#include "engine/system/settings.h"

#define SPEC_REPLICAS_MAX 20000 /* of one ensemble */

/* What stages can have of their own. Those that are alike in all of it are one phase of the run and share a model. */
struct phase {
    struct define *defines; /* strings owned */
    int ndefines;
    bool own_defines;                                 /* others than the ensemble's */
    double timestep, temperature, friction, pressure; /* ps, K, 1/ps, bar */
    double restraint_scale; /* what force constants of position restraints are multiplied by */
    int line;               /* of its first stage */
};

/* When the ensemble may end before its time. */
struct stop_when {
    double error;   /* of the free energy, kJ/mol; 0: never */
    bool converged; /* that must be the verdict, too */
    uint64_t after; /* steps of a replica over all stages, before which it is not asked */
};

/* How production is handed out, all in steps: see struct allocation of daemon/schedule/ensemble.h. */
struct allocate_rule {
    bool rounds;     /* of which each depends on the samples before it */
    uint64_t before; /* of the stages that do not produce, for any rule */
    uint64_t share, every;
    uint64_t first; /* production of each replica in the first round */
};

/* Switches that may become longer: how long is found from the first of every walker. */
struct lengthen_rule {
    uint64_t after; /* so many switches; 0: switches stay as long as they are */
};

/* The spec's alchemy.ladder: a pilot of the windows that the spec gives says where others belong. */
struct ladder_rule {
    bool automatic; /* these windows are the pilot's */
    bool placed;    /* these windows are those that a pilot placed */
    double pilot;   /* ps of production of each window of the pilot */
    int windows;    /* to be placed; 0: as many as the pilot has */
    int replicas;   /* of the pilot, or of the windows that it places where these are more; set by spec_take_pilot */
};

/* A restraint of the distance between the centers of two groups, see struct center_restraint. */
enum { CENTER_NUMBERS = 4 };

struct center_choice {
    struct selection group[2];
    double c[2][CENTER_NUMBERS];
    bool at_start[2]; /* harmonic about the distance of system.coordinates, not c */
};

/* An observable, but for the atoms of its groups. */
struct observable_choice {
    int index;        /* in the spec */
    const char *kind; /* its key, static */
    struct selection group[OBSERVABLE_GROUPS];
    struct observable of;
};

/* A coordination and the biases along it, see engine/system/biases.h: of schedules knots, owned. */
struct bias_choice {
    enum bias_kind kind;
    double c[2][2];
    struct bias_knot *knots;
    int nknots;
};

struct coordination_choice {
    struct selection group[2];
    struct coordination of; /* but for its atoms */
    struct bias_choice biases[BIAS_KINDS];
    int nbiases, line;
};

/* Groups whose deviations from the start structure are followed, see daemon/spec/sections/fold.h. */
struct fold_choice {
    struct selection group[FOLD_GROUPS];
    bool given[FOLD_GROUPS]; /* else chosen by names */
    double limit;            /* nm, beyond which it is warned */
};

/* The center of the sphere that waters are exchanged with. */
struct water_choice {
    struct selection around;
    bool given; /* else it is what the alchemy changes */
    int line;
};

/* Whether the spec says how Coulomb is split between pairs and mesh. SPLIT_AUTO: it is yet to be chosen
 * (daemon/spec/split.h), and settings are those asked for. */
enum split_kind { SPLIT_NONE, SPLIT_AUTO, SPLIT_GIVEN };

struct spec {
    char *file; /* as given, for messages */
    char *name;
    char *topology, *coordinates, *reference; /* file names as in the spec; reference may be NULL */
    char *index;                              /* file of groups; NULL */
    struct center_choice *centers;
    int ncenters;
    struct coordination_choice *coordinations;
    int ncoordinations;
    struct observable_choice *observables;
    int nobservables;
    struct fold_choice fold;
    struct water_choice waters;
    char **starts; /* [nstarts], coordinate files of windows; 0: all start at `coordinates` */
    int nstarts;
    struct phase *phases; /* 0: what the ensemble says, and all that produces */
    int nphases;
    struct settings settings; /* of phase 0 */
    enum split_kind split;
    struct nonbonded_settings asked; /* those of the spec but for its split */
    struct stage *stages;            /* none for a spec that is only evaluated */
    int nstages;
    uint64_t exchange_after; /* steps over all stages, before which replicas exchange no windows */
    struct stop_when stop;
    struct allocate_rule allocate;
    struct ladder_rule ladder;
    struct lengthen_rule lengthen;
    uint64_t slopes_every; /* timesteps of a switch between rows of dH/dlambda in its file; 0: there are no such files
                            */
    int repeats;           /* replicas of every window */
    int walkers;           /* of each end of the ladder, which switch to the other; 0: windows are simulated */
    int retries;           /* attempts of a failing replica beyond the first */
    uint64_t checkpoint_every; /* steps between checkpoints: a segment; 0: by the wall clock */
    double checkpoint_seconds; /* wall clock between checkpoints, when not in steps */
    int com_line;              /* of integrator.com-removal, where it takes out something; 0: elsewhere */
    bool seed_random;          /* seed: random; settings.integrator.seed is of no use until spec_draw_seed */
    size_t seed_at;            /* where it says so, in characters */
    int system_line, masses_line, alchemy_line, nonbonded_line, integrator_line, protocol_line,
        observables_line; /* where they are in the file; 1: absent */
};

/* `file` is only for messages. On success *out is owned by the caller. ERR_SPEC; ERR_UNSUPPORTED for known keys that
 * are not built yet. A spec without a protocol is accepted: `shoal energy` needs none. */
int spec_parse(struct spec **out, const char *file, const char *text, size_t len, struct err *e);
void spec_free(struct spec *s);
/* A seed for a spec that says seed: random; *out, appended to: `text` with the number in place of the word, which then
 * is the spec. ERR_IO: the system has no random numbers. */
int spec_draw_seed(struct spec *s, const char *text, size_t len, struct buf *out, struct err *e);
/* What a run needs beyond a spec that parses: a protocol that produces, a seed. ERR_SPEC. */
int spec_check_run(const struct spec *s, struct err *e);
/* Replicas of one repeat. With switches those of the first window, end A, come before those of the last, end B. */
static inline int spec_windows(const struct spec *s)
{
    return s->walkers ? 2 * s->walkers : s->settings.alchemy.nwindows;
}
/* The same once a pilot has placed its windows. */
static inline int spec_windows_placed(const struct spec *s)
{
    return s->ladder.automatic && s->ladder.windows && !s->walkers ? s->ladder.windows : spec_windows(s);
}
/* The row of alchemy.windows that such a replica is in. */
static inline int spec_row(const struct spec *s, int window)
{
    const int last = s->settings.alchemy.nwindows - 1;
    return !s->walkers ? window : window < s->walkers ? 0 : last;
}
/* The phase of a stage; behind the last one: of that. */
static inline int spec_phase(const struct spec *s, uint64_t stage)
{
    uint64_t n = (uint64_t)s->nstages;
    return n ? s->stages[stage < n ? stage : n - 1].phase : 0;
}
/* The settings of one phase; what they point to belongs to the spec. */
struct settings spec_settings(const struct spec *s, int phase);
/* Of its first `stages` stages, summed: steps of minimization and timesteps. */
uint64_t spec_steps(const struct spec *s, int stages);
/* How many times it is time to exchange windows before replicas do (exchange.after). */
uint64_t spec_exchanges_alone(const struct spec *s);

/* ---- target.c ---- */
/* Of its stages that produce, summed. */
uint64_t spec_produce_steps(const struct spec *s);
/* Changes the last stage in `stages`, a copy of the spec's, so that all of them are `steps` steps. ERR_CONFLICT: it
 * does not produce, or nothing would be left of it. */
int spec_retarget(const struct spec *s, struct stage *stages, uint64_t steps, struct err *e);
/* A time of production, "2 ns" or "500 steps", in timesteps; `nearest`: it need not be whole ones, and less than one is
 * none. ERR_USAGE; ERR_CONFLICT: the protocol does not end with production. */
int spec_production(const struct spec *s, const char *text, bool nearest, uint64_t *steps, struct err *e);

/* ---- system.c ---- */
/* Topology and coordinates of the spec from a source, into *sys (zeroed before; empty again on failure), checked to fit
 * the spec, and those of every other phase to fit these. Errors as of top_read and gro_read; ERR_SPEC. */
int spec_system(const struct spec *s, struct source *src, struct system *sys, struct err *e);
/* ---- phase.c ---- */
/* Those of one phase of a spec whose systems were checked. */
int spec_phase_system(const struct spec *s, int phase, struct source *src, struct system *sys, struct err *e);
/* Whether its windows differ in biases alone. */
bool spec_is_umbrella(const struct spec *s, const struct system *sys);
/* ---- windows.c ---- */
/* Whether cut-offs and mesh fit the box. ERR_SPEC. */
int spec_check_box(const struct spec *s, const struct system *sys, struct err *e);
/* Whether cut-offs and mesh fit the box, and dynamics can live in every window: a run needs all of it, one evaluation a
 * box that fits, an observation neither. ERR_SPEC. */
int spec_check_windows(const struct spec *s, const struct system *sys, struct err *e);

#endif
