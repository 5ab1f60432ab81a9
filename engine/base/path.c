/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/buf.h"

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
