/* SPDX-License-Identifier: Apache-2.0
 *
 * What holds:
 *
 *  1. A slab is cut into blocks without gaps, in order of address; blocks are free, used, or given: free once their
 * mark is passed. No two neighbours are free (after settle()).
 *  2. A slab without used or given blocks is kept for later, until the source is short; unless slab_bytes is 0.
 *  3. At most one slab is the reserve, and it is empty. A call that replaces a block may take from it, and then it is a
 * slab as others are. Who takes any other block sees to it that there is one, long enough for the longest block to
 * grow, and gets none of it but by 2.
 */
#include "graphs/pool.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/base/buf.h"

enum state { FREE, USED, GIVEN };

struct pool_block {
    struct pool_block *next;
    size_t at, bytes; /* at: offset in the slab */
    enum state state;
    const void *owner; /* USED, GIVEN */
    struct mark until; /* GIVEN */
};

struct slab {
    struct slab *next;
    unsigned char *device, *host;
    size_t bytes;
    struct pool_block *first;
    bool reserve;
};

struct pool {
    struct pool_source source;
    struct slab *slabs;
};

struct pool *pool_new(const struct pool_source *source)
{
    struct pool *p = xcalloc(1, sizeof *p);
    p->source = *source;
    return p;
}

static size_t round_up(size_t bytes)
{
    return bytes ? (bytes + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN : POOL_ALIGN;
}

static bool is_empty(const struct slab *s)
{
    return s->first->state == FREE && !s->first->next;
}

static void free_slab(struct pool *p, struct slab **at)
{
    struct slab *s = *at;
    *at = s->next;
    p->source.slab_free(p->source.ctx, s->device, s->host);
    for (struct pool_block *b = s->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(s);
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    while (p->slabs)
        free_slab(p, &p->slabs);
    free(p);
}

/* Given blocks whose mark is passed become free, free neighbours one. */
static void settle_slab(struct slab *s)
{
    for (struct pool_block *b = s->first; b; b = b->next) {
        if (b->state == GIVEN && mark_passed(&b->until))
            *b = (struct pool_block){.next = b->next, .at = b->at, .bytes = b->bytes, .state = FREE};
        struct pool_block *n = b->next;
        while (b->state == FREE && n && (n->state == FREE || (n->state == GIVEN && mark_passed(&n->until)))) {
            b->bytes += n->bytes;
            b->next = n->next;
            free(n);
            n = b->next;
        }
    }
}

/* Empty slabs go back to the source. */
static void release(struct pool *p)
{
    for (struct slab **at = &p->slabs; *at;)
        if (is_empty(*at))
            free_slab(p, at);
        else
            at = &(*at)->next;
}

static void settle(struct pool *p)
{
    for (struct slab *s = p->slabs; s; s = s->next)
        settle_slab(s);
    if (p->source.slab_bytes == 0)
        release(p);
}

/* The smallest free block that is large enough, in the reserve or outside of it: what is long stays whole. */
static struct pool_block *best(const struct pool *p, size_t bytes, bool reserve, struct slab **slab)
{
    struct pool_block *found = NULL;
    for (struct slab *s = p->slabs; s; s = s->next)
        for (struct pool_block *b = s->first; b && s->reserve == reserve; b = b->next)
            if (b->state == FREE && b->bytes >= bytes && (!found || b->bytes < found->bytes)) {
                found = b;
                *slab = s;
            }
    return found;
}

static int ask(struct pool *p, size_t bytes, bool reserve, struct err *e)
{
    void *device, *host;
    size_t size = bytes > p->source.slab_bytes / 2 ? bytes : p->source.slab_bytes;
    int rc = p->source.slab_new(p->source.ctx, size, &device, &host, e);
    if (rc)
        return rc;
    struct slab *s = xcalloc(1, sizeof *s);
    *s = (struct slab){.next = p->slabs, .device = device, .host = host, .bytes = size, .reserve = reserve};
    s->first = xcalloc(1, sizeof *s->first);
    s->first->bytes = size;
    p->slabs = s;
    return 0;
}

static int add_slab(struct pool *p, size_t bytes, struct err *e)
{
    int rc = ask(p, bytes, false, e);
    if (rc != DEV_FULL)
        return rc;
    release(p);
    return ask(p, bytes, false, e);
}

/* The longest in use by an owner, NULL: by any. */
static size_t longest(const struct pool *p, const void *owner)
{
    size_t bytes = 0;
    for (const struct slab *s = p->slabs; s; s = s->next)
        for (const struct pool_block *b = s->first; b; b = b->next)
            if (b->state == USED && b->owner && (!owner || b->owner == owner) && b->bytes > bytes)
                bytes = b->bytes;
    return bytes;
}

/* The reserve, for the longest block. It is optional: if memory is short there is none. Any other error shows up again
 * at the next allocation that is needed. */
static void keep(struct pool *p)
{
    const size_t bytes = (size_t)(p->source.growth * (double)longest(p, NULL));
    struct err ignored;
    struct slab **at = &p->slabs;
    while (*at && !(*at)->reserve)
        at = &(*at)->next;
    if (!bytes || (*at && (*at)->bytes >= bytes))
        return;
    if (*at)
        free_slab(p, at);
    (void)ask(p, round_up(bytes), true, &ignored);
}

static void cut(struct pool_block *b, size_t bytes)
{
    if (b->bytes == bytes)
        return;
    struct pool_block *rest = xcalloc(1, sizeof *rest);
    *rest = (struct pool_block){.next = b->next, .at = b->at + bytes, .bytes = b->bytes - bytes, .state = FREE};
    b->next = rest;
    b->bytes = bytes;
}

/* A free block, and its slab. */
static int find(struct pool *p, size_t bytes, bool replaces, struct pool_block **b, struct slab **s, struct err *e)
{
    int rc = 0;
    *b = best(p, bytes, false, s);
    if (!*b && replaces)
        *b = best(p, bytes, true, s);
    if (!*b && (rc = add_slab(p, bytes, e)) == 0)
        *b = best(p, bytes, false, s);
    return rc;
}

int pool_take(struct pool *p, const void *owner, size_t bytes, void **device, void **host, struct err *e)
{
    struct slab *s = NULL;
    struct pool_block *b;
    size_t size = round_up(bytes), has = owner ? longest(p, owner) : 0;
    const bool replaces = has && size >= has;
    if (size < bytes)
        return err_set(e, ERR_INTERNAL, "an allocation of %zu bytes", bytes);
    settle(p);
    int rc = find(p, size, replaces, &b, &s, e);
    if (rc == 0) {
        cut(b, size);
        b->state = USED;
        b->owner = owner;
        s->reserve = false;
        *device = s->device + b->at;
        *host = s->host ? s->host + b->at : NULL;
    }
    if (!replaces)
        keep(p);
    return rc;
}

static struct pool_block *used_block(const struct pool *p, const void *device)
{
    for (const struct slab *s = p->slabs; s; s = s->next)
        for (struct pool_block *b = s->first; b; b = b->next)
            if (b->state == USED && s->device + b->at == device)
                return b;
    assert(!"memory of this pool");
    return NULL;
}

void pool_give(struct pool *p, void *device, struct mark until)
{
    struct pool_block *b = used_block(p, device);
    b->state = GIVEN;
    b->until = until;
    settle(p);
}

const void *pool_owner(const struct pool *p, const void *device)
{
    return used_block(p, device)->owner;
}

void pool_leave(struct pool *p, const void *owner)
{
    for (struct slab *s = p->slabs; s; s = s->next)
        for (struct pool_block *b = s->first; b; b = b->next)
            if (b->owner == owner) {
                b->owner = NULL;
                b->until = (struct mark){0};
            }
    settle(p);
}

size_t pool_used(const struct pool *p, const void *owner)
{
    size_t bytes = 0;
    for (const struct slab *s = p->slabs; s; s = s->next)
        for (const struct pool_block *b = s->first; b; b = b->next)
            if (b->state == USED && (!owner || b->owner == owner))
                bytes += b->bytes;
    return bytes;
}

size_t pool_held(const struct pool *p)
{
    size_t bytes = 0;
    for (const struct slab *s = p->slabs; s; s = s->next)
        bytes += s->bytes;
    return bytes;
}
