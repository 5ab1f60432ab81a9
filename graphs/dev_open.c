/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev_open.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 4096 };

static const struct kind {
    const char *name;
    dev_open_fn *open;
    dev_count_fn *count; /* NULL: the host */
} kinds[] = {
#define HOST(kind) {#kind, dev_##kind##_open, NULL},
#define GPU(kind) {#kind, dev_##kind##_open, dev_##kind##_count},
#include "graphs/kinds.def"
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char gpu_names[] = ""
#define HOST(kind)
#define GPU(kind) " or " #kind ":NUMBER"
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

/* :NUMBER[:eager] */
static bool gpu_options(const char *text, struct open_options *o)
{
    const char *rest = *text == ':' ? number(text + 1, &o->number) : NULL;
    o->eager = rest && !strcmp(rest, ":eager");
    return rest && (o->eager || !*rest);
}

static bool read_options(const struct kind *k, const char *name, struct open_options *o)
{
    const size_t n = strlen(k->name);
    *o = (struct open_options){0};
    return !strncmp(name, k->name, n) && (k->count ? gpu_options : host_options)(name + n, o);
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
    int rc = k->open(out, o.number, kernels, e);
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
        if (k->count && k->count(&n, &e))
            unknown(ctx, &e);
        for (uint32_t i = 0; i < n; i++) {
            char name[24];
            snprintf(name, sizeof name, "%s:%u", k->name, i);
            gpu(ctx, name);
        }
    }
}
