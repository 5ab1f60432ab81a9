/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays the scheduler's surroundings: hands it events and keeps what it decides. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_SCHED_PLAY_H
#define SHOAL_TESTS_LIB_SCHED_PLAY_H

#include "daemon/schedule/internal.h"

#define PLAY_STEPS 100    /* of every replica */
#define PLAY_TELLS_MS 100 /* between two words of a replica, by play_run */

struct play {
    struct sched s;
    struct decisions d; /* of the last event */
    int64_t now;
    struct err err;    /* of the last event */
    int starts, stops; /* decided so far */
    int64_t start_ms;  /* a replica that play_run runs makes its first step so long after its start */
};

void play_begin(struct play *p, int workers);
void play_end(struct play *p);
/* An ensemble of so many windows, each a set of its own. */
struct ensemble *play_ensemble(uint32_t owner, int windows, int retries);
/* Production by need: an even share of 80 steps after 20; replicas begin with a quarter of it. */
void play_by_need(struct ensemble *e);
int play_feed(struct play *p, struct sched_event ev);
/* How many decisions of a kind the last event led to. */
int play_count(const struct play *p, enum decision_kind kind);
void play_up(struct play *p, int worker, int slots, const char *model);
void play_down(struct play *p, int worker, const char *message);
/* Submits it, and its folder is ready. */
void play_add(struct play *p, struct ensemble *e);
/* Its replicas never end. */
void play_endless(struct ensemble *e);
/* Adds an ensemble of such replicas. */
struct ensemble *play_add_endless(struct play *p, uint32_t owner, int windows);
/* The administrator ann, because of the fan. */
int play_drain(struct play *p, int worker);
void play_undrain(struct play *p, int worker);
/* What a worker says of a replica: a segment is ten steps further than its last. */
int play_about(struct play *p, enum sched_kind kind, const struct sched_replica *r);
int play_failed(struct play *p, const struct sched_replica *r, int code, int64_t step);
int play_wish(struct play *p, enum sched_kind kind, struct ensemble *e);
/* Why one replica waits. */
void play_explain(const struct play *p, const struct sched_replica *r, struct sched_wait *out);
/* Lets time pass until `now`, with a tick whenever the scheduler asked for one. Stops are obeyed at once, with a
 * checkpoint `further` steps on. */
void play_until(struct play *p, int64_t now, int64_t further);
/* Time passes until `end`: a replica in a slot makes a step each ms and tells of it, has a checkpoint when it leaves,
 * and is done at its target. */
void play_run(struct play *p, int64_t end);

#endif
