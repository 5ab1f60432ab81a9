/* SPDX-License-Identifier: Apache-2.0
 *
 * 1. libmicrohttpd runs only inside run(), on the loop thread; nothing else calls its callbacks.
 * 2. A connection whose request is being worked on, or whose stream has nothing to send, is suspended; answering or pushing
 *    resumes it. A suspended connection is not looked at by libmicrohttpd, so a timer looks whether its peer has gone.
 * 3. A request lives until it is answered *and* libmicrohttpd has finished with it.
 */
#include "daemon/server.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/base/log.h"

#define IDLE_SECONDS 60     /* a connection that says nothing */
#define HANGUP_MS 2000      /* how often suspended streams' peers are looked at */
#define MEMORY (256u << 10) /* of one connection in libmicrohttpd */
#define BLOCK (64u << 10)   /* asked from a stream at once */

struct stream {
    struct request *request;
    struct stream_ops ops;
    void *arg;
    struct buf out;
    size_t at; /* sent of out */
    bool filling, ended, suspended, broken;
    struct stream *next, **link; /* all of the server's */
};

struct request {
    struct server *server;
    struct MHD_Connection *connection; /* NULL once libmicrohttpd has finished */
    uint32_t uid;
    char *method, *path;
    struct buf body;
    bool too_long, too_many, dispatched, suspended, answered;
    struct MHD_Response *response; /* answered, not yet queued */
    int status;
    struct request *next, **link; /* all of the server's whose connection lives */
};

struct server {
    uv_loop_t *loop;
    struct MHD_Daemon *mhd;
    uv_poll_t poll;
    uv_timer_t timer, hangup;
    uv_idle_t soon; /* active while something was resumed: run before the loop sleeps */
    int handles;
    server_handler *handler;
    void *arg;
    struct stream *streams;
    struct request *requests;
    size_t body_bytes; /* of all of them */
};

/* ---- driving libmicrohttpd ---- */

static void on_timer(uv_timer_t *t);

static void run(struct server *s)
{
    uv_idle_stop(&s->soon);
    MHD_run(s->mhd);
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(s->mhd, &ms) == MHD_YES)
        uv_timer_start(&s->timer, on_timer, ms, 0);
    else
        uv_timer_stop(&s->timer);
}

static void on_timer(uv_timer_t *t)
{
    run(t->data);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
    run(p->data);
}

static void on_soon(uv_idle_t *i)
{
    run(i->data);
}

static void resume(struct server *s, struct MHD_Connection *c)
{
    MHD_resume_connection(c);
    uv_idle_start(&s->soon, on_soon);
}

/* ---- requests ---- */

static void leave_list(struct request *r)
{
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
    r->server->body_bytes -= r->body.len;
    r->connection = NULL;
}

static void request_free_if_over(struct request *r)
{
    if (r->connection || !r->answered)
        return;
    if (r->response)
        MHD_destroy_response(r->response);
    buf_free(&r->body);
    free(r->method);
    free(r->path);
    free(r);
}

