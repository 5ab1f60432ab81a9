/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows count, and whether a number can be believed.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_TRUST_TRUST_H
#define SHOAL_ENGINE_ESTIMATE_TRUST_TRUST_H

#include "engine/estimate/estimators/bar.h"
#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/result/result.h"

/* discard.c: leaves out of `s` the rows at the start of windows that drift, where that matters. */
void result_discard(struct result *r, struct sampling *s);

/* foreign.c: `foreign` of all windows. */
void result_foreign(struct result *r, const struct sampling *s, const struct mbar *m);

/* no_change.c: r->changes; whether lambda moves between two windows and energies nowhere do, which the spec does not
 * allow; a warning of each leg that is so, where the total is not. */
void result_find_changes(struct result *r, const struct sampling *s);
bool result_no_change(const struct result *r, int from, int to);
void result_warn_no_change(struct result *r);

/* judge.c: judges every number of one repeat; a number that failed loses its value. Solutions are NULL where an
 * estimator has none. */
struct solutions {
    const struct solution *of[ESTIMATORS];
    const struct bar *bar;
};
void result_judge(struct result *r, const struct solutions *x);

#endif
