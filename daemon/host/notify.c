/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/notify.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/base/number.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

void notify(const char *fmt, ...)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, strlen(path));
    if (*path == '@')
        to.sun_path[0] = '\0'; /* an abstract name */
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to, len);
    close(fd);
}

/* 0 for what is absent or no number. */
static unsigned long long number(const char *name)
{
    const char *text = getenv(name);
    int64_t n = 0;
    return text && number_parse(text, &n) && n > 0 ? (unsigned long long)n : 0;
}

uint64_t notify_watchdog_ms(void)
{
    unsigned long long us = number("WATCHDOG_USEC"), pid = number("WATCHDOG_PID");
    if (!us || (pid && pid != (unsigned long long)getpid()))
        return 0;
    return us / 2000 ? us / 2000 : 1;
}

static int check_listening(int fd, struct err *e)
{
    int domain = 0, listening = 0;
    socklen_t len = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len))
        return err_errno(e, "the descriptor handed over by LISTEN_FDS");
    if (domain != AF_UNIX || !listening)
        return err_set(e, ERR_USAGE, "the descriptor handed over by LISTEN_FDS is not a listening Unix socket");
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK))
        return err_errno(e, "LISTEN_FDS");
    return 0;
}

int notify_listen_fd(int *fd, struct err *e)
{
    unsigned long long n = number("LISTEN_FDS"), pid = number("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    *fd = -1;
    if (n == 0 || pid != (unsigned long long)getpid())
        return 0;
    if (n > 1)
        return err_set(e, ERR_USAGE, "LISTEN_FDS=%llu: expected one socket", n);
    *fd = FIRST_FD;
    return check_listening(*fd, e);
}
