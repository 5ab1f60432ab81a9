/* SPDX-License-Identifier: Apache-2.0
 *
 * A GROMACS .mdp file, and what becomes of each of its options. Names and words are compared as GROMACS does: without
 * regard to case, '-' and '_'.
 */
#ifndef SHOAL_CLIENT_IMPORT_MDP_H
#define SHOAL_CLIENT_IMPORT_MDP_H

#include <stdbool.h>

#include "engine/base/buf.h"

enum mdp_fate {
    MDP_KEPT,    /* the spec says the same */
    MDP_IDLE,    /* it has no effect with this value */
    MDP_CHANGED, /* the spec says something else */
    MDP_DROPPED,
    MDP_REFUSED,
    MDP_UNKNOWN,
};
extern const char *const mdp_fate_names[];

struct mdp_option {
    char *name, *value; /* as written */
    int line;           /* 0: not in the file, its default matters */
    enum mdp_fate fate;
    char *why; /* NULL: nothing to say */
};

struct mdp {
    char *file;
    struct mdp_option *options;
    int n;
};

/* Reads the file and gives every option the fate that its row in mdp_options.def says. ERR_MISSING_FILE. */
int mdp_read(struct mdp *m, const char *path, struct err *e);
void mdp_close(struct mdp *m);

/* NULL: not given, or without a value. */
const char *mdp_value(const struct mdp *m, const char *name);
/* Whether the value, or its default, is one of the words, which '|' parts. */
bool mdp_is(const struct mdp *m, const char *name, const char *otherwise, const char *words);
/* As many of at most `most` numbers as the value has; an option that has none gives the default. What is no number is
 * refused. */
int mdp_numbers(struct mdp *m, const char *name, double otherwise, double *out, int most);
double mdp_number(struct mdp *m, const char *name, double otherwise);

/* Says what becomes of an option, in place of what was said before; one that is not given is named with its default. */
void mdp_say(struct mdp *m, const char *name, enum mdp_fate fate, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), nonnull(4)));
bool mdp_refused(const struct mdp *m); /* any of them, or one that is unknown */
/* "RUN.mdp:12: tcoupl = v-rescale: changed: why", appended; of a long value its middle is left out. */
void mdp_line(const struct mdp *m, const struct mdp_option *o, struct buf *out);

#endif
