/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev_open.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "graphs/kinds.h"

enum { THREADS_MAX = 4096 };

static const struct kind {
    const char *name;
    dev_open_fn *open;
    dev_count_fn *count; /* NULL: the host */
    dev_slices_fn *slices;
} kinds[] = {
#define HOST(kind) {#kind, dev_##kind##_open, NULL, NULL},
#define GPU(kind) {#kind, dev_##kind##_open, dev_##kind##_count, dev_##kind##_slices},
#include "graphs/kinds.def"
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char gpu_names[] = ""
#define HOST(kind)
#define GPU(kind) " or " #kind ":NUMBER (or its id for NUMBER: GPU-.. or MIG-..)"
#include "graphs/kinds.def"
    ;

/* What follows the kind in a name. */
struct open_options {
    uint32_t number;
    bool shuffle, eager;
};

static uint32_t usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (uint32_t)CPU_COUNT(&set);
}

/* A decimal number below 10^6 at the beginning of text, and what follows it; NULL: no such number. */
static const char *number(const char *text, uint32_t *out)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 6)
        return NULL;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out * 10 + (uint32_t)(text[i] - '0');
    return text + n;
}

/* [:THREADS][:shuffle|:eager] */
static bool host_options(const char *text, struct open_options *o)
{
    const char *rest = *text == ':' ? number(text + 1, &o->number) : NULL;
    if (rest && (o->number < 1 || o->number > THREADS_MAX))
        return false;
    if (!rest) {
        o->number = usable_cores();
        rest = text;
    }
    o->shuffle = !strcmp(rest, ":shuffle");
    o->eager = !strcmp(rest, ":eager");
    return o->shuffle || o->eager || !*rest;
}

/* :NUMBER[:eager] or :ID[:eager] */
static bool gpu_options(const char *text, struct open_options *o)
{
    const char *id = *text == ':' ? device_id_at(text + 1) : NULL;
    const char *rest = id ? id + device_id_length(id) : *text == ':' ? number(text + 1, &o->number) : NULL;
    o->eager = rest && !strcmp(rest, ":eager");
    return rest && (o->eager || !*rest);
}

static bool read_options(const struct kind *k, const char *name, struct open_options *o)
{
    const size_t n = strlen(k->name);
    *o = (struct open_options){0};
    return strlen(name) < DEV_NAME && !strncmp(name, k->name, n) &&
           (k->count ? gpu_options : host_options)(name + n, o);
}

int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    struct open_options o;
    const struct kind *k = kinds;
    *out = NULL;
    while (k < kinds + KINDS && !read_options(k, name, &o))
        k++;
    if (k == kinds + KINDS)
        return err_set(e, ERR_USAGE,
                       "device '%s': expected cpu, cpu:THREADS (1 to %d)%s, any with :eager behind it, or the first "
                       "two with :shuffle",
                       name, THREADS_MAX, gpu_names);
    char plain[DEV_NAME];
    snprintf(plain, sizeof plain, "%.*s", (int)(strlen(name) - (o.eager ? strlen(":eager") : 0)), name);
    int rc = k->open(out, plain, o.number, kernels, e);
    if (!rc) {
        (*out)->eager = o.eager;
        (*out)->shuffle = o.shuffle;
    }
    return rc;
}

void dev_gpus(void (*gpu)(void *ctx, const char *name), void (*unknown)(void *ctx, const struct err *e), void *ctx)
{
    for (const struct kind *k = kinds; k < kinds + KINDS; k++) {
        struct err e = {0};
        uint32_t n = 0;
        if (k->slices && k->slices(gpu, ctx))
            continue;
        if (k->count && k->count(&n, &e))
            unknown(ctx, &e);
        for (uint32_t i = 0; i < n; i++) {
            char name[24];
            snprintf(name, sizeof name, "%s:%u", k->name, i);
            gpu(ctx, name);
        }
    }
}
