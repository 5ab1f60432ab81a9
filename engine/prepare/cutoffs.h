/* SPDX-License-Identifier: Apache-2.0
 *
 * Cut-offs and switches that pairs can be computed with, on any device.
 */
#ifndef SHOAL_ENGINE_PREPARE_CUTOFFS_H
#define SHOAL_ENGINE_PREPARE_CUTOFFS_H

#include "engine/base/err.h"
#include "engine/system/settings.h"

/* limit: the cut-off, nm, from which on it is too long; `where` that is, for the message: "in this box". ERR_SPEC. */
int cutoffs_check(const struct nonbonded_settings *set, double limit, const char *where, struct err *e);

#endif
