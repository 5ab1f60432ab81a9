/* SPDX-License-Identifier: Apache-2.0 */
#include "client/programs/here.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/programs/become.h"
#include "client/programs/service.h"
#include "engine/base/clock.h"
#include "engine/base/path.h"

#define LOOK_S 0.05 /* until it is looked again whether the service answers, or has ended */
#define TROUBLE_S 30.0
#define SAME_S 2.0 /* signals so near to the first are the same request to stop; a later one is obeyed at once */
#define SOCKET "/api.sock"
#define SOCKET_MOST 100 /* bytes: what every system's sockets can have for a path */

/* ---- places ---- */

static int make_folder(const char *folder, bool works, struct err *e)
{
    struct buf state = {0};
    int rc = 0;
    buf_printf(&state, "%s/state", folder);
    if (!works && access(state.data, F_OK))
        rc = err_set(e, ERR_NOT_FOUND,
                     "%s: nothing was run in this folder yet: expected one of `shoal campaign run FILE --here DIR`",
                     folder);
    else if (works && (path_make_parents(state.data, 0777, e) || (mkdir(state.data, 0700) && errno != EEXIST)))
        rc = e->code ? -(int)e->code : err_errno(e, "make folder %s", state.data);
    buf_free(&state);
    return rc;
}

/* Where sockets can be: not in DIR, which may be on a file system that has none, or too far down. */
static int choose_socket(struct here *h, struct err *e)
{
    const char *places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || *places[i] != '/' || strlen(places[i]) + sizeof "/shoal-XXXXXX" SOCKET > SOCKET_MOST)
            continue;
        h->temporary.len = 0;
        buf_printf(&h->temporary, "%s/shoal-XXXXXX", places[i]);
        if (mkdtemp(h->temporary.data)) {
            buf_printf(&h->socket, "%s" SOCKET, h->temporary.data);
            return 0;
        }
    }
    err_errno(e, "make a folder for the service's socket: %s", h->temporary.data);
    buf_free(&h->temporary);
    return -(int)e->code;
}

static void remove_socket(struct here *h)
{
    if (h->temporary.data) {
        unlink(h->socket.data);
        rmdir(h->temporary.data);
    }
}

/* ---- the service ---- */

static void service_of(const struct client *c, bool works, const struct service_places *places, const char **words)
{
    int n = service_words(c, places, words);
    words[n++] = "--portable";
    if (!works)
        words[n++] = "--idle";
    words[n] = NULL;
}

/* In the child. A signal to all processes of a job is for the command alone, but for SIGTERM and SIGINT, which are no
 * harm here. */
