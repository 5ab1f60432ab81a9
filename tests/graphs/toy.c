/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graphs/toy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/buf.h"

enum { CTL_BYTES = 256 };

static int upload(struct toy *t, struct err *e)
{
    double *x = xcalloc(t->n, sizeof *x);
    for (uint32_t i = 0; i < t->n; i++)
        x[i] = 0.1 + 0.8 * i / t->n;
    int rc = t->dev->ops->copy(t->dev, t->lane, t->x, x, t->n * sizeof *x, e);
    free(x);
    return rc;
}

int toy_open(struct toy *t, struct dev *d, uint32_t n, uint32_t links, struct err *e)
{
    void *arena, *ticket_host;
    *t = (struct toy){.dev = d, .n = n, .links = links, .a = 0.5, .repeat = 1};
    t->arena_bytes = CTL_BYTES + 3 * n * sizeof(double);
    int rc = d->ops->lane_new(d, &t->lane, e);
    if (rc || (rc = echo_new(&t->echo, d, t->lane, e)) ||
        (rc = d->ops->alloc(d, t->lane, DEV_MEMORY, t->arena_bytes, &arena, NULL, e)))
        return rc;
    t->arena = arena;
    if ((rc = d->ops->alloc(d, t->lane, DEV_MAPPED, sizeof *t->ticket_host, &t->ticket, &ticket_host, e)))
        return rc;
    t->ticket_host = ticket_host;
    t->ctl = t->arena;
    t->x = t->arena + CTL_BYTES;
    t->y = t->arena + CTL_BYTES + n * sizeof(double);
    t->z = t->arena + CTL_BYTES + 2 * n * sizeof(double);
    t->spans[0] = (struct span){t->arena, t->arena_bytes};
    t->spans[1] = (struct span){t->ticket, sizeof *t->ticket_host};
    return upload(t, e);
}

void toy_close(struct toy *t)
{
    if (!t->dev)
        return;
    echo_free(t->echo);
    if (t->lane)
        t->dev->ops->lane_free(t->dev, t->lane);
    t->dev->ops->free(t->dev, DEV_MAPPED, t->ticket);
    t->dev->ops->free(t->dev, DEV_MEMORY, t->arena);
    *t = (struct toy){0};
}

/* Returns the last link's bit. */
static uint64_t emit_links(const struct toy *t, struct tape *tape, struct shape shape)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < t->links; i++) {
        struct args_chain args = {.ctl = t->ctl, .x = t->x, .n = t->n, .scale = {[1] = 3.9f - 0.01f * (float)(i % 7)}};
        if (i == 1 && t->plant == PLANT_FLOAT)
            args.scale[1] = 3.5f;
        if (i == 1 && t->plant == PLANT_REMOVED)
            continue;
        shape.after = last;
        shape.flags = i == 0 && t->fork ? LAUNCH_EARLY : 0; /* across steps, too */
        shape.shared_bytes = i == 1 && t->plant == PLANT_SHARED ? 1024 : 0;
        if (i == 1 && t->plant == PLANT_KERNEL)
            last = emit_fill(tape, &shape, &(struct args_fill){.x = t->x, .value = 0.5, .n = t->n});
        else
            last = emit_chain(tape, &shape, &args);
    }
    return last;
}

bool toy_clusters(const struct dev *d)
{
    return d->limits.clusters || !d->limits.processors;
}

static uint64_t emit_fork(const struct toy *t, struct tape *tape, struct shape shape)
{
    shape.grid[0] += shape.grid[0] & 1;
    shape.cluster[0] = t->plant == PLANT_CLUSTER || !toy_clusters(t->dev) ? 1 : 2;
    shape.cluster[1] = shape.cluster[2] = 1;
    shape.flags = t->plant == PLANT_LATE ? 0 : LAUNCH_EARLY;
    uint64_t swapped = emit_swap(tape, &shape, &(struct args_swap){.x = t->x, .z = t->z, .n = t->n});
    struct args_shrink args = {.z = t->z, .a = t->plant == PLANT_LIBRARY ? 0.75 : 0.5, .n = t->n};
    return emit_shrink(tape, &(struct shape){.grid = {1, 1, 1}, .block = {1, 1, 1}, .after = swapped}, &args);
}

void toy_emit(void *toy, struct tape *tape)
{
    struct toy *t = toy;
    struct shape one = SHAPE_CHAIN;
    struct shape many = {.grid = {(t->n + TOY_BLOCK - 1) / TOY_BLOCK + (t->plant == PLANT_GRID), 1, 1},
                         .block = {t->plant == PLANT_BLOCK ? TOY_BLOCK / 2 : TOY_BLOCK, 1, 1}};
    struct args_axpy axpy = {.x = t->x, .y = t->y, .a = t->plant == PLANT_SCALAR ? t->a + 0.25 : t->a, .n = t->n};
    if (t->plant == PLANT_POINTER)
        axpy.y = t->x;
    if (t->plant == PLANT_OUTSIDE)
        axpy.y = t->arena + t->arena_bytes;
    t->emitted++;
    uint64_t links = emit_links(t, tape, many);
    many.after = t->plant == PLANT_EDGE ? links >> 1 : links;
    uint64_t done = t->plant == PLANT_VARIANT ? emit_axpy_less(tape, &many, &axpy) : emit_axpy(tape, &many, &axpy);
    many.after = links;
    if (t->plant == PLANT_ADDED)
        emit_axpy(tape, &many, &axpy);
    if (t->fork)
        done |= emit_fork(t, tape, many);
    one.after = links;
    done |= emit_advance(tape, &one, &(struct args_advance){.ctl = t->ctl});
    one.after = done;
    emit_ticket(tape, &one, &(struct args_ticket){.ctl = t->ctl, .ticket = t->ticket});
}

struct recorder_setup toy_setup(struct toy *t, uint64_t check_every)
{
    t->clock.check_every = check_every;
    return (struct recorder_setup){.dev = t->dev,
                                   .lane = t->lane,
                                   .emit = toy_emit,
                                   .ctx = t,
                                   .clock = &t->clock,
                                   .echo = t->echo,
                                   .repeat = t->repeat,
                                   .spans = t->spans,
                                   .nspans = sizeof t->spans / sizeof t->spans[0]};
}

uint64_t toy_ticket(const struct toy *t)
{
    return __atomic_load_n(t->ticket_host, __ATOMIC_ACQUIRE);
}

int toy_wait(struct toy *t, uint64_t steps, struct err *e)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    t->dev->ops->watch(t->dev, t->lane, t->ticket_host, steps);
    while (toy_ticket(t) < steps) {
        int rc = t->dev->ops->poll(t->dev, 100, e);
        if (rc)
            return rc;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > 60)
            return err_set(e, ERR_DEVICE, "ticket %llu of %llu after a minute", (unsigned long long)toy_ticket(t),
                           (unsigned long long)steps);
    }
    return 0;
}

size_t toy_state_size(const struct toy *t)
{
    return t->arena_bytes;
}

int toy_state(struct toy *t, void *out, struct err *e)
{
    return t->dev->ops->copy(t->dev, t->lane, out, t->arena, t->arena_bytes, e);
}
