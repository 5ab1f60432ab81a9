/* SPDX-License-Identifier: Apache-2.0
 *
 * Which part of a campaign's plan (units.h) each share gets: a pure function of the plan and the number of shares.
 */
#ifndef SHOAL_CLIENT_DIVISION_DIVIDE_H
#define SHOAL_CLIENT_DIVISION_DIVIDE_H

#include <jansson.h>
#include <stdint.h>

enum { SHARES_MOST = 1000 }; /* tasks that an array of Slurm may have unless a site allows more */

/* Hands n ensembles of these costs to `shares` shares: the longest first, each to the share that has least so far.
 * share[n] gets the share of each, from 0. Equal costs keep their order, and equal shares are filled in theirs. */
void divide(const double *cost, int n, int64_t shares, int64_t *share);
/* What one planned ensemble costs: atoms of all its replicas times timesteps. */
double divide_cost(const json_t *planned);
/* In how many shares a plan is divided where nobody says: as many as each fill a GPU, 48 replicas of 5,000 atoms. */
int64_t divide_count(const json_t *units);

#endif
