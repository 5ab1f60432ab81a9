/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices of one worker: one, or the cards that a joined name has ("cuda:0+cuda:1", graphs/kinds.h). The service
 * knows them as one device; each has models of its own. Bits do not depend on which of them a replica is on, since all
 * are of one model of device.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_CARDS_H
#define SHOAL_DAEMON_WORKER_DEVICE_CARDS_H

#include "daemon/host/room.h"
#include "daemon/worker/device/models.h"
#include "daemon/worker/threads/runner.h"
#include "graphs/dev_open.h"

enum { CARDS_MAX = RUNNER_DEVICES };

struct worker_card {
    char name[DEV_NAME];
    struct dev *dev;
    struct models models;
};

struct cards {
    const char *name; /* of all together; borrowed */
    int joined;       /* cards that the name has */
    int n;            /* of them open */
    struct worker_card card[CARDS_MAX];
};

/* What the replicas on a card hold of it, by cards. */
struct card_load {
    unsigned replicas;
    size_t bytes;
};

/* Opens them. A card that cannot be opened is left out, with a line in the log, while another can. ERR_USAGE: two are
 * of different models, or they are too many; any error of engine_open. cards_close is due after a failure too. */
int cards_open(struct cards *c, const char *name, struct err *e);
/* Frees models, of which nothing may be held, and closes the devices. */
void cards_close(struct cards *c);

/* How many replicas keep them busy, when nobody says. */
unsigned cards_slots(const struct cards *c);
/* The card on which the fewest of `same` are (replicas of one ensemble, [n]), of these the one with fewest of `all`. */
int cards_emptiest(const struct cards *c, const unsigned *same, const struct card_load *all);
/* NULL, or the first device that is lost. */
const struct dev *cards_lost(const struct cards *c);
/* Energy that all have taken, as device_energy. */
uint64_t cards_energy(const struct cards *c);
/* Memory of the card that has least for replicas, those of `load` left out, and how many cards there are. *left: free
 * there now; *used: handed out there. load NULL: nothing runs. */
struct room cards_room(const struct cards *c, const struct card_load *load, int64_t *left, size_t *used);

#endif
