/* SPDX-License-Identifier: Apache-2.0
 *
 * How many replicas a GPU has in flight: as many as pay. Grown by half at a time while that raises what all of them do
 * together, and while there is memory; then it stays there until replicas of quite another size run. Pure: the caller
 * measures.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_PACKING_H
#define SHOAL_DAEMON_WORKER_DEVICE_PACKING_H

#include <stdbool.h>

#include "daemon/host/room.h"

#define PACKING_GAIN 0.05 /* of throughput, by half as many again: less does not pay */
#define PACKING_MOST 100000
#define PACKING_LOOKS 3 /* of which the best counts: replicas that begin a stage hold up the others */

struct packing {
    unsigned slots;  /* what is wanted now */
    unsigned start;  /* to begin with; 0: `slots` never changes */
    unsigned before; /* slots when `rate` was measured */
    double rate;     /* work per second then; 0: not measured */
    double size;     /* mean work of a step of a replica; 0: not known */
    unsigned looks;  /* at as many slots as there are now */
    double best;     /* work per second of those looks */
    bool settled;
};

/* What a while in which nothing came or went has shown. */
struct packing_view {
    unsigned running; /* replicas in flight */
    double rate;      /* work per second, of all together */
    double size;      /* mean work of a step */
    unsigned room;    /* so many more fit into the device's memory */
};

/* So many replicas of `replica` bytes fit more where `running` of at most so many are, in memory that has room for all
 * of them: what people are told before a run (daemon/host/room.h). */
unsigned packing_room(const struct room *r, unsigned running, size_t replica);
/* `slots` as they are, for good. */
void packing_fix(struct packing *p, unsigned slots);
void packing_start(struct packing *p, unsigned start);
/* True: `slots` has changed. */
bool packing_look(struct packing *p, const struct packing_view *v);
/* With so many in flight nothing more is to be learnt about their number. */
bool packing_at_rest(const struct packing *p, unsigned running);
/* Memory ended with `running` in flight. True: `slots` has changed. */
bool packing_full(struct packing *p, unsigned running);

#endif
