/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal up: a service of one's own, which goes on after the command and the terminal have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/ask/socket_path.h"
#include "client/command/handlers.h"
#include "client/programs/become.h"
#include "client/programs/service.h"
#include "engine/base/clock.h"
#include "engine/base/path.h"
#include "engine/base/printable.h"

#define LOOK_S 0.05      /* until it is looked again whether the service answers, or has ended */
#define PATIENCE_S 300.0 /* for it to answer: what a service gives to its workers */

struct own {
    struct buf state, socket, log; /* paths */
};

static bool is_given(const struct client *c)
{
    const char *variable = getenv("SHOAL_SOCKET");
    return (c->socket && *c->socket) || (variable && *variable);
}

/* Not in $XDG_RUNTIME_DIR, which is removed when the user logs out: a socket there would be lost while its service
 * runs. One that a killed service has left at `found` is used again, because commands look there first. */
static int find_places(struct own *own, const struct client *c, const char *found, struct err *e)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        buf_printf(&own->state, "%s/shoald", xdg);
    else if (home && *home == '/')
        buf_printf(&own->state, "%s/.local/state/shoald", home);
    else
        return err_set(e, ERR_USAGE, "no folder for the service: neither XDG_STATE_HOME nor HOME is set");
    buf_printf(&own->log, "%s/log", own->state.data);
    if (is_given(c) || (strcmp(found, SOCKET_PATH_SYSTEM) != 0 && !access(found, F_OK)))
        buf_printf(&own->socket, "%s", found);
    else
        buf_printf(&own->socket, "%s/api.sock", own->state.data);
    if (path_make_parents(own->log.data, 0700, e))
        return -(int)e->code;
    return 0;
}

static void own_free(struct own *own)
{
    buf_free(&own->state);
    buf_free(&own->socket);
    buf_free(&own->log);
}

/* ---- one that runs ---- */

/* The process that listens, where it is a shoald of the caller's own; 0: it is the system's, or the service manager
 * listens for it. */
static long process_of(const char *socket_path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t n = sizeof peer;
    char path[64], name[32] = "";
    snprintf(a.sun_path, sizeof a.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool known = fd >= 0 && !connect(fd, (const struct sockaddr *)&a, sizeof a) &&
                 !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) && peer.uid == geteuid();
    if (fd >= 0)
        close(fd);
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)peer.pid);
    FILE *f = known ? fopen(path, "r") : NULL;
    known = f && fgets(name, sizeof name, f) && !strcmp(name, "shoald\n");
    if (f)
        fclose(f);
    return known ? (long)peer.pid : 0;
}

/* `log` NULL: it ran before. */
static void say_running(const struct client *c, const char *socket_path, const char *log, const json_t *version)
{
    const long process = process_of(socket_path);
    const json_t *device;
    struct buf devices = {0};
    size_t i;
    json_array_foreach (json_object_get(version, "devices"), i, device)
        buf_printf(&devices, "%s%s", i ? ", " : "", answer_text(device, "device"));
    if (c->json) {
        json_t *answer = json_pack("{s:b,s:s,s:o,s:s?}", "started", log != NULL, "socket", socket_path, "process",
                                   process ? json_integer(process) : json_null(), "log", log);
        client_print(answer);
        json_decref(answer);
    } else {
        printable_line(stdout, "%s at %s, on %s", log ? "a service of your own runs" : "a service runs already",
                       socket_path, devices.data ? devices.data : "no device");
        fflush(stdout);
    }
    if (log)
        client_say(c, "its log is %s", log);
    if (process)
        client_say(c, "`kill %ld` stops it after checkpoints; the next `shoal up` goes on from there", process);
    client_say(c, "`shoal submit SPEC.yaml` gives it work");
    buf_free(&devices);
}

/* Whether a service answers, which is said then. EXIT_OK: it does, EXIT_UNREACHABLE: none does; else the exit code of
 * another trouble. */
static int look(struct client *c, const char *socket_path, const char *tried, const char *log)
{
    struct err e = {0};
    c->http = http_new(socket_path, tried);
    json_t *version = client_get(c, "/v1/version", &e);
    if (version)
        say_running(c, socket_path, log, version);
    json_decref(version);
    http_free(c->http);
    c->http = NULL;
    /* The system's service may be for others. */
    bool none = e.code == ERR_UNREACHABLE ||
                (e.code == ERR_FORBIDDEN && !is_given(c) && !strcmp(socket_path, SOCKET_PATH_SYSTEM));
    return version ? EXIT_OK : none ? EXIT_UNREACHABLE : client_fail(c, &e);
}

/* ---- one that is started ---- */

/* In the child: no terminal, and no descriptor of the command. */
static void become_daemon(int log, const char **words)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    program_become("shoald", (char **)words);
    _exit(127);
}

static int start_error(const struct service_places *places, int status, struct err *e)
{
    struct buf said = {0};
    service_last_words(places, &said);
    err_set(e, ERR_UNREACHABLE, "the service ended with status %d: %s (all that it said is in %s)",
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said.len ? said.data : "it said nothing",
            places->log);
    buf_free(&said);
    return -(int)e->code;
}

/* One that ends because another was started at the same time is no error: that one answers. */
static int wait_for_socket(const struct service_places *places, pid_t service, struct err *e)
{
    const struct timespec moment = {.tv_nsec = (long)(LOOK_S * 1e9)};
    const double until = clock_now() + PATIENCE_S;
    int status = 0;
    bool ended = false;
    while (!service_answers(places->socket)) {
        if (ended)
            return start_error(places, status, e);
        if (clock_now() > until)
            return err_set(e, ERR_BUSY, "the service, process %ld, has not answered for %.0f s; its log is %s",
                           (long)service, PATIENCE_S, places->log);
        nanosleep(&moment, NULL);
        ended = waitpid(service, &status, WNOHANG) == service;
    }
    return 0;
}

static int start(const struct client *c, const struct own *own, struct err *e)
{
    const struct service_places places = {own->state.data, own->socket.data, own->log.data};
    const char *words[SERVICE_WORDS];
    int log = service_log(&places, e);
    if (log < 0)
        return log;
    service_words(c, &places, words);
    pid_t service = fork();
    if (service == 0)
        become_daemon(log, words);
    close(log);
    return service < 0 ? err_errno(e, "start the service") : wait_for_socket(&places, service, e);
}

int up_main(struct client *c, int argc, char **argv)
{
    struct buf found = {0}, tried = {0};
    struct own own = {0};
    struct err e = {0};
    socket_path_find(c->socket, &found, &tried);
    int rc = look(c, found.data, tried.data, NULL);
    if (rc == EXIT_UNREACHABLE) {
        rc = find_places(&own, c, found.data, &e) || start(c, &own, &e)
                 ? client_fail(c, &e)
                 : look(c, own.socket.data, own.socket.data, own.log.data);
        own_free(&own);
    }
    buf_free(&found);
    buf_free(&tried);
    return rc;
}
