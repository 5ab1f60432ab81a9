/* SPDX-License-Identifier: Apache-2.0
 *
 * Into how many regions a large system is cut (lists/layout.h), on the host.
 */
#ifndef SHOAL_ENGINE_CUDA_PAIRS_REGION_COUNTS_H
#define SHOAL_ENGINE_CUDA_PAIRS_REGION_COUNTS_H

#include "engine/cuda/pairs/pairs.h"

/* Sets what p has of regions, by the density at the start: ERR_UNSUPPORTED where no number will do. At least two along
 * each edge of the box. */
int regions_choose(struct pairs *p, const struct pair_limits *most, const struct system *sys, struct err *e);
/* After one was more crowded than the density says. */
void regions_more(uint32_t regions[3]);
uint32_t regions_count(const struct list_caps *caps);
/* Blocks that compute the pairs of all regions, twice as many as these or more. Bits do not depend on it. */
uint32_t region_blocks(const struct pairs *p, const struct list_caps *caps);

#endif
