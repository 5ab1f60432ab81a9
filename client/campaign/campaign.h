/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done with campaigns.
 */
#ifndef SHOAL_CLIENT_CAMPAIGN_CAMPAIGN_H
#define SHOAL_CLIENT_CAMPAIGN_CAMPAIGN_H

#include "client/campaign/model/model.h"

/* Where the campaign says `ladder`: asks the service what pilots came to, and reopens it with windows for all that is
 * known. Legs that get none are noted, and keep no other from going on. */
int campaign_place(struct campaign_view *k, const struct client *c, struct err *e);
/* The exit code that such legs ask for; say: why they get none is said once more. */
int campaign_unplaced(const struct campaign_view *k, bool say);
/* Runs pilots until all windows are placed, and leaves the campaign open with its ladders: no repeat is submitted.
 * Returns the exit code, after saying why not. */
int campaign_prove(struct campaign_view *k, struct client *c, const char *file);
/* gaps.c: how many ensembles got windows where they had gaps, all of them having ended. */
int campaign_grow(const struct campaign_view *k, const struct client *c, struct err *e);
/* The windows that repeats with these results are to have, [{component: lambda}], a new reference: those that any of
 * them has, and one in the middle of each step whose neighbours overlap less than results need. */
json_t *campaign_gap_windows(json_t *const *results, int n);
/* Says which windows were chosen, and by which pilot. */
void campaign_say_ladders(const struct campaign_view *k, const struct client *c);
/* Opens it, and hands over what the service does not have yet; *answer (a new reference) says how many those are,
 * NULL: nothing was tried. Warnings that are keys of `said` are not said again, and others become keys; NULL: all
 * are said. EXIT_OK: the service has all of it as planned; else an exit code, after saying why not. */
int campaign_send(struct campaign_view *k, struct client *c, const char *file, json_t *said, json_t **answer);

/* differ.c: the texts of planned files, {name: text}, a new reference. One that cannot be read is left out. */
json_t *campaign_read_files(const json_t *paths, struct err *e);
/* Says of ensembles that were submitted with other content what differs first. Returns how many those are. */
int campaign_say_differences(const struct client *c, const struct campaign_view *k);

/* Has pilots place the windows of a spec, and shows them. Returns the exit code. */
int ladder_of_spec(struct client *c, const char *file);
/* Whether a word is the file of a campaign or a spec, not an ensemble. */
bool campaign_is_file(const char *word);

/* What can be done with one; exit codes. */
int campaign_plan(struct client *c, const char *file);
int campaign_submit(struct client *c, const char *file);
int campaign_status(struct client *c, const char *file);
/* The table of campaign status, of what was seen at the last look. */
void campaign_status_print(const struct client *c, const struct campaign_view *k);
int campaign_run(struct client *c, const char *file);
/* slurm.c: prints or submits the script that runs a campaign in shares; nwords words are for sbatch. */
int campaign_slurm(struct client *c, const char *file, int nwords, char **words);
/* Shares of c's division stop and do not begin again; those that wait in a queue of Slurm are taken out of it. */
int campaign_cancel_shares(struct client *c);

#endif
