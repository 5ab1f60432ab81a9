/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/guest.h"

/* The arguments of one call; each uses what it has. */
struct errand {
    struct dev *dev;
    struct lane *lane;
    enum dev_memory kind;
    size_t bytes;
    void *memory;
    const void *from;
    void **device, **host;
    struct lane **new_lane;
};

static int carry_out(struct dev *dev, int (*fn)(void *errand, struct err *e), struct errand *errand, struct err *e)
{
    struct guest *g = (struct guest *)dev;
    errand->dev = g->dev;
    return g->owner ? g->owner->call(g->owner->ctx, fn, errand, e) : fn(errand, e);
}

static int do_alloc(void *errand, struct err *e)
{
    struct errand *a = errand;
    return a->dev->ops->alloc(a->dev, a->lane, a->kind, a->bytes, a->device, a->host, e);
}

static int guest_alloc(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                       struct err *e)
{
    return carry_out(d, do_alloc,
                     &(struct errand){.lane = lane, .kind = kind, .bytes = bytes, .device = device, .host = host}, e);
}

static int do_free(void *errand, struct err *e)
{
    struct errand *a = errand;
    a->dev->ops->free(a->dev, a->kind, a->memory);
    return 0;
}

static void guest_free(struct dev *d, enum dev_memory kind, void *device)
{
    struct err none = {0};
    carry_out(d, do_free, &(struct errand){.kind = kind, .memory = device}, &none);
}

static int do_lane_new(void *errand, struct err *e)
{
    struct errand *a = errand;
    return a->dev->ops->lane_new(a->dev, a->new_lane, e);
}

static int guest_lane_new(struct dev *d, struct lane **out, struct err *e)
{
    return carry_out(d, do_lane_new, &(struct errand){.new_lane = out}, e);
}

static int do_lane_free(void *errand, struct err *e)
{
    struct errand *a = errand;
    a->dev->ops->lane_free(a->dev, a->lane);
    return 0;
}

static void guest_lane_free(struct dev *d, struct lane *lane)
{
    struct err none = {0};
    carry_out(d, do_lane_free, &(struct errand){.lane = lane}, &none);
}

static int do_copy(void *errand, struct err *e)
{
    struct errand *a = errand;
    return a->dev->ops->copy(a->dev, a->lane, a->memory, a->from, a->bytes, e);
}

static int guest_copy(struct dev *d, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    return carry_out(d, do_copy, &(struct errand){.lane = lane, .memory = to, .from = from, .bytes = bytes}, e);
}

static const struct dev_ops guest_ops = {.alloc = guest_alloc,
                                         .free = guest_free,
                                         .lane_new = guest_lane_new,
                                         .lane_free = guest_lane_free,
                                         .copy = guest_copy};

void guest_init(struct guest *g, struct dev *dev, const struct dev_owner *owner)
{
    *g = (struct guest){
        .base = {.ops = &guest_ops, .kernels = dev->kernels, .model = dev->model}, .dev = dev, .owner = owner};
}
