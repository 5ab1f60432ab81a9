/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graphs/toy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/buf.h"

enum { BLOCK = 128, CTL_BYTES = 256 };

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
    *t = (struct toy){.dev = d, .n = n, .links = links, .a = 0.5};
    t->arena_bytes = CTL_BYTES + 2 * n * sizeof(double);
    int rc = d->ops->lane_new(d, &t->lane, e);
    if (rc || (rc = d->ops->alloc(d, DEV_MEMORY, t->arena_bytes, &arena, NULL, e)))
        return rc;
    t->arena = arena;
    if ((rc = d->ops->alloc(d, DEV_MAPPED, sizeof *t->ticket_host, &t->ticket, &ticket_host, e)))
        return rc;
    t->ticket_host = ticket_host;
    t->ctl = t->arena;
    t->x = t->arena + CTL_BYTES;
    t->y = t->arena + CTL_BYTES + n * sizeof(double);
    t->spans[0] = (struct span){t->arena, t->arena_bytes};
    t->spans[1] = (struct span){t->ticket, sizeof *t->ticket_host};
    return upload(t, e);
}

void toy_close(struct toy *t)
{
    if (!t->dev)
        return;
    if (t->lane)
        t->dev->ops->lane_free(t->dev, t->lane);
    t->dev->ops->free(t->dev, DEV_MAPPED, t->ticket);
    t->dev->ops->free(t->dev, DEV_MEMORY, t->arena);
    *t = (struct toy){0};
}

static void emit_links(const struct toy *t, struct tape *tape, const uint32_t grid[3], const uint32_t block[3])
{
    for (uint32_t i = 0; i < t->links; i++) {
        struct args_chain args = {.ctl = t->ctl, .x = t->x, .n = t->n, .scale = 3.9f - 0.01f * (float)(i % 7)};
        if (i == 1 && t->plant == PLANT_FLOAT)
            args.scale = 3.5f;
        if (i == 1 && t->plant == PLANT_REMOVED)
            continue;
        if (i == 1 && t->plant == PLANT_KERNEL)
            emit_fill(tape, grid, block, 0, &(struct args_fill){.x = t->x, .value = 0.5, .n = t->n});
        else
            emit_chain(tape, grid, block, i == 1 && t->plant == PLANT_SHARED ? 1024 : 0, &args);
    }
}

void toy_emit(void *toy, struct tape *tape)
{
    struct toy *t = toy;
    const uint32_t one[3] = {1, 1, 1};
    const uint32_t block[3] = {t->plant == PLANT_BLOCK ? BLOCK / 2 : BLOCK, 1, 1};
    const uint32_t grid[3] = {(t->n + BLOCK - 1) / BLOCK + (t->plant == PLANT_GRID), 1, 1};
    struct args_axpy axpy = {.x = t->x, .y = t->y, .a = t->plant == PLANT_SCALAR ? t->a + 0.25 : t->a, .n = t->n};
    if (t->plant == PLANT_POINTER)
        axpy.y = t->x;
    if (t->plant == PLANT_OUTSIDE)
        axpy.y = t->arena + t->arena_bytes;
    t->emitted++;
    emit_links(t, tape, grid, block);
    emit_axpy(tape, grid, block, 0, &axpy);
    if (t->plant == PLANT_ADDED)
        emit_axpy(tape, grid, block, 0, &axpy);
    emit_advance(tape, one, one, 0, &(struct args_advance){.ctl = t->ctl});
    emit_ticket(tape, one, one, 0, &(struct args_ticket){.ctl = t->ctl, .ticket = t->ticket});
}

struct recorder_setup toy_setup(struct toy *t, uint64_t check_every)
{
    return (struct recorder_setup){.dev = t->dev,
                                   .lane = t->lane,
                                   .emit = toy_emit,
                                   .ctx = t,
                                   .check_every = check_every,
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
    while (toy_ticket(t) < steps) {
        int rc = t->dev->ops->poll(t->dev, 100, e);
        if (rc)
            return rc;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > 10)
            return err_set(e, ERR_DEVICE, "ticket %llu of %llu after ten seconds", (unsigned long long)toy_ticket(t),
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
