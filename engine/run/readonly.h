/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables in device memory that kernels read and nothing may write. What was uploaded is kept on the host too, so that a
 * check compares every byte: no recorder sees what lies behind the pointers of a launch.
 */
#ifndef SHOAL_ENGINE_RUN_READONLY_H
#define SHOAL_ENGINE_RUN_READONLY_H

#include "engine/base/arena.h"
#include "graphs/check.h"
#include "graphs/dev.h"

/* Zeroed: empty. */
struct readonly {
    struct dev *dev;
    struct span span;         /* device memory of all tables */
    unsigned char *image;     /* what it must hold */
    struct arena_part *parts; /* [nparts], where which table lies */
    size_t nparts;
};

/* Allocates, fills and uploads what `lay_out` puts: run twice, measuring and filling. After a failure r is still to be freed. */
int readonly_upload(struct readonly *r, struct dev *dev, void (*lay_out)(void *ctx, struct arena *a), void *ctx,
                    struct err *e);
/* Reads everything back, after the lane's earlier work. ERR_DRIFT names the first table that differs and where. */
int readonly_check(const struct readonly *r, struct lane *lane, struct err *e);
void readonly_free(struct readonly *r);

#endif
