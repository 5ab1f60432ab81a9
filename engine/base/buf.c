/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/path.h"

enum { PRINTED_AT_ONCE = 127 }; /* bytes that a buffer has room for before anybody knows how many they are */

void buf_reserve(struct buf *b, size_t more)
{
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap *= 2;
    b->data = xrealloc(b->data, cap, 1);
    b->cap = cap;
}

void *buf_extend(struct buf *b, size_t len)
{
    buf_reserve(b, len);
    void *end = b->data + b->len;
    b->len += len;
    b->data[b->len] = '\0';
    return end;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
    void *end = buf_extend(b, len);
    if (len)
        memcpy(end, data, len);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    buf_reserve(b, PRINTED_AT_ONCE);
    va_copy(again, ap);
    int n = vsnprintf(b->data + b->len, PRINTED_AT_ONCE + 1, fmt, ap);
    if (n > PRINTED_AT_ONCE) {
        buf_reserve(b, (size_t)n);
        n = vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->len += n > 0 ? (size_t)n : 0;
    b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

int buf_read_stream(struct buf *b, FILE *f, const char *name, struct err *e)
{
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(b, chunk, n);
    if (ferror(f))
        return err_errno(e, "%s", name);
    buf_add(b, "", 0);
    return 0;
}

int buf_read_file(struct buf *b, const char *path, struct err *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return err_errno(e, "%s", path);
    int rc = buf_read_stream(b, f, path, e);
    fclose(f);
    return rc;
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Whether the path names the file that is open. */
static bool is_at(int fd, const char *path)
{
    struct stat open, there;
    return fstat(fd, &open) == 0 && stat(path, &there) == 0 && open.st_ino == there.st_ino &&
           open.st_dev == there.st_dev;
}

static int empty(int fd)
{
    struct stat open;
    return fstat(fd, &open) || (open.st_size && ftruncate(fd, 0)) ? -1 : 0;
}

/* The empty file at the path, and nobody else's: who else writes the same, as a process does that outlives the one that
 * started it for a moment, is waited for, and may have taken the file from there meanwhile. -1 and errno. */
static int open_alone(const char *path)
{
    for (;;) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            return -1;
        while (flock(fd, LOCK_EX) && errno == EINTR) {
        }
        if (!is_at(fd, path)) {
            close(fd);
            continue;
        }
        if (empty(fd) == 0)
            return fd;
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
}

int buf_write_file(const char *path, const void *data, size_t len, struct err *e)
{
    struct buf tmp = {0};
    buf_printf(&tmp, "%s.tmp", path);
    int fd = open_alone(tmp.data);
    int bad = fd < 0 || write_all(fd, data, len) || fsync(fd) || rename(tmp.data, path) || path_sync_parent(path);
    int saved = errno;
    if (bad && fd >= 0 && is_at(fd, tmp.data))
        unlink(tmp.data);
    if (fd >= 0 && close(fd) && !bad) { /* not before: it is this file's lock */
        bad = 1;
        saved = errno;
    }
    buf_free(&tmp);
    errno = saved;
    return bad ? err_errno(e, "write %s", path) : 0;
}

void buf_words(struct buf *b, const char *const *words, int n, const char *last)
{
    for (int i = 0; i < n; i++) {
        if (i && i + 1 == n)
            buf_printf(b, " %s ", last);
        else if (i)
            buf_printf(b, ", ");
        buf_printf(b, "%s", words[i]);
    }
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}
