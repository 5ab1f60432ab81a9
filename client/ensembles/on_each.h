/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that do one thing to each of several ensembles. What fails for one does not keep the others from it.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_ON_EACH_H
#define SHOAL_CLIENT_ENSEMBLES_ON_EACH_H

#include "client/command/client.h"

struct on_each {
    const char *next, *does; /* said after each: the command that follows, and what it does */
    const char *device;      /* that each is moved to; NULL: none is */
    bool several;
    json_t *ensembles, *errors; /* what --json prints */
    double bytes;               /* freed */
    /* Whether it may be done to those chosen; NULL: always. */
    bool (*agree)(const struct client *c, const json_t *chosen);
    const json_t *times; /* by which each is extended (shares_find); those without one are not. NULL: all by --time */
};

/* Does it to one ensemble, an object with an "id" at least. 0, or negative and e. */
typedef int act_fn(const struct client *c, const json_t *ensemble, struct on_each *m, struct err *e);
/* Does it to each that was named or chosen (ensembles_chosen) and prints the outcome. The exit code of the first error;
 * EXIT_REFUSED: it was not agreed to. */
int on_each(const struct client *c, int argc, char **argv, const char *states, act_fn *act, struct on_each *m);

#endif
