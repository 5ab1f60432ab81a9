/* SPDX-License-Identifier: Apache-2.0
 *
 * Gangs: timesteps of tiny systems, of many replicas in one launch. A replica that wants steps waits until
 * engine_flush(); then all that wait, of whatever models, go together, a block each. What a block is to do is its row
 * of a table in mapped memory: the memory and the tables of one replica, and how many steps. A block ends by writing
 * the report of its replica. There are fewer hardware queues than replicas, and a gang keeps few of them busy. The
 * results of a replica do not depend on which others are in the launch.
 *
 * Checked instead of a recorder's tape and graph, each time: a row against the row before (only the number of steps may
 * differ, until memory has moved), its pointers against the replica's memory, and what the block says that it has read
 * against what was written for it; the launch itself against the one before (but for its shape), its pointers against
 * the table. As often as a recorder has replays heard, and for a member's first launch, what the device ran is heard
 * (graphs/echo.h) and compared: what is wrong with that fails those who were in it.
 *
 * A gang belongs to a device; it is made with the first replica that needs it and freed with the last one.
 */
#ifndef SHOAL_ENGINE_RUN_GANG_H
#define SHOAL_ENGINE_RUN_GANG_H

#include <stdalign.h>

#include "engine/base/sm.h"
#include "engine/run/sim.h"
#include "graphs/check.h"

/* Of a launch. */
struct gang_shape {
    uint32_t count;        /* rows */
    uint32_t shared_bytes; /* the most that one of them needs */
    bool crowded;          /* the device has fewer multiprocessors than the gang has members */
};

/* What a program brings. */
struct gang_kind {
    struct row_kind row;
    /* Fills in a zeroed row. */
    void (*fill)(const struct sim *s, uint32_t steps, void *row);
    uint32_t (*shared_bytes)(const struct sim *s); /* of shared memory that its block needs */
    /* One launch with a block for each row. Each block copies its row to `heard`. */
    void (*emit)(const void *rows, void *heard, const struct gang_shape *shape, struct tape *t);
};

enum { GANG_ROW_BYTES = 256 }; /* at most */

struct gang_slot;

/* Where a member is:
 *
 *   out --join--> resting --wants steps--> waiting --engine_flush()--> launched --it has ended--> resting
 *   resting, waiting --leave--> out
 */
enum member_state { MEMBER_OUT, MEMBER_RESTING, MEMBER_WAITING, MEMBER_LAUNCHED };

/* Whether launches that it is in are heard:
 *
 *   due --a launch is heard--> awaited --what came of it is known--> quiet --its turn, or a check, or an epoch--> due
 *   awaited --the same--> awaited, due --what came of it is known--> due
 */
enum member_echo { ECHO_DUE, ECHO_AWAITED, ECHO_AWAITED_DUE, ECHO_QUIET };

extern const struct sm_kind gang_member_states, gang_echo_states;

/* A replica's place in its gang. Zeroed: not a member, and it never was. */
struct gang_member {
    struct gang *gang;          /* NULL: out */
    struct sm sm;               /* enum member_state */
    struct sm echo;             /* enum member_echo */
    struct sim *next;           /* waiting: who waits behind it; launched: who is behind it in the launch */
    uint32_t steps;             /* that it waits for, or did last */
    struct gang_slot *slot;     /* of the launch that it is in; NULL: not launched */
    const void *heard;          /* what its block has read there, to be compared; host address */
    struct gang_slot *heard_in; /* awaited: of the launch that was heard; else NULL */
    uint64_t heard_at;          /* the replica's clock then */
    uint32_t shared_bytes;      /* as gang_kind says, of the last launch */
    bool live;                  /* `row` holds the row of the last launch, of this epoch */
    bool behind_lane;           /* its next launch comes after what was submitted to the replica's own lane */
    alignas(8) unsigned char row[GANG_ROW_BYTES];
};

/* Of a replica whose model's program has gangs. After a failure it is no member. */
int gang_join(struct sim *s, struct err *e);
/* Waits for the launch it is in, if any. */
void gang_leave(struct sim *s);
/* It wants `steps` timesteps with the next engine_flush(), and the watch of its ticket. ERR_DRIFT. */
int gang_want(struct sim *s, uint32_t steps, struct err *e);
/* When its launch has ended: ERR_DRIFT if its block has read something else, or a launch that it was in was not what
 * was submitted. */
int gang_listen(struct sim *s, struct err *e);
/* The same, and the last row is what would be written now; waits for a launch that was heard. Its next launch is heard.
 */
int gang_check(struct sim *s, struct err *e);
/* Lanes of launches: a member's own has nothing to do meanwhile. */
uint32_t gang_lanes(const struct dev *dev);
/* Its memory has moved: the next row may differ. */
void gang_epoch(struct sim *s);

#endif
