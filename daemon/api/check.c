/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/json/err_json.h"
#include "engine/base/log.h"

#define OUTPUT_MORE (8u << 20) /* beyond the body: the answer's first line */
#define WALL 4                 /* a reader that waits this many times its processor time is ended */

struct check {
    struct check *next;
    struct checks *all;
    struct request *request;
    enum check_kind kind;
    struct buf input; /* empty: the request's body */
    struct quota_charge charge;
    struct child *child; /* NULL: it waits */
    bool gone;           /* its client left */
    char seconds[16], mib[16];
    struct buf devices; /* for the reader */
    const char *argv[10];
    check_done_fn *done;
    void *arg;
};

static void take_out(struct check **list, const struct check *k)
{
    while (*list != k)
        list = &(*list)->next;
    *list = k->next;
}

static void finish(struct check *k, const struct err *err, const json_t *head, const char *texts, size_t len)
{
    request_on_gone(k->request, NULL, NULL);
    quota_return(&k->charge);
    buf_free(&k->input);
    buf_free(&k->devices);
    k->done(k->arg, err, head, texts, len);
    free(k);
}

/* ---- its end ---- */

/* Why a reader gave no answer. */
static int explain(const struct check *k, const struct child_result *r, struct err *e)
{
    if (k->all->stopping)
        return err_set(e, ERR_BUSY, "the service stops");
    if (k->gone)
        return err_set(e, ERR_UNREACHABLE, "the client left");
    if (r->signal == SIGXCPU || r->late)
        return err_set(e, ERR_TOO_LARGE, "reading the submission takes more than %d s", k->all->seconds);
    child_error(r, e);
    if (e->code)
        return -(int)e->code;
    if (r->signal)
        return err_set(e, ERR_INTERNAL, "the reader of submissions died of signal %d", r->signal);
    return err_set(e, ERR_INTERNAL, "the reader of submissions ended with %d: %.300s", r->status,
                   r->log.data ? r->log.data : "it said nothing");
}

static void run_waiting(struct checks *c);

static void on_child(void *arg, struct child_result *r)
{
    struct check *k = arg;
    struct checks *c = k->all;
    struct err e = {0};
    const char *end = r->out.len ? memchr(r->out.data, '\n', r->out.len) : NULL;
    size_t line = end ? (size_t)(end - r->out.data) : 0;
    bool whole = !r->signal && !r->status && !r->too_much && end;
    json_t *head = whole ? json_loadb(r->out.data, line, 0, NULL) : NULL;
    if (!head)
        explain(k, r, &e);
    else if (json_object_get(head, "error"))
        err_from_json(head, &e);
    if (e.code == ERR_MEMORY)
        err_set(&e, ERR_TOO_LARGE, "reading the submission takes more than %d MiB of memory", c->mib);
    if (e.code == ERR_INTERNAL)
        log_line(LOG_WARNING, "%s", e.msg);
    take_out(&c->running, k);
    c->nrunning--;
    finish(k, e.code ? &e : NULL, head, head ? end + 1 : NULL, head ? r->out.len - line - 1 : 0);
    json_decref(head);
    run_waiting(c);
}

static void on_gone(void *arg)
{
    struct check *k = arg;
    struct err e = {0};
    k->gone = true;
    if (k->child) {
        child_kill(k->child);
        return;
    }
    take_out(&k->all->waiting, k);
    err_set(&e, ERR_UNREACHABLE, "the client left");
    finish(k, &e, NULL, NULL, 0);
}

/* ---- its turn ---- */

static int running_of(const struct checks *c, uint32_t uid)
{
    int n = 0;
    for (const struct check *k = c->running; k; k = k->next)
        n += request_uid(k->request) == uid;
    return n;
}

/* Of the user with the fewest running the oldest; one user never has all places where there are several. */
static struct check *choose(const struct checks *c)
{
    struct check *best = NULL;
    int fewest = c->at_once > 1 ? c->at_once - 1 : 1;
    for (struct check *k = c->waiting; k; k = k->next) {
        int n = running_of(c, request_uid(k->request));
        if (n < fewest) {
            best = k;
            fewest = n;
        }
    }
    return best;
}

void check_list_devices(const struct sched *s, struct buf *out)
{
    buf_printf(out, "%s", "");
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        struct buf one = {0};
        if (!k->limits)
            continue;
        buf_printf(&one, "%.*s=%s;", (int)strcspn(k->device, ":+"), k->device, k->limits);
        if (!strstr(out->data, one.data))
            buf_printf(out, "%s", one.data);
        buf_free(&one);
    }
}

static void run(struct check *k)
{
    struct checks *c = k->all;
    struct err e = {0};
    static const char *const options[] = {[CHECK_VALIDATE] = "--only", [CHECK_EXTEND] = "--extension"};
    size_t len = k->input.len;
    const char *body = len ? k->input.data : request_body(k->request, &len);
    snprintf(k->seconds, sizeof k->seconds, "%d", c->seconds);
    snprintf(k->mib, sizeof k->mib, "%d", c->mib);
    check_list_devices(c->sched, &k->devices);
    const char *argv[] = {c->worker, "check-submission", "--seconds",     k->seconds,       "--mib",
                          k->mib,    "--devices",        k->devices.data, options[k->kind], NULL};
    memcpy(k->argv, argv, sizeof argv);
    struct child_run reader = {.argv = k->argv,
                               .input = body,
                               .input_len = len,
                               .output_max = len + OUTPUT_MORE,
                               .limit_ms = (uint64_t)c->seconds * 1000 * WALL};
    take_out(&c->waiting, k);
    k->child = child_start(c->loop, &reader, on_child, k, &e);
    if (!k->child) {
        finish(k, &e, NULL, NULL, 0);
        return;
    }
    k->next = c->running;
    c->running = k;
    c->nrunning++;
}

static void run_waiting(struct checks *c)
{
    while (c->nrunning < c->at_once && !c->stopping) {
        struct check *k = choose(c);
        if (!k)
            return;
        run(k);
    }
}

void check_begin(struct checks *c, struct request *r, enum check_kind kind, struct buf *input, check_done_fn *done,
                 void *arg)
{
    struct check *k = xcalloc(1, sizeof *k), **at = &c->waiting;
    struct err e = {0};
    *k = (struct check){.all = c, .request = r, .kind = kind, .done = done, .arg = arg};
    if (input) {
        k->input = *input;
        *input = (struct buf){0};
    }
    if (c->stopping)
        err_set(&e, ERR_BUSY, "the service is draining: it reads nothing more");
    if (e.code || quota_take(c->quota, request_uid(r), QUOTA_READINGS, 1, &k->charge, &e)) {
        finish(k, &e, NULL, NULL, 0);
        return;
    }
    while (*at)
        at = &(*at)->next;
    *at = k;
    request_on_gone(r, on_gone, k);
    run_waiting(c);
}

void check_stop(struct checks *c)
{
    struct err e = {0};
    c->stopping = true;
    err_set(&e, ERR_BUSY, "the service stops");
    for (struct check *k = c->running; k; k = k->next)
        child_kill(k->child);
    while (c->waiting) {
        struct check *k = c->waiting;
        c->waiting = k->next;
        finish(k, &e, NULL, NULL, 0);
    }
}
