/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble's rows of the database as the head of an archive has them (daemon/archive/archive.h), and back.
 */
#ifndef SHOAL_DAEMON_API_TRANSFER_DESCRIBED_H
#define SHOAL_DAEMON_API_TRANSFER_DESCRIBED_H

#include <jansson.h>

#include "daemon/schedule/ensemble.h"

#define DESCRIBED_EVENTS 20000 /* the newest of an ensemble; at most */

/* The head without "files" and "events": a new reference. The ensemble is still (sched_check_still). */
json_t *described_head(const struct ensemble *en);
/* Gives an ensemble, made of the spec in the archive, the states and counts of the head, which anybody may have
 * written. ERR_ARCHIVE: they are none that an ensemble of this spec can have; it is to be freed then. */
int described_take(struct ensemble *en, const json_t *head, struct err *e);
/* Events of the head, checked as far as they are stored: an array of {time, kind, window and repeat or null, state or
 * null, message or null}, borrowed. */
int described_events(const struct ensemble *en, const json_t *head, const json_t **events, struct err *e);

#endif
