/* SPDX-License-Identifier: Apache-2.0
 *
 * The health of one device, as two state tables. Is a worker there?
 *
 *   new --hello--> up --killed--> ending --ended--> down --hello--> up
 *    |             up --ended---------------------> down
 *    +--ended without a hello, HEALTH_MISSES times in a row--> lost --hello--> up       (from down likewise)
 *
 * Can what is started there be expected to come to an end?
 *
 *   well --crash--> struck --crashes--> sick --a set starts, after a pause--> probed --checkpoint--> well
 *    ^                |                  ^  |                                    |
 *    +---checkpoint---+                  |  +--checkpoint of what still ran--> well
 *                                        +------- crash (the pause doubles), or the set left without a checkpoint
 *
 * An administrator may drain a device, whatever its health: nothing starts there until it is undrained.
 *
 * A device is sick after HEALTH_STRIKES crashes without a checkpoint between. An event that the table does not allow is
 * a bug and ends the program (engine/base/sm.h).
 */
#ifndef SHOAL_DAEMON_SCHEDULE_HEALTH_DEVICE_HEALTH_H
#define SHOAL_DAEMON_SCHEDULE_HEALTH_DEVICE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/schedule/health/hold.h"
#include "engine/base/sm.h"

#define HEALTH_STRIKES 3 /* crashes in a row that make a device sick */
#define HEALTH_MISSES 5  /* ends in a row without a hello: do not count on that device */

enum device_life {
    LIFE_NEW,    /* never said hello: nobody knows its model */
    LIFE_UP,     /* said hello and has not ended */
    LIFE_ENDING, /* said hello, has not ended, and is being killed */
    LIFE_DOWN,   /* ended; it is started again */
    LIFE_LOST,   /* ended again and again without a hello; it is started again all the same */
};

enum device_trust {
    TRUST_WELL,
    TRUST_STRUCK, /* it crashed, not yet too often */
    TRUST_SICK,   /* put aside; what ran there when it became so may go on */
    TRUST_PROBED, /* sick, and one set is tried there */
};

extern const struct sm_kind device_life_states, device_trust_states;

struct device_health {
    struct sm life;   /* enum device_life */
    struct sm trust;  /* enum device_trust */
    int strikes;      /* crashes in a row, without a checkpoint between */
    int misses;       /* ends in a row without a hello */
    int64_t probe_at; /* sick: put aside until then; the caller's clock, ms */
    char *trouble;    /* how it crashed last, or why it does not come up; NULL: it is well */
    struct hold drained;
};

/* It must not move afterwards. */
void device_health_init(struct device_health *h);
void device_health_close(struct device_health *h);

/* Its worker said hello. Only where health_may_say_hello(). */
void health_hello(struct device_health *h);
bool health_may_say_hello(const struct device_health *h);
/* Its worker, which is up, is being killed. */
void health_ending(struct device_health *h);
/* Its worker ended; in_order: it was told to, or had nothing to do. `message` says how. */
void health_ended(struct device_health *h, bool in_order, const char *message);

/* A crash, or a failure of the device itself. True: it is sick by it. */
bool health_strike(struct device_health *h, int64_t now, const char *message);
/* A checkpoint was made there. */
void health_checkpoint(struct device_health *h);
/* A set starts there. */
void health_set_starts(struct device_health *h);
/* A set that was started there has left. */
void health_set_left(struct device_health *h);

/* An administrator takes it out of use. */
void health_drain(struct device_health *h, const struct hold *by);
/* It is in use again, and what it crashed before is forgotten. */
void health_undrain(struct device_health *h);

/* How long it is put aside after its last crash, ms. */
int64_t health_pause(const struct device_health *h);

/* Whether its worker is there. */
static inline bool health_is_up(const struct device_health *h)
{
    return h->life.state == LIFE_UP || h->life.state == LIFE_ENDING;
}

static inline bool health_is_drained(const struct device_health *h)
{
    return h->drained.by != NULL;
}

/* Whether something may be expected of it: it is in use, and is up or will be soon, again or for the first time. */
static inline bool health_counts(const struct device_health *h)
{
    return h->life.state != LIFE_LOST && !health_is_drained(h);
}

/* Whether it is put aside. */
static inline bool health_is_sick(const struct device_health *h)
{
    return h->trust.state == TRUST_SICK || h->trust.state == TRUST_PROBED;
}

#endif
