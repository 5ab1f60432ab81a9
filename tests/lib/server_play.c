/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/server_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

void server_play_begin(struct server_play *p, server_handler *handler, void *arg, unsigned idle_seconds)
{
    struct err e = {0};
    uv_loop_init(&p->loop);
    uv_timer_init(&p->loop, &p->turn);
    p->quota = quota_new();
    p->metrics = metrics_new();
    p->at = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(p->at.sun_path, sizeof p->at.sun_path, "/tmp/shoal-server-play.%d", (int)getpid());
    unlink(p->at.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&p->at, sizeof p->at), 0);
    assert_int_equal(listen(fd, 1000), 0);
    struct server_config c = {fd, p->quota, p->metrics, handler, arg, idle_seconds, NULL};
    assert_int_equal(server_new(&p->server, &p->loop, &c, &e), 0);
}

void server_play_end(struct server_play *p)
{
    server_close(p->server);
    uv_close((uv_handle_t *)&p->turn, NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    quota_free(p->quota);
    metrics_free(p->metrics);
    unlink(p->at.sun_path);
}

static void turn_over(uv_timer_t *t)
{
    uv_stop(t->loop);
}

void server_play_turn(struct server_play *p, int ms)
{
    uv_update_time(&p->loop);
    uv_timer_start(&p->turn, turn_over, (uint64_t)ms, 0);
    uv_run(&p->loop, UV_RUN_DEFAULT);
}

int server_play_dial(struct server_play *p)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&p->at, sizeof p->at), 0);
    return fd;
}

void server_play_ask(int fd, const char *method, const char *path)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

const char *server_play_answer(struct server_play *p, int fd, const char *until)
{
    static char text[1 << 16];
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < 2000 && !(until && strstr(text, until)); i++) {
        server_play_turn(p, 1);
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, MSG_DONTWAIT);
        if (got == 0)
            break;
        n += got > 0 ? (size_t)got : 0;
        text[n] = '\0';
    }
    return text;
}
