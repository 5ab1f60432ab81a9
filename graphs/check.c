/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

static const char *kernel_name(const struct kernel_table *kernels, uint32_t kernel)
{
    return kernel < kernels->count ? kernels->kernels[kernel].name : "unknown kernel";
}

static const char *kind_name(uint32_t kind)
{
    return kind == LAUNCH_LIBRARY ? "library function" : "kernel";
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

/* "{0,1}": the launches a mask names. */
static void print_mask(struct buf *b, uint64_t mask)
{
    const char *between = "";
    buf_printf(b, "{");
    for (uint32_t i = 0; i < TAPE_LAUNCHES_MAX; i++)
        if (mask >> i & 1) {
            buf_printf(b, "%s%u", between, i);
            between = ",";
        }
    buf_printf(b, "}");
}

static void differ_after(struct buf *b, uint64_t was, uint64_t is)
{
    if (was == is)
        return;
    buf_printf(b, "; after was ");
    print_mask(b, was);
    buf_printf(b, ", is ");
    print_mask(b, is);
}

static void differ_nodes(struct buf *b, const struct launch *was, const struct launch *is)
{
    differ_number(b, "graph nodes", was->nodes, is->nodes);
    if (was->nodes == is->nodes && was->nodes_hash != is->nodes_hash)
        buf_printf(b, "; its %u graph %s hashed to 0x%016" PRIx64 ", hash to 0x%016" PRIx64, is->nodes,
                   number_word(is->nodes, "node", "nodes"), was->nodes_hash, is->nodes_hash);
}

static const char *begins(uint32_t flags)
{
    return flags & LAUNCH_EARLY ? "early" : "after its predecessors";
}

/* The k-th element of a field. */
static void differ_field(struct buf *b, const struct field *f, uint32_t k, const unsigned char *was,
                         const unsigned char *is)
{
    buf_printf(b, "; %s", f->name);
    if (f->count > 1)
        buf_printf(b, "[%u]", k);
    buf_printf(b, " was ");
    print_value(b, f->type, was);
    buf_printf(b, ", is ");
    print_value(b, f->type, is);
}

static void differ_fields(struct buf *b, const struct field *fields, uint32_t nfields, const unsigned char *was,
                          const unsigned char *is)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < nfields; i++)
        for (uint32_t k = 0; k < fields[i].count; k++, at += field_size(fields[i].type))
            if (memcmp(was + at, is + at, field_size(fields[i].type)))
                differ_field(b, &fields[i], k, was + at, is + at);
}

static bool launches_equal(const struct tape *a, uint32_t i, const struct tape *b, uint32_t j)
{
    const struct launch *x = &a->launches[i], *y = &b->launches[j];
    return x->kernel == y->kernel && x->kind == y->kind && !memcmp(x->grid, y->grid, sizeof x->grid) &&
           !memcmp(x->block, y->block, sizeof x->block) && !memcmp(x->cluster, y->cluster, sizeof x->cluster) &&
           x->shared_bytes == y->shared_bytes && x->flags == y->flags && x->nodes == y->nodes &&
           x->nodes_hash == y->nodes_hash && x->after == y->after && x->args_size == y->args_size &&
           !memcmp(tape_args(a, x), tape_args(b, y), x->args_size);
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
    differ_shape(b, "cluster", x->cluster, y->cluster);
    differ_number(b, "shared bytes", x->shared_bytes, y->shared_bytes);
    if (x->kind != y->kind)
        buf_printf(b, "; a %s became a %s", kind_name(x->kind), kind_name(y->kind));
    if (x->flags != y->flags)
        buf_printf(b, "; attributes were 0x%x (begins %s), are 0x%x (begins %s)", x->flags, begins(x->flags), y->flags,
                   begins(y->flags));
    differ_after(b, x->after, y->after);
    differ_nodes(b, x, y);
    differ_number(b, "argument bytes", x->args_size, y->args_size);
    if (x->kernel < kernels->count && x->args_size == y->args_size &&
        x->args_size == kernels->kernels[x->kernel].args_size)
        differ_fields(b, kernels->kernels[x->kernel].fields, kernels->kernels[x->kernel].nfields, tape_args(was, x),
                      tape_args(is, y));
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
    return err_set(e, ERR_DRIFT, "launch %u (%s) was %s: %u %s, %u %s", at, kernel_name(kernels, l->kernel),
                   added ? "added" : "removed", was->count, number_word(was->count, "launch was", "launches were"),
                   is->count, number_word(is->count, "is", "are"));
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
        buf_printf(&b, "; %u more %s", more, number_word(more, "launch differs", "launches differ"));
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

/* echo: what the first field may point to besides; NULL: nothing */
static int check_fields(const char *where, const struct row_kind *k, const unsigned char *args, const void *echo,
                        const struct span *spans, uint32_t nspans, struct err *e)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->nfields; i++) {
        uint64_t p = k->fields[i].type == FIELD_PTR ? load64(args + at) : 0;
        bool is_echo = i == 0 && p == (uint64_t)(uintptr_t)echo;
        if (p && !is_echo && !inside(p, spans, nspans))
            return err_set(e, ERR_DRIFT, "%s (%s): %s is 0x%" PRIx64 ", outside the memory of the replica", where,
                           k->name, k->fields[i].name, p);
        at += k->fields[i].count * field_size(k->fields[i].type);
    }
    return 0;
}

