/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/io/hash_table.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/checksum.h"

/* The slot of the key, or the empty slot where it belongs. */
static struct hash_table_slot *slot_of(const struct hash_table *t, uint64_t hash, const void *key, size_t len)
{
    size_t i = hash & (t->nslots - 1);
    for (;; i = (i + 1) & (t->nslots - 1)) {
        struct hash_table_slot *s = &t->slots[i];
        if (s->value < 0 || (s->hash == hash && s->len == len && !memcmp(t->keys + s->offset, key, len)))
            return s;
    }
}

int hash_table_get(const struct hash_table *t, const void *key, size_t len)
{
    return t->nslots ? slot_of(t, checksum(key, len), key, len)->value : -1;
}

static void widen(struct hash_table *t)
{
    struct hash_table old = *t;
    t->nslots = old.nslots ? 2 * old.nslots : 64;
    t->slots = xcalloc(t->nslots, sizeof *t->slots);
    for (size_t i = 0; i < t->nslots; i++)
        t->slots[i].value = -1;
    for (size_t i = 0; i < old.nslots; i++) {
        const struct hash_table_slot *s = &old.slots[i];
        if (s->value >= 0)
            *slot_of(t, s->hash, t->keys + s->offset, s->len) = *s;
    }
    free(old.slots);
}

int hash_table_add(struct hash_table *t, const void *key, size_t len, int value)
{
    if (2 * (t->nkeys + 1) > t->nslots)
        widen(t);
    uint64_t hash = checksum(key, len);
    struct hash_table_slot *s = slot_of(t, hash, key, len);
    if (s->value >= 0)
        return s->value;
    if (t->keys_len + len > t->keys_cap) {
        t->keys_cap = 2 * (t->keys_len + len) + 256;
        t->keys = xrealloc(t->keys, t->keys_cap, 1);
    }
    if (len)
        memcpy(t->keys + t->keys_len, key, len);
    *s = (struct hash_table_slot){.hash = hash, .offset = t->keys_len, .len = len, .value = value};
    t->keys_len += len;
    t->nkeys++;
    return value;
}

void hash_table_free(struct hash_table *t)
{
    free(t->slots);
    free(t->keys);
    *t = (struct hash_table){0};
}

void *grow_array(void *array, int n, int *cap, size_t size)
{
    if (n < *cap)
        return array;
    int more = *cap ? 2 * *cap : 16;
    array = xrealloc(array, (size_t)more, size);
    memset((char *)array + (size_t)*cap * size, 0, (size_t)(more - *cap) * size);
    *cap = more;
    return array;
}
