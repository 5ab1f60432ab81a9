/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble from another node. The happy path: the body goes piece by piece to a process of its own (shoal-worker
 * unpack), which writes the files into STATE/imports/new-N and reads spec and inputs as those of a submission; the
 * folder becomes STATE/imports/ID; the ensemble is charged and put into the store's batch; when that is committed, the
 * folder moves to STATE/ensembles/ID, and the answer goes out.
 *
 * Failure modes: whatever goes wrong before the commit, the folder is removed. When the service dies in between, the
 * next start removes what the database does not know, and moves the folders of what it knows
 * (service_finish_imports).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/api/api.h"
#include "daemon/api/facts.h"
#include "daemon/api/transfer/described.h"
#include "daemon/host/folder.h"
#include "daemon/host/users.h"
#include "daemon/service/stored.h"
#include "engine/base/json/err_json.h"
#include "engine/base/log.h"
#include "engine/base/path.h"

#define AT_ONCE 8                   /* of all users, one of each */
#define WAITING (1u << 20)          /* bytes that the reader has not read: then the client waits */
#define OUTPUT_MAX (256u << 20)     /* the head, spec and inputs */
#define SECONDS "3600"              /* of processor time */
#define LIMIT_MS (24 * 3600 * 1000) /* of wall time: clients may be slow */

struct import {
    struct import *next;
    struct api *api;
    struct request *request;
    char *folder; /* that its files are in; NULL: removed, or the ensemble's own */
    char *place;  /* where they go once it is stored */
    char bytes[24], mib[16];
    struct buf devices; /* for the reader */
    const char *argv[16];
    struct child *child; /* NULL: it has ended */
    bool gone;           /* its client left */
    struct buf out;      /* what the reader said */
    json_t *head, *answer;
    const char *texts; /* of `out`: spec and inputs */
    size_t len;
    int64_t stored; /* bytes of its folder */
    struct err err;
    struct ensemble *ensemble; /* held; NULL: not stored */
};

static void import_free(struct import *im)
{
    struct import **at = &im->api->imports.all;
    while (*at != im)
        at = &(*at)->next;
    *at = im->next;
    im->api->imports.n--;
    json_decref(im->head);
    json_decref(im->answer);
    buf_free(&im->out);
    buf_free(&im->devices);
    if (im->ensemble)
        ensemble_free(im->ensemble);
    free(im->folder);
    free(im->place);
    free(im);
}

/* ---- when it cannot be taken ---- */

static void remove_work(void *arg)
{
    struct import *im = arg;
    struct err e = {0};
    int64_t bytes = 0;
    if (im->folder && folder_remove(im->folder, &bytes, &e))
        log_line(LOG_WARNING, "an import that failed leaves files until the next start: %s", e.msg);
}

static void removed_after(void *arg)
{
    struct import *im = arg;
    request_on_gone(im->request, NULL, NULL);
    if (json_object_get(im->answer, "error"))
        reply_missing(im->request, &im->err,
                      json_incref(json_object_get(json_object_get(im->answer, "error"), "files")));
    else
        reply_error(im->request, &im->err);
    import_free(im);
}

/* Nothing is left of it when its client hears why. */
static void give_up(struct import *im)
{
    service_offload(im->api->service, remove_work, removed_after, im);
}

/* ---- as an ensemble of this service ---- */

static int check_free(const struct import *im, const char *id, const char *key, struct err *e)
{
    struct service *sv = im->api->service;
    const uint32_t uid = request_uid(im->request);
    const struct ensemble *other = key ? service_find_key(sv, uid, key) : NULL;
    bool taken = service_find_id(sv, id) != NULL;
    if (!taken && store_knows_id(sv->store, id, &taken, e))
        return -(int)e->code;
    if (taken)
        return err_set(e, ERR_CONFLICT,
                       "ensemble %s is here already, or is being removed: an ensemble keeps its id, so it can be "
                       "imported once that is gone",
                       id);
    if (other)
        return err_set(e, ERR_CONFLICT,
                       "key \"%s\" is that of your ensemble %s: remove that, or keep it in place of %s", key, other->id,
                       id);
    return access(im->place, F_OK) ? 0 : err_set(e, ERR_CONFLICT, "%s is there already", im->place);
}

/* replicas: what it has, or will have when its windows are placed. */
static int charge(const struct import *im, struct ensemble *en, int64_t replicas, int64_t contents, struct err *e)
{
    struct quota *q = im->api->quota;
    const int64_t bytes = im->stored + contents + stored_rows(en);
    if (quota_take(q, en->owner, QUOTA_ENSEMBLES, 1, &en->counted, e) ||
        quota_take(q, en->owner, QUOTA_REPLICAS, replicas, &en->peopled, e) ||
        quota_take(q, en->owner, QUOTA_STORED_BYTES, bytes, &en->stored, e))
        return -(int)e->code;
    return 0;
}

static void forget_charged(struct ensemble *en)
{
    quota_return(&en->counted);
    quota_return(&en->peopled);
    quota_return(&en->stored);
    ensemble_free(en);
}

