/* SPDX-License-Identifier: Apache-2.0
 *
 * 1. libmicrohttpd runs only inside server_run(), on the loop thread; nothing else calls its callbacks.
 * 2. A connection whose request is being worked on, or whose stream has nothing to send, is suspended; answering or
 * pushing resumes it. A suspended connection is not looked at by libmicrohttpd, so a timer looks whether its peer has
 * gone, or does not read what was sent.
 * 3. libmicrohttpd never reaches a limit of its own: ours are checked when a connection is accepted (accept.c).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/internal.h"
#include "engine/base/log.h"

#define HANGUP_MS 1000     /* how often the peers of suspended connections are looked at */
#define MEMORY (64u << 10) /* of one connection in libmicrohttpd, which touches it all: a head of this size fits */
#define MORE_CONNECTIONS 1024
#define LAST_TURNS 20 /* of libmicrohttpd at most, for answers when it stops */

/* ---- connections that are not looked at ---- */

/* Nothing of what lies in the socket was read for long. libmicrohttpd looks after those whose socket is full. */
static bool stopped_reading(struct server *s, struct stream *st)
{
    int unread = server_unread(st->request->connection);
    if (unread == 0 || unread < st->unread || !st->read_since)
        st->read_since = uv_now(s->loop);
    st->unread = unread;
    return uv_now(s->loop) - st->read_since >= s->config.idle_seconds * UINT64_C(1000);
}

static void on_hangup(uv_timer_t *t)
{
    struct server *s = t->data;
    server_cut_slow(s);
    for (struct stream *st = s->streams; st; st = st->next)
        if (st->suspended && (server_peer_left(st->request->connection, true) || stopped_reading(s, st))) {
            stream_break(st);
            st->suspended = false;
            server_resume(s, st->request->connection);
        }
    for (struct request *r = s->requests, *next; r; r = next) {
        next = r->next;
        if (r->sm.state != REQUEST_WAITING || !r->gone || !server_peer_left(r->connection, false))
            continue;
        void (*gone)(void *) = r->gone;
        r->gone = NULL;
        gone(r->gone_arg);
    }
}

/* ---- libmicrohttpd's callbacks ---- */

static bool announces_too_much(struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length && strtoull(length, NULL, 10) > SERVER_BODY_MAX;
}

/* The head of the request is there. */
static enum MHD_Result begin(struct server *s, struct request *r)
{
    const bool uploads = s->config.uploads && s->config.uploads(r->method, r->path);
    if (!uploads && announces_too_much(r->connection))
        err_set(&r->refused, ERR_TOO_LARGE, "the request's body is larger than %u MiB", SERVER_BODY_MAX >> 20);
    if (r->refused.code) {
        reply_error(r, &r->refused);
    } else if (uploads) {
        sm_move(&r->sm, REQUEST_HANDLED);
        s->config.handler(s->config.arg, r);
    }
    return r->sm.state == REQUEST_ANSWERED ? request_queue(r) : MHD_YES;
}

/* What comes after the answer is thrown away. */
static void take_piece(struct request *r, const char *data, size_t len)
{
    if (r->sm.state == REQUEST_READING)
        request_take_body(r, data, len);
    else
        upload_take(r, data, len);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *data, size_t *len, void **context)
{
    struct server *s = arg;
    struct request *r = *context;
    if (!r) {
        *context = r = request_new(s, c, method, path);
        return begin(s, r);
    }
    if (*len) {
        take_piece(r, data, *len);
        *len = 0;
        return MHD_YES;
    }
    upload_end(r, true);
    if (r->sm.state == REQUEST_READING) {
        sm_move(&r->sm, REQUEST_HANDLED);
        if (r->refused.code)
            reply_error(r, &r->refused);
        else
            s->config.handler(s->config.arg, r);
    }
    if (r->sm.state == REQUEST_ANSWERED)
        return request_queue(r);
    sm_move(&r->sm, REQUEST_WAITING);
    MHD_suspend_connection(c);
    return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code)
{
    struct request *r = *context;
    *context = NULL;
    if (r)
        request_over(r);
}

