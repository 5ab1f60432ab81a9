/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/pairs/region_counts.h"

#include <math.h>

#include "engine/cuda/lists/halo.h"

#define CROWD 1.08   /* densest region at the start over the mean; boxes shrink too */
#define SLACK 0.01   /* nm, by which extents are counted larger than at the start */
#define MOST_EDGE 24 /* regions along an edge, at the start */

enum {
    BLOCKS_WANTED = 2, /* on each multiprocessor; of all replicas twice that, as they do other things too */
    LANES = 2,         /* for each trio: its lists are short */
    LANES_PARTS = 4,   /* for each trio where several blocks share a region: there would be too few warps */
    HALO_POINTS = 12,  /* along each edge of a halo, that tell how much of it is in reach */
};

/* How far atoms of two trios that are in each other's reach may have their first ones, nm. */
static double farthest(const struct pairs *p, const struct system *sys)
{
    const struct pair_table *h = &p->host;
    double extent = 0;
    for (int32_t slot = 0; slot < TRIO * h->ntrios; slot++) {
        double d[3];
        if (p->atom[slot] < 0)
            continue;
        box_image(sys->x[p->atom[slot]], sys->x[p->atom[slot - slot % TRIO]], sys->box, d);
        extent = fmax(extent, sqrt(vec_dot(d, d)));
    }
    return h->list_cutoff + h->skin + 2 * (extent + SLACK);
}

/* What is above upper faces, and in reach (lists/halo.h). */
struct halo {
    double along[3]; /* above one face, of the box */
    double kept[8];  /* of what is above several faces, a bit each: the part that is in reach */
};

/* reach: nm */
static struct halo halo_of(const struct system *sys, double reach)
{
    const struct halo_edges edges = halo_edges_of(sys->box);
    static const uint32_t several[] = {3, 5, 6, 7}; /* faces */
    struct halo h = {.kept = {1, 1, 1, 0, 1, 0, 0, 0}};
    const bool long_reach = 2 * reach > box_least_width(sys->box); /* then lists leave out nothing */
    double width[3];
    box_widths(sys->box, width);
    for (int d = 0; d < 3; d++)
        h.along[d] = fmin(reach / width[d], 0.5);
    for (uint32_t k = 0; k < HALO_POINTS * HALO_POINTS * HALO_POINTS; k++)
        for (size_t n = 0; n < sizeof several / sizeof *several; n++) {
            const uint32_t at[3] = {k % HALO_POINTS, k / HALO_POINTS % HALO_POINTS, k / HALO_POINTS / HALO_POINTS};
            float above[3];
            for (int d = 0; d < 3; d++)
                above[d] = several[n] >> d & 1 ? (float)((at[d] + 0.5) / HALO_POINTS * h.along[d]) : 0;
            if (long_reach || halo_square(&edges, above) < reach * reach)
                h.kept[several[n]] += 1.0 / (HALO_POINTS * HALO_POINTS * HALO_POINTS);
        }
    return h;
}

/* Share of the trios that are members of a region. */
static double share_of(const uint32_t n[3], const struct halo *h)
{
    double share = 0;
    for (uint32_t faces = 0; faces < 8; faces++) {
        double part = h->kept[faces];
        for (int d = 0; d < 3; d++)
            part *= faces >> d & 1 ? h->along[d] : 1.0 / n[d];
        share += part;
    }
    return share;
}

/* Of a region, in the mean. Each loads all its members. One replica leaves half of the device to its mesh, two a third
 * of it. */
static uint32_t parts_of(const struct pairs *p, const uint32_t regions[3])
{
    const uint32_t all = regions[0] * regions[1] * regions[2], share = p->replicas + (p->replicas <= 2);
    const uint32_t parts = 2 * BLOCKS_WANTED * p->processors / (share * all);
    return parts > 1 ? parts : 1;
}

/* As few members as can be in all regions together, if none has more than the cap. */
static bool cut(struct pairs *p, const struct halo *halo)
{
    const struct pair_table *h = &p->host;
    double least = INFINITY;
    uint32_t n[3];
    for (n[0] = 2; n[0] <= MOST_EDGE; n[0]++)
        for (n[1] = 2; n[1] <= MOST_EDGE; n[1]++)
            for (n[2] = 2; n[2] <= MOST_EDGE; n[2]++) {
                double share = share_of(n, halo), all = share * n[0] * n[1] * n[2];
                if (CROWD * share * h->ntrios > p->region_cap || all >= least)
                    continue;
                least = all;
                for (int d = 0; d < 3; d++)
                    p->regions[d] = n[d], p->halo[d] = n[d] * halo->along[d];
            }
    return !isinf(least);
}

int regions_choose(struct pairs *p, const struct pair_limits *most, const struct system *sys, struct err *e)
{
    const struct halo halo = halo_of(sys, farthest(p, sys));
    p->region_cap = most->region;
    if (!cut(p, &halo)) { /* then a multiprocessor has one block at a time */
        p->region_cap = most->whole;
        if (!cut(p, &halo))
            return err_set(e, ERR_UNSUPPORTED,
                           "nonbonded: cut-off %g nm: what is in reach of a point does not fit a GPU's shared memory, "
                           "which here has room for %u atoms",
                           p->host.cutoff, TRIO * most->whole);
    }
    p->lanes = parts_of(p, p->regions) > 1 ? LANES_PARTS : LANES;
    return 0;
}

void regions_more(uint32_t regions[3])
{
    int least = regions[0] <= regions[1] ? 0 : 1;
    regions[regions[least] <= regions[2] ? least : 2]++;
}

uint32_t regions_count(const struct list_caps *caps)
{
    return caps->regions[0] * caps->regions[1] * caps->regions[2];
}

/* One more for each region than it has in the mean: lists/region_members.cuh shares them out. */
uint32_t region_blocks(const struct pairs *p, const struct list_caps *caps)
{
    return regions_count(caps) * (parts_of(p, caps->regions) + 1);
}
