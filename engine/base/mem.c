/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *end_text; /* NULL: abort */
static int end_status;

void mem_end_with(const char *text, int status)
{
    end_text = text;
    end_status = status;
}

static void die_of_memory(void)
{
    static const char text[] = "shoal: out of memory\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    if (!end_text)
        abort();
    (void)!write(STDOUT_FILENO, end_text, strlen(end_text));
    _exit(end_status);
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        die_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n ? n : 1, size, &bytes) || !(p = realloc(p, bytes)))
        die_of_memory();
    return p;
}

char *xstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(xcalloc(n, 1), s, n);
}
