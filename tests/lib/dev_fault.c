/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/dev_fault.h"

#include <stdlib.h>

#include "engine/base/buf.h"

/* Work held back. `graph` NULL: a run of `tape`. */
struct held {
    struct held *next;
    struct lane *lane;
    struct graph *graph;
    struct tape tape;
    uint32_t times, polls;
};

/* A graph whose replays run another. Both are the inner device's. */
struct behind {
    struct behind *next;
    struct graph *shown, *run;
};

struct fault_dev {
    struct dev base;
    struct dev *inner;
    uint64_t fail_at, calls;
    bool fails, fired, loses;
    bool flips;
    uint32_t flip_launch, flip_byte;
    uint32_t delay;
    struct held *first, **last;
    bool keeps;         /* marks */
    uint64_t let_marks; /* all that were kept, up to this one, may pass */
    uint64_t marks;     /* kept */
    uint32_t alive;
    void (*change)(struct tape *t);
    struct behind *behinds;
    void (*change_run)(struct tape *t);
    struct lane *ran; /* the lane of the last run */
};

static struct fault_dev *fault(const struct dev *d)
{
    return (struct fault_dev *)(uintptr_t)d;
}

static int planted(struct fault_dev *d, const char *call, struct err *e)
{
    uint64_t number = d->calls++;
    if (dev_lost(&d->base)) {
        *e = d->base.lost;
        return -(int)e->code;
    }
    if (!d->fails || number != d->fail_at)
        return 0;
    d->fails = false;
    d->fired = true;
    if (d->loses) {
        err_set(e, ERR_DEVICE, "planted loss of the device in %s (call %llu)", call, (unsigned long long)number);
        d->base.lost = *e;
        return -(int)e->code;
    }
    return err_set(e, ERR_DEVICE, "planted fault in %s (call %llu)", call, (unsigned long long)number);
}

/* --- holding work back --- */

static void hold(struct fault_dev *d, struct lane *lane, const struct tape *t, struct graph *g, uint32_t times)
{
    struct held *h = xcalloc(1, sizeof *h);
    *h = (struct held){.lane = lane, .graph = g, .times = times, .polls = d->delay};
    if (t)
        tape_copy(&h->tape, t);
    *d->last = h;
    d->last = &h->next;
}

/* The oldest held work goes to the inner device. */
static int release(struct fault_dev *d, struct err *e)
{
    struct held *h = d->first;
    d->first = h->next;
    if (!d->first)
        d->last = &d->first;
    int rc = h->graph ? d->inner->ops->replay(d->inner, h->lane, h->graph, h->times, e)
                      : d->inner->ops->run(d->inner, h->lane, &h->tape, e);
    tape_free(&h->tape);
    free(h);
    return rc;
}

static int release_all(struct fault_dev *d, struct err *e)
{
    int rc = 0;
    while (d->first && !rc)
        rc = release(d, e);
    return rc;
}

/* What is held uses lanes and graphs, so it goes before they do. A failure shows in the inner device's later calls. */
static void release_quietly(struct fault_dev *d)
{
    struct err ignored;
    while (d->first)
        (void)release(d, &ignored);
}

/* --- the device's functions --- */

static void fault_close(struct dev *dev)
{
    release_quietly(fault(dev));
    free(dev);
}

static int fault_alloc(struct dev *dev, struct lane *lane, enum dev_memory kind, size_t bytes, void **device,
                       void **host, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "alloc", e);
    if (!rc)
        rc = d->inner->ops->alloc(d->inner, lane, kind, bytes, device, host, e);
    d->alive += !rc;
    return rc;
}

static void fault_free(struct dev *dev, enum dev_memory kind, void *device)
{
    struct fault_dev *d = fault(dev);
    d->alive -= device != NULL;
    d->inner->ops->free(d->inner, kind, device);
}

static void fault_usage(struct dev *dev, struct lane *lane, struct dev_usage *out)
{
    fault(dev)->inner->ops->usage(fault(dev)->inner, lane, out);
}

