/* SPDX-License-Identifier: Apache-2.0
 *
 * The happy path: the head is read whole and checked, so that it is known which files follow, and how large they are,
 * before one is made; then each has to come with its name and its length; then the checksums have to be those of what
 * was written; then the archive has to end.
 */
#include "daemon/archive/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "daemon/archive/archive.h"
#include "daemon/archive/sums.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/path.h"
#include "engine/base/printable.h"

#define JSON_BYTES (64 << 20) /* of the head, and of the checksums, at most */
#define BLOCK (256u << 10)    /* read from the descriptor at once */

struct unpacking {
    struct archive *a;
    struct archive_entry *entry; /* of the member that is read */
    const char *folder;
    char own[64]; /* what the names of all members begin with: the folder in the archive and a slash */
    int64_t most;
    struct file_sums sums;
};

/* ---- members ---- */

/* What libarchive says of damage, or of a file that ends too early. */
static int refuse_damaged(const struct unpacking *u, struct err *e)
{
    const char *why = archive_error_string(u->a);
    return err_set(e, ERR_ARCHIVE, "the archive is damaged or was cut short: %.200s", why ? why : "it ends too early");
}

/* The name of the next member without the folder in the archive; NULL: there is none, or it cannot be taken. */
static const char *next_member(struct unpacking *u, struct err *e)
{
    int rc = archive_read_next_header(u->a, &u->entry);
    if (rc == ARCHIVE_EOF)
        err_set(e, ERR_ARCHIVE, "the archive is damaged or was cut short: it ends before its last member");
    else if (rc != ARCHIVE_OK)
        refuse_damaged(u, e);
    if (rc != ARCHIVE_OK)
        return NULL;
    const char *name = archive_entry_pathname(u->entry);
    const size_t n = strlen(u->own);
    if (!name || strncmp(name, u->own, n) != 0)
        err_set(e, ERR_ARCHIVE, "the archive has a member \"%.200s\", expected one in the folder \"%s\"",
                name ? name : "", u->own);
    else if (archive_entry_filetype(u->entry) != AE_IFREG || archive_entry_hardlink(u->entry) ||
             !archive_entry_size_is_set(u->entry))
        err_set(e, ERR_ARCHIVE, "the archive's member \"%.200s\" is a link, a folder or a device: expected a file",
                name);
    return e->code ? NULL : name + n;
}

/* The folder in the archive is what the first member is in. */
static int find_own(struct unpacking *u, struct err *e)
{
    int rc = archive_read_next_header(u->a, &u->entry);
    const char *name = rc == ARCHIVE_OK ? archive_entry_pathname(u->entry) : NULL;
    const size_t n = name ? strcspn(name, "/") : 0;
    if (!name || !n || n + 2 > sizeof u->own || strcmp(name + n, "/" ARCHIVE_HEAD) != 0 ||
        archive_entry_filetype(u->entry) != AE_IFREG)
        return err_set(e, ERR_ARCHIVE,
                       "this is no ensemble that `shoal export` wrote: expected a tar archive, "
                       "compressed with zstd, that begins with " ARCHIVE_HEAD);
    memcpy(u->own, name, n + 1);
    return 0;
}

static json_t *read_json(struct unpacking *u, const char *name, struct err *e)
{
    const int64_t bytes = archive_entry_size(u->entry);
    struct buf text = {0};
    json_t *value = NULL;
    if (bytes < 0 || bytes > JSON_BYTES) {
        err_set(e, ERR_ARCHIVE, "%s has %lld bytes, expected at most %d", name, (long long)bytes, JSON_BYTES);
        return NULL;
    }
    char *to = buf_extend(&text, (size_t)bytes);
    if (archive_read_data(u->a, to, (size_t)bytes) != (la_ssize_t)bytes)
        refuse_damaged(u, e);
    else if (!(value = json_loadb(to, (size_t)bytes, JSON_REJECT_DUPLICATES, NULL)) || !json_is_object(value))
        err_set(e, ERR_ARCHIVE, "the archive is damaged: %s is no JSON object", name);
    buf_free(&text);
    if (!e->code)
        return value;
    json_decref(value);
    return NULL;
}