int check_pointers(const struct kernel_table *kernels, const struct tape *t, const struct span *spans, uint32_t nspans,
                   struct err *e)
{
    int rc = check_launches(kernels, t, e);
    for (uint32_t i = 0; i < t->count && !rc; i++) {
        const struct launch *l = &t->launches[i];
        const struct kernel *k = &kernels->kernels[l->kernel];
        const struct row_kind args = {"arguments", k->name, k->fields, k->nfields, k->args_size};
        char where[32];
        snprintf(where, sizeof where, "launch %u", i);
        rc = check_fields(where, &args, tape_args(t, l), t->echo, spans, nspans, e);
    }
    return rc;
}

int check_row_pointers(const struct row_kind *kind, const void *row, const struct span *spans, uint32_t nspans,
                       struct err *e)
{
    return check_fields(kind->what, kind, row, NULL, spans, nspans, e);
}

int check_rows(const struct row_kind *kind, const void *was, const void *is, struct err *e)
{
    if (!memcmp(was, is, kind->bytes))
        return 0;
    struct buf b = {0};
    buf_printf(&b, "%s (%s)", kind->what, kind->name);
    differ_fields(&b, kind->fields, kind->nfields, was, is);
    return drift(&b, e);
}

static int check_shape(const struct launch *l, uint32_t number, const char *name, struct err *e)
{
    for (uint32_t d = 0; d < 3; d++)
        if (l->grid[d] == 0 || l->block[d] == 0 || l->cluster[d] == 0 || l->grid[d] % l->cluster[d])
            return err_set(e, ERR_INTERNAL,
                           "launch %u (%s): grid %ux%ux%u, block %ux%ux%u, cluster %ux%ux%u: expected whole clusters",
                           number, name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                           l->cluster[0], l->cluster[1], l->cluster[2]);
    return 0;
}

static int check_launch(const struct kernel_table *kernels, const struct tape *t, uint32_t number, struct err *e)
{
    const struct launch *l = &t->launches[number];
    const char *name = kernel_name(kernels, l->kernel);
    if (l->kernel >= kernels->count)
        return err_set(e, ERR_INTERNAL, "launch %u: kernel %u (unknown) is not available", number, l->kernel);
    const struct kernel *k = &kernels->kernels[l->kernel];
    if (l->args_size != k->args_size)
        return err_set(e, ERR_INTERNAL, "launch %u: kernel %s takes %u bytes of arguments, not %u", number, name,
                       k->args_size, l->args_size);
    if (l->kind != k->kind)
        return err_set(e, ERR_INTERNAL, "launch %u: %s is a %s, not a %s", number, name, kind_name(k->kind),
                       kind_name(l->kind));
    if (l->after >> number)
        return err_set(e, ERR_INTERNAL, "launch %u (%s): comes after mask 0x%" PRIx64 ", not only earlier launches",
                       number, name, l->after);
    if (l->flags & ~(uint32_t)LAUNCH_EARLY || (l->flags && l->kind == LAUNCH_LIBRARY))
        return err_set(e, ERR_INTERNAL, "launch %u (%s): attributes 0x%x: a kernel may begin early, and nothing else",
                       number, name, l->flags);
    return check_shape(l, number, name, e);
}

int check_launches(const struct kernel_table *kernels, const struct tape *t, struct err *e)
{
    if (t->count > TAPE_LAUNCHES_MAX)
        return err_set(e, ERR_INTERNAL, "a tape of %u launches: expected at most %d", t->count, TAPE_LAUNCHES_MAX);
    int rc = 0;
    for (uint32_t i = 0; i < t->count && !rc; i++)
        rc = check_launch(kernels, t, i, e);
    return rc;
}
