/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections are accepted here and handed to libmicrohttpd, which has no listening socket of its own: with one it
 * stops looking at it at its limit, or without descriptors, and looks again only when something else wakes it.
 *
 * 1. A connection holds a charge of its user from accept() until libmicrohttpd says that it is over.
 * 2. One beyond a limit is let in to be told so (a few at a time); beyond that it is closed.
 * 3. Without descriptors accepting pauses, clients wait in the backlog, and every closed connection or a short time
 * later it is tried again.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/http/internal.h"
#include "engine/base/log.h"

#define AT_ONCE 64     /* accepted before others have their turn */
#define AGAIN_MS 200   /* after there were no descriptors */
#define REFUSED_MAX 64 /* that are told so at a time */
#define REFUSED_SECONDS 5
#define BODY_BYTES_PER_MS 16 /* at least, of a body that is being sent */
#define OWN_FDS 128          /* for the database, workers, files */

int64_t server_connections_possible(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == RLIM_INFINITY)
        return INT32_MAX;
    int64_t n = (int64_t)r.rlim_cur;
    return n > 2 * (OWN_FDS + REFUSED_MAX) ? n - OWN_FDS - REFUSED_MAX : n / 4 + 1;
}

/* Who is it? Asked once, of the socket itself, when the connection begins. Nobody's, if it cannot be asked. */
static uint32_t uid_of(int fd)
{
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t len = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
        log_line(LOG_ERROR, "a peer without credentials");
    return who.uid;
}

static void forget(struct server *s, struct server_connection *c)
{
    struct server_connection **at = &s->pending;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

static void admit(struct server *s, int fd)
{
    struct server_connection *c = xcalloc(1, sizeof *c);
    *c = (struct server_connection){
        .server = s, .fd = fd, .uid = uid_of(fd), .next = s->pending, .since = uv_now(s->loop)};
    if (quota_take(s->config.quota, c->uid, QUOTA_CONNECTIONS, 1, &c->charge, &c->refused)) {
        if (s->refused == REFUSED_MAX) {
            close(fd);
            free(c);
            return;
        }
        s->refused++;
    }
    s->pending = c;
    c->all_next = s->connections;
    c->all_link = &s->connections;
    if (c->all_next)
        c->all_next->all_link = &c->all_next;
    s->connections = c;
    struct sockaddr name = {.sa_family = AF_UNIX};
    if (MHD_add_connection(s->mhd, fd, &name, sizeof name.sa_family) == MHD_YES)
        return;
    for (const struct server_connection *p = s->pending; p; p = p->next)
        if (p == c) {
            forget(s, c);
            connection_free(c);
            return;
        }
}

static void pause_accepting(struct server *s, int why);

static void on_listening(uv_poll_t *p, int status, int events)
{
    struct server *s = p->data;
    for (int i = 0; i < AT_ONCE; i++) {
        int fd = accept4(s->config.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(s, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pause_accepting(s, errno);
            break;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            break;
        }
    }
    server_run(s);
}

static void go_on(struct server *s)
{
    s->paused = false;
    uv_timer_stop(&s->accept_again);
    uv_poll_start(&s->listening, UV_READABLE, on_listening);
}

static void on_again(uv_timer_t *t)
{
    go_on(t->data);
}

static void pause_accepting(struct server *s, int why)
{
    if (!s->paused)
        log_line(LOG_WARNING, "accepting connections waits: %s", uv_strerror(uv_translate_sys_error(why)));
    s->paused = true;
    uv_poll_stop(&s->listening);
    uv_timer_start(&s->accept_again, on_again, AGAIN_MS, 0);
}

void server_accept_start(struct server *s)
{
    go_on(s);
}

void server_accept_stop(struct server *s)
{
    uv_poll_stop(&s->listening);
    uv_timer_stop(&s->accept_again);
}

void server_on_connection(void *arg, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    struct server *s = arg;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        connection_free(*context);
        if (s->paused)
            uv_timer_start(&s->accept_again, on_again, 0, 0);
        return;
    }
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct server_connection *mine = s->pending;
    while (mine->fd != fd->connect_fd)
        mine = mine->next;
    forget(s, mine);
    *context = mine;
    if (mine->refused.code)
        MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)REFUSED_SECONDS);
}

void server_cut_slow(struct server *s)
{
    for (struct server_connection *c = s->connections; c; c = c->all_next) {
        const struct request *r = c->request;
        uint64_t ms = 2000 * (uint64_t)s->config.idle_seconds + (r ? r->body.len / BODY_BYTES_PER_MS : 0);
        if (c->cut || (r && r->sm.state != REQUEST_READING) || uv_now(s->loop) - c->since < ms)
            continue;
        c->cut = true;
        shutdown(c->fd, SHUT_RDWR); /* libmicrohttpd sees its end, and closes it */
    }
}

int server_unread(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    int bytes = 0;
    return ioctl(fd->connect_fd, SIOCOUTQ, &bytes) ? 0 : bytes;
}

bool server_peer_left(struct MHD_Connection *c, bool half)
{
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd p = {.fd = fd->connect_fd, .events = half ? POLLRDHUP : 0};
    return poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLERR | (half ? POLLRDHUP : 0));
}
