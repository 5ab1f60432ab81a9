/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev_open.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 4096 };

double dev_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

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

/* What follows "cpu": [:THREADS][:shuffle] */
static bool cpu_options(const char *text, uint32_t *threads, bool *shuffle)
{
    const char *rest = *text == ':' ? number(text + 1, threads) : NULL;
    if (rest && (*threads < 1 || *threads > THREADS_MAX))
        return false;
    if (!rest) {
        *threads = usable_cores();
        rest = text;
    }
    *shuffle = !strcmp(rest, ":shuffle");
    return *shuffle || !*rest;
}

int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    uint32_t n;
    bool shuffle;
    const char *rest;
    *out = NULL;
    if (!strncmp(name, "cpu", 3) && cpu_options(name + 3, &n, &shuffle))
        return dev_cpu_open(out, n, shuffle, kernels, e);
    if (!strncmp(name, "cuda:", 5) && (rest = number(name + 5, &n)) && !*rest)
        return dev_cuda_open(out, n, kernels, e);
    return err_set(e, ERR_USAGE,
                   "device '%s': expected cpu, cpu:THREADS (1 to %d), either with :shuffle behind it, or cuda:NUMBER",
                   name, THREADS_MAX);
}

void dev_close(struct dev *d)
{
    if (d)
        d->ops->close(d);
}
