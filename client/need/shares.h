/* SPDX-License-Identifier: Apache-2.0
 *
 * Production of several ensembles handed out by need. Of `extend --by-need`: as much as --time would add to all of them
 * goes where it cuts the sum of their squared errors most, a quarter of it to every one. An ensemble's squared error
 * goes as one over its time; time costs as many replicas as make it.
 */
#ifndef SHOAL_CLIENT_NEED_SHARES_H
#define SHOAL_CLIENT_NEED_SHARES_H

#include "client/command/client.h"

/* What is to be added to each of the chosen, by "id": the "time" as the service reads it, of which the nearest whole
 * number of the ensemble's timesteps is meant, and the "revision" that it has. Failed and cancelled ones are left out,
 * and said on stderr. A new reference, or NULL: ERR_USAGE for a --time without its unit, ERR_CONFLICT where all are
 * left out. */
json_t *shares_find(const struct client *c, const json_t *chosen, struct err *e);

/* One of the ensembles. */
struct shares_part {
    int replicas;
    double made,
        grain;     /* ns of production that each replica is to make on average, so far; the least that can be added */
    double square; /* its error, squared; NAN: not known */
    double rows;   /* uncorrelated ones of the window that has the fewest; 0: not known */
    bool takes;    /* it may get more */
    double target; /* out: ns of each replica, no less than made */
};

/* Hands out as much as `time` ns more would be of each that takes some: those of unknown error get just that. */
void shares_more(struct shares_part *p, int n, double time);

/* A campaign's budget of production, all replicas together: ns. */
struct shares_budget {
    double time, first; /* first: what is made of it in any case */
    int rounds;         /* equal parts in which the rest is handed out */
};

/* Hands out the next round: up to the next multiple of a round's part that targets so far lie below, by a timestep of
 * somebody at least. So a round is a function of targets and samples alone, and one of which only a part was carried
 * out is followed by what is left of it. Where the error is not known, an even part of the round; else as allocate has
 * it (engine/base/statistics/allocate.h), floors included. Returns its number, from 1; 0: the budget is spent, or none
 * takes any. */
int shares_round(struct shares_part *p, int n, const struct shares_budget *budget);

/* As much production as made[n] of all parts of an answer, whose errors squared are square[n], handed out by need from
 * the start, as allocate: adaptive would: the sum of the squares then, as a part of that now. Any units. */
double shares_gain(int n, double *square, const double *made);

#endif
