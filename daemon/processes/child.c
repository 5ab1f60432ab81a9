/* SPDX-License-Identifier: Apache-2.0
 *
 * The happy path: spawn, write all of the input, read until both outputs end, the process is reaped, every handle is
 * closed, done. A child that stops reading, or dies, breaks only its own pipes.
 */
#include "daemon/processes/child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/json/err_json.h"

#define LOG_MAX 2000
#define HANDLES 5

struct child {
    uv_process_t process;
    uv_pipe_t in, out, log;
    uv_timer_t limit;
    uv_write_t write;
    uv_shutdown_t shut;
    struct child_run run;
    int closing; /* handles that are not closed yet */
    bool exited, out_ended, log_ended;
    uint64_t began; /* uv_now */
    child_done_fn *done;
    void *arg;
    struct child_result result;
};

static void on_child_closed(uv_handle_t *h)
{
    struct child *c = h->data;
    if (--c->closing > 0)
        return;
    c->done(c->arg, &c->result);
    buf_free(&c->result.out);
    buf_free(&c->result.log);
    free(c);
}

static void close_child_handle(uv_handle_t *h)
{
    if (!uv_is_closing(h))
        uv_close(h, on_child_closed);
}

static void close_child_if_over(struct child *c)
{
    if (!c->exited || !c->out_ended || !c->log_ended)
        return;
    close_child_handle((uv_handle_t *)&c->process);
    close_child_handle((uv_handle_t *)&c->in);
    close_child_handle((uv_handle_t *)&c->out);
    close_child_handle((uv_handle_t *)&c->log);
    close_child_handle((uv_handle_t *)&c->limit);
}

static void on_reaped(uv_process_t *p, int64_t status, int number)
{
    struct child *c = p->data;
    c->exited = true;
    if (c->result.worked_ms < 0)
        c->result.worked_ms = (int64_t)(uv_now(p->loop) - c->began);
    c->result.status = (int)status;
    c->result.signal = number;
    close_child_if_over(c);
}

static void on_child_alloc(uv_handle_t *h, size_t hint, uv_buf_t *out)
{
    *out = uv_buf_init(xcalloc(hint, 1), (unsigned)hint);
}

/* Processor time of a process can be read until it is reaped. Its outputs end before that, when it exits. */
static void read_worked(struct child *c)
{
    clockid_t clock;
    struct timespec t;
    if (!c->exited && !clock_getcpuclockid(c->process.pid, &clock) && !clock_gettime(clock, &t))
        c->result.worked_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What was read has been taken; *ended becomes true where nothing more will come. */
static void after_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b, bool *ended)
{
    free(b->base);
    if (n >= 0)
        return;
    uv_read_stop(s);
    *ended = true;
    read_worked(s->data);
    close_child_if_over(s->data);
}

static void on_out(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct child *c = s->data;
    if (n > 0 && c->result.out.len + (size_t)n > c->run.output_max) {
        c->result.too_much = true;
        child_kill(c);
    } else if (n > 0) {
        buf_add(&c->result.out, b->base, (size_t)n);
    }
    after_read(s, n, b, &c->out_ended);
}

static void on_log(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct child *c = s->data;
    if (n > 0 && c->result.log.len < LOG_MAX)
        buf_add(&c->result.log, b->base, (size_t)n);
    after_read(s, n, b, &c->log_ended);
}

/* All is written, or nobody reads it any more: either way there is no more input. */
static void on_child_written(uv_write_t *w, int status)
{
    struct child *c = w->data;
    close_child_handle((uv_handle_t *)&c->in);
}

/* ---- one that is fed ---- */

struct feeding {
    uv_write_t write;
    struct child *child;
    char data[];
};

/* What it did not read is lost: how it ended says why. */
static void on_piece_written(uv_write_t *w, int status)
{
    struct feeding *f = w->data;
    struct child *c = f->child;
    free(f);
    if (status)
        close_child_handle((uv_handle_t *)&c->in);
    else if (!uv_is_closing((uv_handle_t *)&c->in) && !c->in.write_queue_size)
        c->run.fed(c->arg);
}

