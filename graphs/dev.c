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

/* A decimal number below 10^6 and nothing after it. */
static bool number(const char *text, uint32_t *out)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 6 || text[n])
        return false;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out * 10 + (uint32_t)(text[i] - '0');
    return true;
}

int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e)
{
    uint32_t n;
    *out = NULL;
    if (!strcmp(name, "cpu"))
        return dev_cpu_open(out, usable_cores(), kernels, e);
    if (!strncmp(name, "cpu:", 4) && number(name + 4, &n) && n > 0 && n <= THREADS_MAX)
        return dev_cpu_open(out, n, kernels, e);
    if (!strncmp(name, "cuda:", 5) && number(name + 5, &n))
        return dev_cuda_open(out, n, kernels, e);
    return err_set(e, ERR_USAGE, "device '%s': expected cpu, cpu:THREADS (1 to %d) or cuda:NUMBER", name, THREADS_MAX);
}

void dev_close(struct dev *d)
{
    if (d)
        d->ops->close(d);
}
