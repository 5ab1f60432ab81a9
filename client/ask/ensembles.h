/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ensembles a command is about.
 */
#ifndef SHOAL_CLIENT_ASK_ENSEMBLES_H
#define SHOAL_CLIENT_ASK_ENSEMBLES_H

#include "client/command/client.h"

/* The caller's ensembles, or as --owner and --all-users say, in the way of --state, --label and --limit, newest first:
 * an array as a new reference, or NULL. */
json_t *ensembles_get(const struct client *c, struct err *e);
/* What a command that takes several is about: one object with an "id" for each word, or those that the options --all,
 * --state, --label and --older-than choose, of one's own unless --owner or --all-users is given, and in one of the
 * states (comma-separated) unless --state names another. A new reference. */
json_t *ensembles_chosen(const struct client *c, int argc, char **argv, const char *states, struct err *e);
bool ensemble_ended(const char *state);

#endif
