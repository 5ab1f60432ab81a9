/* SPDX-License-Identifier: Apache-2.0
 *
 * A server on a loop of its own, with clients that are sockets of this same thread.
 */
#ifndef SHOAL_TESTS_LIB_SERVER_PLAY_H
#define SHOAL_TESTS_LIB_SERVER_PLAY_H

#include <sys/un.h>

#include "daemon/http/server.h"

struct server_play {
    uv_loop_t loop;
    uv_timer_t turn; /* ends a turn of the loop */
    struct quota *quota;
    struct metrics *metrics;
    struct server *server; /* NULL: closed already */
    struct sockaddr_un at;
};

void server_play_begin(struct server_play *p, server_handler *handler, void *arg, unsigned idle_seconds);
/* Aborts if a connection or a body is still charged to somebody. */
void server_play_end(struct server_play *p);

/* Turns the loop for so long. */
void server_play_turn(struct server_play *p, int ms);
/* A new connection. */
int server_play_dial(struct server_play *p);
void server_play_ask(int fd, const char *method, const char *path);
/* What has come; turns the loop until `until` is in it, or the connection is over, or two seconds are. Until the next
 * call. */
const char *server_play_answer(struct server_play *p, int fd, const char *until);

#endif