/* ---- the head ---- */

/* Whether a path is one that an archive may have: it stays below its folder, and no part of it is hidden or temporary.
 */
static bool may_be_path(const char *path)
{
    const size_t n = strlen(path);
    if (n > ARCHIVE_NAME || !path_is_below(path) || !printable(path) || (n > 4 && !strcmp(path + n - 4, ".tmp")))
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '.')
            return false;
    }
    return true;
}

static int check_version(const json_t *head, struct err *e)
{
    const char *format = json_string_value(json_object_get(head, "format")),
               *program = json_string_value(json_object_get(head, "program"));
    const json_int_t version = json_integer_value(json_object_get(head, "version"));
    if (!format || strcmp(format, ARCHIVE_FORMAT) != 0 || version < 1)
        return err_set(e, ERR_ARCHIVE, "the archive is damaged: its head has no format \"" ARCHIVE_FORMAT "\"");
    if (version > ARCHIVE_VERSION)
        return err_set(e, ERR_UNSUPPORTED,
                       "the archive has version %lld, by Shoal %.40s; Shoal %s reads versions up to %d: import it with "
                       "a newer Shoal",
                       (long long)version, program ? program : "?", SHOAL_VERSION, ARCHIVE_VERSION);
    return 0;
}

static int check_listed(const json_t *file, int64_t *bytes, struct err *e)
{
    const char *path = json_string_value(json_array_get(file, 0));
    const json_t *size = json_array_get(file, 1);
    if (!path || !may_be_path(path) || !json_is_integer(size) || json_integer_value(size) < 0)
        return err_set(e, ERR_ARCHIVE, "the archive lists a file \"%.200s\" that no ensemble has", path ? path : "");
    if (__builtin_add_overflow(*bytes, (int64_t)json_integer_value(size), bytes))
        return err_set(e, ERR_ARCHIVE, "the archive lists a file \"%.200s\" that is too large", path);
    return 0;
}

static int check_size(const struct unpacking *u, int64_t bytes, struct err *e)
{
    struct buf has = {0}, may = {0};
    if (bytes <= u->most)
        return 0;
    number_bytes(&has, (double)bytes);
    number_bytes(&may, (double)(u->most > 0 ? u->most : 0));
    err_set(e, ERR_LIMIT, "the ensemble has %s of files, and you may store %s more", has.data, may.data);
    buf_free(&has);
    buf_free(&may);
    return -(int)e->code;
}

static int check_head(const struct unpacking *u, const json_t *head, struct err *e)
{
    const json_t *files = json_object_get(head, "files"), *file;
    int64_t bytes = 0;
    size_t i;
    if (check_version(head, e))
        return -(int)e->code;
    if (!json_is_array(files) || json_array_size(files) > ARCHIVE_FILES)
        return err_set(e, ERR_ARCHIVE, "the archive is damaged: its head has no list of at most %d files",
                       ARCHIVE_FILES);
    json_array_foreach (files, i, file)
        if (check_listed(file, &bytes, e))
            return -(int)e->code;
    return check_size(u, bytes, e);
}

/* ---- files ---- */

static int write_all(int fd, const char *data, size_t len, const char *path, struct err *e)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "write %s", path);
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int copy_bytes(struct unpacking *u, int fd, int64_t bytes, const char *path, struct err *e)
{
    char part[64 << 10];
    sums_begin(&u->sums);
    while (bytes > 0) {
        la_ssize_t n = archive_read_data(u->a, part, bytes < (int64_t)sizeof part ? (size_t)bytes : sizeof part);
        if (n <= 0)
            return refuse_damaged(u, e);
        sums_add(&u->sums, part, (size_t)n);
        if (write_all(fd, part, (size_t)n, path, e))
            return -(int)e->code;
        bytes -= n;
    }
    sums_end(&u->sums);
    return 0;
}

