/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the windows of an ensemble belong, by what its pilot sampled.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_PLACING_H
#define SHOAL_DAEMON_WORKER_CHILDREN_PLACING_H

#include "daemon/worker/children/description.h"

/* In place of *json, results of the pilot that the description is of: {"spec": its text with the windows that were
 * placed, "grown": by so many bytes, "facts": of that spec (daemon/spec/facts.h), "message": a sentence}.
 * ERR_ESTIMATE: there are none; *json is as it was. */
int placing_answer(const struct estimate_request *q, struct buf *json, struct err *e);

#endif
