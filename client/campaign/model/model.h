/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign: the ensembles that its file describes (shoal-worker reads it) beside those that the service has.
 */
#ifndef SHOAL_CLIENT_CAMPAIGN_MODEL_MODEL_H
#define SHOAL_CLIENT_CAMPAIGN_MODEL_MODEL_H

#include "client/command/client.h"

struct campaign_view {
    const char *file;
    json_t *plan;     /* what shoal-worker campaign printed */
    json_t *present;  /* key -> ensemble of the service, pilots too; NULL: it was not asked */
    json_t *ladders;  /* LEG/ITEM -> what is known of its windows (place.c); NULL: nothing */
    json_t *unplaced; /* [{code, text}]: legs of systems and edges that get no windows from their pilots, and why; NULL:
                         nobody looked */
    int waiting;      /* legs of systems and edges whose next pilot is missing, or has not ended */
};

/* Reads the file: `names` alone, or all that would be submitted, checked; of it what --only, --skip and --leg choose.
 * EXIT_OK, or an exit code after the worker said what is wrong. */
int campaign_open(struct campaign_view *k, const struct client *c, const char *file, bool names);
/* The same once more, of an open one, with windows as k->ladders has them. */
int campaign_reopen(struct campaign_view *k, const struct client *c);
/* What the service has of it, of the caller's own; without a service what the shares of c's division have said. */
int campaign_look(struct campaign_view *k, const struct client *c, struct err *e);
void campaign_close(struct campaign_view *k);
/* The service's ensemble of a planned one; NULL: there is none. */
const json_t *campaign_present(const struct campaign_view *k, const json_t *planned);
/* It was submitted, and is something else now. */
bool campaign_differs(const struct campaign_view *k, const json_t *planned);
/* c, choosing the ensembles whose label `kind`, campaign or pilot, is the campaign's name, and nothing else; `label`
 * is kept by the caller. */
struct client campaign_choice(const struct campaign_view *k, const struct client *c, const char *kind,
                              struct buf *label);

/* Whether --only, --skip or --leg are given. */
bool campaign_is_part(const struct client *c);
/* Leaves those that they choose in the plan of an open campaign. ERR_USAGE: a word that names nothing, or nothing
 * is left. */
int campaign_choose(struct campaign_view *k, const struct client *c, struct err *e);

#endif