static void become_service(const struct here *h, int log, const char **words, pid_t parent)
{
    setpgid(0, 0);
    signal(SIGUSR1, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    fcntl(h->lock, F_SETFD, 0);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    program_become("shoald", (char **)words);
    _exit(127);
}

static int start_service(struct here *h, const struct client *c, bool works, struct err *e)
{
    const char *words[SERVICE_WORDS];
    struct buf log = {0}, state = {0};
    const pid_t parent = getpid();
    buf_printf(&log, "%s/log", h->folder);
    buf_printf(&state, "%s/state", h->folder);
    const struct service_places places = {state.data, h->socket.data, log.data};
    int fd = service_log(&places, e), rc = fd < 0 ? fd : 0;
    if (!rc) {
        service_of(c, works, &places, words);
        h->service = fork();
        if (h->service == 0)
            become_service(h, fd, words, parent);
        if (h->service < 0) {
            rc = err_errno(e, "start the service");
            h->service = 0;
        }
        close(fd);
    }
    buf_free(&log);
    buf_free(&state);
    return rc;
}

/* Whether it has ended; takes its status then. */
static bool has_ended(struct here *h)
{
    if (h->service && !h->ended)
        h->ended = waitpid(h->service, &h->status, WNOHANG) == h->service;
    return h->ended;
}

/* A service that was killed can be started again; one that ends by itself says why, and would end again. */
static int end_error(const struct here *h, struct err *e)
{
    struct buf said = {0}, log = {0};
    buf_printf(&log, "%s/log", h->folder);
    service_last_words(&(struct service_places){.log = log.data}, &said);
    if (WIFSIGNALED(h->status))
        err_set(e, ERR_BUSY,
                "the service was ended by signal %d (%s): run the same command again, and it goes on from the last "
                "checkpoints",
                WTERMSIG(h->status), strsignal(WTERMSIG(h->status)));
    else
        err_set(e, ERR_UNREACHABLE, "the service ended with status %d: %s (all that it said is in %s/log)",
                WEXITSTATUS(h->status), said.len ? said.data : "it said nothing", h->folder);
    buf_free(&said);
    buf_free(&log);
    return -(int)e->code;
}

static int wait_until_it_answers(struct here *h, struct err *e)
{
    bool answers = false;
    while (!answers && !here_over(h, e)) {
        answers = service_answers(h->socket.data);
        if (!answers)
            here_sleep(LOOK_S);
    }
    return answers ? 0 : -(int)e->code;
}

int here_open(struct here *h, const struct client *c, bool works, struct err *e)
{
    *h = (struct here){.folder = c->here, .lock = -1, .stops = works && c->run_for > 0 ? clock_now() + c->run_for : 0};
    if (works)
        here_take_signals();
    int rc = make_folder(c->here, works, e);
    if (!rc)
        rc = here_lock(&h->lock, c, works, &h->socket, e);
    if (rc)
        return rc < 0 ? rc : 0;
    rc = choose_socket(h, e);
    if (!rc)
        rc = here_sign(h->lock, c->here, h->socket.data, e);
    if (!rc)
        rc = start_service(h, c, works, e);
    return rc ? rc : wait_until_it_answers(h, e);
}

int here_over(struct here *h, struct err *e)
{
    if (here_signalled())
        return err_set(e, ERR_BUSY, "signal %d (%s): run the same command again, and it goes on from here",
                       here_signalled(), strsignal(here_signalled()));
    if (h->stops && clock_now() >= h->stops)
        return err_set(e, ERR_BUSY, "the time of --for is over: run the same command again, and it goes on from here");
    return has_ended(h) ? end_error(h, e) : 0;
}

/* A device that opens has no trouble yet, and one whose process has died is opened again. */
static bool all_troubled(const json_t *devices, struct buf *troubles)
{
    const json_t *d;
    size_t i;
    bool all = json_array_size(devices) > 0;
    json_array_foreach (devices, i, d) {
        all &= strcmp(answer_text(d, "state"), "up") != 0 && *answer_text(d, "trouble");
        buf_printf(troubles, "%s%s: %s", i ? "; " : "", answer_text(d, "device"), answer_text(d, "trouble"));
    }
    return all;
}

int here_works(struct here *h, const struct client *c, struct err *e)
{
    struct err away = {0};
    struct buf troubles = {0};
    json_t *version = client_get(c, "/v1/version", &away);
    int rc = 0;
    if (!all_troubled(json_object_get(version, "devices"), &troubles))
        h->troubled = 0;
    else if (h->troubled == 0)
        h->troubled = clock_now();
    else if (clock_now() - h->troubled > TROUBLE_S)
        rc = err_set(e, ERR_DEVICE, "no device has worked for %.0f s: %s", TROUBLE_S, troubles.data);
    json_decref(version);
    buf_free(&troubles);
    return rc;
}

/* ---- stopping ---- */

static void wait_for_end(struct here *h)
{
    const struct timespec moment = {.tv_nsec = (long)(LOOK_S * 1e9)};
    const double began = clock_now();
    kill(h->service, SIGTERM);
    while (!has_ended(h)) {
        if (clock_now() - began < SAME_S)
            here_forget_signal();
        else if (here_signalled())
            kill(h->service, SIGKILL);
        nanosleep(&moment, NULL);
    }
}

int here_close(struct here *h, struct err *e)
{
    int rc = 0;
    if (h->service && !h->ended) {
        wait_for_end(h);
        if (!WIFEXITED(h->status) || WEXITSTATUS(h->status))
            rc = end_error(h, e);
    }
    if (h->lock >= 0) {
        (void)!ftruncate(h->lock, 0);
        close(h->lock);
    }
    remove_socket(h);
    buf_free(&h->socket);
    buf_free(&h->temporary);
    return rc;
}
