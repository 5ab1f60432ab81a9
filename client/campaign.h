/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns: what their file stands for (shoal-worker reads it) beside what the service has of it.
 */
#ifndef SHOAL_CLIENT_CAMPAIGN_H
#define SHOAL_CLIENT_CAMPAIGN_H

#include "client/client.h"

struct campaign {
    const char *file;
    json_t *plan;    /* what shoal-worker campaign printed */
    json_t *present; /* key -> ensemble of the service; NULL: it was not asked */
};

/* Reads the file: `names` alone, or all that would be submitted, checked; of it what --only, --skip and --leg choose. EXIT_OK, or an exit code after the worker said what is wrong. */
int campaign_open(struct campaign *k, const struct client *c, const char *file, bool names);
/* What the service has of it, of the caller's own. */
int campaign_look(struct campaign *k, const struct client *c, struct err *e);
void campaign_close(struct campaign *k);
/* The service's ensemble of a planned one; NULL: there is none. */
const json_t *campaign_present(const struct campaign *k, const json_t *planned);
/* It was submitted, and is something else now. */
bool campaign_differs(const struct campaign *k, const json_t *planned);
/* c, choosing the ensembles of the campaign's name and nothing else; `label` is kept by the caller. */
struct client campaign_choice(const struct campaign *k, const struct client *c, struct buf *label);

/* Whether --only, --skip or --leg are given. */
bool campaign_is_part(const struct client *c);
/* Leaves those that they choose in the plan of an open campaign. ERR_USAGE: a word that stands for nothing, or nothing is left. */
int campaign_choose(struct campaign *k, const struct client *c, struct err *e);

/* Opens it, and hands over what the service does not have yet; *answer (a new reference) says how many those are, NULL: nothing was
 * tried. EXIT_OK: the service has all of it as planned; else an exit code, after saying why not. */
int campaign_send(struct campaign *k, struct client *c, const char *file, json_t **answer);

/* What can be done with one; exit codes. */
int campaign_plan(struct client *c, const char *file);
int campaign_submit(struct client *c, const char *file);
int campaign_status(struct client *c, const char *file);
/* The table of campaign status, of what was seen at the last look. */
void campaign_status_show(const struct client *c, const struct campaign *k);
int campaign_run(struct client *c, const char *file);
int campaign_gather(struct client *c, const char *file);
int campaign_report(struct client *c, const char *file); /* the page that gather writes, by itself */

#endif