static struct request *request_new(struct server *s, struct MHD_Connection *c, const char *method, const char *path)
{
    const union MHD_ConnectionInfo *who = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct request *r = xcalloc(1, sizeof *r);
    *r = (struct request){.server = s,
                          .connection = c,
                          .uid = *(const uint32_t *)who->socket_context,
                          .method = xstrdup(method),
                          .path = xstrdup(path),
                          .next = s->requests,
                          .link = &s->requests};
    if (r->next)
        r->next->link = &r->next;
    s->requests = r;
    return r;
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

static struct reply answer(struct request *r, int status, struct MHD_Response *response)
{
    if (!response || r->answered)
        abort(); /* out of memory, or two answers */
    r->answered = true;
    r->response = response;
    r->status = status;
    struct reply done = {r};
    if (r->suspended) {
        r->suspended = false;
        resume(r->server, r->connection);
    } else if (!r->connection) {
        request_free_if_over(r);
    }
    return done;
}

struct reply reply_bytes(struct request *r, int status, const char *type, const void *data, size_t len)
{
    struct MHD_Response *p = MHD_create_response_from_buffer(len, (void *)data, MHD_RESPMEM_MUST_COPY);
    if (p)
        MHD_add_response_header(p, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (p && status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(p, MHD_HTTP_HEADER_RETRY_AFTER, "5");
    return answer(r, status, p);
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

struct reply reply_later(struct request *r)
{
    return (struct reply){r};
}

/* ---- streams ---- */

static void ask_for_more(struct stream *s)
{
    if (s->filling || s->ended || s->broken)
        return;
    s->filling = true;
    s->ops.fill(s->arg, s);
}

static ssize_t on_read(void *arg, uint64_t position, char *to, size_t max)
{
    struct stream *s = arg;
    if (s->at == s->out.len)
        ask_for_more(s);
    size_t n = s->out.len - s->at;
    if (n == 0 && s->broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (n == 0 && s->ended)
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
    if (s->at == s->out.len)
        s->at = s->out.len = 0;
    return (ssize_t)n;
}

static void wake(struct stream *s)
{
    s->filling = false;
    if (!s->suspended)
        return;
    s->suspended = false;
    resume(s->request->server, s->request->connection);
}

void stream_push(struct stream *s, const void *data, size_t len)
{
    buf_add(&s->out, data, len);
    wake(s);
}

void stream_end(struct stream *s)
{
    s->ended = true;
    wake(s);
}

static void on_stream_free(void *arg)
{
    struct stream *s = arg;
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->ops.closed(s->arg);
    buf_free(&s->out);
    free(s);
}

struct reply reply_stream(struct request *r, const char *type, const struct stream_ops *ops, void *arg)
{
    struct server *server = r->server;
    struct stream *s = xcalloc(1, sizeof *s);
    *s = (struct stream){.request = r, .ops = *ops, .arg = arg, .next = server->streams, .link = &server->streams};
    if (s->next)
        s->next->link = &s->next;
    server->streams = s;
    struct MHD_Response *p = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, s, on_stream_free);
    if (p)
        MHD_add_response_header(p, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    return answer(r, MHD_HTTP_OK, p);
}

static void on_hangup(uv_timer_t *t)
{
    struct server *server = t->data;
    for (struct stream *s = server->streams; s; s = s->next) {
        if (!s->suspended)
            continue;
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(s->request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct pollfd p = {.fd = fd->connect_fd, .events = POLLRDHUP};
        if (poll(&p, 1, 0) == 1 && p.revents & (POLLRDHUP | POLLHUP | POLLERR)) {
            s->broken = true;
            s->suspended = false;
            resume(server, s->request->connection);
        }
    }
}

/* ---- libmicrohttpd's callbacks ---- */

/* Who is it? Asked once, of the socket itself, when the connection begins. */
static void on_connection(void *arg, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        free(*context);
        return;
    }
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t len = sizeof who;
    uint32_t *uid = xcalloc(1, sizeof *uid);
    if (getsockopt(fd->connect_fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
        log_line(LOG_ERROR, "a peer without credentials");
    *uid = who.uid; /* nobody's, if it could not be asked */
    *context = uid;
}

static enum MHD_Result queue(struct request *r)
{
    enum MHD_Result rc = MHD_queue_response(r->connection, (unsigned)r->status, r->response);
    MHD_destroy_response(r->response);
    r->response = NULL;
    return rc;
}

static struct reply refuse_body(struct request *r)
{
    char text[80];
    snprintf(text, sizeof text, "the request's body is larger than %u MiB", SERVER_BODY_MAX >> 20);
    return reply_json(r, MHD_HTTP_CONTENT_TOO_LARGE,
                      json_pack("{s:{s:s,s:s}}", "error", "code", "USAGE", "message", text));
}

static struct reply refuse_for_now(struct request *r)
{
    return reply_json(
        r, MHD_HTTP_SERVICE_UNAVAILABLE,
        json_pack("{s:{s:s,s:s}}", "error", "code", "BUSY", "message", "too many large requests at once: try again"));
}

static bool announces_too_much(struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length && strtoull(length, NULL, 10) > SERVER_BODY_MAX;
}

static void take_body(struct request *r, const char *data, size_t *len)
{
    if (r->body.len + *len > SERVER_BODY_MAX)
        r->too_long = true;
    else if (r->server->body_bytes + *len > SERVER_BODIES_MAX)
        r->too_many = true;
    if (!r->too_long && !r->too_many) {
        buf_add(&r->body, data, *len);
        r->server->body_bytes += *len;
    }
    *len = 0;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *data, size_t *len, void **context)
{
    struct server *s = arg;
    struct request *r = *context;
    if (!r) {
        *context = r = request_new(s, c, method, path);
        if (!announces_too_much(c))
            return MHD_YES;
        refuse_body(r);
        return queue(r);
    }
    if (*len) {
        take_body(r, data, len);
        return MHD_YES;
    }
    if (!r->dispatched) {
        r->dispatched = true;
        if (r->too_long)
            refuse_body(r);
        else if (r->too_many)
            refuse_for_now(r);
        else
            s->handler(s->arg, r);
    }
    if (r->response)
        return queue(r);
    r->suspended = true;
    MHD_suspend_connection(c);
    return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode code)
{
    struct request *r = *context;
    if (!r)
        return;
    *context = NULL;
    leave_list(r);
    if (!r->dispatched)
        r->answered = true; /* nobody will */
    request_free_if_over(r);
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
    if (--s->handles == 0)
        free(s);
}

static void start_handles(struct server *s, int epoll_fd)
{
    uv_poll_init(s->loop, &s->poll, epoll_fd);
    uv_timer_init(s->loop, &s->timer);
    uv_timer_init(s->loop, &s->hangup);
    uv_idle_init(s->loop, &s->soon);
    s->poll.data = s->timer.data = s->hangup.data = s->soon.data = s;
    s->handles = 4;
    uv_poll_start(&s->poll, UV_READABLE, on_poll);
    uv_timer_start(&s->hangup, on_hangup, HANGUP_MS, HANGUP_MS);
}

int server_new(struct server **out, uv_loop_t *loop, int listen_fd, server_handler *handler, void *arg, struct err *e)
{
    struct server *s = xcalloc(1, sizeof *s);
    *s = (struct server){.loop = loop, .handler = handler, .arg = arg};
    s->mhd =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, s,
                         MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
                         MHD_OPTION_CONNECTION_LIMIT, SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
                         on_connection, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = s->mhd ? MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        free(s);
        return err_set(e, ERR_INTERNAL, "libmicrohttpd does not start");
    }
    start_handles(s, info->epoll_fd);
    run(s);
    *out = s;
    return 0;
}

void server_close(struct server *s)
{
    if (!s)
        return;
    /* libmicrohttpd does not stop with suspended connections. */
    for (struct stream *st = s->streams; st; st = st->next) {
        st->broken = true;
        if (st->suspended)
            MHD_resume_connection(st->request->connection);
        st->suspended = false;
    }
    for (struct request *r = s->requests; r; r = r->next) {
        if (r->suspended)
            MHD_resume_connection(r->connection);
        r->suspended = false;
    }
    uv_poll_stop(&s->poll);
    MHD_stop_daemon(s->mhd);
    s->mhd = NULL;
    uv_close((uv_handle_t *)&s->poll, handle_closed);
    uv_close((uv_handle_t *)&s->timer, handle_closed);
    uv_close((uv_handle_t *)&s->hangup, handle_closed);
    uv_close((uv_handle_t *)&s->soon, handle_closed);
}
