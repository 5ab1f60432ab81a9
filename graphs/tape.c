/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/tape.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

/* Argument structs start at multiples of this, so that kernels may use them in place. */
enum { ARGS_ALIGN = 16 };

uint32_t field_size(enum field_type type)
{
    switch (type) {
    case FIELD_I32:
    case FIELD_U32:
    case FIELD_F32:
        return 4;
    case FIELD_PTR:
    case FIELD_I64:
    case FIELD_U64:
    case FIELD_F64:
        return 8;
    }
    return 0;
}

static size_t grown(size_t cap, size_t need)
{
    size_t n = cap ? cap : 32;
    while (n < need)
        n *= 2;
    return n;
}

static void reserve(struct tape *t, uint32_t launches, size_t bytes)
{
    if (launches > t->cap) {
        t->cap = (uint32_t)grown(t->cap, launches);
        t->launches = xrealloc(t->launches, t->cap, sizeof *t->launches);
    }
    if (bytes > t->args_cap) {
        t->args_cap = grown(t->args_cap, bytes);
        t->args = xrealloc(t->args, t->args_cap, 1);
    }
}

static uint64_t after_of(const struct tape *t, const struct shape *shape)
{
    if (shape->after != AFTER_PREVIOUS)
        return shape->after;
    return t->count ? UINT64_C(1) << (t->count - 1) % TAPE_LAUNCHES_MAX : 0;
}

void tape_append(struct tape *t, const struct launch *l, const void *args)
{
    size_t offset = (t->args_len + ARGS_ALIGN - 1) / ARGS_ALIGN * ARGS_ALIGN;
    reserve(t, t->count + 1, offset + l->args_size);
    memset(t->args + t->args_len, 0, offset - t->args_len);
    memcpy(t->args + offset, args, l->args_size);
    t->args_len = offset + l->args_size;
    t->launches[t->count] = *l;
    t->launches[t->count++].args_offset = (uint32_t)offset;
}

uint64_t tape_add(struct tape *t, uint32_t kernel, enum launch_kind kind, const struct shape *shape, const void *args,
                  uint32_t args_size)
{
    static const uint32_t none[3], one[3] = {1, 1, 1};
    struct args_head head = {.echo = t->echo, .launch = t->count};
    struct launch l = {.kernel = kernel,
                       .kind = kind,
                       .shared_bytes = shape->shared_bytes,
                       .flags = shape->flags,
                       .after = after_of(t, shape),
                       .args_size = args_size};
    memcpy(l.grid, shape->grid, sizeof l.grid);
    memcpy(l.block, shape->block, sizeof l.block);
    memcpy(l.cluster, memcmp(shape->cluster, none, sizeof none) ? shape->cluster : one, sizeof l.cluster);
    tape_append(t, &l, args);
    memcpy(t->args + t->launches[t->count - 1].args_offset, &head, args_size < sizeof head ? args_size : sizeof head);
    return head.launch < TAPE_LAUNCHES_MAX ? UINT64_C(1) << head.launch : 0;
}

const void *tape_args(const struct tape *t, const struct launch *l)
{
    return t->args + l->args_offset;
}

uint64_t tape_sinks(const struct tape *t)
{
    uint64_t all = 0, followed = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        all |= UINT64_C(1) << i % TAPE_LAUNCHES_MAX;
        followed |= t->launches[i].after;
    }
    return all & ~followed;
}

bool tape_has_library(const struct tape *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->launches[i].kind == LAUNCH_LIBRARY)
            return true;
    return false;
}

void tape_copy(struct tape *to, const struct tape *from)
{
    tape_clear(to);
    reserve(to, from->count, from->args_len);
    if (from->count)
        memcpy(to->launches, from->launches, from->count * sizeof *from->launches);
    if (from->args_len)
        memcpy(to->args, from->args, from->args_len);
    to->count = from->count;
    to->args_len = from->args_len;
    to->echo = from->echo;
    to->work = from->work;
    to->pieces = from->pieces;
}

void tape_clear(struct tape *t)
{
    t->count = 0;
    t->args_len = 0;
}

void tape_free(struct tape *t)
{
    free(t->launches);
    free(t->args);
    *t = (struct tape){0};
}
