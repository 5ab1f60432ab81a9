/* SPDX-License-Identifier: Apache-2.0
 *
 * Results: of an ensemble that has ended its results.json, made first where it is missing or older than the end; of one
 * that runs what there is so far, made when asked for.
 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

struct results_reply {
    struct service *service;
    struct request *request;
    struct ensemble *ensemble; /* held */
    int owner_acts;            /* of it when it was asked */
    bool committed;            /* what it was then, so that its spec in the database is the one it has */
    char *path;
    struct buf text;
    struct err err;
    bool estimated;
};

static void free_reply(struct results_reply *r)
{
    ensemble_free(r->ensemble);
    buf_free(&r->text);
    free(r->path);
    free(r);
}

/* What is wrong while somebody acts on the ensemble passes; of the state's folder the caller knows nothing. */
static void refuse(struct results_reply *r, const struct err *why)
{
    const struct ensemble *en = r->ensemble;
    const char *cause = why->code == ERR_IO ? strrchr(why->msg, ':') : NULL;
    struct err e = *why;
    if (en->removed)
        err_set(&e, ERR_NOT_FOUND, "no ensemble %s: it was removed", en->id);
    else if (en->owner_acts != r->owner_acts || !r->committed)
        err_set(&e, ERR_BUSY, "ensemble %s was changed while its results were made: try again", en->id);
    else if (cause)
        err_set(&e, ERR_IO, "ensemble %s: read results.json%s", en->id, cause);
    reply_error(r->request, &e);
    free_reply(r);
}

static void read_work(void *arg)
{
    struct results_reply *r = arg;
    r->err = (struct err){0};
    r->text.len = 0;
    buf_read_file(&r->text, r->path, &r->err);
}

static void read_done(void *arg);

static void made(void *arg, const struct err *err, const struct buf *text, int64_t worked_ms)
{
    struct results_reply *r = arg;
    if (!err && r->ensemble->owner_acts == r->owner_acts) {
        r->estimated = true;
        service_offload(r->service, read_work, read_done, r);
        return;
    }
    refuse(r, err ? err : &(struct err){.code = ERR_BUSY});
}

static void read_done(void *arg)
{
    struct results_reply *r = arg;
    if (r->err.code && !r->estimated) {
        service_results(r->service, r->ensemble, false, made, r); /* somebody deleted the file */
        return;
    }
    if (r->err.code) {
        refuse(r, &r->err);
        return;
    }
    reply_bytes(r->request, 200, "application/json", r->text.data, r->text.len);
    free_reply(r);
}

static void live_made(void *arg, const struct err *err, const struct buf *text, int64_t worked_ms)
{
    struct results_reply *r = arg;
    if (err) {
        refuse(r, err);
        return;
    }
    reply_bytes(r->request, 200, "application/json", text->data, text->len);
    free_reply(r);
}

/* A cancelled ensemble has results when somebody asks; those it may have on disk are of an earlier end, unless we made
 * them. */
static bool on_disk(const struct ensemble *en)
{
    return en->sm.state != ENSEMBLE_CANCELLED || en->estimated == en->owner_acts;
}

struct reply api_results(struct api_call *c)
{
    struct ensemble *en = c->ensemble;
    struct err e = {0};
    bool live = c->value[0] == 1, over = ensemble_ended(en) && !ensemble_count(en, REPLICA_STOPPING);
    if (!over && !live) {
        err_set(&e, ERR_CONFLICT, "ensemble %s is %s: it has no results yet (live=1: those of what there is so far)",
                en->id, ensemble_ended(en) ? "still stopping" : sm_name(&en->sm));
        return reply_error(c->request, &e);
    }
    struct results_reply *r = xcalloc(1, sizeof *r);
    *r = (struct results_reply){.service = c->service,
                                .request = c->request,
                                .ensemble = ensemble_hold(en),
                                .owner_acts = en->owner_acts,
                                .committed = en->shown.revision == en->revision};
    if (!over) {
        service_results(c->service, en, true, live_made, r);
        return reply_later(c->request);
    }
    r->path = service_path(c->service, en, "results.json");
    if (on_disk(en))
        service_offload(c->service, read_work, read_done, r);
    else
        service_results(c->service, en, false, made, r);
    return reply_later(c->request);
}
