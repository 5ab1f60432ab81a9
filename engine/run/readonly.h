/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables in device memory that kernels read and nothing may write: no recorder sees what lies behind the pointers of a
 * launch. What was uploaded is kept on the host too, with its digests: a check is a kernel that makes digests of the
 * tables where they are, so it takes the host's time only where they differ, to say what.
 */
#ifndef SHOAL_ENGINE_RUN_READONLY_H
#define SHOAL_ENGINE_RUN_READONLY_H

#include "engine/base/arena.h"
#include "graphs/check.h"
#include "graphs/dev.h"

/* Zeroed: empty. */
struct readonly {
    struct dev *dev;
    struct span span;         /* device memory of all tables, whole words of 8 bytes */
    unsigned char *image;     /* what it must hold */
    uint64_t *digests;        /* [readonly_chunks()] of that, see engine/math/digest.h */
    struct arena_part *parts; /* [nparts], where which table lies */
    size_t nparts;
};

static inline uint64_t readonly_words(const struct readonly *r)
{
    return r->span.bytes / sizeof(uint64_t);
}

size_t readonly_chunks(const struct readonly *r);

/* Allocates, fills and uploads what `lay_out` puts: run twice, measuring and filling. After a failure r is still to be
 * freed. */
int readonly_upload(struct readonly *r, struct dev *dev, void (*lay_out)(void *ctx, struct arena *a), void *ctx,
                    struct err *e);
/* Of digests that the device made of the tables. Where one is not what it must be, everything is read back, after the
 * lane's earlier work, and ERR_DRIFT names the first table that differs and where. */
int readonly_check(const struct readonly *r, const uint64_t *digests, struct lane *lane, struct err *e);
void readonly_free(struct readonly *r);

#endif
