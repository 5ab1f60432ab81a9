/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker is down when both its process and its socket have ended, in whichever order; it rests until it is started
 * again.
 *
 *   resting --start--> started --its first frame--> speaking
 *      ^                  |                            |
 *      |                  +------ its socket ends -----+--> closed --its process ends--> over
 *      |                  +------ its process ends ----+--> reaped --its socket ends---> over
 *      |                                                                                  |
 *      +------------------ down: the handle of its socket has closed ---------------------+
 *
 * One that stays closed is killed after a while; one that stays reaped, because something that it started holds its
 * socket, counts as if that had ended. A process that could not be made is reaped from the start.
 */
#include "daemon/processes/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/processes/frames.h"
#include "engine/base/buf.h"
#include "engine/base/log.h"

#define RESTART_MS 200 /* before the first restart; doubles with every early end */
#define RESTART_MAX_MS 30000
#define SETTLED_MS 60000 /* a worker that lived this long starts the count afresh */
#define LINGER_MS 2000   /* between the end of its frames and its death */
#define WORKER_FD 3

enum process_state { RESTING, STARTED, SPEAKING, CLOSED, REAPED, OVER };

struct worker {
    struct supervisor *s;
    int index;
    struct sm sm; /* enum process_state */
    pid_t pid;    /* 0: no process, or reaped */
    int status;   /* of waitpid, once reaped */
    uv_pipe_t pipe;
    bool pipe_open; /* until its close callback */
    struct buf in;
    /* resting: until it is started; closed: until it is killed; reaped: until its socket counts as ended */
    uv_timer_t timer;
    uv_timer_t hello; /* runs as long as it has said nothing: it must by its end */
    uint64_t started; /* loop time */
    uint64_t pause;   /* before the next restart, ms */
    char why[200];    /* we killed it for this; empty: we did not */
    char said[1000];  /* why it ends, by itself; empty: nothing */
};

struct supervisor {
    uv_loop_t *loop;
    struct supervisor_ops ops;
    void *arg;
    const char *program;
    const char *const *devices;
    int n, slots;
    struct worker *workers;
    uv_signal_t child;
    uint64_t hello_ms;
    bool draining, closing;
    int handles; /* not yet closed */
};

static void start(struct worker *w);
static void maybe_down(struct worker *w);

static const struct sm_state states[] = {
    [RESTING] = {"resting", SM_TO(STARTED) | SM_TO(REAPED)},                  /* start; there is no process for it */
    [STARTED] = {"started", SM_TO(SPEAKING) | SM_TO(CLOSED) | SM_TO(REAPED)}, /* frame; socket, process ends */
    [SPEAKING] = {"speaking", SM_TO(CLOSED) | SM_TO(REAPED)},                 /* socket, process ends */
    [CLOSED] = {"closed", SM_TO(OVER)},                                       /* process ends */
    [REAPED] = {"reaped", SM_TO(OVER)},                                       /* socket ends */
    [OVER] = {"over", SM_TO(RESTING)},                                        /* handle of the socket closed */
};

/* There is a process to be killed just as long as the state says. */
static bool holds(const void *owner, uint32_t state)
{
    const struct worker *w = owner;
    return (w->pid > 0) == (state == STARTED || state == SPEAKING || state == CLOSED);
}

const struct sm_kind supervisor_process_states = {"worker process", states, sizeof states / sizeof states[0], holds};

/* Nothing comes from its socket any more, and nothing can be told to it. */
static bool is_cut(const struct worker *w)
{
    return w->sm.state == RESTING || w->sm.state == CLOSED || w->sm.state == OVER;
}

/* ---- the child ---- */

