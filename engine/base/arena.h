/* SPDX-License-Identifier: Apache-2.0
 *
 * Lays several arrays into one allocation of device memory. A layout function is run twice over the same calls: first
 * with a zeroed arena, which only measures (all pointers come out NULL), then with base (and, for read-only data that
 * the host prepares, stage) set to memory of the measured size. What is put into a stage is remembered by name.
 */
#ifndef SHOAL_ENGINE_BASE_ARENA_H
#define SHOAL_ENGINE_BASE_ARENA_H

#include <stddef.h>

#define ARENA_ALIGN 64

/* One array in a stage. */
struct arena_part {
    const char *name; /* the expression that was put, static */
    size_t at, bytes;
};

struct arena {
    unsigned char *base;      /* device address of the allocation; NULL: measuring */
    unsigned char *stage;     /* host image of it, copied to the device afterwards; may be NULL */
    size_t used;              /* bytes so far */
    struct arena_part *parts; /* [nparts], with a stage; freed by who made the arena */
    size_t nparts;
};

/* Device address of the next `bytes` bytes, aligned to ARENA_ALIGN; NULL while measuring. */
static inline void *arena_take(struct arena *a, size_t bytes)
{
    void *p = a->base ? a->base + a->used : NULL;
    a->used += (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    return p;
}

/* As arena_put, of what is called so. */
void *arena_put_named(struct arena *a, const char *name, const void *data, size_t bytes);

/* arena_take, and the data into the stage. */
#define arena_put(a, data, bytes) arena_put_named(a, #data, data, bytes)

#endif
