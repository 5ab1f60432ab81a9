/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev_open.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>

enum { THREADS_MAX = 4096 };

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

/* What follows "cpu": [:THREADS][:shuffle|:eager] */
static bool cpu_options(const char *text, uint32_t *threads, bool *shuffle, bool *eager)
{
    const char *rest = *text == ':' ? number(text + 1, threads) : NULL;
    if (rest && (*threads < 1 || *threads > THREADS_MAX))
        return false;
    if (!rest) {
        *threads = usable_cores();
        rest = text;
    }
    *shuffle = !strcmp(rest, ":shuffle");
    *eager = !strcmp(rest, ":eager");
    return *shuffle || *eager || !*rest;
}

/* What follows "cuda": :NUMBER[:eager] */
static bool cuda_options(const char *text, uint32_t *ordinal, bool *eager)
{
    const char *rest = *text == ':' ? number(text + 1, ordinal) : NULL;
    *eager = rest && !strcmp(rest, ":eager");
    return rest && (*eager || !*rest);
}

int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    uint32_t n;
    bool shuffle, eager;
    int rc;
    *out = NULL;
    if (!strncmp(name, "cpu", 3) && cpu_options(name + 3, &n, &shuffle, &eager))
        rc = dev_cpu_open(out, n, shuffle, kernels, e);
    else if (!strncmp(name, "cuda", 4) && cuda_options(name + 4, &n, &eager))
        rc = dev_cuda_open(out, n, kernels, e);
    else
        return err_set(e, ERR_USAGE,
                       "device '%s': expected cpu, cpu:THREADS (1 to %d) or cuda:NUMBER, any with :eager behind "
                       "it, or the first two with :shuffle",
                       name, THREADS_MAX);
    if (!rc)
        (*out)->eager = eager;
    return rc;
}
