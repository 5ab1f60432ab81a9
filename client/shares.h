/* SPDX-License-Identifier: Apache-2.0
 *
 * Production of several ensembles handed out by need: as much as --time would add to all of them goes where it cuts the sum of their
 * squared errors most, a quarter of it to every one. An ensemble's squared error goes as one over its time; time costs as many
 * replicas as make it.
 */
#ifndef SHOAL_CLIENT_SHARES_H
#define SHOAL_CLIENT_SHARES_H

#include "client/client.h"

/* What is to be added to each of the chosen, by "id": a time as the service reads it. A new reference, or NULL: ERR_USAGE for a
 * --time without its unit, ERR_CONFLICT or ERR_BUSY where one has no free energy. */
json_t *shares_find(const struct client *c, const json_t *chosen, struct err *e);

/* As much production as made[n] of all parts of an answer, whose errors squared are square[n], handed out by need from the start, as
 * allocate: adaptive would: the sum of the squares then, as a part of that now. Any units. */
double shares_gain(int n, double *square, const double *made);

#endif
