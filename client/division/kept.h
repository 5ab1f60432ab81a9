/* SPDX-License-Identifier: Apache-2.0
 *
 * What a share says of itself in its folder, for commands that read the folder without a service:
 *
 *   status.json        {"state", "process", "host", "job", "said": seconds since 1970, "ensembles": as the service
 *                      lists them}
 *   results/KEY.json   results of one ensemble, as the service gives them: of one that has not ended from time to time
 *   results/KEY.yaml   the spec that it was submitted with
 */
#ifndef SHOAL_CLIENT_DIVISION_KEPT_H
#define SHOAL_CLIENT_DIVISION_KEPT_H

#include "client/command/client.h"

/* What a share has written. */
struct keeper {
    json_t *results, *specs; /* key -> how far it was when these were kept */
    double said;             /* clock_now() of the last status.json */
};
void keeper_open(struct keeper *k);
/* After a look at c's service: results of those that have ended since, or have got a tenth further; status.json where
 * that is due. `present`: key -> ensemble. What cannot be written is said, and tried again at the next look. */
void keeper_look(struct keeper *k, const struct client *c, const json_t *present);
/* At the share's end, with its exit code; present NULL: it never looked. */
void keeper_close(struct keeper *k, const struct client *c, const json_t *present, int code);

/* What a share is, by its status.json. */
enum share_state { SHARE_NEW, SHARE_WORKS, SHARE_SILENT, SHARE_STOPPED, SHARE_REFUSED, SHARE_FAILED, SHARE_DONE };
const char *kept_word(enum share_state state);
/* A share that has not said for five minutes that it works is silent. */
enum share_state kept_state(const json_t *status);
/* status.json of one share, a new reference; NULL: it has said nothing yet. */
json_t *kept_status(const char *folder, int64_t share);
/* Adds what all shares of DIR have said to `present`: key -> ensemble, each with its "share". */
int kept_look(json_t *present, const char *folder, struct err *e);
/* Appends results/KEY.json or .yaml of an ensemble that kept_look found. ERR_IO: it is not there. */
int kept_file(struct buf *text, const char *folder, const json_t *ensemble, const char *end, struct err *e);
/* How many shares of DIR there are in each state; says which have failed, were refused or are silent. */
void kept_say(const struct client *c, const char *file);

#endif
