/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble's input folder, made on the thread pool from the database; again, should it have been deleted.
 */
#include "daemon/service/service.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/checksum.h"
#include "engine/base/log.h"
#include "engine/base/path.h"

char *service_path(const struct service *sv, const struct ensemble *en, const char *name)
{
    struct buf b = {0};
    buf_printf(&b, "%s/ensembles/%s%s%s", sv->config.state, en->id, name ? "/" : "", name ? name : "");
    return b.data;
}

struct preparation {
    struct service *sv;
    struct ensemble *ensemble;
    int64_t number;
    uint32_t owner;
    char *directory;
    int repeats;
    int before; /* revision whose windows' files may have to go to a folder of its own; 0: none */
    struct err err;
};

static bool holds(const char *path, const void *data, size_t len)
{
    struct stat st;
    if (stat(path, &st) || (size_t)st.st_size != len)
        return false;
    struct buf b = {0};
    struct err e = {0};
    bool same = buf_read_file(&b, path, &e) == 0 && b.len == len && (len == 0 || memcmp(b.data, data, len) == 0);
    buf_free(&b);
    return same;
}

/* Equal inputs of several ensembles of one user are one file on disk: the first leaves it a second name in
 * state/inputs/UID, of its checksum, from which the next ones are linked. Users share none: what a file is charged by
 * would tell who else has it. What is linked is held against its content first. Where the filesystem takes no links
 * every ensemble has its own. */
static void shared_path(const struct preparation *j, const void *data, size_t len, struct buf *path)
{
    buf_printf(path, "%s/inputs/%" PRIu32 "/%016" PRIx64, j->sv->config.state, j->owner, checksum(data, len));
}

/* A file that is at `path` stays there where this fails. */
static bool link_input(const char *shared, const char *path, const void *data, size_t len)
{
    struct buf new = {0};
    buf_printf(&new, "%s.link", path);
    unlink(new.data);
    bool linked = holds(shared, data, len) && link(shared, new.data) == 0 && holds(new.data, data, len) &&
                  rename(new.data, path) == 0 && path_sync_parent(path) == 0;
    unlink(new.data);
    buf_free(&new);
    return linked;
}

/* It is a convenience: an error is none. Of two ensembles that are prepared at once the one that comes second links the
 * other's file. */
static void share_input(const char *path, const char *shared, const void *data, size_t len)
{
    struct err e = {0};
    if (path_make_parents(shared, 0755, &e) || link(path, shared) == 0 ||
        (errno == EEXIST && link_input(shared, path, data, len)))
        return;
    unlink(shared); /* of other content, or damaged */
    if (link(path, shared))
        log_line(LOG_DEBUG, "%s is not shared: %s", path, strerror(errno));
}

static int write_own(const struct preparation *j, const char *path, const void *data, size_t len, struct err *e)
{
    struct buf shared = {0};
    shared_path(j, data, len, &shared);
    int rc = path_make_parents(path, 0755, e);
    if (rc == 0 && !link_input(shared.data, path, data, len)) {
        rc = buf_write_file(path, data, len, e);
        if (rc == 0)
            share_input(path, shared.data, data, len);
    }
    buf_free(&shared);
    return rc;
}

static int write_input(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    const struct preparation *j = arg;
    struct buf path = {0};
    buf_printf(&path, "%s/input/%s", j->directory, name);
    int rc = holds(path.data, data, len) ? 0 : write_own(j, path.data, data, len, e);
    buf_free(&path);
    return rc;
}

/* No other ensemble has the same. */
static int write_spec(const struct preparation *j, const struct buf *spec, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/input/spec.yaml", j->directory);
    int rc = 0;
    if (!holds(path.data, spec->data, spec->len)) {
        rc = path_make_parents(path.data, 0755, e);
        if (rc == 0)
            rc = buf_write_file(path.data, spec->data, spec->len, e);
    }
    buf_free(&path);
    return rc;
}

/* The worker makes lambda_KK; what is above it is made here. */
static int make_repeats(const struct preparation *j, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < j->repeats && j->repeats > 1 && !rc; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/repeat_%02d/", j->directory, i);
        rc = path_make_parents(path.data, 0755, e);
        buf_free(&path);
    }
    return rc;
}

