/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside shoal-worker campaign: campaign.c lists ensembles, campaign_spec.c writes the spec of one.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_CAMPAIGN_SPEC_H
#define SHOAL_DAEMON_WORKER_OFFLINE_CAMPAIGN_SPEC_H

#include <jansson.h>

#include "daemon/command_line/args.h"
#include "daemon/campaign/campaign.h"

struct listing {
    const struct campaign *campaign;
    struct args_list includes;
    bool names;
    json_t *ladders; /* NULL: none is known */
    json_t *ensembles, *inputs, *errors, *warnings;
    double production; /* ns of all ensembles */
};

/* One system or edge of one leg: what its repeats share. */
struct campaign_item {
    const struct campaign_leg *leg;
    int number;
    struct layer layers[CAMPAIGN_LAYERS];
    int nlayers;
    struct variable *vars;
    int nvars;
    json_t *facts;         /* of every repeat; NULL: it has an error */
    json_t *files;         /* name to text */
    int pilot;             /* the round of the pilot that it is; 0: it is the repeats */
    const json_t *windows; /* in place of the spec's; NULL: those of the spec */
    const char *from;      /* the key of the pilot that they are from; NULL: none */
};

/* The spec of one ensemble of an item: `key` is its name, repeats count from 0. ERR_SPEC, with its place. */
int campaign_write_spec(const struct listing *l, const struct campaign_item *it, const char *key, int repeat,
                        struct written *out, struct err *e);

#endif