static int fault_lane_new(struct dev *dev, struct lane **lane, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "lane_new", e);
    if (!rc)
        rc = d->inner->ops->lane_new(d->inner, lane, e);
    d->alive += !rc;
    return rc;
}

static void fault_lane_free(struct dev *dev, struct lane *lane)
{
    struct fault_dev *d = fault(dev);
    release_quietly(d);
    d->alive -= lane != NULL;
    d->inner->ops->lane_free(d->inner, lane);
}

static int fault_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "copy", e);
    if (rc || (rc = release_all(d, e)))
        return rc;
    return d->inner->ops->copy(d->inner, lane, to, from, bytes, e);
}

static int fault_copy_async(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "copy_async", e);
    if (rc || (rc = release_all(d, e)))
        return rc;
    return d->inner->ops->copy_async(d->inner, lane, to, from, bytes, e);
}

static int fault_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "mark", e);
    if (rc || (rc = release_all(d, e)))
        return rc;
    rc = d->inner->ops->mark(d->inner, lane, out, e);
    if (!rc && d->keeps)
        *out = (struct mark){&d->let_marks, ++d->marks};
    return rc;
}

static int fault_follow(struct dev *dev, struct lane *lane, struct lane *before, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "follow", e);
    if (rc || (rc = release_all(d, e)))
        return rc;
    return d->inner->ops->follow(d->inner, lane, before, e);
}

static int fault_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e)
{
    struct fault_dev *d = fault(dev);
    struct tape other = {0};
    int rc = planted(d, "run", e);
    if (rc)
        return rc;
    d->ran = lane;
    tape_copy(&other, t);
    if (d->change_run)
        d->change_run(&other);
    if (!d->delay)
        rc = d->inner->ops->run(d->inner, lane, &other, e);
    else
        hold(d, lane, &other, NULL, 1);
    tape_free(&other);
    return rc;
}

static int fault_trace(struct dev *dev, struct lane *lane, struct tape *t, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "trace", e);
    return rc ? rc : d->inner->ops->trace(d->inner, lane, t, e);
}

static struct behind **behind_of(struct fault_dev *d, const struct graph *g)
{
    struct behind **at = &d->behinds;
    while (*at && (*at)->shown != g)
        at = &(*at)->next;
    return at;
}

static void forget_behind(struct fault_dev *d, const struct graph *g)
{
    struct behind **at = behind_of(d, g), *b = *at;
    if (!b)
        return;
    *at = b->next;
    d->inner->ops->drop(d->inner, b->run);
    free(b);
}

/* The other graph of a build that is to be replayed as something else. */
static int build_behind(struct fault_dev *d, struct lane *lane, const struct tape *t, uint32_t repeat,
                        struct graph *shown, struct err *e)
{
    struct behind *b = xcalloc(1, sizeof *b);
    struct tape other = {0};
    tape_copy(&other, t);
    d->change(&other);
    d->change = NULL;
    int rc = d->inner->ops->build(d->inner, lane, &other, repeat, &b->run, e);
    tape_free(&other);
    *b = (struct behind){.next = d->behinds, .shown = shown, .run = b->run};
    d->behinds = b;
    return rc;
}

static int fault_build(struct dev *dev, struct lane *lane, const struct tape *t, uint32_t repeat, struct graph **graph,
                       struct err *e)
{
    struct fault_dev *d = fault(dev);
    struct tape other = {0};
    int rc = planted(d, "build", e);
    if (rc || (rc = release_all(d, e)))
        return rc;
    tape_copy(&other, t);
    if (d->flips && d->flip_launch < t->count)
        other.args[t->launches[d->flip_launch].args_offset + d->flip_byte] ^= 1;
    d->flips = false;
    bool before = *graph;
    forget_behind(d, *graph);
    rc = d->inner->ops->build(d->inner, lane, &other, repeat, graph, e);
    d->alive += !before && *graph;
    d->alive -= before && !*graph;
    dev->build_cost = d->inner->build_cost;
    tape_free(&other);
    return rc || !d->change ? rc : build_behind(d, lane, t, repeat, *graph, e);
}

