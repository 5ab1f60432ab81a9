/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble's input folder, made on the thread pool from the database; again, should it have been deleted.
 */
#include "daemon/service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/path.h"

char *service_path(const struct service *sv, const struct ensemble *en, const char *name)
{
    struct buf b = {0};
    buf_printf(&b, "%s/ensembles/%s%s%s", sv->config.state, en->id, name ? "/" : "", name ? name : "");
    return b.data;
}

struct prepare_job {
    struct service *sv;
    struct ensemble *ensemble;
    int64_t number;
    char *directory;
    int repeats;
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

static int write_input(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    const struct prepare_job *j = arg;
    struct buf path = {0};
    buf_printf(&path, "%s/input/%s", j->directory, name);
    int rc = 0;
    if (!holds(path.data, data, len)) {
        rc = path_make_parents(path.data, 0755, e);
        if (rc == 0)
            rc = buf_write_file(path.data, data, len, e);
    }
    buf_free(&path);
    return rc;
}

/* The worker makes lambda_KK; what is above it is made here. */
static int make_repeats(const struct prepare_job *j, struct err *e)
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
static void remove_results(const struct prepare_job *j)
{
    struct buf path = {0};
    buf_printf(&path, "%s/results.json", j->directory);
    unlink(path.data);
    buf_free(&path);
}

static void prepare_work(void *arg)
{
    struct prepare_job *j = arg;
    struct buf spec = {0};
    remove_results(j);
    if (store_read_inputs(j->sv->store, j->number, &spec, write_input, j, &j->err) == 0 &&
        write_input(j, "spec.yaml", spec.data, spec.len, &j->err) == 0)
        make_repeats(j, &j->err);
    buf_free(&spec);
}

static void prepare_free(void *arg)
{
    struct prepare_job *j = arg;
    free(j->directory);
    free(j);
}

static void prepare_done(void *arg)
{
    struct prepare_job *j = arg;
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
    struct prepare_job *j = arg;
    service_job(j->sv, prepare_work, prepare_done, j);
}

void service_prepare(struct service *sv, struct ensemble *en)
{
    struct prepare_job *j = xcalloc(1, sizeof *j);
    *j = (struct prepare_job){.sv = sv,
                              .ensemble = en,
                              .number = en->number,
                              .directory = service_path(sv, en, NULL),
                              .repeats = en->repeats};
    store_after_commit(sv->store, prepare_committed, prepare_free, j);
}
