/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/room.h"

int64_t room_usable(int64_t bytes)
{
    return bytes / 10 * 9;
}

int64_t room_taken(const struct room *r, int64_t replica, int64_t replicas)
{
    if (replica <= 0)
        return 0;
    replicas = (replicas + room_cards(r) - 1) / room_cards(r);
    if (replica > r->slab / 2)
        return replica * replicas;
    const int64_t each = r->slab / replica;
    return (replicas + each - 1) / each * r->slab;
}

int64_t room_for(const struct room *r, int64_t tables, int64_t replica)
{
    const int64_t left = room_usable(r->free) - tables;
    if (left <= 0 || replica <= 0)
        return 0;
    if (replica > r->slab / 2)
        return room_cards(r) * (left / replica);
    return room_cards(r) * (left / r->slab * (r->slab / replica));
}

json_t *room_json(const char *device, const struct room *r, int64_t tables, int64_t replica)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I}", "device", device, "memory_bytes", (json_int_t)(room_cards(r) * r->total),
                     "tables_bytes", (json_int_t)tables, "replica_bytes", (json_int_t)replica, "replicas",
                     (json_int_t)room_for(r, tables, replica));
}
