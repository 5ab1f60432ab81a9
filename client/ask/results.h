/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of one ensemble, as the service has them.
 */
#ifndef SHOAL_CLIENT_ASK_RESULTS_H
#define SHOAL_CLIENT_ASK_RESULTS_H

#include "client/command/client.h"

/* Gets results.json as a new reference, or NULL; *text (may be NULL) is its bytes. `live`: what can be said of an
 * ensemble that has not ended. */
json_t *results_get(const struct client *c, const char *id, bool live, struct buf *text, struct err *e);
/* The revision that results are of, where it is one before the ensemble's: windows were added, and some have no samples
 * yet. Else 0. */
long long results_earlier(const json_t *ensemble, const json_t *results);
/* The exit code of an ensemble that ended like this with these results. */
int results_exit(const char *state, const json_t *results);

#endif
