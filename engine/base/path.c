/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/mem.h"

bool path_is_below(const char *name)
{
    for (const char *part = name;; part = strchr(part, '/') + 1) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[n] == '\0')
            return true;
    }
}

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

bool path_is_normal(const char *name)
{
    char *normal = path_join(NULL, name);
    const char *slash = strrchr(normal, '/'), *last = slash ? slash + 1 : normal;
    bool ok = *last && strcmp(last, "..") != 0 && !strcmp(normal, name);
    free(normal);
    return ok;
}

char *path_kept(const char *name)
{
    char folder[24] = "";
    int up = 0;
    for (; !strncmp(name, "../", 3); name += 3)
        up++;
    if (up)
        snprintf(folder, sizeof folder, "@up%d/", up);
    else if (*name == '/')
        strcpy(folder, "@root");
    char *out = xcalloc(strlen(folder) + strlen(name) + 1, 1);
    return strcat(strcpy(out, folder), name);
}

int path_make_parents(const char *path, mode_t mode, struct err *e)
{
    char *p = xstrdup(path);
    int rc = 0;
    for (char *slash = *p ? strchr(p + 1, '/') : NULL; slash && !rc; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(p, mode) && errno != EEXIST)
            rc = err_errno(e, "make folder %s", p);
        *slash = '/';
    }
    free(p);
    return rc;
}

int path_sync_parent(const char *path)
{
    char *folder = xstrdup(path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder ? 1 : 0] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}
