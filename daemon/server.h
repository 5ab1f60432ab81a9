/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1 on a Unix socket: libmicrohttpd in external-loop mode, driven by the libuv loop through its epoll descriptor.
 * Nothing here knows what Shoal's requests mean; api.c does.
 *
 * Every request is answered exactly once: a handler returns a `struct reply`, which only reply_*() give. A request that is
 * answered later stays valid, whether or not its client does, until it has been answered and the connection is over.
 */
#ifndef SHOAL_DAEMON_SERVER_H
#define SHOAL_DAEMON_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "engine/base/buf.h"

#define SERVER_BODY_MAX (64u << 20)    /* bytes of a request's body */
#define SERVER_BODIES_MAX (512u << 20) /* of all requests together */
#define SERVER_CONNECTIONS 256

struct server;
struct request;

struct reply {
    struct request *of;
};

typedef struct reply server_handler(void *arg, struct request *r);

/* Takes a listening socket. */
int server_new(struct server **out, uv_loop_t *loop, int listen_fd, server_handler *handler, void *arg, struct err *e);
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

/* ---- answers ---- */
/* Steals `body`. */
struct reply reply_json(struct request *r, int status, json_t *body);
/* Bytes as they are, copied. */
struct reply reply_bytes(struct request *r, int status, const char *type, const void *data, size_t len);
/* Later, by one of the other reply_*(), from the loop thread. */
struct reply reply_later(struct request *r);

/* A body that is made piece by piece. */
struct stream;
struct stream_ops {
    /* The client can take more and nothing is buffered: call stream_push or stream_end, now or later. Not called again
     * until then. */
    void (*fill)(void *arg, struct stream *s);
    /* The response is over; the stream is gone. */
    void (*closed)(void *arg);
};
struct reply reply_stream(struct request *r, const char *type, const struct stream_ops *ops, void *arg);
void stream_push(struct stream *s, const void *data, size_t len);
void stream_end(struct stream *s);

#endif
