/* SPDX-License-Identifier: Apache-2.0
 *
 * Which way replicas of a model do the mesh on a GPU, in a block each or over the card: the one that costs less with as
 * many in flight as there are. Bits do not depend on it. Pure: the caller measures.
 *
 * What is chosen holds until half or twice as many replicas are in flight. Then it is what was measured with about so
 * many before, or a guess, until that is measured: MESH_LOOKS looks at it and as many at the other way, which stays if
 * it costs less by MESH_GAIN. A wrong guess costs what it costs for as long as replicas come and go; the looks, at
 * worst, what the worse way costs for theirs.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_MESH_CHOICE_H
#define SHOAL_DAEMON_WORKER_DEVICE_MESH_CHOICE_H

#include <stdbool.h>

#include "engine/system/settings.h"

#define MESH_GAIN 0.05 /* of the cost: less is not worth new graphs, nor surely more than noise */
enum {
    MESH_LOOKS = 3, /* of which the best counts */
    MESH_LEVELS = 17
};

/* Zeroed: nothing is chosen yet. */
struct mesh_choice {
    enum pme_form form;                  /* now */
    unsigned running;                    /* replicas in flight when it was chosen; 0: never */
    enum pme_form measured[MESH_LEVELS]; /* [k]: with 2^k or more; PME_AUTO: not measured */
    bool settled, second;                /* what was chosen is measured; looks are at the second way */
    bool changed;                        /* since the last look: graphs are built in the meantime */
    unsigned looks, company;             /* at this way so far; of these replicas */
    double us[3];                        /* by form, least of those looks; 0: none */
};

/* What a while in which nothing came or went has shown. */
struct mesh_view {
    unsigned running;    /* replicas in flight, of all models */
    unsigned company;    /* another number where any of them is another */
    double us;           /* of the device, a step of a replica of this model */
    enum pme_form guess; /* with so many in flight: PME_BLOCK or PME_CARD */
};

/* Chooses anew where many more or fewer are in flight than when it was last done. */
void mesh_choice_heed(struct mesh_choice *c, const struct mesh_view *v);
/* Whether it is being measured, or is to be. */
bool mesh_choice_open(const struct mesh_choice *c);
/* Other replicas than those that were looked at are in flight: what was tried is given up, for the way before. */
void mesh_choice_disturb(struct mesh_choice *c, unsigned company);
/* A look at the way that there is. True: the last of them; `us` has the costs of both, and `form` is what comes of it.
 */
bool mesh_choice_look(struct mesh_choice *c, const struct mesh_view *v);

#endif
