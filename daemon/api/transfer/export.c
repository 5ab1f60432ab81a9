/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble as one file for another node. The happy path: it is paused or has ended, and stays so until the last byte
 * is made; what its rows say is taken at once; inputs, events and the list of its files are read on the thread pool;
 * then the archive is made there, piece by piece, as its client reads it. An error on the way breaks the connection
 * off: a reader refuses an archive that was cut short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/api/api.h"
#include "daemon/api/transfer/described.h"
#include "daemon/api/transfer/files.h"
#include "daemon/archive/archive.h"
#include "daemon/archive/pack.h"
#include "daemon/host/users.h"
#include "engine/base/log.h"
#include "engine/base/number.h"

#define AT_ONCE 4            /* of all users */
#define PIECE (256u << 10)   /* of compressed bytes, and held while its client does not read */
#define READ_PART (64 << 10) /* of a file */
#define EVENT_ROWS 500       /* read at once */

struct export_input {
    char *path;
    struct buf text;
};

struct export
{
    struct service *service;
    struct request *request;
    struct ensemble *ensemble; /* held */
    bool holds;                /* it is to stay as it is */
    int64_t number;
    int64_t skipped; /* of its events, the oldest */
    char *folder;
    json_t *head;
    int ninputs;
    struct export_input *inputs;
    struct pack *pack;
    size_t next; /* of the head's files */
    int fd;      /* of the file that is being read; -1: none */
    int64_t left;
    bool finished;
    struct err err;
    struct stream *stream; /* NULL: it is not answered yet */
    bool working, closed;
    struct buf piece;
};

/* All of it has been read: it may go on. */
static void release_still(struct export *x)
{
    x->ensemble->exports -= x->holds;
    x->holds = false;
}

static void export_free(struct export *x)
{
    if (x->fd >= 0)
        close(x->fd);
    release_still(x);
    x->service->exports--;
    ensemble_free(x->ensemble);
    json_decref(x->head);
    for (int i = 0; i < x->ninputs; i++) {
        free(x->inputs[i].path);
        buf_free(&x->inputs[i].text);
    }
    free(x->inputs);
    pack_free(x->pack);
    buf_free(&x->piece);
    free(x->folder);
    free(x);
}

/* ---- what is in it ---- */

static void list_file(struct export *x, const char *path, int64_t bytes)
{
    json_array_append_new(json_object_get(x->head, "files"), json_pack("[s,I]", path, (json_int_t)bytes));
}

static void add_input(struct export *x, const char *name, const void *data, size_t len)
{
    struct buf path = {0};
    buf_printf(&path, ARCHIVE_INPUTS "%s", name);
    x->inputs = xrealloc(x->inputs, (size_t)x->ninputs + 1, sizeof *x->inputs);
    struct export_input *in = &x->inputs[x->ninputs++];
    *in = (struct export_input){.path = path.data};
    buf_add(&in->text, data, len);
    list_file(x, path.data, (int64_t)len);
}

static int take_input(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    add_input(arg, name, data, len);
    return 0;
}

/* As the database has them: the folder may never have been written. */
static int read_inputs(struct export *x, struct err *e)
{
    struct buf spec = {0};
    int rc = store_read_inputs(x->service->store, x->number, &spec, take_input, x, e);
    if (!rc)
        add_input(x, ARCHIVE_SPEC + strlen(ARCHIVE_INPUTS), spec.data ? spec.data : "", spec.len);
    buf_free(&spec);
    return rc;
}

static void list_files(struct export *x)
{
    json_t *files = files_in(x->folder), *file;
    size_t i;
    json_array_foreach (files, i, file) {
        const char *path = json_string_value(json_object_get(file, "path"));
        if (strncmp(path, ARCHIVE_INPUTS, strlen(ARCHIVE_INPUTS)) != 0)
            list_file(x, path, json_integer_value(json_object_get(file, "bytes")));
    }
    json_decref(files);
}

static int read_history(struct export *x, struct err *e)
{
    json_t *events = json_object_get(x->head, "events"), *rows, *row;
    int64_t since = 0, n = 0;
    size_t got = EVENT_ROWS, i;
    while (got == EVENT_ROWS) {
        if (store_read_events(x->service->store, x->number, since, EVENT_ROWS, &rows, e))
            return -(int)e->code;
        got = json_array_size(rows);
        json_array_foreach (rows, i, row) {
            since = json_integer_value(json_object_get(row, "seq"));
            json_object_del(row, "seq");
            if (n++ >= x->skipped)
                json_array_append(events, row);
        }
        json_decref(rows);
    }
    return 0;
}

static void collect_export(void *arg)
{
    struct export *x = arg;
    if (read_inputs(x, &x->err) || read_history(x, &x->err))
        return;
    list_files(x);
    if (pack_new(&x->pack, x->ensemble->id, &x->err) == 0)
        pack_head(x->pack, x->head, &x->err);
}

/* ---- its pieces ---- */

static int pack_input(struct export *x, const char *path, struct err *e)
{
    for (int i = 0; i < x->ninputs; i++) {
        struct export_input *in = &x->inputs[i];
        if (strcmp(in->path, path) != 0)
            continue;
        if (pack_begin(x->pack, path, (int64_t)in->text.len, e) || pack_add(x->pack, in->text.data, in->text.len, e))
            return -(int)e->code;
        pack_end(x->pack);
        buf_free(&in->text);
        x->next++;
        return 0;
    }
    return err_set(e, ERR_INTERNAL, "the input %s is gone", path);
}

