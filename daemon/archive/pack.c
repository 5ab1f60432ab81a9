/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/archive/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/archive/archive.h"
#include "daemon/archive/sums.h"

struct pack {
    struct archive *a;
    char *folder;
    struct buf out;
    struct file_sums sums;
};

static la_ssize_t take_packed(struct archive *a, void *arg, const void *data, size_t len)
{
    struct pack *p = arg;
    buf_add(&p->out, data, len);
    return (la_ssize_t)len;
}

static int fail_to_pack(const struct pack *p, struct err *e)
{
    const char *why = archive_error_string(p->a);
    return err_set(e, ERR_INTERNAL, "write the archive: %s", why ? why : "no reason is known");
}

int pack_new(struct pack **out, const char *folder, struct err *e)
{
    struct pack *p = xcalloc(1, sizeof *p);
    *out = p;
    p->a = archive_write_new();
    p->folder = xstrdup(folder);
    if (archive_write_add_filter_zstd(p->a) != ARCHIVE_OK || archive_write_set_format_gnutar(p->a) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(p->a, 0) != ARCHIVE_OK ||
        archive_write_open(p->a, p, NULL, take_packed, NULL) != ARCHIVE_OK)
        return fail_to_pack(p, e);
    return 0;
}

void pack_free(struct pack *p)
{
    if (!p)
        return;
    archive_write_free(p->a);
    sums_free(&p->sums);
    buf_free(&p->out);
    free(p->folder);
    free(p);
}

static int begin_member(struct pack *p, const char *path, int64_t bytes, struct err *e)
{
    struct archive_entry *entry = archive_entry_new();
    struct buf name = {0};
    buf_printf(&name, "%s/%s", p->folder, path);
    archive_entry_set_pathname(entry, name.data);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, bytes);
    archive_entry_set_mtime(entry, time(NULL), 0);
    int rc = archive_write_header(p->a, entry) == ARCHIVE_OK ? 0 : fail_to_pack(p, e);
    archive_entry_free(entry);
    buf_free(&name);
    return rc;
}

static int add_bytes(struct pack *p, const void *data, size_t len, struct err *e)
{
    return archive_write_data(p->a, data, len) == (la_ssize_t)len ? 0 : fail_to_pack(p, e);
}

static int add_json(struct pack *p, const char *path, const json_t *value, struct err *e)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text)
        return err_set(e, ERR_INTERNAL, "write the archive: %s is no JSON", path);
    const size_t len = strlen(text);
    int rc = begin_member(p, path, (int64_t)len, e);
    if (!rc)
        rc = add_bytes(p, text, len, e);
    free(text);
    return rc;
}

int pack_head(struct pack *p, const json_t *head, struct err *e)
{
    return add_json(p, ARCHIVE_HEAD, head, e);
}

int pack_begin(struct pack *p, const char *path, int64_t bytes, struct err *e)
{
    sums_begin(&p->sums);
    return begin_member(p, path, bytes, e);
}

int pack_add(struct pack *p, const void *data, size_t len, struct err *e)
{
    sums_add(&p->sums, data, len);
    return add_bytes(p, data, len, e);
}

void pack_end(struct pack *p)
{
    sums_end(&p->sums);
}

int pack_finish(struct pack *p, struct err *e)
{
    json_t *sums = json_pack("{s:O}", "sha256", p->sums.all);
    int rc = add_json(p, ARCHIVE_SUMS, sums, e);
    json_decref(sums);
    return rc || archive_write_close(p->a) == ARCHIVE_OK ? rc : fail_to_pack(p, e);
}

struct buf pack_take(struct pack *p)
{
    struct buf out = p->out;
    p->out = (struct buf){0};
    return out;
}

size_t pack_waiting(const struct pack *p)
{
    return p->out.len;
}
