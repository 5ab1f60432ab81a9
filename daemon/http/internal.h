/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the server: server.c opens and closes it, drive.c drives libmicrohttpd, accept.c lets connections in,
 * request.c answers, upload.c takes bodies and stream.c sends bodies that are made piece by piece.
 */
#ifndef SHOAL_DAEMON_HTTP_INTERNAL_H
#define SHOAL_DAEMON_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "daemon/http/server.h"
#include "engine/base/sm.h"

/* A request:
 *
 *   reading --all of it is there--> handled --not answered yet--> waiting
 *   reading, handled, waiting --answer--> answered --handed to libmicrohttpd--> sent
 *   reading, answered, sent --its connection is over--> over
 *   handled, waiting --its connection is over--> left --answer--> over
 *
 * One whose body is taken piece by piece has its handler called first, and is waiting while no more can be taken.
 */
enum request_state {
    REQUEST_READING,
    REQUEST_HANDLED,  /* its handler has it; libmicrohttpd looks at its connection */
    REQUEST_WAITING,  /* its handler has it; its connection is suspended */
    REQUEST_ANSWERED, /* `response` is to be handed to libmicrohttpd */
    REQUEST_SENT,
    REQUEST_LEFT, /* its connection is over and it is not answered yet */
    REQUEST_OVER, /* both; it is freed */
};

extern const struct sm_kind request_states;

/* A body that is made piece by piece:
 *
 *   idle --asked for more--> filling --pushed--> idle
 *   idle, filling --end--> ended
 *   idle, filling, ended --failure, or its client has left--> broken
 *
 * Pushing to one that has ended or is broken, and ending it again, change no state.
 */
enum stream_state { STREAM_IDLE, STREAM_FILLING, STREAM_ENDED, STREAM_BROKEN };

extern const struct sm_kind stream_states;

/* One that was accepted; libmicrohttpd's socket context. */
struct server_connection {
    struct server *server;
    int fd;
    uint32_t uid;
    struct quota_charge charge;
    struct err refused;                             /* code: over a limit, only told so */
    struct server_connection *next;                 /* among those that libmicrohttpd has not begun with */
    struct request *request;                        /* NULL: it is waited for, or is on its way */
    uint64_t since;                                 /* ms of the loop when it began to be waited for */
    bool cut;                                       /* it took too long */
    struct server_connection *all_next, **all_link; /* all of the server's */
};

struct stream {
    struct request *request;
    struct stream_ops ops;
    void *arg;
    struct buf out;
    size_t at;                   /* sent of out */
    struct quota_charge charge;  /* of out */
    struct sm sm;                /* enum stream_state */
    bool suspended;              /* nothing is there to be sent, and libmicrohttpd does not look at the connection */
    int unread;                  /* in the socket when it was looked at last, in the kernel's measure */
    uint64_t read_since;         /* ms of the loop when the client was last seen to have read */
    struct stream *next, **link; /* all of the server's */
};

struct request {
    struct server *server;
    struct server_connection *from;    /* NULL once libmicrohttpd has finished, as `connection` is */
    struct MHD_Connection *connection; /* NULL once libmicrohttpd has finished */
    uint32_t uid;
    char *method, *path;
    struct buf body;
    struct quota_charge body_charge, answer_charge;
    struct err refused;            /* the body is not taken any further */
    struct sm sm;                  /* enum request_state */
    struct MHD_Response *response; /* answered */
    int status;
    const char *allow;
    void (*gone)(void *arg);
    void *gone_arg;
    const struct upload_ops *upload; /* NULL: the body is not taken piece by piece, or all of it has come */
    void *upload_arg;
    void *kept; /* the handler's; NULL: nothing */
    void (*free_kept)(void *kept);
    struct request *next, **link; /* all of the server's whose connection lives */
};

struct server {
    uv_loop_t *loop;
    struct server_config config;
    struct MHD_Daemon *mhd;
    uv_poll_t listening, poll;
    uv_timer_t timer, hangup, accept_again;
    uv_idle_t soon; /* active while something was resumed: run before the loop sleeps */
    int handles;
    struct stream *streams;
    struct request *requests;
    struct server_connection *connections;
    struct server_connection *pending; /* handed to libmicrohttpd, which has not begun with them */
    int refused;                       /* connections that are only told that they are too many */
    bool paused;                       /* no descriptors: accepting waits */
};

/* drive.c */
void connection_free(struct server_connection *c);
void server_on_poll(uv_poll_t *p, int status, int events);
/* For connections that libmicrohttpd gave up before it began with them. */
void server_forget_pending(struct server *s);
void server_run(struct server *s);
void server_resume(struct server *s, struct MHD_Connection *c);

/* accept.c */
void server_accept_start(struct server *s);
void server_accept_stop(struct server *s);
/* Cuts off those whose request takes too long to come, however they dribble it. */
void server_cut_slow(struct server *s);
void server_on_connection(void *arg, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode code);
/* What was sent and the other end has not read yet, in the kernel's measure; 0: all is read. */
int server_unread(struct MHD_Connection *c);
/* Whether the other end has closed: POLLHUP, or `half` (POLLRDHUP) where it will say nothing more. */
bool server_peer_left(struct MHD_Connection *c, bool half);

/* request.c */
struct request *request_new(struct server *s, struct MHD_Connection *c, const char *method, const char *path);
static inline bool request_is_answered(const struct request *r)
{
    return r->sm.state == REQUEST_ANSWERED || r->sm.state == REQUEST_SENT;
}
/* libmicrohttpd has finished with it. */
void request_over(struct request *r);
enum MHD_Result request_queue(struct request *r);
void request_take_body(struct request *r, const char *data, size_t len);
/* The user's answers hold so many bytes more until this one is read: whatever its length, where those before it are
 * within the limit. ERR_LIMIT, ERR_BUSY. */
int request_charge(struct request *r, size_t bytes, struct err *e);
struct reply request_answer(struct request *r, int status, struct MHD_Response *response);

/* upload.c */
/* Pieces of the body, or its end. */
void upload_take(struct request *r, const char *data, size_t len);
void upload_end(struct request *r, bool whole);

/* stream.c */
/* Nobody reads it any more: what it has is not followed by more. Once its connection is looked at, that is broken off.
 */
void stream_break(struct stream *s);

#endif
