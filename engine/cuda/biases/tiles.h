/* SPDX-License-Identifier: Apache-2.0
 *
 * How the pairs of a coordination are shared out among warps: a tile is 32 atoms of the second group, a lane each, by
 * some of the first; of pairs one by one it is 32 of them.
 *
 * Where there are many pairs and the function ends, the second group is put in order first: by cells of the box along a
 * curve that fills it, so that the 32 of a tile are near one another, and a warp passes over what is out of reach of
 * the sphere around them. The order is made anew for every evaluation, of positions alone.
 */
#ifndef SHOAL_ENGINE_CUDA_BIASES_TILES_H
#define SHOAL_ENGINE_CUDA_BIASES_TILES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/cuda/device/warp.h"
#include "engine/system/biases.h"

enum {
    TILE_ROWS = 16,
    ORDER_THREADS = 512,
    ORDER_EDGE_BITS = 4,   /* 2^4 cells along each edge */
    ORDER_PLACE_BITS = 20, /* of an entry: a place in the group, below the cell */
    ORDER_PAIRS_LEAST = 1 << 20,
    ORDER_ROWS_LEAST = 512 /* one block sorts, however many columns: for fewer rows it is not worth it */
};

static_assert(COORDINATION_ATOMS_MOST < 1 << ORDER_PLACE_BITS && 3 * ORDER_EDGE_BITS + ORDER_PLACE_BITS <= 32,
              "an entry has no room for a cell and a place");

MATH_FN uint32_t coordination_columns(const struct coordination *c)
{
    return (c->count[1] + WARP - 1) / WARP;
}

MATH_FN uint32_t coordination_tiles(const struct coordination *c)
{
    const uint32_t rows = (c->count[0] + TILE_ROWS - 1) / TILE_ROWS;
    return coordination_columns(c) * (c->pairs == COORDINATION_PAIRED ? 1 : rows);
}

MATH_FN bool coordination_ordered(const struct coordination *c)
{
    return c->periodic && c->pairs != COORDINATION_PAIRED && c->f.farthest2 < 1e30 && c->count[0] >= ORDER_ROWS_LEAST &&
           (uint64_t)c->count[0] * c->count[1] >= ORDER_PAIRS_LEAST;
}

struct coordination_order {
    double (*sphere)[4];    /* [columns] around the atoms of a tile: center, radius; nm */
    uint32_t *entry, *swap; /* [count[1]]: places in order are the lower bits of entry; swap: scratch */
};

/* Of one in order, a multiple of 64, else 0. */
MATH_FN size_t coordination_order_bytes(const struct coordination *c)
{
    if (!coordination_ordered(c))
        return 0;
    const size_t bytes = coordination_columns(c) * 4 * sizeof(double) + c->count[1] * 2 * sizeof(uint32_t);
    return (bytes + 63) / 64 * 64;
}

/* In memory of so many bytes. */
MATH_FN struct coordination_order coordination_order_at(void *memory, const struct coordination *c)
{
    struct coordination_order o;
    o.sphere = (double(*)[4])memory;
    o.entry = (uint32_t *)(o.sphere + coordination_columns(c));
    o.swap = o.entry + c->count[1];
    return o;
}

#endif
