/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_ENGINE_PREPARE_WATER_SHAPES_H
#define SHOAL_ENGINE_PREPARE_WATER_SHAPES_H

#include "engine/prepare/device_tables.h"

/* What SETTLE needs of waters, once for all that are alike; waters[i].shape tells which. mass: of atoms in A and B, u.
 * Returns *count of them, for the caller to free; NULL and 0 where there is no water, or where the mass of one depends
 * on lambda or one is larger than WATER_SIDE_MOST. */
struct water_shape *water_shapes(struct rigid_water *waters, int nwaters, const double (*mass)[2], uint32_t *count);

#endif
