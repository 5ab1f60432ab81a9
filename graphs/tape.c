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

void tape_add(struct tape *t, uint32_t kernel, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes,
              const void *args, uint32_t args_size)
{
    size_t offset = (t->args_len + ARGS_ALIGN - 1) / ARGS_ALIGN * ARGS_ALIGN;
    reserve(t, t->count + 1, offset + args_size);
    memset(t->args + t->args_len, 0, offset - t->args_len);
    memcpy(t->args + offset, args, args_size);
    t->args_len = offset + args_size;

    struct launch *l = &t->launches[t->count++];
    *l = (struct launch){
        .kernel = kernel, .shared_bytes = shared_bytes, .args_offset = (uint32_t)offset, .args_size = args_size};
    memcpy(l->grid, grid, sizeof l->grid);
    memcpy(l->block, block, sizeof l->block);
}

const void *tape_args(const struct tape *t, const struct launch *l)
{
    return t->args + l->args_offset;
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