static void exec_worker(struct supervisor *s, int index, int fd, pid_t parent)
{
    char slots[16];
    snprintf(slots, sizeof slots, "%d", s->slots);
    const char *argv[] = {s->program, "serve", "--device", s->devices[index], s->slots ? "--slots" : NULL, slots, NULL};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    setpgid(0, 0); /* a terminal's ^C is for the service alone */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* the service died before it could be tied to it */
    int null = open("/dev/null", O_RDWR);
    if (null >= 0)
        dup2(null, 0);
    if (fd == WORKER_FD)
        fcntl(fd, F_SETFD, 0);
    else
        dup2(fd, WORKER_FD);
    execv(s->program, (char *const *)argv);
    static const char text[] = "shoald: cannot execute the worker program\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

/* ---- frames ---- */

static void end(struct worker *w, const char *why)
{
    if (!w->pid)
        return;
    if (!w->why[0])
        snprintf(w->why, sizeof w->why, "%s", why);
    log_line(LOG_WARNING, "killing worker device=%s pid=%d: %s", w->s->devices[w->index], (int)w->pid, why);
    if (kill(-w->pid, SIGKILL)) /* with whatever it started; it may not have its group yet */
        kill(w->pid, SIGKILL);
}

static void on_closed(uv_handle_t *h)
{
    struct worker *w = h->data;
    w->pipe_open = false;
    buf_free(&w->in);
    maybe_down(w);
}

/* It closed its socket but lives on: nothing can be told to it any more. */
static void on_linger(uv_timer_t *t)
{
    end(t->data, "it closed its socket");
}

static void at_eof(struct worker *w)
{
    if (is_cut(w))
        return;
    if (w->sm.state == REAPED) {
        uv_timer_stop(&w->timer);
        sm_move(&w->sm, OVER);
    } else {
        uv_timer_start(&w->timer, on_linger, LINGER_MS, 0);
        sm_move(&w->sm, CLOSED);
    }
    uv_close((uv_handle_t *)&w->pipe, on_closed);
}

/* It is dead, but something that it started holds its socket. */
static void on_leftover(uv_timer_t *t)
{
    at_eof(t->data);
}

/* A checkpoint or an end is work done: the next restart need not wait long. */
static bool is_work(const json_t *message)
{
    const char *type = json_string_value(json_object_get(message, "type"));
    return strcmp(type, "segment") == 0 || strcmp(type, "done") == 0;
}

/* Its last word is for us; all else is for who uses it. */
static int take_frame(struct worker *w, const json_t *message, struct err *e)
{
    const char *type = json_string_value(json_object_get(message, "type"));
    const char *why = json_string_value(json_object_get(message, "message"));
    if (strcmp(type, "ending") == 0) {
        snprintf(w->said, sizeof w->said, "%s", why ? why : "");
        return 0;
    }
    return w->s->closing ? 0 : w->s->ops.frame(w->s->arg, w->index, message, e);
}

static void take_frames(struct worker *w)
{
    struct err e = {0};
    json_t *message;
    while (!is_cut(w)) {
        int rc = frame_take(&w->in, &message, &e);
        if (rc == 0 && !message)
            return;
        if (rc == 0) {
            if (w->sm.state == STARTED)
                sm_move(&w->sm, SPEAKING);
            uv_timer_stop(&w->hello);
            if (is_work(message))
                w->pause = RESTART_MS;
            rc = take_frame(w, message, &e);
            json_decref(message);
        }
        if (rc) {
            end(w, e.msg);
            at_eof(w);
        }
    }
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *out)
{
    *out = uv_buf_init(xcalloc(hint, 1), (unsigned)hint);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *b)
{
    struct worker *w = stream->data;
    if (n > 0) {
        buf_add(&w->in, b->base, (size_t)n);
        take_frames(w);
    }
    free(b->base);
    if (n < 0)
        at_eof(w);
}

struct sending {
    uv_write_t write;
    struct buf bytes;
};

static void on_written(uv_write_t *q, int status)
{
    struct sending *m = q->data;
    buf_free(&m->bytes);
    free(m);
}

void supervisor_send(struct supervisor *s, int worker, const json_t *message)
{
    struct worker *w = &s->workers[worker];
    if (is_cut(w))
        return;
    struct sending *m = xcalloc(1, sizeof *m);
    m->write.data = m;
    frame_put(&m->bytes, message);
    uv_buf_t b = uv_buf_init(m->bytes.data, (unsigned)m->bytes.len);
    if (uv_write(&m->write, (uv_stream_t *)&w->pipe, &b, 1, on_written))
        on_written(&m->write, 0); /* the other end is gone */
}

/* ---- life and death ---- */

static void on_restart(uv_timer_t *t)
{
    start(t->data);
}

static void restart_later(struct worker *w)
{
    struct supervisor *s = w->s;
    if (s->draining || s->closing)
        return;
    if (uv_now(s->loop) - w->started > SETTLED_MS)
        w->pause = RESTART_MS;
    uv_timer_start(&w->timer, on_restart, w->pause, 0);
    w->pause = w->pause * 2 < RESTART_MAX_MS ? w->pause * 2 : RESTART_MAX_MS;
}

static void describe(const struct worker *w, char *out, size_t size)
{
    if (w->why[0])
        snprintf(out, size, "worker killed: %s", w->why);
    else if (WIFSIGNALED(w->status))
        snprintf(out, size, "worker died of signal %d (%s)", WTERMSIG(w->status), strsignal(WTERMSIG(w->status)));
    else
        snprintf(out, size, "worker exited with status %d%s%s", WEXITSTATUS(w->status), *w->said ? ": " : "", w->said);
}

static void handle_gone(uv_handle_t *h)
{
    struct supervisor *s = h->data;
    if (--s->handles > 0)
        return;
    free(s->workers);
    free(s);
}

static void close_handle(struct supervisor *s, uv_handle_t *h)
{
    h->data = s;
    uv_close(h, handle_gone);
}

/* Closes what a supervisor needs only while workers live, after the last of them. */
static void close_if_over(struct supervisor *s)
{
    if (!s->closing || supervisor_alive(s) || uv_is_closing((uv_handle_t *)&s->child))
        return;
    for (int i = 0; i < s->n; i++) {
        close_handle(s, (uv_handle_t *)&s->workers[i].timer);
        close_handle(s, (uv_handle_t *)&s->workers[i].hello);
    }
    close_handle(s, (uv_handle_t *)&s->child);
}

static void maybe_down(struct worker *w)
{
    struct supervisor *s = w->s;
    if (w->sm.state != OVER || w->pipe_open)
        return;
    sm_move(&w->sm, RESTING);
    uv_timer_stop(&w->hello);
    bool in_order = WIFEXITED(w->status) && WEXITSTATUS(w->status) == 0;
    char how[sizeof w->said + 64];
    describe(w, how, sizeof how);
    log_line(in_order ? LOG_INFO : LOG_WARNING, "worker down device=%s: %s", s->devices[w->index], how);
    if (!s->closing)
        s->ops.down(s->arg, w->index, in_order, how);
    restart_later(w);
    close_if_over(s);
}

static void on_child(uv_signal_t *h, int number)
{
    struct supervisor *s = h->data;
    for (int i = 0; i < s->n; i++) {
        struct worker *w = &s->workers[i];
        int status;
        if (!w->pid || waitpid(w->pid, &status, WNOHANG) != w->pid)
            continue;
        w->status = status;
        w->pid = 0;
        sm_move(&w->sm, w->sm.state == CLOSED ? OVER : REAPED);
        if (w->sm.state == REAPED)
            uv_timer_start(&w->timer, on_leftover, LINGER_MS, 0);
        maybe_down(w);
    }
}

static void on_no_hello(uv_timer_t *t)
{
    end(t->data, "it said no hello");
}

/* fds[1] is the worker's end, the caller's to close; ours belongs to the pipe. Nothing is left open on failure. */
static int make_pair(struct worker *w, int fds[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return -errno;
    uv_pipe_init(w->s->loop, &w->pipe, 0);
    w->pipe.data = w;
    w->pipe_open = true;
    int rc = uv_pipe_open(&w->pipe, fds[0]);
    if (rc) {
        close(fds[0]);
        close(fds[1]);
        uv_close((uv_handle_t *)&w->pipe, on_closed);
    }
    return rc;
}

static void start(struct worker *w)
{
    struct supervisor *s = w->s;
    int fds[2];
    w->started = uv_now(s->loop);
    w->why[0] = w->said[0] = '\0';
    int rc = make_pair(w, fds);
    if (rc) {
        log_line(LOG_ERROR, "no socket pair for a worker: %s", uv_strerror(rc));
        restart_later(w);
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        exec_worker(s, w->index, fds[1], parent);
    close(fds[1]);
    w->pid = pid > 0 ? pid : 0;
    w->status = pid > 0 ? 0 : 1 << 8; /* could not fork: as if it had exited with 1 */
    sm_move(&w->sm, pid > 0 ? STARTED : REAPED);
    uv_read_start((uv_stream_t *)&w->pipe, on_alloc, on_read);
    uv_timer_start(&w->hello, on_no_hello, s->hello_ms, 0);
    if (pid > 0)
        log_line(LOG_INFO, "worker started device=%s pid=%d", s->devices[w->index], (int)pid);
}

struct supervisor *supervisor_new(uv_loop_t *loop, const struct supervisor_config *c, const struct supervisor_ops *ops,
                                  void *arg)
{
    struct supervisor *s = xcalloc(1, sizeof *s);
    *s = (struct supervisor){.loop = loop,
                             .ops = *ops,
                             .arg = arg,
                             .program = c->program,
                             .devices = c->devices,
                             .n = c->ndevices,
                             .slots = c->slots,
                             .hello_ms = c->hello_ms,
                             .workers = xcalloc((size_t)c->ndevices, sizeof *s->workers)};
    for (int i = 0; i < s->n; i++) {
        s->workers[i] = (struct worker){.s = s, .index = i, .pause = RESTART_MS};
        sm_init(&s->workers[i].sm, &supervisor_process_states, &s->workers[i], RESTING);
        uv_timer_init(loop, &s->workers[i].timer);
        uv_timer_init(loop, &s->workers[i].hello);
        s->workers[i].timer.data = s->workers[i].hello.data = &s->workers[i];
    }
    uv_signal_init(loop, &s->child);
    s->child.data = s;
    s->handles = 2 * s->n + 1;
    return s;
}

void supervisor_start(struct supervisor *s)
{
    uv_signal_start(&s->child, on_child, SIGCHLD);
    for (int i = 0; i < s->n; i++)
        start(&s->workers[i]);
}

void supervisor_drain(struct supervisor *s)
{
    s->draining = true;
    for (int i = 0; i < s->n; i++) {
        struct worker *w = &s->workers[i];
        if (w->sm.state == RESTING)
            uv_timer_stop(&w->timer);
        if (uv_is_active((const uv_handle_t *)&w->hello))
            end(w, "the service stops");
    }
}

void supervisor_kill(struct supervisor *s)
{
    s->draining = true;
    for (int i = 0; i < s->n; i++)
        end(&s->workers[i], "the service stops");
}

void supervisor_end(struct supervisor *s, int worker, const char *why)
{
    end(&s->workers[worker], why);
}

int supervisor_alive(const struct supervisor *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->workers[i].sm.state != RESTING;
    return n;
}

const char *supervisor_device(const struct supervisor *s, int worker)
{
    return s->devices[worker];
}

void supervisor_close(struct supervisor *s)
{
    if (!s)
        return;
    s->closing = true;
    supervisor_kill(s);
    close_if_over(s);
}
