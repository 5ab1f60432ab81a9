/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign divided into shares, in a folder that all machines see:
 *
 *   DIR/plan.json
 *            the campaign's file as it was, which ensemble is in which share, and each share's budget; written once
 *   DIR/share-007/
 *            all that one share has, as campaign run --here keeps it (programs/here.h), and what it says of itself:
 *            status.json, results/KEY.json, results/KEY.yaml (kept.h)
 *   DIR/cancelled
 *            is there: shares stop, and none begins
 *   DIR/slurm.sh, DIR/log/
 *            the script of campaign slurm, and what its tasks print
 *
 * 1. Every share is as if it were alone: shares read plan.json, and nothing of each other.
 * 2. plan.json never changes. A share with another file, or another number of shares, is refused.
 * 3. Files are old or new, never half: status and results can be read on any machine while shares run.
 */
#ifndef SHOAL_CLIENT_DIVISION_DIVISION_H
#define SHOAL_CLIENT_DIVISION_DIVISION_H

#include "client/command/client.h"

/* Whether the folder is that of a divided campaign. */
bool division_is(const char *folder);
/* Appends DIR/share-007. */
void division_share(struct buf *out, const char *folder, int64_t share);
/* ERR_CONFLICT: the campaign was cancelled. */
int division_cancelled(const char *folder, struct err *e);
/* From here on it is. */
int division_cancel(const char *folder, struct err *e);

/* plan_file.c */
/* plan.json of c's division as a new reference, beside the campaign's plan: written first where there is none and
 * `writes`. shares 0: as it says, else as many as fill a GPU each. NULL: ERR_CONFLICT, with what differs first: the
 * file, or an ensemble; ERR_USAGE: another number of shares, or more of them than the campaign has parts. */
json_t *division_plan(const struct client *c, const char *file, const json_t *plan, int64_t shares, bool writes,
                      struct err *e);
/* Leaves the ensembles of c's share in the plan of the campaign's file, and of its budget that share's part. Errors as
 * of division_plan. */
int division_choose(const struct client *c, const char *file, json_t *plan, struct err *e);
/* plan.json, a new reference, or NULL. */
json_t *division_read(const char *folder, struct err *e);

/* enter.c */
/* Before c's folder has a service: where a share is meant, c's folder becomes that of the share, whose path is kept in
 * `folder`. ERR_USAGE: the folder is divided in another number of shares, or is not divided, or is and no share is
 * meant. ERR_CONFLICT: the campaign was cancelled. */
int division_enter(struct client *c, struct buf *folder, struct err *e);

#endif
