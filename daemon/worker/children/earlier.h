/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble came to before windows were added.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_EARLIER_H
#define SHOAL_DAEMON_WORKER_CHILDREN_EARLIER_H

#include "daemon/worker/children/description.h"

/* Replaces results so far that have no free energy, because windows that were added have no samples yet, by the results
 * of the revision before, which have one. Without such results `json` stays as it is. */
void earlier_results(const struct estimate_request *q, struct buf *json);

#endif