static void tell_of_import(const struct import *im)
{
    const char *program = json_string_value(json_object_get(im->head, "program"));
    char name[USERS_NAME], text[USERS_NAME + 80];
    users_name(request_uid(im->request), name);
    snprintf(text, sizeof text, "imported by %s; Shoal %.20s had exported it", name, program ? program : "?");
    service_put_event(im->api->service, im->ensemble, NULL, "import", -1, text);
}

static int adopt(struct import *im, const json_t *facts, const struct submission *sub, struct err *e)
{
    struct service *sv = im->api->service;
    const json_t *events;
    struct ensemble *en = facts_ensemble(sv, request_uid(im->request), facts);
    en->row_bytes = facts_row_bytes(facts);
    if (described_take(en, im->head, e) || described_events(en, im->head, &events, e) ||
        check_free(im, en->id, en->key, e)) {
        ensemble_free(en);
        return -(int)e->code;
    }
    en->nevents = (int64_t)json_array_size(events);
    if (charge(im, en, facts_number(facts, "replicas"), (int64_t)im->len, e)) {
        forget_charged(en);
        return -(int)e->code;
    }
    en->nevents = 0;
    im->ensemble = ensemble_hold(en);
    service_adopt(sv, en, sub, events);
    tell_of_import(im);
    return 0;
}

static void forget_import(void *arg)
{
    import_free(arg);
}

static void import_committed(void *arg)
{
    struct import *im = arg;
    struct ensemble *en = im->ensemble;
    ensemble_show_all(en);
    if (rename(im->folder, im->place))
        log_line(LOG_ERROR, "ensemble %s: its files stay in %s until the next start: %s", en->id, im->folder,
                 strerror(errno));
    act_done(im->request, en);
    api_reply_ensemble(im->request, 201, en, NULL);
    import_free(im);
}

static int store_import(struct import *im, struct err *e)
{
    const json_t *facts = json_object_get(im->answer, "submission");
    struct submission sub = {0};
    if (im->gone)
        return err_set(e, ERR_UNREACHABLE, "the client left");
    if (api_may_admit(im->api->service, request_uid(im->request), e))
        return -(int)e->code;
    int rc = facts_texts(facts, im->texts, im->len, &sub)
                 ? adopt(im, facts, &sub, e)
                 : err_set(e, ERR_INTERNAL, "the reader of archives left bytes out");
    facts_texts_free(&sub);
    return rc;
}

/* ---- its folder, under the name that it will have ---- */

static const char *id_of(const struct import *im)
{
    const char *id = json_string_value(json_object_get(json_object_get(im->head, "ensemble"), "id"));
    return id && service_is_id(id) ? id : NULL;
}

static void name_work(void *arg)
{
    struct import *im = arg;
    struct buf named = {0};
    buf_printf(&named, "%s/imports/%s", im->api->service->config.state, id_of(im));
    im->stored = folder_bytes(im->folder);
    if (path_make_parents(im->place, 0755, &im->err) == 0) {
        if (rename(im->folder, named.data) && (errno == ENOTEMPTY || errno == EEXIST))
            err_set(&im->err, ERR_CONFLICT, "ensemble %s is being imported already", id_of(im));
        else if (access(named.data, F_OK) || path_sync_parent(named.data))
            err_errno(&im->err, "make %s", named.data);
    }
    if (im->err.code == ERR_CONFLICT) {
        buf_free(&named);
        return;
    }
    free(im->folder);
    im->folder = named.data;
}

static void named(void *arg)
{
    struct import *im = arg;
    if (im->err.code || store_import(im, &im->err))
        give_up(im);
    else
        store_after_commit(im->api->service->store, import_committed, forget_import, im);
}

static void name_folder(struct import *im)
{
    if (!id_of(im)) {
        err_set(&im->err, ERR_ARCHIVE, "the archive is damaged: its head has no id");
        give_up(im);
        return;
    }
    struct buf place = {0};
    buf_printf(&place, "%s/ensembles/%s", im->api->service->config.state, id_of(im));
    im->place = place.data;
    service_offload(im->api->service, name_work, named, im);
}

/* ---- its reader ---- */

/* Why it gave no answer. */
static int explain(const struct import *im, const struct child_result *r, struct err *e)
{
    if (im->api->imports.stopping)
        return err_set(e, ERR_BUSY, "the service stops");
    if (im->gone)
        return err_set(e, ERR_UNREACHABLE, "the client left");
    child_error(r, e);
    if (e->code == ERR_MEMORY)
        return err_set(e, ERR_TOO_LARGE, "reading the archive takes more than %s MiB of memory", im->mib);
    if (e->code)
        return -(int)e->code;
    if (r->signal == SIGXCPU || r->late)
        return err_set(e, ERR_TOO_LARGE, "reading the archive takes too long");
    if (r->signal)
        return err_set(e, ERR_INTERNAL, "the reader of archives died of signal %d", r->signal);
    return err_set(e, ERR_INTERNAL, "the reader of archives ended with %d: %.300s", r->status,
                   r->log.data ? r->log.data : "it said nothing");
}

