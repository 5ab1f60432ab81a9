/* SPDX-License-Identifier: Apache-2.0
 *
 * What each window has of an ensemble's production, and of the square of its error, as the windows of results.json have
 * it.
 */
#ifndef SHOAL_CLIENT_NEED_WINDOW_SHARES_H
#define SHOAL_CLIENT_NEED_WINDOW_SHARES_H

#include "client/command/client.h"

/* A window of a repeat; NAN: not known. */
struct window_share {
    int window;
    double ns;    /* of production */
    double time;  /* of its repeat's production: 1 is an even share; NAN: it has none, and no part in what is shared */
    double error; /* of the variance of its repeat: 0 to 1 */
    double freedom; /* degrees of it that `error` is known with */
};

/* [n], in the order of the results; for the caller to free. */
struct window_share *window_shares(const json_t *results, int *n);
/* The same, [n], with the means of repeats in place of each: one per window, in order. ns is that of one repeat. */
struct window_share *window_shares_mean(const json_t *results, int *n);

#endif
