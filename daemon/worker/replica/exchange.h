/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas that exchange windows, inside one worker. Each coroutine has a window: its folder, its files, its
 * checkpoints; what is exchanged is the simulation that it drives (a lane, an arena, coordinates), whose control block
 * gets the other lambda row. A simulation stays on its device with the model there, so windows of a set may be on
 * several devices of the worker, and come to be on others.
 *
 * 1. An exchange is a meeting: each coroutine comes to it with nothing on the device, and goes on when all have come.
 * Who comes last draws, hands the simulations out, and decides for all whether they make checkpoints now and whether
 * they end with them.
 * 2. Between the first exchange and the last a replica makes a checkpoint only with all others, and none goes on before
 * all have made it; so at the end of a stage in which they exchange, too. So there is always a meeting after which all
 * have one, be it the newest or the previous: from there they start again (exchange_common). Before their first
 * exchange each has its own.
 * 3. Windows that were added to a ladder begin at the beginning. Until the step at which the others stood then
 * (spec->exchange_after) nobody meets; each has checkpoints of its own, and the others wait at the next meeting.
 * 4. When one leaves, the others leave at their next meeting: they are where their newest checkpoints are. Who has
 * failed says why.
 */
#ifndef SHOAL_DAEMON_WORKER_REPLICA_EXCHANGE_H
#define SHOAL_DAEMON_WORKER_REPLICA_EXCHANGE_H

#include <stdint.h>

#include "daemon/worker/threads/co.h"
#include "engine/base/err.h"

struct exchange;
struct replica;

/* Of so many replicas, which join and leave; the last to leave frees it. */
struct exchange *exchange_new(int members);
void exchange_join(struct exchange *x, struct replica *r);
void exchange_leave(struct exchange *x, const struct replica *r);

/* True: it waits in a meeting that is not over. */
bool exchange_waits(const struct replica *r);
/* Whether the replica's ensemble exchanges, and it is here with others. */
bool exchange_on(const struct replica *r);

int exchange_members(const struct replica *r);
/* The window that was window `before` of the ladder of their origins; -1: none of those that are here. */
int exchange_moved(const struct replica *r, uint64_t before);

/* Meetings. REPLICA_STOPPED: somebody has left. */

/* An exchange: r->delta_u is of now. Afterwards r->sim may be another one, and r->agreed tells whether to keep and to
 * stop. */
int CO_FN exchange_meet(struct replica *r, struct err *e);
/* After a checkpoint that all make. */
int CO_FN exchange_kept(struct replica *r, struct err *e);
/* The meeting that all go on from: r->common. offered: how many (timeline_meetings) came before each checkpoint that it
 * has; before the beginning, which all have, there was none. */
int CO_FN exchange_common(struct replica *r, const uint64_t *offered, int n, struct err *e);
/* Where replicas with an origin take up what it sampled: r->origin_at. offered: steps of the checkpoints there; none:
 * the replica has no origin, or that is gone. ERR_CHECKPOINT: there is no step of which all have one. */
int CO_FN exchange_origin(struct replica *r, const uint64_t *offered, int n, struct err *e);
/* Whether one of them has an origin. */
bool exchange_has_origins(const struct replica *r);

#endif
