/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/cards.h"

#include <stdio.h>
#include <string.h>

#include "daemon/worker/device/device.h"
#include "engine/base/log.h"
#include "graphs/kinds.h"

static int add(struct cards *c, struct dev *dev, const char *name, struct err *e)
{
    const char *model = c->n ? c->card[0].dev->model : dev->model;
    struct worker_card *card = &c->card[c->n++];
    *card = (struct worker_card){.dev = dev, .models = {.dev = dev}};
    snprintf(card->name, sizeof card->name, "%s", name);
    if (strcmp(dev->model, model) != 0)
        return err_set(e, ERR_USAGE,
                       "%s: %s is %s and another is %s: expected devices of one model, since the last bits of numbers "
                       "depend on it",
                       c->name, name, dev->model, model);
    return 0;
}

int cards_open(struct cards *c, const char *name, struct err *e)
{
    *c = (struct cards){.name = name, .joined = device_joined(name)};
    if (c->joined > CARDS_MAX)
        return err_set(e, ERR_USAGE, "%s: expected at most %d devices", name, CARDS_MAX);
    struct err why = {0};
    for (int i = 0; i < c->joined; i++) {
        char part[DEV_NAME];
        struct dev *dev;
        device_part(name, i, part, sizeof part);
        int rc = engine_open(&dev, part, &why);
        if (rc && c->joined > 1)
            log_line(LOG_WARNING, "%s is left out of %s: %s", part, name, why.msg);
        if (!rc && (rc = add(c, dev, part, e)))
            return rc;
    }
    if (c->n)
        return 0;
    *e = why;
    return -(int)why.code;
}

void cards_close(struct cards *c)
{
    for (int i = 0; i < c->n; i++) {
        models_close(&c->card[i].models);
        dev_close(c->card[i].dev);
    }
}

unsigned cards_slots(const struct cards *c)
{
    unsigned slots = 0;
    for (int i = 0; i < c->n; i++)
        slots += device_slots(c->card[i].name);
    return slots;
}

int cards_emptiest(const struct cards *c, const unsigned *same, const struct card_load *all)
{
    int best = 0;
    for (int i = 1; i < c->n; i++)
        if (same[i] < same[best] || (same[i] == same[best] && all[i].replicas < all[best].replicas))
            best = i;
    return best;
}

const struct dev *cards_lost(const struct cards *c)
{
    for (int i = 0; i < c->n; i++)
        if (dev_lost(c->card[i].dev))
            return c->card[i].dev;
    return NULL;
}

uint64_t cards_energy(const struct cards *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < c->n; i++) {
        const uint64_t one = device_energy(c->card[i].dev);
        if (!one)
            return 0;
        sum += one;
    }
    return sum;
}

struct room cards_room(const struct cards *c, const struct card_load *load, int64_t *left, size_t *used)
{
    struct room least = {0};
    for (int i = 0; i < c->n; i++) {
        struct room room = device_room(c->card[i].dev, c->card[i].name);
        if (!device_is_gpu(c->name)) { /* all have the memory of the host between them */
            room.total /= c->n;
            room.free /= c->n;
        }
        const int64_t now = room.free;
        room.free += load ? (int64_t)load[i].bytes : 0;
        if (i && room.free >= least.free)
            continue;
        struct dev_usage usage;
        c->card[i].dev->ops->usage(c->card[i].dev, NULL, &usage);
        least = room;
        *left = now;
        *used = usage.used;
    }
    least.cards = c->n;
    least.joined = c->joined;
    return least;
}