/* A name that is listed twice, or that is a folder too, cannot be made twice. */
static int make_file(struct unpacking *u, const char *path, int64_t bytes, struct err *e)
{
    struct buf target = {0};
    buf_printf(&target, "%s/%s", u->folder, path);
    int rc = path_make_parents(target.data, 0755, e);
    int fd = rc ? -1 : open(target.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && (errno == EEXIST || errno == ENOTDIR || errno == EISDIR))
        rc = err_set(e, ERR_ARCHIVE, "the archive has \"%.200s\" twice, or as a file and as a folder", path);
    else if (fd < 0 && !rc)
        rc = err_errno(e, "make %s", path);
    if (!rc)
        rc = copy_bytes(u, fd, bytes, path, e);
    if (fd >= 0)
        close(fd);
    buf_free(&target);
    return rc;
}

static int take_file(struct unpacking *u, const json_t *file, struct err *e)
{
    const char *path = json_string_value(json_array_get(file, 0)), *name = next_member(u, e);
    const int64_t bytes = json_integer_value(json_array_get(file, 1));
    if (!name)
        return -(int)e->code;
    if (strcmp(name, path) != 0)
        return err_set(e, ERR_ARCHIVE, "the archive has a member \"%.200s\" where its head lists \"%.200s\"", name,
                       path);
    if (archive_entry_size(u->entry) != bytes)
        return err_set(e, ERR_ARCHIVE, "the archive's \"%.200s\" has %lld bytes where its head lists %lld", path,
                       (long long)archive_entry_size(u->entry), (long long)bytes);
    return make_file(u, path, bytes, e);
}

static int check_sums(struct unpacking *u, const json_t *files, struct err *e)
{
    const char *name = next_member(u, e);
    if (name && strcmp(name, ARCHIVE_SUMS) != 0)
        err_set(e, ERR_ARCHIVE, "the archive has a member \"%.200s\" that its head does not list", name);
    json_t *sums = e->code ? NULL : read_json(u, ARCHIVE_SUMS, e);
    const json_t *all = json_object_get(sums, "sha256");
    for (size_t i = 0; sums && !e->code && i < json_array_size(files); i++)
        if (!json_equal(json_array_get(all, i), json_array_get(u->sums.all, i)))
            err_set(e, ERR_ARCHIVE, "the archive is damaged: \"%.200s\" is not what was written",
                    json_string_value(json_array_get(json_array_get(files, i), 0)));
    json_decref(sums);
    return -(int)e->code;
}

static int check_end(struct unpacking *u, struct err *e)
{
    int rc = archive_read_next_header(u->a, &u->entry);
    if (rc == ARCHIVE_EOF)
        return 0;
    return rc == ARCHIVE_OK ? err_set(e, ERR_ARCHIVE, "the archive goes on behind " ARCHIVE_SUMS)
                            : refuse_damaged(u, e);
}

static int sync_folder(const struct unpacking *u, struct err *e)
{
    int fd = open(u->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || syncfs(fd) ? err_errno(e, "write %s", u->folder) : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

static int take_all(struct unpacking *u, json_t **head, struct err *e)
{
    const json_t *file;
    size_t i;
    if (find_own(u, e) || !(*head = read_json(u, ARCHIVE_HEAD, e)) || check_head(u, *head, e))
        return -(int)e->code;
    const json_t *files = json_object_get(*head, "files");
    json_array_foreach (files, i, file)
        if (take_file(u, file, e))
            return -(int)e->code;
    return check_sums(u, files, e) || check_end(u, e) || sync_folder(u, e) ? -(int)e->code : 0;
}

int archive_unpack(int fd, const char *folder, int64_t most, json_t **head, struct err *e)
{
    struct unpacking u = {.a = archive_read_new(), .folder = folder, .most = most};
    *head = NULL;
    if (archive_read_support_filter_zstd(u.a) != ARCHIVE_OK || archive_read_support_format_tar(u.a) != ARCHIVE_OK)
        err_set(e, ERR_INTERNAL, "this build of libarchive reads no zstd");
    else if (archive_read_open_fd(u.a, fd, BLOCK) != ARCHIVE_OK)
        err_set(e, ERR_ARCHIVE, "this is no ensemble that `shoal export` wrote: %.200s", archive_error_string(u.a));
    else
        take_all(&u, head, e);
    archive_read_free(u.a);
    sums_free(&u.sums);
    if (!e->code)
        return 0;
    json_decref(*head);
    *head = NULL;
    return -(int)e->code;
}
