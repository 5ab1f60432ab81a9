/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas run through the runner over the simulation that is a hash (fake_sim.h). For cmocka tests.
 */
#ifndef SHOAL_TESTS_UNIT_REPLICA_PLAY_H
#define SHOAL_TESTS_UNIT_REPLICA_PLAY_H

#include "daemon/worker/replica/replica.h"
#include "tests/unit/fake_sim.h"

#define FILES FAKE_FILES
#define ENSEMBLE 77
#define PROTOCOL_STAGES 5

extern struct stage protocol[PROTOCOL_STAGES];
extern uint32_t asked_salt;
extern uint64_t asked_target;
extern int asked_doublings; /* of later switches, of every replica */

/* What was heard of one replica. */
struct told {
    struct replica *replica;
    enum report_kind end;
    int progress, segments, events, ends, begun; /* begun: that production has */
    uint64_t step, steps, index;
    enum err_code code;
    char message[1000], last_event[1100];
    uint32_t salt;        /* asked for */
    uint64_t target;      /* asked for; 0: the spec's */
    int stop_after_calls; /* into the simulation; 0: never */
};

/* The fake simulation in a folder of its own; tear_down removes it. */
int set_up(void **state);
int tear_down(void **state);
/* Runs n replicas, of windows 0, 1, ..., through the runner until all have ended. */
void run_replicas(struct told *told, int n);
/* Window 0 alone, with asked_salt and asked_target. */
struct told run(void);
/* Compares window 0's files with those of an undisturbed run, then empties the directory. */
void expect_files(struct buf wanted[FILES]);
/* Runs window 0 to its end and empties the folder: its files, to be freed with fake_files_free. */
void undisturbed(struct buf wanted[FILES]);

#endif
