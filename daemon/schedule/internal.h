/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the scheduler: sched.c takes events and knows ensembles, sets.c moves sets in and out of slots, pack.c chooses.
 */
#ifndef SHOAL_DAEMON_SCHEDULE_INTERNAL_H
#define SHOAL_DAEMON_SCHEDULE_INTERNAL_H

#include "daemon/schedule/sched.h"

/* One step's arguments, handed down. */
struct step {
    struct sched *s;
    int64_t now;
    struct decisions *out;
};

void decide(struct step *st, struct decision d);
void move_ensemble(struct step *st, struct ensemble *e, enum ensemble_state to);
void move_replica(struct step *st, struct sched_replica *r, enum replica_state to);
/* Has the ensemble's input folder written, unless that is under way. */
void prepare(struct step *st, struct ensemble *e);
/* An ensemble whose replicas have all ended is finishing. */
void finish_if_ended(struct step *st, struct ensemble *e);

/* ---- sets.c ---- */
/* Gives free slots to whose turn it is. */
void fill_slots(struct step *st);
/* Asks a running set to checkpoint and leave. */
void stop_set(struct step *st, struct sched_set *set);
/* Out of its slots without having ended: where it waits depends on what its owner wants. */
void release_set(struct step *st, struct sched_set *set);
/* What a worker says of a replica. */
int on_replica(struct step *st, const struct sched_event *ev, struct err *err);
void on_worker_down(struct step *st, const struct sched_event *ev);

/* ---- pack.c ---- */
/* The set that the free slots of `worker` should go to, NULL: none now. */
struct sched_set *pack_next(const struct sched *s, int worker, int64_t now);
/* Whether a running set that has just checkpointed should make room for another. */
bool pack_should_yield(const struct sched *s, const struct sched_set *set, int64_t now);
/* The worker with the most free slots among those not in `skip` (bit per worker), -1: none. */
int pack_worker(const struct sched *s, uint64_t skip);

#endif
