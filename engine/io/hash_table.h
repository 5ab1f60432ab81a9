/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table from bytes (names, tuples of numbers) to small numbers, and arrays that grow. Zeroed is valid and empty.
 */
#ifndef SHOAL_ENGINE_IO_HASH_TABLE_H
#define SHOAL_ENGINE_IO_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hash_table_slot {
    uint64_t hash;
    size_t offset, len; /* of the key in keys */
    int value;          /* -1: empty slot */
};

struct hash_table {
    struct hash_table_slot *slots;
    size_t nslots, nkeys; /* nslots: a power of two */
    char *keys;
    size_t keys_len, keys_cap;
};

/* The value of a key, or -1. */
int hash_table_get(const struct hash_table *t, const void *key, size_t len);
/* Stores value (>= 0) unless the key is there already; returns the value the key has now. */
int hash_table_add(struct hash_table *t, const void *key, size_t len, int value);
void hash_table_free(struct hash_table *t);

/* Room for one more element after n of them; new memory is zeroed. */
void *grow_array(void *array, int n, int *cap, size_t size);

#endif
