/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of ensembles.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_LIST_H
#define SHOAL_CLIENT_ENSEMBLES_LIST_H

#include "client/command/client.h"

/* The first row of the table of ensembles, and one row of it. */
void ensembles_put(const struct client *c, const json_t *ensembles, struct table *t);
/* A cell with the name of an ensemble's owner. */
void ensembles_owner(struct table *t, const json_t *ensemble);

#endif
