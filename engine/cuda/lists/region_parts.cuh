/* SPDX-License-Identifier: Apache-2.0
 *
 * What is decided of regions once their lists are made: the order of members in which pairs are computed, and how many
 * blocks work on each region.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_REGION_PARTS_CUH
#define SHOAL_ENGINE_CUDA_LISTS_REGION_PARTS_CUH

#include "engine/cuda/lists/region_members.cuh"

#define OTHER_BINS 1023u   /* the first of them, of no waters */
#define LONGEST 188u       /* longest list of hydrogens that has a bin of its own */
#define LONGEST_OXYGEN 80u /* longest list of oxygens that does, with four entries at a time or more */
#define PART_BINS 16u      /* of parts of regions by what they cost */

/* ---- order ---- */

/* Members whose lists cost about the same have one bin, those that cost most the first, those without entries the last.
 * A warp takes so many entries at a time of several waters: those that ask for as many turns cost the same. */
static __device__ inline uint32_t bin_of(struct trio_counts n, bool water, uint32_t at_a_time)
{
    if (n.near + n.oxygen + n.hydrogen + n.other == 0)
        return REGION_BINS - 1;
    if (!water)
        return OTHER_BINS - 1 - min((n.near + n.other) / 8, OTHER_BINS - 1);
    const uint32_t hydrogens = (min(n.hydrogen, LONGEST) + at_a_time - 1) / at_a_time;
    const uint32_t oxygens = (min(n.oxygen, LONGEST_OXYGEN) + at_a_time - 1) / at_a_time;
    return OTHER_BINS + 1023 - (hydrogens * (LONGEST_OXYGEN / at_a_time + 1) + oxygens);
}

/* What a row's entries cost, by the instructions that they take in pairs; those of others than waters wait for memory,
 * too. */
static __device__ inline uint32_t cost_of(struct trio_counts n, bool water)
{
    return water ? 2 * n.near + n.oxygen + n.hydrogen : 3 * n.near + 2 * n.other;
}

static __device__ __forceinline__ struct listed_row *listed_at(const struct build *b, const struct rows *rows,
                                                               uint32_t i)
{
    return in_global((struct listed_row *)b->a.listed) + rows->first + i;
}

static __device__ __forceinline__ struct trio_counts counts_of(const struct build *b, const struct rows *rows,
                                                               uint32_t k)
{
    const uint4 word = __ldcg((const uint4 *)b->a.counts + rows->first + k);
    return {word.x, word.y, word.z, word.w};
}

/* Row k is the i-th that pairs take. */
static __device__ inline void note_listed(const struct build *b, const struct rows *rows, uint32_t i, uint32_t k)
{
    const uint2 at = __ldcg((const uint2 *)b->a.places + rows->first + k);
    *listed_at(b, rows, i) = listed_row_of(k, {at.x, at.y}, counts_of(b, rows, k), b->a.near_cap);
}

/* When all lists of the region are made. For the whole block. */
static __device__ void order_region(const struct build *b, uint32_t region, const struct rows *rows)
{
    __shared__ uint32_t cost;
    uint32_t *count = shared_bins();
    BLOCK_LOOP(k, REGION_BINS)
    count[k] = 0;
    if (threadIdx.x == 0)
        cost = 0;
    __syncthreads();
    for (int pass = 0; pass < 2; pass++) {
        BLOCK_LOOP(k, rows->count)
        {
            const struct trio_counts n = counts_of(b, rows, k);
            const uint32_t at = atomicAdd(&count[bin_of(n, k < rows->waters, b->a.at_a_time)], 1u);
            if (pass)
                note_listed(b, rows, at, k);
            else
                atomicAdd(&cost, cost_of(n, k < rows->waters));
        }
        if (pass)
            break;
        sum_before(count, REGION_BINS);
        if (threadIdx.x == 0) {
            struct region *r = (struct region *)b->a.regions + region;
            r->rows = count[REGION_BINS - 1];
            r->others = count[OTHER_BINS];
            r->cost = cost;
        }
        __syncthreads();
    }
}

/* ---- parts ---- */

/* How many parts a region has: as many as cost no more than a quarter above the share each. With shares of the mean
 * over `parts` all have no more than parts + 1 in the mean. */
static __device__ inline uint32_t parts_of_region(uint32_t cost, float share)
{
    return (uint32_t)fmaxf(ceilf((float)cost / share - 0.25f), 1.0f);
}

/* Bins of parts by what they cost, the costliest first. */
static __device__ inline uint32_t part_bin(uint32_t cost, uint32_t parts, float share)
{
    return PART_BINS - 1 - min((uint32_t)(8 * (float)cost / ((float)parts * share)), PART_BINS - 1);
}

/* Shares regions out among a.region_blocks blocks, when all lists are made. For the whole block. */
static __device__ void share_regions(const struct build *b)
{
    const uint32_t regions = b->cut[0].regions * b->cut[1].regions * b->cut[2].regions;
    const struct region *r = (const struct region *)b->a.regions;
    struct region_part *to = (struct region_part *)b->a.parts;
    uint32_t *count = shared_bins();
    double all = 0;
    BLOCK_LOOP(k, regions)
    all += __ldcg(&r[k].cost);
    const float share = fmaxf((float)(block_sum(all) / (b->a.region_blocks - regions)), 1.0f);
    BLOCK_LOOP(k, PART_BINS + 1)
    count[k] = 0;
    __syncthreads();
    for (int pass = 0; pass < 2; pass++) {
        BLOCK_LOOP(k, regions)
        {
            const uint32_t cost = __ldcg(&r[k].cost), parts = parts_of_region(cost, share);
            const uint32_t at = atomicAdd(&count[part_bin(cost, parts, share)], parts);
            for (uint32_t part = 0; pass && part < parts; part++)
                to[at + part] = {k, (uint16_t)part, (uint16_t)parts};
        }
        if (pass)
            break;
        sum_before(count, PART_BINS + 1);
        if (threadIdx.x == 0)
            b->lists->parts = count[PART_BINS];
        __syncthreads();
    }
    for (uint32_t k = b->lists->parts + threadIdx.x; k < b->a.region_blocks; k += blockDim.x)
        to[k] = {0, 0, 0};
}

#endif