size_t child_feed(struct child *c, const void *data, size_t len)
{
    if (uv_is_closing((uv_handle_t *)&c->in))
        return 0;
    struct feeding *f = xcalloc(1, sizeof *f + len);
    uv_buf_t piece = uv_buf_init(f->data, (unsigned)len);
    f->child = c;
    f->write.data = f;
    memcpy(f->data, data, len);
    if (uv_write(&f->write, (uv_stream_t *)&c->in, &piece, 1, on_piece_written)) {
        free(f);
        close_child_handle((uv_handle_t *)&c->in);
        return 0;
    }
    return uv_stream_get_write_queue_size((uv_stream_t *)&c->in);
}

static void on_shut(uv_shutdown_t *s, int status)
{
    struct child *c = s->data;
    close_child_handle((uv_handle_t *)&c->in);
}

void child_fed_all(struct child *c)
{
    c->shut.data = c;
    if (uv_is_closing((uv_handle_t *)&c->in) || uv_shutdown(&c->shut, (uv_stream_t *)&c->in, on_shut))
        close_child_handle((uv_handle_t *)&c->in);
}

/* ---- its limits ---- */

static void on_limit(uv_timer_t *t)
{
    struct child *c = t->data;
    c->result.late = true;
    child_kill(c);
}

void child_kill(struct child *c)
{
    if (!c->exited)
        uv_process_kill(&c->process, SIGKILL);
}

void child_error(const struct child_result *r, struct err *e)
{
    size_t end = r->out.len, begin;
    while (end && r->out.data[end - 1] == '\n')
        end--;
    for (begin = end; begin && r->out.data[begin - 1] != '\n';)
        begin--;
    json_t *object = r->status && end ? json_loadb(r->out.data + begin, end - begin, 0, NULL) : NULL;
    if (json_object_get(object, "error"))
        err_from_json(object, e);
    json_decref(object);
}

static int spawn(struct child *c, uv_loop_t *loop)
{
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&c->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->log}};
    uv_process_options_t o = {
        .exit_cb = on_reaped, .file = c->run.argv[0], .args = (char **)c->run.argv, .stdio_count = 3, .stdio = stdio};
    return uv_spawn(loop, &c->process, &o);
}

static void nothing(void *arg, struct child_result *r)
{
}

struct child *child_start(uv_loop_t *loop, const struct child_run *run, child_done_fn *done, void *arg, struct err *e)
{
    struct child *c = xcalloc(1, sizeof *c);
    c->run = *run;
    c->done = done;
    c->arg = arg;
    c->closing = HANDLES;
    c->result.worked_ms = -1;
    c->began = uv_now(loop);
    uv_pipe_init(loop, &c->in, 0);
    uv_pipe_init(loop, &c->out, 0);
    uv_pipe_init(loop, &c->log, 0);
    uv_timer_init(loop, &c->limit);
    c->process.data = c->in.data = c->out.data = c->log.data = c->limit.data = c->write.data = c;
    int rc = spawn(c, loop);
    if (rc) {
        const bool lacking = rc == UV_EMFILE || rc == UV_ENFILE || rc == UV_EAGAIN || rc == UV_ENOMEM;
        err_set(e, lacking ? ERR_BUSY : ERR_INTERNAL, "start %s: %s", run->argv[0], uv_strerror(rc));
        c->done = nothing;
        c->exited = c->out_ended = c->log_ended = true;
        close_child_if_over(c);
        return NULL;
    }
    uv_read_start((uv_stream_t *)&c->out, on_child_alloc, on_out);
    uv_read_start((uv_stream_t *)&c->log, on_child_alloc, on_log);
    uv_timer_start(&c->limit, on_limit, run->limit_ms, 0);
    if (run->fed)
        return c;
    uv_buf_t input = uv_buf_init((char *)run->input, (unsigned)run->input_len);
    if (uv_write(&c->write, (uv_stream_t *)&c->in, &input, 1, on_child_written))
        close_child_handle((uv_handle_t *)&c->in);
    return c;
}
