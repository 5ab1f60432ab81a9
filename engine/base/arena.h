/* SPDX-License-Identifier: Apache-2.0
 *
 * Lays several arrays into one allocation of device memory. A layout function is run twice over the same calls: first with
 * a zeroed arena, which only measures (all pointers come out NULL), then with base (and, for read-only data that the host
 * prepares, stage) set to memory of the measured size.
 */
#ifndef SHOAL_ENGINE_BASE_ARENA_H
#define SHOAL_ENGINE_BASE_ARENA_H

#include <stddef.h>
#include <string.h>

#define ARENA_ALIGN 64

struct arena {
    unsigned char *base;  /* device address of the allocation; NULL: measuring */
    unsigned char *stage; /* host image of it, copied to the device afterwards; may be NULL */
    size_t used;          /* bytes so far */
};

/* Device address of the next `bytes` bytes, aligned to ARENA_ALIGN; NULL while measuring. */
static inline void *arena_take(struct arena *a, size_t bytes)
{
    void *p = a->base ? a->base + a->used : NULL;
    a->used += (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    return p;
}

/* arena_take, and the data into the stage. */
static inline void *arena_put(struct arena *a, const void *data, size_t bytes)
{
    if (a->stage && bytes)
        memcpy(a->stage + a->used, data, bytes);
    return arena_take(a, bytes);
}

#endif
