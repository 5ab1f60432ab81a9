/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a campaign is in one share as a whole. Where the campaign places windows (`ladder`) that is a leg of a system
 * or an edge, with its pilots and all of its repeats, which have one ladder. Else it is an ensemble.
 */
#ifndef SHOAL_CLIENT_DIVISION_UNITS_H
#define SHOAL_CLIENT_DIVISION_UNITS_H

#include "engine/base/buf.h"

#include <jansson.h>

/* The units of a plan, in its order, as a new reference: [{"key", "hash", "atoms", "replicas", "ns", "production"}], as
 * of a planned ensemble; key and no more of a plan that has names alone. */
json_t *units_of(const json_t *plan);
/* Appends the key of the unit that a planned ensemble, or its pilot, is in: "water/a_b", or its own. */
void units_key(struct buf *out, const json_t *plan, const json_t *planned);
/* What each share gets of the campaign's budget, ns, as a new reference: the part that its units' production by their
 * specs is of that of all. share[i]: of unit i. All together are the budget. */
json_t *units_budgets(const json_t *plan, const json_t *units, const int64_t *share, int64_t shares);

#endif