/* A line of JSON; *at moves behind it. NULL: there is none. */
static json_t *take_line(const struct buf *out, size_t *at)
{
    const char *begin = out->data + *at, *end = memchr(begin, '\n', out->len - *at);
    json_t *line = end ? json_loadb(begin, (size_t)(end - begin), 0, NULL) : NULL;
    if (end)
        *at = (size_t)(end - out->data) + 1;
    return line;
}

static void take_answer(struct import *im, struct child_result *r)
{
    size_t at = 0;
    im->out = r->out;
    r->out = (struct buf){0};
    im->head = im->out.len ? take_line(&im->out, &at) : NULL;
    im->answer = im->head ? take_line(&im->out, &at) : NULL;
    im->texts = im->out.data + at;
    im->len = im->out.len - at;
    if (!im->answer)
        err_set(&im->err, ERR_INTERNAL, "the reader of archives gave half an answer");
    else if (json_object_get(im->answer, "error"))
        err_from_json(im->answer, &im->err);
}

static void on_reader(void *arg, struct child_result *r)
{
    struct import *im = arg;
    im->child = NULL;
    if (r->signal || r->status || r->too_much || im->gone || im->api->imports.stopping)
        explain(im, r, &im->err);
    else
        take_answer(im, r);
    if (im->err.code == ERR_INTERNAL)
        log_line(LOG_WARNING, "%s", im->err.msg);
    if (im->err.code)
        give_up(im);
    else
        name_folder(im);
}

static void on_fed(void *arg)
{
    struct import *im = arg;
    upload_more(im->request);
}

static bool on_piece(void *arg, const char *data, size_t len)
{
    struct import *im = arg;
    return !im->child || child_feed(im->child, data, len) < WAITING;
}

static void on_left(void *arg)
{
    struct import *im = arg;
    im->gone = true;
    if (im->child)
        child_kill(im->child);
}

static void on_end(void *arg, bool whole)
{
    struct import *im = arg;
    if (!whole)
        on_left(im);
    else if (im->child)
        child_fed_all(im->child);
}

/* ---- its beginning ---- */

static int may_import(const struct api_call *c, struct err *e)
{
    const struct imports *all = &c->api->imports;
    if (all->stopping)
        return err_set(e, ERR_BUSY, "the service is draining: it imports nothing more");
    if (api_may_admit(c->service, request_uid(c->request), e))
        return -(int)e->code;
    for (const struct import *im = all->all; im; im = im->next)
        if (request_uid(im->request) == request_uid(c->request))
            return err_set(e, ERR_BUSY, "another import of yours is on its way: try again when that is over");
    return all->n < AT_ONCE ? 0 : err_set(e, ERR_BUSY, "%d ensembles are being imported now: try again later", AT_ONCE);
}

/* What the user may still store. */
static int64_t bytes_left(const struct api_call *c)
{
    const uint32_t uid = request_uid(c->request);
    if (!quota_limits(uid))
        return INT64_MAX - 1;
    int64_t left =
        quota_limit_of(c->api->quota, uid, QUOTA_STORED_BYTES) - quota_held(c->api->quota, uid, QUOTA_STORED_BYTES);
    return left > 0 ? left : 0;
}

static int make_folder(struct import *im, struct err *e)
{
    struct buf folder = {0};
    buf_printf(&folder, "%s/imports/new-%lld/", im->api->service->config.state, ++im->api->imports.count);
    int rc = path_make_parents(folder.data, 0755, e);
    folder.data[folder.len - 1] = '\0';
    im->folder = folder.data;
    return rc;
}

static int start_reader(struct import *im, int64_t bytes, struct err *e)
{
    struct service *sv = im->api->service;
    snprintf(im->bytes, sizeof im->bytes, "%lld", (long long)bytes);
    snprintf(im->mib, sizeof im->mib, "%d", im->api->checks.mib);
    check_list_devices(&sv->sched, &im->devices);
    const char *argv[] = {sv->config.worker, "unpack",         "--folder", im->folder, "--bytes",
                          im->bytes,         "--seconds",      SECONDS,    "--mib",    im->mib,
                          "--devices",       im->devices.data, NULL};
    memcpy(im->argv, argv, sizeof argv);
    struct child_run run = {.argv = im->argv, .fed = on_fed, .output_max = OUTPUT_MAX, .limit_ms = LIMIT_MS};
    im->child = child_start(sv->loop, &run, on_reader, im, e);
    return -(int)e->code;
}

struct reply api_import(struct api_call *c)
{
    static const struct upload_ops ops = {on_piece, on_end};
    struct err e = {0};
    if (may_import(c, &e))
        return reply_error(c->request, &e);
    struct import *im = xcalloc(1, sizeof *im);
    *im = (struct import){.next = c->api->imports.all, .api = c->api, .request = c->request};
    c->api->imports.all = im;
    c->api->imports.n++;
    if (make_folder(im, &im->err) || start_reader(im, bytes_left(c), &im->err)) {
        give_up(im);
        return reply_later(c->request);
    }
    request_on_gone(c->request, on_left, im);
    return request_upload(c->request, &ops, im);
}

void api_stop_imports(struct api *api)
{
    api->imports.stopping = true;
    for (struct import *im = api->imports.all; im; im = im->next)
        if (im->child)
            child_kill(im->child);
}
