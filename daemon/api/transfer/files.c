/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of an ensemble's folder. The disk is touched in the thread pool only. A path from a client is a relative
 * one below the ensemble's own folder; it is opened component by component and no symbolic link is followed.
 */
#include "daemon/api/transfer/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/api/api.h"
#include "engine/base/log.h"
#include "engine/base/path.h"

#define CHUNK (64u << 10) /* read at once, and held while its reader does not read */
#define DEPTH_MAX 8

/* ---- opening ---- */

static int open_below(const char *folder, const char *path)
{
    if (!path_is_below(path))
        return -1;
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0) {
        char part[256];
        size_t n = strcspn(path, "/");
        if (n >= sizeof part) {
            close(at);
            return -1;
        }
        memcpy(part, path, n);
        part[n] = '\0';
        bool last = path[n] == '\0';
        int next = openat(at, part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
        close(at);
        if (last)
            return next;
        at = next;
        path += n + 1;
    }
    return -1;
}

int files_open(const char *folder, const char *path, off_t *bytes)
{
    struct stat st;
    int fd = open_below(folder, path);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    *bytes = fd < 0 ? 0 : st.st_size;
    return fd;
}

/* ---- one file ---- */

struct sent_file {
    struct service *service;
    struct request *request;
    char *folder, *path;
    int fd;
    off_t offset, bytes; /* sent; of the file when it was opened: what is added later is not sent */
    struct stream *stream;
    bool reading, closed;
    char *chunk; /* on its way from the disk to the stream; NULL: none is */
    ssize_t n;
    int error; /* errno of the read */
};

static void file_free(struct sent_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->folder);
    free(f->path);
    free(f->chunk);
    free(f);
}

static void chunk_work(void *arg)
{
    struct sent_file *f = arg;
    size_t left = (size_t)(f->bytes - f->offset), n = left < CHUNK ? left : CHUNK;
    f->chunk = xcalloc(n, 1);
    do
        f->n = pread(f->fd, f->chunk, n, f->offset);
    while (f->n < 0 && errno == EINTR);
    f->error = f->n < 0 ? errno : 0;
}

static void chunk_done(void *arg)
{
    struct sent_file *f = arg;
    f->reading = false;
    if (f->closed) {
        file_free(f);
    } else if (f->n > 0) {
        f->offset += f->n;
        stream_push(f->stream, f->chunk, (size_t)f->n);
        free(f->chunk);
        f->chunk = NULL;
    } else if (f->offset == f->bytes) {
        stream_end(f->stream);
    } else {
        log_line(LOG_WARNING, "%s/%s: %s at byte %lld of %lld", f->folder, f->path,
                 f->error ? strerror(f->error) : "it became shorter", (long long)f->offset, (long long)f->bytes);
        stream_fail(f->stream);
    }
}

static void on_files_fill(void *arg, struct stream *s)
{
    struct sent_file *f = arg;
    f->stream = s;
    f->reading = true;
    service_offload(f->service, chunk_work, chunk_done, f);
}

static void on_files_over(void *arg)
{
    struct sent_file *f = arg;
    f->closed = true;
    if (!f->reading)
        file_free(f);
}

static void open_work(void *arg)
{
    struct sent_file *f = arg;
    f->fd = files_open(f->folder, f->path, &f->bytes);
}

static void open_done(void *arg)
{
    static const struct stream_ops ops = {on_files_fill, on_files_over};
    struct sent_file *f = arg;
    struct err e = {0};
    if (f->fd >= 0) {
        reply_stream(f->request, 200, "application/octet-stream", f->bytes, &ops, f);
        return;
    }
    err_set(&e, ERR_NOT_FOUND, "no file \"%.300s\"", f->path);
    reply_error(f->request, &e);
    file_free(f);
}

struct reply api_file(struct api_call *c)
{
    struct sent_file *f = xcalloc(1, sizeof *f);
    *f = (struct sent_file){.service = c->service,
                            .request = c->request,
                            .folder = service_path(c->service, c->ensemble, NULL),
                            .path = xstrdup(c->tail),
                            .fd = -1};
    service_offload(c->service, open_work, open_done, f);
    return reply_later(c->request);
}

/* ---- the list ---- */

struct file_listing {
    struct request *request;
    char *folder;
    json_t *files;
};

static int by_path(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    return strcmp(json_string_value(json_object_get(x, "path")), json_string_value(json_object_get(y, "path")));
}

static json_t *sorted(json_t *list)
{
    size_t n = json_array_size(list);
    json_t **items = xcalloc(n, sizeof *items), *out = json_array();
    for (size_t i = 0; i < n; i++)
        items[i] = json_array_get(list, i);
    qsort(items, n, sizeof *items, by_path);
    for (size_t i = 0; i < n; i++)
        json_array_append(out, items[i]);
    free(items);
    json_decref(list);
    return out;
}

static void walk(json_t *out, int fd, const char *prefix, int depth);

static void visit(json_t *out, DIR *d, const char *name, const char *prefix, int depth)
{
    struct stat st;
    struct buf path = {0};
    size_t n = strlen(name);
    bool temporary = n > 4 && strcmp(name + n - 4, ".tmp") == 0;
    if (name[0] == '.' || temporary || fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW))
        return;
    buf_printf(&path, "%s%s%s", prefix, *prefix ? "/" : "", name);
    if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
        int sub = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            walk(out, sub, path.data, depth + 1);
    } else if (S_ISREG(st.st_mode)) {
        json_t *item = json_pack("{s:s,s:I}", "path", path.data, "bytes", (json_int_t)st.st_size);
        if (item)
            json_array_append_new(out, item);
    }
    buf_free(&path);
}

/* Takes the descriptor. */
static void walk(json_t *out, int fd, const char *prefix, int depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *item; (item = readdir(d));)
        visit(out, d, item->d_name, prefix, depth);
    closedir(d);
}

json_t *files_in(const char *folder)
{
    json_t *files = json_array();
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        walk(files, fd, "", 0);
    return sorted(files);
}

static void list_work(void *arg)
{
    struct file_listing *l = arg;
    l->files = files_in(l->folder);
}

static void list_done(void *arg)
{
    struct file_listing *l = arg;
    reply_json(l->request, 200, json_pack("{s:o}", "files", l->files));
    free(l->folder);
    free(l);
}

struct reply api_files(struct api_call *c)
{
    struct file_listing *l = xcalloc(1, sizeof *l);
    *l = (struct file_listing){.request = c->request, .folder = service_path(c->service, c->ensemble, NULL)};
    service_offload(c->service, list_work, list_done, l);
    return reply_later(c->request);
}
