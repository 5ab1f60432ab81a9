/* SPDX-License-Identifier: Apache-2.0
 *
 * What is alike in observables over lags of time (msd, vacf): sizes, checks, tables, and the curve that comes out.
 */
#ifndef SHOAL_ENGINE_OBSERVE_LAGS_H
#define SHOAL_ENGINE_OBSERVE_LAGS_H

#include "engine/observe/observe.h"

#define CM2_S 1e-2 /* nm^2/ps in cm^2/s */

struct observe_size lags_size(const struct observable *o);
int lags_check(const struct observable *o, const struct system *sys, struct err *e);
const void *lags_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);

/* Means over particles and origins, lag after lag from 0. lags_close frees. */
struct lag_curve {
    uint32_t lags;        /* up to the first without an origin */
    int64_t *origins;     /* [lags] */
    double *mean, *error; /* [lags] */
    double edge;          /* nm, mean */
    int blocks;           /* that errors are from: joined until they are as long as the longest lag that counts */
    double *of_block;     /* [blocks][lags] means; NAN where there is no origin */
};

struct lag_curve lags_curve(const struct observe_result *r);
/* Its errors, of blocks longer than `longest` (ps). */
void lags_errors(const struct observe_result *r, double longest, struct lag_curve *c);
void lags_close(struct lag_curve *c);
/* The array "origins" of an open JSON object. */
void lags_origins(const struct lag_curve *c, struct writer *w);

#endif
