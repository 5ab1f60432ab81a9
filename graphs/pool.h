/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in slabs, so that a device is asked for some rarely: asking and giving back make it wait for all its work. An
 * owner that begins may cause that; one that replaces a block by a longer one, while the others work, finds a slab that
 * was kept for it. Knows no device; where slabs come from is the caller's.
 */
#ifndef SHOAL_GRAPHS_POOL_H
#define SHOAL_GRAPHS_POOL_H

#include "graphs/dev.h"

struct pool;

struct pool_source {
    void *ctx;
    /* A new slab, at POOL_ALIGN; *host NULL where the host cannot touch it. DEV_FULL (with *e) when there is none. */
    int (*slab_new)(void *ctx, size_t bytes, void **device, void **host, struct err *e);
    void (*slab_free)(void *ctx, void *device, void *host);
    size_t slab_bytes; /* of a usual slab; of blocks longer than half of it each gets one of its own length, so that
                          nothing is left over. 0: every block does, and none is kept */
    double growth;     /* any owner's block may become so many times longer without a new slab; 0: not foreseen */
};

enum { POOL_ALIGN = 256 };

struct pool *pool_new(const struct pool_source *source);
/* Gives back all slabs; NULL is fine. No block may be in use. */
void pool_free(struct pool *p);
/* Not zeroed. `owner` is any address, or NULL; if it has blocks, and none longer, this one is to replace one of them.
 * DEV_FULL: no room, and the source has no slab. */
int pool_take(struct pool *p, const void *owner, size_t bytes, void **device, void **host, struct err *e);
/* To be reused once `until` is passed. */
void pool_give(struct pool *p, void *device, struct mark until);
/* The owner of a block, which must be in use. */
const void *pool_owner(const struct pool *p, const void *device);
/* The owner is no more, and its work has finished: what it has stays in use, without an owner; what it gave is free. */
void pool_leave(struct pool *p, const void *owner);

size_t pool_used(const struct pool *p, const void *owner); /* bytes in use by an owner, NULL: by all */
size_t pool_held(const struct pool *p);                    /* bytes of all slabs */

#endif
