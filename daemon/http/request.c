/* SPDX-License-Identifier: Apache-2.0
 *
 * A request lives until it is answered *and* libmicrohttpd has finished with it.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/http/internal.h"
#include "engine/base/json/err_json.h"

#define TO(state) SM_TO(REQUEST_##state)

/* By what each move is caused; "over": the connection is. */
static const struct sm_state states[] = {
    [REQUEST_READING] = {"reading", TO(HANDLED) | TO(ANSWERED) | TO(OVER)}, /* all is there; refused; over */
    [REQUEST_HANDLED] = {"handled", TO(WAITING) | TO(ANSWERED) | TO(LEFT)}, /* not answered yet; answer; over */
    [REQUEST_WAITING] = {"waiting", TO(HANDLED) | TO(ANSWERED) | TO(LEFT)}, /* the server closes; answer; over */
    [REQUEST_ANSWERED] = {"answered", TO(SENT) | TO(OVER)},                 /* handed to libmicrohttpd; over */
    [REQUEST_SENT] = {"sent", TO(OVER)},                                    /* over */
    [REQUEST_LEFT] = {"left", TO(OVER)},                                    /* answer */
    [REQUEST_OVER] = {"over", 0},
};

static bool holds(const void *owner, uint32_t state)
{
    const struct request *r = owner;
    if ((r->connection == NULL) != (state == REQUEST_LEFT || state == REQUEST_OVER))
        return false;
    return state == REQUEST_OVER || (r->response != NULL) == (state == REQUEST_ANSWERED);
}

const struct sm_kind request_states = {"request", states, sizeof states / sizeof states[0], holds};

struct request *request_new(struct server *s, struct MHD_Connection *c, const char *method, const char *path)
{
    const union MHD_ConnectionInfo *who = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct server_connection *from = who->socket_context;
    struct request *r = xcalloc(1, sizeof *r);
    *r = (struct request){.server = s,
                          .connection = c,
                          .from = from,
                          .uid = from->uid,
                          .refused = from->refused,
                          .method = xstrdup(method),
                          .path = xstrdup(path),
                          .next = s->requests,
                          .link = &s->requests};
    if (r->next)
        r->next->link = &r->next;
    s->requests = r;
    from->request = r;
    sm_init(&r->sm, &request_states, r, REQUEST_READING);
    return r;
}

static void request_free(struct request *r)
{
    if (r->response)
        MHD_destroy_response(r->response);
    if (r->kept)
        r->free_kept(r->kept);
    quota_return(&r->body_charge);
    buf_free(&r->body);
    free(r->method);
    free(r->path);
    free(r);
}

void request_over(struct request *r)
{
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
    r->connection = NULL;
    quota_return(&r->answer_charge);
    r->from->request = NULL;
    r->from->since = uv_now(r->server->loop);
    r->from = NULL;
    if (r->sm.state == REQUEST_HANDLED || r->sm.state == REQUEST_WAITING) {
        sm_move(&r->sm, REQUEST_LEFT);
        upload_end(r, false);
        return;
    }
    sm_move(&r->sm, REQUEST_OVER);
    request_free(r);
}

uint32_t request_uid(const struct request *r)
{
    return r->uid;
}

const char *request_method(const struct request *r)
{
    return r->method;
}

const char *request_path(const struct request *r)
{
    return r->path;
}

const char *request_body(const struct request *r, size_t *len)
{
    *len = r->body.len;
    return r->body.data ? r->body.data : "";
}

void request_on_gone(struct request *r, void (*gone)(void *arg), void *arg)
{
    r->gone = gone;
    r->gone_arg = arg;
}

void request_keep(struct request *r, void *kept, void (*free_kept)(void *kept))
{
    r->kept = kept;
    r->free_kept = free_kept;
}

void *request_kept(const struct request *r)
{
    return r->kept;
}

void request_allow(struct request *r, const char *methods)
{
    r->allow = methods;
}

struct query {
    request_query_fn *each;
    void *arg;
    struct err *err;
};

