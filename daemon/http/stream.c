/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies made piece by piece. A stream that has nothing to send is suspended; pushing, ending or failing it wakes it.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/http/internal.h"

#define BLOCK (32u << 10) /* asked from a stream at once; libmicrohttpd holds as much */

#define TO(state) SM_TO(STREAM_##state)

static const struct sm_state states[] = {
    [STREAM_IDLE] = {"idle", TO(FILLING) | TO(ENDED) | TO(BROKEN)},    /* asked for more; end; failure */
    [STREAM_FILLING] = {"filling", TO(IDLE) | TO(ENDED) | TO(BROKEN)}, /* pushed; end; failure */
    [STREAM_ENDED] = {"ended", TO(BROKEN)},                            /* failure */
    [STREAM_BROKEN] = {"broken", 0},
};

const struct sm_kind stream_states = {"stream", states, sizeof states / sizeof states[0], NULL};

/* Nothing is charged to a request that nobody waits for any more. */
static void hold(struct stream *s, size_t bytes)
{
    if (s->charge.user)
        quota_set(&s->charge, (int64_t)bytes);
}

static void ask_for_more(struct stream *s)
{
    if (s->sm.state != STREAM_IDLE)
        return;
    sm_move(&s->sm, STREAM_FILLING);
    s->ops.fill(s->arg, s);
}

static ssize_t on_read(void *arg, uint64_t position, char *to, size_t max)
{
    struct stream *s = arg;
    if (s->at == s->out.len)
        ask_for_more(s);
    size_t n = s->out.len - s->at;
    if (n == 0 && s->sm.state == STREAM_BROKEN)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (n == 0 && s->sm.state == STREAM_ENDED)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        s->suspended = true;
        MHD_suspend_connection(s->request->connection);
        return 0;
    }
    if (n > max)
        n = max;
    memcpy(to, s->out.data + s->at, n);
    s->at += n;
    if (s->at == s->out.len) {
        buf_free(&s->out); /* nothing is held for who waits, or does not read what lies in the socket */
        s->at = 0;
        hold(s, 0);
    }
    return (ssize_t)n;
}

static void wake(struct stream *s)
{
    if (!s->suspended)
        return;
    s->suspended = false;
    server_resume(s->request->server, s->request->connection);
}

void stream_push(struct stream *s, const void *data, size_t len)
{
    buf_add(&s->out, data, len);
    hold(s, s->out.len);
    if (s->sm.state == STREAM_FILLING)
        sm_move(&s->sm, STREAM_IDLE);
    wake(s);
}

void stream_end(struct stream *s)
{
    if (s->sm.state == STREAM_IDLE || s->sm.state == STREAM_FILLING)
        sm_move(&s->sm, STREAM_ENDED);
    wake(s);
}

void stream_break(struct stream *s)
{
    if (s->sm.state != STREAM_BROKEN)
        sm_move(&s->sm, STREAM_BROKEN);
}

void stream_fail(struct stream *s)
{
    stream_break(s);
    wake(s);
}

static void on_stream_free(void *arg)
{
    struct stream *s = arg;
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->ops.closed(s->arg);
    quota_return(&s->charge);
    buf_free(&s->out);
    free(s);
}

static ssize_t nothing(void *arg, uint64_t position, char *to, size_t max)
{
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* The answer to HEAD where the length of the body is not known: it tells none, and the connection closes behind it. On
 * a connection that stays open libmicrohttpd would send the last chunk of the body that it leaves out. */
static struct reply head_only(struct request *r, int status, const char *type)
{
    struct MHD_Response *p = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, nothing, NULL, NULL);
    if (p)
        MHD_add_response_header(p, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (p)
        MHD_set_response_options(p, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return request_answer(r, status, p);
}

struct reply reply_stream(struct request *r, int status, const char *type, int64_t bytes, const struct stream_ops *ops,
                          void *arg)
{
    struct server *server = r->server;
    if (bytes < 0 && strcmp(r->method, "HEAD") == 0) {
        ops->closed(arg);
        return head_only(r, status, type);
    }
    struct err e = {0};
    if (request_charge(r, 0, &e)) {
        ops->closed(arg);
        return reply_error(r, &e);
    }
    struct stream *s = xcalloc(1, sizeof *s);
    *s = (struct stream){.request = r, .ops = *ops, .arg = arg, .next = server->streams, .link = &server->streams};
    sm_init(&s->sm, &stream_states, s, STREAM_IDLE);
    s->charge = r->answer_charge; /* the request may be over before the stream is */
    r->answer_charge = (struct quota_charge){0};
    if (s->next)
        s->next->link = &s->next;
    server->streams = s;
    struct MHD_Response *p = MHD_create_response_from_callback(bytes < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)bytes, BLOCK,
                                                               on_read, s, on_stream_free);
    if (p)
        MHD_add_response_header(p, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    return request_answer(r, status, p);
}
