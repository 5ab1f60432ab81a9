/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1 on a Unix socket: libmicrohttpd in external-loop mode, driven by the libuv loop through its epoll
 * descriptor. Nothing here knows what Shoal's requests mean; api/ does.
 *
 * Every request is answered exactly once: a handler returns a `struct reply`, which only reply_*() give. A request that
 * is answered later stays valid, whether or not its client does, until it has been answered and the connection is over.
 */
#ifndef SHOAL_DAEMON_HTTP_SERVER_H
#define SHOAL_DAEMON_HTTP_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "daemon/metrics/metrics.h"
#include "daemon/quota/quota.h"
#include "engine/base/buf.h"

#define SERVER_BODY_MAX (64u << 20) /* bytes of a request's body */
/* A client that says nothing, or does not read what it asked for, is let go; one whose request is on its way has twice
 * as long. */
#define SERVER_IDLE_SECONDS 60

struct server;
struct request;

struct reply {
    struct request *of;
};

typedef struct reply server_handler(void *arg, struct request *r);
/* Whether the body of a request of this method and path is taken piece by piece: its handler is called before the body
 * comes. */
typedef bool server_uploads(const char *method, const char *path);

struct server_config {
    int listen_fd; /* listening, not blocking; the server's own from here on */
    struct quota *quota;
    struct metrics *metrics; /* answers are counted there */
    server_handler *handler;
    void *arg;
    unsigned idle_seconds;   /* then a connection ends whose client neither asks nor reads */
    server_uploads *uploads; /* NULL: none */
};

/* How many connections the process's descriptors allow, the rest of it having its share. */
int64_t server_connections_possible(void);
int server_new(struct server **out, uv_loop_t *loop, const struct server_config *c, struct err *e);
/* Ends every connection; the memory goes with the last close callback. NULL is fine. */
void server_close(struct server *s);

/* ---- a request ---- */
uint32_t request_uid(const struct request *r); /* of the peer when it connected */
const char *request_method(const struct request *r);
const char *request_path(const struct request *r); /* decoded, without the query */
const char *request_body(const struct request *r, size_t *len);
/* Calls `each` for every query argument until it fails; value may be NULL. */
typedef int request_query_fn(void *arg, const char *key, const char *value, struct err *e);
int request_query(struct request *r, request_query_fn *each, void *arg, struct err *e);
/* Of a request that is answered later: `gone` is called when its client has left, at most once, and never after the
 * answer. The request is to be answered all the same. */
void request_on_gone(struct request *r, void (*gone)(void *arg), void *arg);
/* What a handler keeps with its request, freed with it; once. */
void request_keep(struct request *r, void *kept, void (*free_kept)(void *kept));
void *request_kept(const struct request *r);
/* The methods that the answer shall name in its Allow header; a string that lives on. */
void request_allow(struct request *r, const char *methods);

/* ---- answers ---- */
/* Steals `body`. */
struct reply reply_json(struct request *r, int status, json_t *body);
/* The error object, with the status that belongs to the code. */
struct reply reply_error(struct request *r, const struct err *e);
/* Bytes as they are, copied. */
struct reply reply_bytes(struct request *r, int status, const char *type, const void *data, size_t len);
/* Later, by one of the other reply_*(), from the loop thread. */
struct reply reply_later(struct request *r);

/* A request's body that is taken piece by piece. */
struct upload_ops {
    /* The next piece, which is copied. True: more can be taken at once; false: not before upload_more. */
    bool (*piece)(void *arg, const char *data, size_t len);
    /* No more comes: the body was `whole`, or its client has left. The request is to be answered all the same. */
    void (*end)(void *arg, bool whole);
};
/* By the handler of a request whose path is one of `uploads`: pieces come to `arg` until `end`, or until the request is
 * answered. Then what still comes is thrown away. */
struct reply request_upload(struct request *r, const struct upload_ops *ops, void *arg);
/* After a piece that was the last for now. */
void upload_more(struct request *r);

/* A body that is made piece by piece. */
struct stream;
struct stream_ops {
    /* The client can take more and nothing is buffered: call stream_push, stream_end or stream_fail, now or later. Not
     * called again until then. */
    void (*fill)(void *arg, struct stream *s);
    /* The response is over; the stream is gone. */
    void (*closed)(void *arg);
};
/* `bytes` of its length, -1: not known before its end. Neither fewer nor more may be pushed. */
struct reply reply_stream(struct request *r, int status, const char *type, int64_t bytes, const struct stream_ops *ops,
                          void *arg);
void stream_push(struct stream *s, const void *data, size_t len);
void stream_end(struct stream *s);
/* Breaks the connection off, so that nobody takes the half for the whole. */
void stream_fail(struct stream *s);

#endif
