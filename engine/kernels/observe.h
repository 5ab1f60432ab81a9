/* SPDX-License-Identifier: Apache-2.0
 *
 * A frame begins for an observable: whether it is one of its frames, and which block it goes to.
 */
#ifndef SHOAL_ENGINE_KERNELS_OBSERVE_H
#define SHOAL_ENGINE_KERNELS_OBSERVE_H

#include "engine/observe/device_tables.h"
#include "engine/run/ctl.h"

/* Before a new frame all blocks are full: observe_fold is due first, for every number. */
MATH_FN int observe_full(const struct observed *s)
{
    return s->blocks == OBSERVE_BLOCKS && s->in_block == s->per_block;
}

/* Neighbouring blocks are added, for number i of each; n: numbers of a block. */
MATH_FN void observe_fold_counts(int64_t *first, uint64_t n, uint64_t i)
{
    for (uint64_t b = 0; b < OBSERVE_BLOCKS; b++) {
        const uint64_t from = 2 * b * n + i;
        first[b * n + i] = b < OBSERVE_BLOCKS / 2 ? first[from] + first[from + n] : 0;
    }
}

MATH_FN void observe_fold_reals(double *first, uint64_t n, uint64_t i)
{
    for (uint64_t b = 0; b < OBSERVE_BLOCKS; b++) {
        const uint64_t from = 2 * b * n + i;
        first[b * n + i] = b < OBSERVE_BLOCKS / 2 ? first[from] + first[from + n] : 0;
    }
}

MATH_FN void observe_folded(struct observed *s)
{
    s->blocks = OBSERVE_BLOCKS / 2;
    s->per_block *= 2;
    s->in_block = s->per_block;
}

/* Whether the frame is one of its; one whose box is too narrow ends it. */
MATH_FN int observe_due(const struct ctl *c, const struct observe_table *t, struct observed *s)
{
    s->now = 0;
    if (c->halt || s->narrow || c->step % t->every || (t->sampled && !c->moving))
        return 0;
    const double width = box_least_width(c->box);
    double edge[3];
    box_edges(c->box, edge);
    if (width < t->least_width || edge[0] > t->most_edge[0] || edge[1] > t->most_edge[1] || edge[2] > t->most_edge[2]) {
        s->narrow = 1;
        s->narrow_step = (int64_t)c->step;
        s->narrow_width = width;
        return 0;
    }
    return 1;
}

/* It is, and not all blocks are full. */
MATH_FN void observe_count(struct observed *s)
{
    s->now = 1;
    s->frames++;
    if (s->in_block == s->per_block) { /* none yet, or the last one is full */
        s->per_block += !s->per_block;
        s->blocks++;
        s->in_block = 0;
    }
    s->in_block++;
}

#endif
