/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512 /* of st_blocks */

struct folder_walk {
    bool remove;
    int64_t bytes;
    int error; /* the first errno of a removal */
};

static void walk_folder(struct folder_walk *w, int fd);

/* What a file takes. An input that ensembles of one user share (service/prepare.c) has one name more than those; its
 * content is in the database too. */
static int64_t bytes_of(const struct stat *st)
{
    int64_t bytes = (int64_t)st->st_blocks * BLOCK;
    return S_ISREG(st->st_mode) && st->st_nlink > 1 ? 2 * bytes / ((int64_t)st->st_nlink - 1) : bytes;
}

static void visit(struct folder_walk *w, int folder, const char *name)
{
    struct stat st;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return;
    bool is_folder = S_ISDIR(st.st_mode);
    if (is_folder) {
        int sub = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            walk_folder(w, sub);
    }
    if (w->remove && unlinkat(folder, name, is_folder ? AT_REMOVEDIR : 0) && errno != ENOENT) {
        w->error = w->error ? w->error : errno;
        return;
    }
    w->bytes += bytes_of(&st);
}

/* Takes the descriptor. */
static void walk_folder(struct folder_walk *w, int fd)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (const struct dirent *item; (item = readdir(d));)
        visit(w, fd, item->d_name);
    closedir(d);
}

int64_t folder_bytes(const char *path)
{
    struct folder_walk w = {0};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        walk_folder(&w, fd);
    return w.bytes;
}

int folder_remove(const char *path, int64_t *bytes, struct err *e)
{
    struct folder_walk w = {.remove = true};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        walk_folder(&w, fd);
    *bytes += w.bytes;
    if (!w.error && rmdir(path) && errno != ENOENT)
        w.error = errno;
    errno = w.error;
    return w.error ? err_errno(e, "remove %s", path) : 0;
}

/* Takes the descriptor. */
static void remove_lone(int fd, bool below)
{
    DIR *d = fdopendir(fd);
    struct stat st;
    if (!d)
        close(fd);
    for (const struct dirent *item; d && (item = readdir(d));) {
        if (item->d_name[0] == '.' || fstatat(fd, item->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        int sub = below && S_ISDIR(st.st_mode)
                      ? openat(fd, item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1;
        if (sub >= 0)
            remove_lone(sub, true);
        if (S_ISREG(st.st_mode) && st.st_nlink == 1)
            unlinkat(fd, item->d_name, 0);
    }
    if (d)
        closedir(d);
}

void folder_remove_lone(const char *path, bool below)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        remove_lone(fd, below);
}
