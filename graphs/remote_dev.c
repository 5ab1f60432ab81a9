/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/remote_dev.h"

#include <string.h>
#include <time.h>

#define PIECE_BYTES ((size_t)256 << 10) /* of a copy: as much mapped memory is taken meanwhile */
#define NAP_NS 50000                    /* between two looks at a mark */
#define LOOKS 200                       /* before the owner is asked whether the device still lives */

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
    struct mark *mark;
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

static int do_send(void *errand, struct err *e)
{
    struct errand *a = errand;
    int rc = a->dev->ops->copy_async(a->dev, a->lane, a->memory, a->from, a->bytes, e);
    return rc ? rc : a->dev->ops->mark(a->dev, a->lane, a->mark, e);
}

static int do_look(void *errand, struct err *e)
{
    const struct errand *a = errand;
    if (dev_lost(a->dev))
        *e = a->dev->lost;
    return -(int)a->dev->lost.code;
}

/* The owner goes on meanwhile. */
static int await(struct dev *d, const struct mark *mark, struct err *e)
{
    for (int look = 1; !mark_passed(mark); look++) {
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
        int rc = look % LOOKS ? 0 : carry_out(d, do_look, &(struct errand){0}, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int send_pieces(struct dev *d, struct lane *lane, void *piece, unsigned char *to, const unsigned char *from,
                       size_t bytes, struct err *e)
{
    int rc = 0;
    for (size_t at = 0, n; at < bytes && rc == 0; at += n) {
        struct mark sent = {0};
        n = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        memcpy(piece, from + at, n);
        rc = carry_out(d, do_send,
                       &(struct errand){.lane = lane, .memory = to + at, .from = piece, .bytes = n, .mark = &sent}, e);
        if (rc == 0)
            rc = await(d, &sent, e);
    }
    return rc;
}

static int guest_copy(struct dev *d, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e)
{
    const struct guest *g = (const struct guest *)d;
    void *device, *piece;
    if (!g->owner)
        return g->dev->ops->copy(g->dev, lane, to, from, bytes, e);
    int rc = guest_alloc(d, lane, DEV_MAPPED, bytes < PIECE_BYTES ? bytes : PIECE_BYTES, &device, &piece, e);
    if (rc)
        return rc;
    rc = send_pieces(d, lane, piece, to, from, bytes, e);
    guest_free(d, DEV_MAPPED, device);
    return rc;
}

static const struct dev_ops guest_ops = {.alloc = guest_alloc,
                                         .free = guest_free,
                                         .lane_new = guest_lane_new,
                                         .lane_free = guest_lane_free,
                                         .copy = guest_copy};

void guest_init(struct guest *g, struct dev *dev, const struct dev_owner *owner)
{
    *g =
        (struct guest){.base = {.ops = &guest_ops, .kernels = dev->kernels, .model = dev->model, .limits = dev->limits},
                       .dev = dev,
                       .owner = owner};
}
