/* SPDX-License-Identifier: Apache-2.0
 *
 * What the name of a device says, for programs that open none.
 */
#ifndef SHOAL_GRAPHS_KINDS_H
#define SHOAL_GRAPHS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool device_is_gpu(const char *name)
{
#define HOST(kind)
#define GPU(kind) || !strncmp(name, #kind ":", sizeof #kind)
    return false
#include "graphs/kinds.def"
        ;
}

/* The text, where it begins with an id of a GPU, "GPU-3f6b..", or of a slice of one, "MIG-8c1d..", or with the
 * beginning of one; NULL: with something else. */
static inline const char *device_id_at(const char *text)
{
    const bool marked = !strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4);
    const size_t n = marked ? strspn(text + 4, "0123456789abcdefABCDEF-/GPU") : 0;
    return n && (!text[4 + n] || text[4 + n] == ':') ? text : NULL;
}

/* The id in a GPU's name, up to a ':' or the end; NULL: the name has a number, or is no GPU's. */
static inline const char *device_id(const char *name)
{
    return device_is_gpu(name) ? device_id_at(strchr(name, ':') + 1) : NULL;
}

/* How long it is. */
static inline size_t device_id_length(const char *id)
{
    return strcspn(id, ":");
}

/* A name may join devices, as "cuda:0+cuda:1" does: how many there are. */
static inline int device_joined(const char *name)
{
    int n = 1;
    for (const char *at = name; (at = strchr(at, '+')); at++)
        n++;
    return n;
}

/* The name of number i of them, from 0, cut to `size` bytes with its end. */
static inline void device_part(const char *name, int i, char *out, size_t size)
{
    for (; i > 0; i--)
        name = strchr(name, '+') + 1;
    const size_t n = strcspn(name, "+"), most = size - 1;
    memcpy(out, name, n < most ? n : most);
    out[n < most ? n : most] = '\0';
}

#endif
