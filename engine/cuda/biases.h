/* SPDX-License-Identifier: Apache-2.0
 *
 * How the pairs of a coordination are shared out among warps: a tile is 32 atoms of the second group, a lane each, by some of the
 * first; of pairs one by one it is 32 of them.
 */
#ifndef SHOAL_ENGINE_CUDA_BIASES_H
#define SHOAL_ENGINE_CUDA_BIASES_H

#include "engine/system/biases.h"

enum { TILE_ROWS = 16 };

MATH_FN uint32_t coordination_columns(const struct coordination *c)
{
    return (c->count[1] + 31) / 32;
}

MATH_FN uint32_t coordination_tiles(const struct coordination *c)
{
    const uint32_t rows = (c->count[0] + TILE_ROWS - 1) / TILE_ROWS;
    return coordination_columns(c) * (c->pairs == COORDINATION_PAIRED ? 1 : rows);
}

#endif