static int refuse_changed(const struct export *x, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s/%s: it is not what it was when it was listed: %s", x->folder, path,
                   errno ? strerror(errno) : "it became shorter");
}

static int open_next(struct export *x, const char *path, int64_t bytes, struct err *e)
{
    off_t now;
    errno = 0;
    x->fd = files_open(x->folder, path, &now);
    if (x->fd < 0 || now < bytes)
        return refuse_changed(x, path, e);
    x->left = bytes;
    return pack_begin(x->pack, path, bytes, e);
}

static int pack_part(struct export *x, const char *path, struct err *e)
{
    char part[READ_PART];
    size_t most = x->left < READ_PART ? (size_t)x->left : READ_PART;
    ssize_t n;
    errno = 0;
    do
        n = most ? read(x->fd, part, most) : 0;
    while (n < 0 && errno == EINTR);
    if (n < 0 || (most && !n))
        return refuse_changed(x, path, e);
    x->left -= n;
    if (pack_add(x->pack, part, (size_t)n, e))
        return -(int)e->code;
    if (x->left)
        return 0;
    pack_end(x->pack);
    close(x->fd);
    x->fd = -1;
    x->next++;
    return 0;
}

static int pack_more(struct export *x, struct err *e)
{
    const json_t *files = json_object_get(x->head, "files"), *file = json_array_get(files, x->next);
    const char *path = json_string_value(json_array_get(file, 0));
    if (!file) {
        x->finished = true;
        return pack_finish(x->pack, e);
    }
    if (x->next < (size_t)x->ninputs)
        return pack_input(x, path, e);
    if (x->fd < 0 && open_next(x, path, json_integer_value(json_array_get(file, 1)), e))
        return -(int)e->code;
    return pack_part(x, path, e);
}

static void pack_work(void *arg)
{
    struct export *x = arg;
    while (!x->finished && !x->err.code && pack_waiting(x->pack) < PIECE)
        pack_more(x, &x->err);
    x->piece = pack_take(x->pack);
}

static void pack_done(void *arg)
{
    struct export *x = arg;
    x->working = false;
    if (x->closed) {
        export_free(x);
    } else if (x->err.code) {
        log_line(LOG_WARNING, "export of ensemble %s: %s", x->ensemble->id, x->err.msg);
        stream_fail(x->stream);
    } else {
        const bool last = x->finished;
        if (last)
            release_still(x);
        struct stream *s = x->stream;
        if (x->piece.len)
            stream_push(s, x->piece.data, x->piece.len);
        buf_free(&x->piece);
        if (last)
            stream_end(s);
    }
}

static void on_export_fill(void *arg, struct stream *s)
{
    struct export *x = arg;
    x->stream = s;
    x->working = true;
    service_offload(x->service, pack_work, pack_done, x);
}

static void on_export_over(void *arg)
{
    struct export *x = arg;
    x->closed = true;
    if (!x->working)
        export_free(x);
}

/* ---- its beginning ---- */

static void tell_of_export(struct export *x)
{
    char name[USERS_NAME], text[USERS_NAME + 40];
    users_name(request_uid(x->request), name);
    snprintf(text, sizeof text, "exported by %s", name);
    service_put_event(x->service, x->ensemble, NULL, "export", -1, text);
    act_done(x->request, NULL);
}

static void export_collected(void *arg)
{
    static const struct stream_ops ops = {on_export_fill, on_export_over};
    struct export *x = arg;
    if (x->err.code) {
        reply_error(x->request, &x->err);
        export_free(x);
        return;
    }
    tell_of_export(x);
    reply_stream(x->request, 200, "application/zstd", -1, &ops, x);
}

static void begin_collecting(void *arg)
{
    struct export *x = arg;
    service_offload(x->service, collect_export, export_collected, x);
}

static void forget_export(void *arg)
{
    export_free(arg);
}

static int may_export(const struct api_call *c, struct err *e)
{
    if (sched_check_still(c->ensemble, e))
        return -(int)e->code;
    if (c->service->draining)
        return err_set(e, ERR_BUSY, "the service is draining: it exports nothing more");
    return c->service->exports < AT_ONCE
               ? 0
               : err_set(e, ERR_BUSY, "%d ensembles are being exported now: try again later", AT_ONCE);
}

struct reply api_export(struct api_call *c)
{
    struct err e = {0};
    struct ensemble *en = c->ensemble;
    if (may_export(c, &e))
        return reply_error(c->request, &e);
    act_begin(c);
    struct export *x = xcalloc(1, sizeof *x);
    *x = (struct export){.service = c->service,
                         .request = c->request,
                         .ensemble = ensemble_hold(en),
                         .number = en->number,
                         .skipped = en->nevents - DESCRIBED_EVENTS,
                         .folder = service_path(c->service, en, NULL),
                         .head = described_head(en),
                         .fd = -1};
    json_object_set_new(x->head, "files", json_array());
    json_object_set_new(x->head, "events", json_array());
    en->exports++;
    x->holds = true;
    c->service->exports++;
    if (store_ok(c->service->store)) /* its last events are to be in the database; a full disk has none of them */
        store_after_commit(c->service->store, begin_collecting, forget_export, x);
    else
        begin_collecting(x);
    return reply_later(c->request);
}
