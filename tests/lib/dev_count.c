/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/dev_count.h"

#include <stddef.h>

static const struct dev_ops *theirs;
static struct dev_ops ours;
static bool (*is_counted)(void);
static struct dev_counts counts;
static _Thread_local int depth;

static void enter(unsigned *kind)
{
    if (depth == 0 && is_counted()) {
        counts.calls++;
        if (kind)
            (*kind)++;
    }
    depth++;
}

#define COUNT(type, op, kind, call, ...)                                                                               \
    static type count_##op(__VA_ARGS__)                                                                                \
    {                                                                                                                  \
        enter(kind);                                                                                                   \
        const type answer = theirs->op call;                                                                           \
        depth--;                                                                                                       \
        return answer;                                                                                                 \
    }
#define COUNT_VOID(op, kind, call, ...)                                                                                \
    static void count_##op(__VA_ARGS__)                                                                                \
    {                                                                                                                  \
        enter(kind);                                                                                                   \
        theirs->op call;                                                                                               \
        depth--;                                                                                                       \
    }

COUNT(int, alloc, &counts.allocs, (d, lane, kind, bytes, device, host, e), struct dev *d, struct lane *lane,
      enum dev_memory kind, size_t bytes, void **device, void **host, struct err *e)
COUNT_VOID(free, &counts.frees, (d, kind, device), struct dev *d, enum dev_memory kind, void *device)
COUNT(int, lane_new, &counts.lanes, (d, out, e), struct dev *d, struct lane **out, struct err *e)
COUNT_VOID(lane_free, &counts.lanes, (d, lane), struct dev *d, struct lane *lane)
COUNT(int, copy, &counts.copies, (d, lane, to, from, bytes, e), struct dev *d, struct lane *lane, void *to,
      const void *from, size_t bytes, struct err *e)
COUNT(int, copy_async, NULL, (d, lane, to, from, bytes, e), struct dev *d, struct lane *lane, void *to,
      const void *from, size_t bytes, struct err *e)
COUNT(int, mark, NULL, (d, lane, out, e), struct dev *d, struct lane *lane, struct mark *out, struct err *e)
COUNT(int, follow, NULL, (d, lane, before, e), struct dev *d, struct lane *lane, struct lane *before, struct err *e)
COUNT(int, run, NULL, (d, lane, t, e), struct dev *d, struct lane *lane, const struct tape *t, struct err *e)
COUNT(int, trace, NULL, (d, lane, t, e), struct dev *d, struct lane *lane, struct tape *t, struct err *e)
COUNT(int, build, NULL, (d, lane, t, repeat, graph, e), struct dev *d, struct lane *lane, const struct tape *t,
      uint32_t repeat, struct graph **graph, struct err *e)
COUNT(int, replay, NULL, (d, lane, g, times, e), struct dev *d, struct lane *lane, struct graph *g, uint32_t times,
      struct err *e)
COUNT(int, readback, NULL, (d, g, repetition, t, e), struct dev *d, struct graph *g, uint32_t repetition,
      struct tape *t, struct err *e)
COUNT(int, poll, NULL, (d, timeout_ms, e), struct dev *d, int timeout_ms, struct err *e)

void dev_count_begin(struct dev *d, bool (*counted)(void))
{
    theirs = d->ops;
    ours = *theirs;
    counts = (struct dev_counts){0};
    is_counted = counted;
    ours.alloc = count_alloc;
    ours.free = count_free;
    ours.lane_new = count_lane_new;
    ours.lane_free = count_lane_free;
    ours.copy = count_copy;
    ours.copy_async = count_copy_async;
    ours.mark = count_mark;
    ours.follow = count_follow;
    ours.run = count_run;
    ours.trace = count_trace;
    ours.build = count_build;
    ours.replay = count_replay;
    ours.readback = count_readback;
    ours.poll = count_poll;
    d->ops = &ours;
}

struct dev_counts dev_count_end(struct dev *d)
{
    d->ops = theirs;
    return counts;
}

bool dev_count_inside(void)
{
    return depth > 0;
}
