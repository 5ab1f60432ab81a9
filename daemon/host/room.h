/* SPDX-License-Identifier: Apache-2.0
 *
 * How many replicas the memory of a device holds: what people are told before a run is what the worker packs by. Pure.
 */
#ifndef SHOAL_DAEMON_HOST_ROOM_H
#define SHOAL_DAEMON_HOST_ROOM_H

#include <jansson.h>
#include <stdint.h>

/* Memory of a device, in bytes: of the card with least of it, where a device is several that are joined. */
struct room {
    int64_t total; /* that the device has */
    int64_t free;  /* that replicas can have */
    int64_t slab;  /* it is taken in pieces of so many bytes; what needs more than half of one has a piece to itself; 0:
                      any */
    int cards;     /* that are open, over which replicas spread evenly; 0: one */
    int joined;    /* that the device has, of which some may not be open; 0: one */
};

/* How many cards are open. */
static inline int room_cards(const struct room *r)
{
    return r->cards > 1 ? r->cards : 1;
}

/* What of so many bytes replicas and tables may have. A tenth stays free: lists grow, graphs take memory. */
int64_t room_usable(int64_t bytes);
/* Bytes that so many replicas take of the card that has most of them, in whole pieces. */
int64_t room_taken(const struct room *r, int64_t replica, int64_t replicas);
/* Replicas of so many bytes that fit, on all cards, beside the tables that those of a card share. */
int64_t room_for(const struct room *r, int64_t tables, int64_t replica);

/* The API's Fit: what the device holds of an ensemble. The caller's. */
json_t *room_json(const char *device, const struct room *r, int64_t tables, int64_t replica);

#endif
