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
    json_t *present; /* key -> ensemble of the service, pilots too; NULL: it was not asked */
    json_t *ladders; /* LEG/ITEM -> what is known of its windows (campaign_ladder.c); NULL: nothing */
    int waiting;     /* legs of systems and edges whose next pilot is missing, or has not ended */
};

/* Reads the file: `names` alone, or all that would be submitted, checked; of it what --only, --skip and --leg choose. EXIT_OK, or an exit code after the worker said what is wrong. */
int campaign_open(struct campaign *k, const struct client *c, const char *file, bool names);
/* The same once more, of an open one, with windows as k->ladders has them. */
int campaign_reopen(struct campaign *k, const struct client *c);
/* Where the campaign says `ladder`: asks the service what pilots came to, and reopens it with windows for all that is
 * known. */
int campaign_place(struct campaign *k, const struct client *c, struct err *e);
/* Runs pilots until all windows are placed, and leaves the campaign open with its ladders: no repeat is submitted.
 * Returns the exit code, after saying why not. */
int campaign_prove(struct campaign *k, struct client *c, const char *file);
/* campaign_gaps.c: how many ensembles got windows where they had gaps, all of them having ended. */
int campaign_grow(const struct campaign *k, const struct client *c, struct err *e);
/* The windows that repeats with these results are to have, [{component: lambda}], a new reference: those that any of
 * them has, and one in the middle of each step whose neighbours overlap less than results need. */
json_t *campaign_gap_windows(json_t *const *results, int n);
/* Says which windows were chosen, and by which pilot. */
void campaign_say_ladders(const struct campaign *k, const struct client *c);
/* What the service has of it, of the caller's own. */
int campaign_look(struct campaign *k, const struct client *c, struct err *e);
void campaign_close(struct campaign *k);
/* The service's ensemble of a planned one; NULL: there is none. */
const json_t *campaign_present(const struct campaign *k, const json_t *planned);
/* It was submitted, and is something else now. */
bool campaign_differs(const struct campaign *k, const json_t *planned);
/* c, choosing the ensembles whose label `kind`, campaign or pilot, is the campaign's name, and nothing else; `label`
 * is kept by the caller. */
struct client campaign_choice(const struct campaign *k, const struct client *c, const char *kind, struct buf *label);

/* Whether --only, --skip or --leg are given. */
bool campaign_is_part(const struct client *c);
/* Leaves those that they choose in the plan of an open campaign. ERR_USAGE: a word that stands for nothing, or nothing is left. */
int campaign_choose(struct campaign *k, const struct client *c, struct err *e);

/* Opens it, and hands over what the service does not have yet; *answer (a new reference) says how many those are, NULL: nothing was
 * tried. Warnings that are keys of `said` are not said again, and others become keys; NULL: all are said. EXIT_OK: the service has all of it as planned; else an exit code, after saying why not. */
int campaign_send(struct campaign *k, struct client *c, const char *file, json_t *said, json_t **answer);

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
