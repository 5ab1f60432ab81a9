/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/files/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/worker/threads/co.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

const char *const output_names[OUTPUT_COUNT] = {"dhdl.xvg", "energy.xvg", "traj.xtc", "work.tsv"};

/* The last one is a walker's alone. */
static int count_files(const struct outputs *r)
{
    return r->works ? OUTPUT_COUNT : OUTPUT_WORK;
}

int outputs_lock(struct outputs *r, const char *folder, struct err *e)
{
    bool made = !mkdir(folder, 0755);
    if (!made && errno != EEXIST)
        return err_errno(e, "make %s", folder);
    r->folder = xstrdup(folder);
    r->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* The folder's own entry must be as durable as the checkpoint in it. */
    if (r->lock < 0 || (made && path_sync_parent(folder))) {
        int rc = err_errno(e, "open %s", folder);
        outputs_close(r);
        return rc;
    }
    if (flock(r->lock, LOCK_EX | LOCK_NB)) {
        int rc = errno == EWOULDBLOCK ? err_set(e, ERR_BUSY, "%s: another process writes to it", folder)
                                      : err_errno(e, "lock %s", folder);
        outputs_close(r);
        return rc;
    }
    return 0;
}

int outputs_reach(const struct outputs *r, const uint64_t offset[OUTPUT_COUNT], struct err *e)
{
    for (int i = 0; i < OUTPUT_COUNT; i++) {
        struct stat st;
        uint64_t size = fstatat(r->lock, output_names[i], &st, 0) ? 0 : (uint64_t)st.st_size;
        if (size < offset[i])
            return err_set(e, ERR_CHECKPOINT, "%s/%s has %" PRIu64 " %s, the checkpoint counts on %" PRIu64, r->folder,
                           output_names[i], size, number_word((int64_t)size, "byte", "bytes"), offset[i]);
    }
    return 0;
}

int outputs_open(struct outputs *r, const uint64_t offset[OUTPUT_COUNT], struct err *e)
{
    for (int i = 0; i < count_files(r); i++) {
        struct output_file *f = &r->files[i];
        f->fd = openat(r->lock, output_names[i], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (f->fd < 0)
            return err_errno(e, "open %s/%s", r->folder, output_names[i]);
        f->open = true;
        f->written = offset[i];
        if (ftruncate(f->fd, (off_t)offset[i]))
            return err_errno(e, "truncate %s/%s", r->folder, output_names[i]);
    }
    return 0;
}

void outputs_close(struct outputs *r)
{
    for (int i = 0; i < OUTPUT_COUNT; i++) {
        if (r->files[i].open)
            close(r->files[i].fd);
        buf_free(&r->files[i].rows);
    }
    if (r->folder && r->lock >= 0)
        close(r->lock);
    free(r->folder);
    *r = (struct outputs){0};
}

struct buf *outputs_begin(struct outputs *r, enum output which)
{
    co_hold(CO_BORROW);
    return &r->files[which].rows;
}

void outputs_end(struct outputs *r, enum output which)
{
    (void)r, (void)which;
    co_release(CO_BORROW);
}

uint64_t outputs_offset(const struct outputs *r, enum output which)
{
    return r->files[which].written + r->files[which].rows.len;
}

/* Writing at an offset would fill what somebody has cut off with zeros, and nobody would read a file that is removed.
 */
static int check_untouched(const struct outputs *r, int which, struct err *e)
{
    const struct output_file *f = &r->files[which];
    struct stat st;
    if (fstat(f->fd, &st))
        return err_errno(e, "look at %s/%s", r->folder, output_names[which]);
    if (!st.st_nlink)
        return err_set(e, ERR_IO, "%s/%s: removed by another program", r->folder, output_names[which]);
    if ((uint64_t)st.st_size != f->written)
        return err_set(e, ERR_IO, "%s/%s: %lld %s; expected %" PRIu64 ": another program has changed it", r->folder,
                       output_names[which], (long long)st.st_size, number_word(st.st_size, "byte", "bytes"),
                       f->written);
    return 0;
}

int outputs_flush_file(struct outputs *r, enum output which, struct err *e)
{
    struct output_file *f = &r->files[which];
    size_t done = 0;
    int untouched = check_untouched(r, which, e);
    if (untouched)
        return untouched;
    while (done < f->rows.len) {
        ssize_t n = pwrite(f->fd, f->rows.data + done, f->rows.len - done, (off_t)(f->written + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int rc = err_errno(e, "write %s/%s", r->folder, output_names[which]);
            if (ftruncate(f->fd, (off_t)f->written))
                err_prefix(e, "and cannot take back half a row");
            return rc;
        }
        done += (size_t)n;
    }
    f->written += done;
    f->rows.len = 0;
    return 0;
}

int outputs_flush(struct outputs *r, struct err *e)
{
    for (int i = 0; i < count_files(r); i++) {
        int rc = outputs_flush_file(r, i, e);
        if (rc)
            return rc;
    }
    return 0;
}

int outputs_sync(struct outputs *r, struct err *e)
{
    int rc = outputs_flush(r, e);
    for (int i = 0; !rc && i < count_files(r); i++)
        if (fsync(r->files[i].fd))
            rc = err_errno(e, "fsync %s/%s", r->folder, output_names[i]);
    if (!rc && fsync(r->lock))
        rc = err_errno(e, "fsync %s", r->folder);
    return rc;
}