static void on_log(void *arg, const char *fmt, va_list ap)
{
    char text[400];
    vsnprintf(text, sizeof text, fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_DEBUG, "http: %s", text);
}

/* ---- life ---- */

static void handle_closed(uv_handle_t *h)
{
    struct server *s = h->data;
    if (--s->handles > 0)
        return;
    close(s->config.listen_fd);
    free(s);
}

static void start_handles(struct server *s, int epoll_fd)
{
    uv_poll_init(s->loop, &s->listening, s->config.listen_fd);
    uv_poll_init(s->loop, &s->poll, epoll_fd);
    uv_timer_init(s->loop, &s->timer);
    uv_timer_init(s->loop, &s->hangup);
    uv_timer_init(s->loop, &s->accept_again);
    uv_idle_init(s->loop, &s->soon);
    s->listening.data = s->poll.data = s->timer.data = s->hangup.data = s->accept_again.data = s->soon.data = s;
    s->handles = 6;
    uv_poll_start(&s->poll, UV_READABLE, server_on_poll);
    uv_timer_start(&s->hangup, on_hangup, HANGUP_MS, HANGUP_MS);
    server_accept_start(s);
}

/* A NUL would end a name early, and make it another one: what has one stays as it was sent, which is nobody's name. */
static size_t unescape(void *arg, struct MHD_Connection *c, char *text)
{
    (void)arg, (void)c;
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

static struct MHD_Daemon *start_mhd(struct server *s)
{
    unsigned limit = (unsigned)quota_limit_all(s->config.quota, QUOTA_CONNECTIONS) + MORE_CONNECTIONS;
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
                            NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
                            MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_CONNECTION_LIMIT, limit,
                            MHD_OPTION_CONNECTION_TIMEOUT, s->config.idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)MEMORY, MHD_OPTION_NOTIFY_CONNECTION, server_on_connection, s,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
}

int server_new(struct server **out, uv_loop_t *loop, const struct server_config *c, struct err *e)
{
    struct server *s = xcalloc(1, sizeof *s);
    *s = (struct server){.loop = loop, .config = *c};
    s->mhd = start_mhd(s);
    const union MHD_DaemonInfo *info = s->mhd ? MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        free(s);
        return err_set(e, ERR_INTERNAL, "libmicrohttpd does not start");
    }
    start_handles(s, info->epoll_fd);
    server_run(s);
    *out = s;
    return 0;
}

/* libmicrohttpd does not stop with suspended connections. */
static void resume_all(struct server *s)
{
    for (struct stream *st = s->streams; st; st = st->next) {
        stream_break(st);
        if (st->suspended)
            MHD_resume_connection(st->request->connection);
        st->suspended = false;
    }
    for (struct request *r = s->requests; r; r = r->next) {
        r->gone = NULL;
        if (r->sm.state != REQUEST_WAITING)
            continue;
        MHD_resume_connection(r->connection);
        sm_move(&r->sm, REQUEST_HANDLED);
    }
}

static bool has_answers(const struct server *s)
{
    for (const struct request *r = s->requests; r; r = r->next)
        if (request_is_answered(r))
            return true;
    return false;
}

/* What was answered last is sent, as far as those who asked have room for it: they are not waited for. */
static void send_answers(struct server *s)
{
    for (int turn = 0; turn < LAST_TURNS && has_answers(s); turn++)
        server_run(s);
}

void server_close(struct server *s)
{
    if (!s)
        return;
    send_answers(s);
    resume_all(s);
    server_accept_stop(s);
    uv_poll_stop(&s->poll);
    MHD_stop_daemon(s->mhd);
    server_forget_pending(s);
    s->mhd = NULL;
    uv_handle_t *handles[] = {(uv_handle_t *)&s->listening, (uv_handle_t *)&s->poll,   (uv_handle_t *)&s->accept_again,
                              (uv_handle_t *)&s->timer,     (uv_handle_t *)&s->hangup, (uv_handle_t *)&s->soon};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        uv_close(handles[i], handle_closed);
}