static enum MHD_Result on_query(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct query *q = arg;
    return q->err->code || q->each(q->arg, key, value, q->err) ? MHD_NO : MHD_YES;
}

int request_query(struct request *r, request_query_fn *each, void *arg, struct err *e)
{
    struct query q = {each, arg, e};
    if (r->connection)
        MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, on_query, &q);
    return -(int)e->code;
}

static int may_take(struct request *r, size_t len)
{
    if (r->body.len + len > SERVER_BODY_MAX)
        return err_set(&r->refused, ERR_TOO_LARGE, "the request's body is larger than %u MiB", SERVER_BODY_MAX >> 20);
    if (!r->body_charge.user)
        return quota_take(r->server->config.quota, r->uid, QUOTA_BODY_BYTES, (int64_t)len, &r->body_charge,
                          &r->refused);
    return quota_grow(&r->body_charge, (int64_t)len, &r->refused);
}

void request_take_body(struct request *r, const char *data, size_t len)
{
    if (r->refused.code || may_take(r, len))
        return;
    buf_add(&r->body, data, len);
}

/* ---- answers ---- */

int request_charge(struct request *r, size_t bytes, struct err *e)
{
    if (!r->connection)
        return 0;
    int rc = quota_take(r->server->config.quota, r->uid, QUOTA_ANSWER_BYTES, 0, &r->answer_charge, e);
    if (rc == 0)
        quota_set(&r->answer_charge, (int64_t)bytes);
    return rc;
}

/* Where nobody is left to hear it, the server may be gone, too. */
static void count_answer(const struct request *r, int status)
{
    char code[16];
    if (!r->connection)
        return;
    snprintf(code, sizeof code, "%d", status);
    metrics_add(r->server->config.metrics, METRICS_REQUESTS, code, 1);
}

struct reply request_answer(struct request *r, int status, struct MHD_Response *response)
{
    if (!response)
        abort(); /* out of memory */
    count_answer(r, status);
    if (r->refused.code)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (r->allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, r->allow);
    const bool waited = r->sm.state == REQUEST_WAITING, left = r->sm.state == REQUEST_LEFT;
    r->response = response;
    r->status = status;
    sm_move(&r->sm, left ? REQUEST_OVER : REQUEST_ANSWERED); /* aborts at a second answer */
    struct reply done = {r};
    if (waited)
        server_resume(r->server, r->connection);
    if (left)
        request_free(r);
    return done;
}

struct reply reply_bytes(struct request *r, int status, const char *type, const void *data, size_t len)
{
    struct err e = {0};
    if (status < 400 && request_charge(r, len, &e))
        return reply_error(r, &e);
    struct MHD_Response *p = MHD_create_response_from_buffer(len, (void *)data, MHD_RESPMEM_MUST_COPY);
    if (p)
        MHD_add_response_header(p, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (p && (status == MHD_HTTP_SERVICE_UNAVAILABLE || status == MHD_HTTP_TOO_MANY_REQUESTS))
        MHD_add_response_header(p, MHD_HTTP_HEADER_RETRY_AFTER, "5");
    return request_answer(r, status, p);
}

struct reply reply_json(struct request *r, int status, json_t *body)
{
    char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(10));
    struct buf b = {0};
    if (!text)
        abort();
    buf_printf(&b, "%s\n", text);
    struct reply done = reply_bytes(r, status, "application/json", b.data, b.len);
    buf_free(&b);
    free(text);
    json_decref(body);
    return done;
}

struct reply reply_error(struct request *r, const struct err *e)
{
    return reply_json(r, err_http(e->code), err_json(e));
}

struct reply reply_later(struct request *r)
{
    return (struct reply){r};
}

enum MHD_Result request_queue(struct request *r)
{
    enum MHD_Result rc = MHD_queue_response(r->connection, (unsigned)r->status, r->response);
    MHD_destroy_response(r->response);
    r->response = NULL;
    sm_move(&r->sm, REQUEST_SENT);
    return rc;
}