/* It goes on: what results there are will be those of an earlier end. */
static void remove_results(const struct preparation *j)
{
    struct buf path = {0};
    buf_printf(&path, "%s/results.json", j->directory);
    unlink(path.data);
    buf_free(&path);
}

static int rename_into(const char *from, const char *folder, const char *name, struct err *e)
{
    struct buf old = {0}, new = {0};
    buf_printf(&old, "%s/%s", from, name);
    buf_printf(&new, "%s/%s", folder, name);
    int rc = rename(old.data, new.data) ? err_errno(e, "move %s to %s", old.data, folder) : 0;
    buf_free(&old);
    buf_free(&new);
    return rc;
}

/* What windows and repeats have written so far, and what that came to. */
static bool is_of_ladder(const char *name)
{
    return !strncmp(name, "lambda_", 7) || !strncmp(name, "repeat_", 7) || !strcmp(name, "results.json");
}

static int move_files(const char *from, const char *to, struct err *e)
{
    DIR *d = opendir(from);
    int rc = 0;
    if (!d)
        return errno == ENOENT ? 0 : err_errno(e, "open %s", from);
    for (struct dirent *item; !rc && (item = readdir(d));)
        if (is_of_ladder(item->d_name))
            rc = rename_into(from, to, item->d_name, e);
    closedir(d);
    return rc;
}

/* Where the ladder is another than the first, the files of the one before it go to revision_N. That folder has its name
 * when all of them are in it: from then on what is outside is the new windows' own, though somebody may delete it later
 * (before_of). */
static int put_aside(const struct preparation *j, struct err *e)
{
    struct buf folder = {0}, part = {0}, inside = {0};
    int rc = 0;
    buf_printf(&folder, "%s/revision_%d", j->directory, j->before);
    buf_printf(&part, "%s.part", folder.data);
    buf_printf(&inside, "%s/lambda", part.data);
    if (j->before && access(folder.data, F_OK)) {
        rc = errno == ENOENT ? path_make_parents(inside.data, 0755, e) : err_errno(e, "find %s", folder.data);
        if (!rc)
            rc = move_files(j->directory, part.data, e);
        if (!rc && (path_sync_parent(inside.data) || rename(part.data, folder.data) || path_sync_parent(folder.data)))
            rc = err_errno(e, "make %s", folder.data);
    }
    buf_free(&folder);
    buf_free(&part);
    buf_free(&inside);
    return rc;
}

static void prepare_work(void *arg)
{
    struct preparation *j = arg;
    struct buf spec = {0};
    if (put_aside(j, &j->err))
        return;
    remove_results(j);
    if (store_read_inputs(j->sv->store, j->number, &spec, write_input, j, &j->err) == 0 &&
        write_spec(j, &spec, &j->err) == 0)
        make_repeats(j, &j->err);
    buf_free(&spec);
}

static void prepare_free(void *arg)
{
    struct preparation *j = arg;
    free(j->directory);
    free(j);
}

static void prepare_done(void *arg)
{
    struct preparation *j = arg;
    struct err e = {0};
    service_step(j->sv,
                 &(struct sched_event){.kind = SCHED_PREPARED,
                                       .ensemble = j->ensemble,
                                       .ok = j->err.code == ERR_NONE,
                                       .code = (int)j->err.code,
                                       .message = j->err.msg},
                 &e);
    prepare_free(j);
}

/* The inputs of a submission can be read once they are committed. */
static void prepare_committed(void *arg)
{
    struct preparation *j = arg;
    service_offload(j->sv, prepare_work, prepare_done, j);
}

/* A window that has a checkpoint in its folder has had the one before put aside. */
static int before_of(const struct ensemble *en)
{
    for (int i = 0; i < en->nreplicas; i++)
        if (en->replicas[i].saved_step > 0)
            return 0;
    return en->ladder - 1;
}

void service_prepare(struct service *sv, struct ensemble *en)
{
    struct preparation *j = xcalloc(1, sizeof *j);
    *j = (struct preparation){.sv = sv,
                              .ensemble = en,
                              .number = en->number,
                              .owner = en->owner,
                              .directory = service_path(sv, en, NULL),
                              .repeats = en->repeats,
                              .before = before_of(en)};
    store_after_commit(sv->store, prepare_committed, prepare_free, j);
}
