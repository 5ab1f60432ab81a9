/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/io/path.h"

#include <string.h>

#include "engine/base/buf.h"

/* Appends one part to the normalised path in out; returns the new length. */
static size_t add_part(char *out, size_t len, const char *part, size_t n)
{
    if (n == 0 || (n == 1 && part[0] == '.'))
        return len;
    size_t root = out[0] == '/';
    bool up = n == 2 && part[0] == '.' && part[1] == '.';
    if (up && len == 1 && root)
        return len;
    size_t last = len;
    while (last > root && out[last - 1] != '/')
        last--;
    bool last_is_up = len - last == 2 && out[last] == '.' && out[last + 1] == '.';
    if (up && len > root && !last_is_up)
        return last > root ? last - 1 : root;
    if (len > root)
        out[len++] = '/';
    memcpy(out + len, part, n);
    return len + n;
}

static size_t add_parts(char *out, size_t len, const char *path, size_t n)
{
    const char *end = path + n;
    while (path < end) {
        const char *slash = memchr(path, '/', (size_t)(end - path));
        const char *stop = slash ? slash : end;
        len = add_part(out, len, path, (size_t)(stop - path));
        path = stop + 1;
    }
    return len;
}

char *path_join(const char *from, const char *name)
{
    const char *slash = from ? strrchr(from, '/') : NULL;
    size_t dir = slash && name[0] != '/' ? (size_t)(slash - from) : 0;
    char *out = xcalloc(dir + strlen(name) + 3, 1);
    size_t len = 0;
    if (name[0] == '/' || (slash && from[0] == '/'))
        out[len++] = '/';
    len = add_parts(out, len, from ? from : "", dir);
    len = add_parts(out, len, name, strlen(name));
    out[len] = '\0';
    return out;
}
