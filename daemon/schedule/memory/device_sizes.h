/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ensemble takes of devices, as its reader predicted it (daemon/spec/submission.h).
 */
#ifndef SHOAL_DAEMON_SCHEDULE_MEMORY_DEVICE_SIZES_H
#define SHOAL_DAEMON_SCHEDULE_MEMORY_DEVICE_SIZES_H

#include "daemon/host/room.h"

/* On devices of one kind with the same limits: bytes of the tables that replicas share, and of each replica. */
struct device_size {
    char *kind, *limits;
    int64_t tables, replica;
};

/* Zeroed is valid: nothing is known. */
struct device_sizes {
    char *text; /* as the reader told; NULL: nothing is known */
    int n;
    struct device_size *item;
};

/* Takes `text`, which is copied, instead of what there was; NULL: nothing is known. */
void device_sizes_read(struct device_sizes *s, const char *text);
void device_sizes_free(struct device_sizes *s);
/* On a device by its name ("cuda:0") and by what its worker said of its limits, NULL: nothing; NULL: not known. */
const struct device_size *device_sizes_on(const struct device_sizes *s, const char *device, const char *limits);
/* Bytes that so many replicas and their tables take of a device; none take nothing. size NULL: not known, 0. */
int64_t device_size_taken(const struct device_size *size, const struct room *room, int64_t replicas);

#endif