static int fault_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "replay", e);
    if (rc)
        return rc;
    const struct behind *b = *behind_of(d, g);
    if (b)
        g = b->run;
    if (!d->delay)
        return d->inner->ops->replay(d->inner, lane, g, times, e);
    hold(d, lane, NULL, g, times);
    return 0;
}

static int fault_readback(struct dev *dev, struct graph *g, uint32_t repetition, struct tape *t, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "readback", e);
    return rc ? rc : d->inner->ops->readback(d->inner, g, repetition, t, e);
}

static void fault_drop(struct dev *dev, struct graph *g)
{
    struct fault_dev *d = fault(dev);
    release_quietly(d);
    d->alive -= g != NULL;
    forget_behind(d, g);
    d->inner->ops->drop(d->inner, g);
}

static void fault_watch(struct dev *dev, struct lane *lane, const uint64_t *word, uint64_t target)
{
    fault(dev)->inner->ops->watch(fault(dev)->inner, lane, word, target);
}

static int fault_poll(struct dev *dev, int timeout_ms, struct err *e)
{
    struct fault_dev *d = fault(dev);
    int rc = planted(d, "poll", e);
    for (struct held *h = d->first; h; h = h->next)
        h->polls -= h->polls > 0;
    while (!rc && d->first && d->first->polls == 0)
        rc = release(d, e);
    return rc ? rc : d->inner->ops->poll(d->inner, d->first ? 0 : timeout_ms, e);
}

static int fault_poll_fd(struct dev *dev)
{
    return fault(dev)->inner->ops->poll_fd(fault(dev)->inner);
}

static const struct dev_ops fault_ops = {
    .close = fault_close,
    .alloc = fault_alloc,
    .free = fault_free,
    .usage = fault_usage,
    .lane_new = fault_lane_new,
    .lane_free = fault_lane_free,
    .copy = fault_copy,
    .copy_async = fault_copy_async,
    .mark = fault_mark,
    .follow = fault_follow,
    .run = fault_run,
    .trace = fault_trace,
    .build = fault_build,
    .replay = fault_replay,
    .readback = fault_readback,
    .drop = fault_drop,
    .watch = fault_watch,
    .poll = fault_poll,
    .poll_fd = fault_poll_fd,
};

struct dev *dev_fault_new(struct dev *inner)
{
    struct fault_dev *d = xcalloc(1, sizeof *d);
    d->base =
        (struct dev){.ops = &fault_ops, .kernels = inner->kernels, .model = inner->model, .limits = inner->limits};
    d->inner = inner;
    d->last = &d->first;
    return &d->base;
}

void dev_fault_fail(struct dev *d, uint64_t call)
{
    fault(d)->fails = true;
    fault(d)->fired = false;
    fault(d)->fail_at = call;
    fault(d)->calls = 0;
}

bool dev_fault_fired(const struct dev *d)
{
    return fault(d)->fired;
}

void dev_fault_delay(struct dev *d, uint32_t polls)
{
    fault(d)->delay = polls;
}

void dev_fault_keep_marks(struct dev *d, bool keep)
{
    fault(d)->keeps = keep;
    if (!keep)
        fault(d)->let_marks = fault(d)->marks;
}

void dev_fault_flip(struct dev *d, uint32_t launch, uint32_t byte)
{
    fault(d)->flips = true;
    fault(d)->flip_launch = launch;
    fault(d)->flip_byte = byte;
}

void dev_fault_behind(struct dev *d, void (*change)(struct tape *t))
{
    fault(d)->change = change;
}

void dev_fault_change(struct dev *d, void (*change)(struct tape *t))
{
    fault(d)->change_run = change;
}

void dev_fault_lose(struct dev *d, uint64_t call)
{
    dev_fault_fail(d, call);
    fault(d)->loses = true;
}

uint32_t dev_fault_alive(const struct dev *d)
{
    return fault(d)->alive;
}

int dev_fault_settle(struct dev *d, struct err *e)
{
    struct fault_dev *f = fault(d);
    struct mark m;
    int rc = f->inner->ops->mark(f->inner, f->ran, &m, e);
    return rc ? rc : dev_wait(f->inner, f->ran, &m, e);
}
