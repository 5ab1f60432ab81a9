/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign.yaml (schemas/campaign.schema.json) and the tables it names, as values; and the ensembles that it
 * describes.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_CAMPAIGN_H
#define SHOAL_DAEMON_CAMPAIGN_CAMPAIGN_H

#include "daemon/campaign/template.h"

enum { CAMPAIGN_KEY = 64, CAMPAIGN_LAYERS = 4 };

/* Words for specs; both strings owned. */
struct values {
    struct variable *items;
    int n;
};

struct campaign_system {
    char *name;
    double experiment, error; /* kJ/mol; NAN: not known */
    struct values values;
    const struct node *override; /* NULL: none */
    int line;
};

struct campaign_edge {
    int ligand[2]; /* systems: i, j */
    char *name;    /* "I_J" */
    struct values values;
    int line;
};

struct campaign_leg {
    char *name;
    bool of_edges;
    int sign;
    char *spec; /* path of its spec */
    const struct node *override;
    int line;
};

struct campaign {
    char *file, *name, *folder; /* folder: of the file */
    char *inputs;               /* path of the folder of the specs' files; NULL: each spec's own */
    int repeats;
    struct campaign_system *systems;
    int nsystems;
    struct campaign_edge *edges;
    int nedges;
    struct campaign_leg *legs;
    int nlegs;
    struct campaign_budget {
        double time; /* ps of production of all replicas; 0: there is none */
        int rounds, line;
    } budget;
    struct campaign_ladder {
        bool automatic; /* windows are placed by pilots */
        double pilot;   /* ps of production of a pilot's window */
        double overlap; /* of neighbours, that is aimed at */
        int windows;    /* the most */
    } ladder;
    char **warnings; /* "file:line: ..." */
    int nwarnings;
    const struct node *shared; /* parts of all specs; NULL: none */
    struct node *root;         /* of the file, which overrides are part of */
};

/* Reads the file at `path` and the tables that it names; specs are not read. ERR_SPEC, ERR_MISSING_FILE: "file:line:
 * ...". On success *out is the caller's. */
int campaign_read(struct campaign **out, const char *path, struct err *e);
void campaign_free(struct campaign *c);

/* How many systems or edges a leg is of, and what one is called. */
int campaign_items(const struct campaign *c, const struct campaign_leg *leg);
const char *campaign_item(const struct campaign *c, const struct campaign_leg *leg, int item);
/* The key of one ensemble, which is its name too: "NAME.ITEM.LEG.REPEAT", its end a checksum where that is too long. */
void campaign_key(const struct campaign *c, const struct campaign_leg *leg, int item, int repeat,
                  char key[CAMPAIGN_KEY + 1]);
/* That of a pilot: "NAME.ITEM.LEG.pilotROUND", rounds from 1. */
void campaign_pilot_key(const struct campaign *c, const struct campaign_leg *leg, int item, int round,
                        char key[CAMPAIGN_KEY + 1]);
/* The spec of one ensemble but for its name and seed: `spec` is the tree of the leg's own. Errors as of template_write.
 */
int campaign_layers(const struct campaign *c, const struct campaign_leg *leg, int item, const struct node *spec,
                    struct layer layers[CAMPAIGN_LAYERS]);
/* Values of $(NAME) in it: an array as long as *n; the caller frees it, its strings are the campaign's. */
struct variable *campaign_variables(const struct campaign *c, const struct campaign_leg *leg, int item, int *n);

#endif
