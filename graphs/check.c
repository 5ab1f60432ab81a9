/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/buf.h"

static const char *kernel_name(const struct kernel_table *kernels, uint32_t kernel)
{
    return kernel < kernels->count ? kernels->kernels[kernel].name : "unknown kernel";
}

static uint32_t load32(const unsigned char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static uint64_t load64(const unsigned char *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static double load_float(enum field_type type, const unsigned char *at)
{
    float f;
    double d;
    if (type == FIELD_F32) {
        memcpy(&f, at, sizeof f);
        return (double)f;
    }
    memcpy(&d, at, sizeof d);
    return d;
}

/* A number and, where it is a float, its bits: two values may differ and print alike (NaNs). */
static void print_value(struct buf *b, enum field_type type, const unsigned char *at)
{
    switch (type) {
    case FIELD_PTR:
        buf_printf(b, "0x%" PRIx64, load64(at));
        return;
    case FIELD_I32:
        buf_printf(b, "%" PRId32, (int32_t)load32(at));
        return;
    case FIELD_U32:
        buf_printf(b, "%" PRIu32, load32(at));
        return;
    case FIELD_I64:
        buf_printf(b, "%" PRId64, (int64_t)load64(at));
        return;
    case FIELD_U64:
        buf_printf(b, "%" PRIu64, load64(at));
        return;
    case FIELD_F32:
        buf_printf(b, "%.9g (0x%08" PRIx32 ")", load_float(type, at), load32(at));
        return;
    case FIELD_F64:
        buf_printf(b, "%.17g (0x%016" PRIx64 ")", load_float(type, at), load64(at));
        return;
    }
}

static void differ_shape(struct buf *b, const char *what, const uint32_t was[3], const uint32_t is[3])
{
    if (memcmp(was, is, 3 * sizeof *was))
        buf_printf(b, "; %s was %ux%ux%u, is %ux%ux%u", what, was[0], was[1], was[2], is[0], is[1], is[2]);
}

static void differ_number(struct buf *b, const char *what, uint32_t was, uint32_t is)
{
    if (was != is)
        buf_printf(b, "; %s was %u, is %u", what, was, is);
}

static void differ_fields(struct buf *b, const struct kernel *k, const unsigned char *was, const unsigned char *is)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->nfields; i++) {
        uint32_t size = field_size(k->fields[i].type);
        if (memcmp(was + at, is + at, size)) {
            buf_printf(b, "; %s was ", k->fields[i].name);
            print_value(b, k->fields[i].type, was + at);
            buf_printf(b, ", is ");
            print_value(b, k->fields[i].type, is + at);
        }
        at += size;
    }
}

static bool launches_equal(const struct tape *a, uint32_t i, const struct tape *b, uint32_t j)
{
    const struct launch *x = &a->launches[i], *y = &b->launches[j];
    return x->kernel == y->kernel && !memcmp(x->grid, y->grid, sizeof x->grid) &&
           !memcmp(x->block, y->block, sizeof x->block) && x->shared_bytes == y->shared_bytes &&
           x->args_size == y->args_size && !memcmp(tape_args(a, x), tape_args(b, y), x->args_size);
}

/* Everything that differs between two launches, each part as "; <what> was .., is ..". */
static void differ_launch(struct buf *b, const struct kernel_table *kernels, const struct tape *was,
                          const struct launch *x, const struct tape *is, const struct launch *y)
{
    if (x->kernel != y->kernel) {
        buf_printf(b, "; kernel was %s, is %s", kernel_name(kernels, x->kernel), kernel_name(kernels, y->kernel));
        return;
    }
    differ_shape(b, "grid", x->grid, y->grid);
    differ_shape(b, "block", x->block, y->block);
    differ_number(b, "shared bytes", x->shared_bytes, y->shared_bytes);
    differ_number(b, "argument bytes", x->args_size, y->args_size);
    if (x->kernel < kernels->count && x->args_size == y->args_size &&
        x->args_size == kernels->kernels[x->kernel].args_size)
        differ_fields(b, &kernels->kernels[x->kernel], tape_args(was, x), tape_args(is, y));
}

static int drift(struct buf *b, struct err *e)
{
    err_set(e, ERR_DRIFT, "%s", b->data);
    buf_free(b);
    return -ERR_DRIFT;
}

/* One tape is longer: the first launch that has no twin was added or removed. */
static int drift_count(const struct kernel_table *kernels, const struct tape *was, const struct tape *is, uint32_t at,
                       struct err *e)
{
    bool added = is->count > was->count;
    const struct launch *l = added ? &is->launches[at] : &was->launches[at];
    return err_set(e, ERR_DRIFT, "launch %u (%s) was %s: %u launches were, %u are", at, kernel_name(kernels, l->kernel),
                   added ? "added" : "removed", was->count, is->count);
}

int check_tapes(const struct kernel_table *kernels, const struct tape *was, const struct tape *is, struct err *e)
{
    uint32_t common = was->count < is->count ? was->count : is->count, first = 0, more = 0;
    while (first < common && launches_equal(was, first, is, first))
        first++;
    if (was->count != is->count)
        return drift_count(kernels, was, is, first, e);
    if (first == common)
        return 0;
    for (uint32_t i = first + 1; i < common; i++)
        more += !launches_equal(was, i, is, i);

    const struct launch *x = &was->launches[first], *y = &is->launches[first];
    struct buf b = {0};
    buf_printf(&b, "launch %u (%s)", first, kernel_name(kernels, x->kernel));
    differ_launch(&b, kernels, was, x, is, y);
    if (more)
        buf_printf(&b, "; %u more launches differ", more);
    return drift(&b, e);
}

static bool inside(uint64_t p, const struct span *spans, uint32_t nspans)
{
    for (uint32_t i = 0; i < nspans; i++) {
        uint64_t start = (uint64_t)(uintptr_t)spans[i].start;
        if (p >= start && p - start < spans[i].bytes)
            return true;
    }
    return false;
}

static int check_launch(const struct kernel *k, uint32_t number, const unsigned char *args, const struct span *spans,
                        uint32_t nspans, struct err *e)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->nfields; i++) {
        uint64_t p = k->fields[i].type == FIELD_PTR ? load64(args + at) : 0;
        if (p && !inside(p, spans, nspans))
            return err_set(e, ERR_DRIFT, "launch %u (%s): %s is 0x%" PRIx64 ", outside the memory of the replica",
                           number, k->name, k->fields[i].name, p);
        at += field_size(k->fields[i].type);
    }
    return 0;
}

int check_pointers(const struct kernel_table *kernels, const struct tape *t, const struct span *spans, uint32_t nspans,
                   struct err *e)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct launch *l = &t->launches[i];
        if (l->kernel >= kernels->count || l->args_size != kernels->kernels[l->kernel].args_size)
            return err_set(e, ERR_DRIFT, "launch %u (%s): not a kernel with %u bytes of arguments", i,
                           kernel_name(kernels, l->kernel), l->args_size);
        int rc = check_launch(&kernels->kernels[l->kernel], i, tape_args(t, l), spans, nspans, e);
        if (rc)
            return rc;
    }
    return 0;
}
