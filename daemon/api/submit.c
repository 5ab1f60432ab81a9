/* SPDX-License-Identifier: Apache-2.0
 *
 * Submissions. The happy path: the body is read and checked by a process of its own (check.c: JSON, spec, topology,
 * coordinates, from the uploaded contents alone); the ensemble is numbered and put into the store's batch; when that is
 * committed, the answer goes out. Two submissions with one key meet on the loop thread, so that one of them is the
 * second.
 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/api/facts.h"
#include "daemon/service/stored.h"

struct submit {
    struct api *api;
    struct request *request;
    json_t *warnings;
    struct ensemble *ensemble; /* held; stored, to be answered after the commit */
    int status, priority;
};

static int may_store(const struct service *sv, struct err *e)
{
    if (sv->draining)
        return err_set(e, ERR_BUSY, "the service is draining: it takes no submissions");
    if (!store_ok(sv->store))
        return err_set(e, ERR_BUSY, "the state folder takes no writes now");
    return 0;
}

/* While admission is held, only of administrators. */
static int is_open(const struct service *sv, uint32_t uid, struct err *e)
{
    const struct hold *held = &sv->admission;
    if (!held->by || service_is_admin(sv, uid))
        return 0;
    return err_set(
        e, ERR_BUSY,
        "admission is held by the administrator %s%s%s: ensembles that were submitted go on; submit again once "
        "it is released",
        held->by, held->reason ? ": " : "", held->reason ? held->reason : "");
}

int api_may_admit(const struct service *sv, uint32_t uid, struct err *e)
{
    return may_store(sv, e) || is_open(sv, uid, e) ? -(int)e->code : 0;
}

static int may_fit(const struct service *sv, const json_t *facts, struct err *e)
{
    struct device_sizes sizes = {0};
    facts_sizes(&sizes, facts);
    int rc = api_fits_any(&sv->sched, &sizes, e);
    device_sizes_free(&sizes);
    return rc;
}

static void submit_free(void *arg)
{
    struct submit *s = arg;
    json_decref(s->warnings);
    ensemble_free(s->ensemble);
    free(s);
}

static void committed(void *arg)
{
    struct submit *s = arg;
    json_t *more = json_pack("{s:O}", "warnings", s->warnings);
    if (s->status == 201) /* else it was submitted before */
        act_done(s->request, s->ensemble);
    api_reply_ensemble(s->request, s->status, s->ensemble, more);
    json_decref(more);
    submit_free(s);
}

struct charges {
    struct quota_charge count, replicas, bytes;
};

static int store_charged(struct submit *s, const json_t *facts, const char *texts, size_t len, struct charges *held,
                         struct err *e)
{
    struct service *sv = s->api->service;
    struct submission sub = {0};
    int rc =
        facts_texts(facts, texts, len, &sub) ? 0 : err_set(e, ERR_INTERNAL, "the reader of submissions left bytes out");
    if (rc == 0) {
        s->ensemble = ensemble_hold(facts_ensemble(sv, request_uid(s->request), facts));
        s->ensemble->priority = s->priority;
        s->ensemble->row_bytes = facts_row_bytes(facts);
        s->ensemble->counted = held->count;
        s->ensemble->peopled = held->replicas;
        s->ensemble->stored = held->bytes;
        *held = (struct charges){0};
        s->status = 201;
        service_add(sv, s->ensemble, &sub);
    }
    facts_texts_free(&sub);
    return rc;
}

static int store_submission(struct submit *s, const json_t *facts, const char *texts, size_t len, struct err *e)
{
    struct charges held = {0};
    struct quota *q = s->api->quota;
    uint32_t uid = request_uid(s->request);
    int64_t replicas = facts_number(facts, "replicas");
    int64_t contents = (int64_t)len - facts_number(facts, "spec_bytes");
    int rc = quota_take(q, uid, QUOTA_ENSEMBLES, 1, &held.count, e);
    if (rc == 0)
        rc = quota_take(q, uid, QUOTA_REPLICAS, replicas, &held.replicas, e);
    if (rc == 0)
        rc = quota_take(q, uid, QUOTA_STORED_BYTES, facts_row_bytes(facts) + contents + replicas * USAGE_REPLICA,
                        &held.bytes, e);
    if (rc == 0)
        rc = store_charged(s, facts, texts, len, &held, e);
    quota_return(&held.count);
    quota_return(&held.replicas);
    quota_return(&held.bytes);
    return rc;
}

/* The same key again: the same ensemble, or a conflict. False: the key is new. */
static bool find_earlier(struct submit *s, const json_t *facts, struct err *e)
{
    const char *key = facts_text(facts, "key");
    struct ensemble *en = key ? service_find_key(s->api->service, request_uid(s->request), key) : NULL;
    if (!en)
        return false;
    if (strcmp(en->hash, facts_text(facts, "hash")) != 0)
        err_set(e, ERR_CONFLICT,
                "key \"%s\" was used for ensemble %s, which has other content; another key, or none, makes another "
                "ensemble",
                key, en->id);
    s->ensemble = ensemble_hold(en);
    s->status = 200;
    return true;
}

static void submit_checked(void *arg, const struct err *err, const json_t *head, const char *texts, size_t len)
{
    struct submit *s = arg;
    const json_t *facts = json_object_get(head, "submission");
    struct err e = {0};
    if (err) {
        reply_missing(s->request, err, json_incref(json_object_get(json_object_get(head, "error"), "files")));
    } else {
        if (!find_earlier(s, facts, &e) && api_may_admit(s->api->service, request_uid(s->request), &e) == 0 &&
            may_fit(s->api->service, facts, &e) == 0)
            store_submission(s, facts, texts, len, &e);
        if (!e.code) {
            s->warnings = json_incref(json_object_get(json_object_get(head, "summary"), "warnings"));
            store_after_commit(s->api->service->store, committed, submit_free, s);
            return;
        }
        reply_error(s->request, &e);
    }
    submit_free(s);
}

struct validation {
    const struct sched *sched;
    struct request *request;
};

static void validate_checked(void *arg, const struct err *err, const json_t *head, const char *texts, size_t len)
{
    struct validation *v = arg;
    json_t *summary = json_object_get(head, "summary");
    struct err e = {0};
    struct device_sizes sizes = {0};
    facts_sizes(&sizes, json_object_get(head, "submission"));
    if (err)
        reply_missing(v->request, err, json_incref(json_object_get(json_object_get(head, "error"), "files")));
    else if (api_fits_any(v->sched, &sizes, &e))
        reply_error(v->request, &e);
    else {
        json_object_set_new(summary, "fits", api_fits_json(v->sched, &sizes));
        reply_json(v->request, 200, json_incref(summary));
    }
    device_sizes_free(&sizes);
    free(v);
}

struct reply api_submit(struct api_call *c)
{
    struct err e = {0};
    if (may_store(c->service, &e))
        return reply_error(c->request, &e);
    int priority = 0;
    if (c->text[0] && api_priority_of(c, c->text[0], &priority, &e))
        return reply_error(c->request, &e);
    struct submit *s = xcalloc(1, sizeof *s);
    *s = (struct submit){.api = c->api, .request = c->request, .priority = priority};
    check_begin(&c->api->checks, c->request, CHECK_SUBMIT, NULL, submit_checked, s);
    return reply_later(c->request);
}

struct reply api_validate(struct api_call *c)
{
    struct validation *v = xcalloc(1, sizeof *v);
    *v = (struct validation){&c->service->sched, c->request};
    check_begin(&c->api->checks, c->request, CHECK_VALIDATE, NULL, validate_checked, v);
    return reply_later(c->request);
}
