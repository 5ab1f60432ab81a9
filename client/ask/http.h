/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1 over the service's Unix socket.
 */
#ifndef SHOAL_CLIENT_ASK_HTTP_H
#define SHOAL_CLIENT_ASK_HTTP_H

#include <stdio.h>

#include "engine/base/buf.h"

struct http;

/* Both are borrowed; `tried` is said where there is no service. */
struct http *http_new(const char *socket, const char *tried);
void http_free(struct http *h);

/* One request; body NULL: none. *status and *reply (appended) are the answer, whatever its status. ERR_UNREACHABLE,
 * ERR_FORBIDDEN (the socket is there but not for us), ERR_BUSY (no answer in time). */
int http_request(struct http *h, const char *method, const char *path, const struct buf *body, long *status,
                 struct buf *reply, struct err *e);

/* Many requests of one method, a few at a time: `fill` appends the path, and what is sent, of number i; `done` gets its
 * answer, whatever its status. They are sent in order and answered in any. */
struct http_batch {
    const char *method;
    int count;
    void *arg;
    void (*fill)(void *arg, int i, struct buf *path, struct buf *body);
    void (*done)(void *arg, int i, long status, const struct buf *reply);
};
/* Errors as of http_request: what was not sent yet is not sent then. */
int http_batch(struct http *h, const struct http_batch *batch, struct err *e);

/* Takes one line of an answer, without its newline; nonzero ends the stream. */
typedef int http_line_fn(void *arg, const char *line);
enum http_end { HTTP_ENDED = 0, HTTP_TIMEOUT = 1, HTTP_REFUSED = 2 };
/* A GET whose answer is lines, for at most timeout_s seconds (0: no limit). HTTP_ENDED: the stream ended or a line
 * ended it; HTTP_REFUSED: *status is not 200 and *reply holds the answer. Negative: as http_request; a cut connection
 * is ERR_UNREACHABLE. */
int http_lines(struct http *h, const char *path, double timeout_s, http_line_fn *on_line, void *arg, long *status,
               struct buf *reply, struct err *e);

/* A GET whose answer, if its status is 200, goes into a file as it comes: there is no limit of time while it does.
 * *bytes: how many. *reply is any other answer. Negative: as http_request, and ERR_IO for an answer that is cut short
 * or a file that takes no more. */
int http_download(struct http *h, const char *path, FILE *file, long long *bytes, long *status, struct buf *reply,
                  struct err *e);

/* A POST of a file, as it is read from where it is: there is no limit of time while something of it is taken.
 * *status and *reply (appended) are the answer, whatever its status. Negative: as http_request, and ERR_IO for a file
 * that cannot be read. */
int http_upload(struct http *h, const char *path, FILE *file, long *status, struct buf *reply, struct err *e);

/* Appends text with everything but plain characters escaped; of a path the slashes stay too. */
void http_escape(struct buf *out, const char *text);
void http_escape_path(struct buf *out, const char *path);

#endif
