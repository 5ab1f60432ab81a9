/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/monitor/textfile.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/log.h"

/* One report on its way to the disk. */
struct writing {
    struct textfile *to;
    struct buf text;
    struct err err;
};

/* Not made durable: the next one comes soon. In the thread pool. */
static void write_report(void *arg)
{
    struct writing *w = arg;
    struct buf beside = {0};
    buf_printf(&beside, "%s.tmp", w->to->path);
    FILE *f = fopen(beside.data, "we");
    bool bad = !f || fchmod(fileno(f), 0644) || fwrite(w->text.data, 1, w->text.len, f) != w->text.len;
    if (f && fclose(f))
        bad = true;
    if (bad || rename(beside.data, w->to->path))
        err_errno(&w->err, "write %s", w->to->path);
    buf_free(&beside);
}

static void on_time(uv_timer_t *t);

static void written(void *arg)
{
    struct writing *w = arg;
    struct textfile *t = w->to;
    if (w->err.code && !t->failing)
        log_line(LOG_WARNING, "metrics: %s", w->err.msg);
    else if (!w->err.code && t->failing)
        log_line(LOG_INFO, "metrics: %s is written again", t->path);
    t->failing = w->err.code;
    if (!t->service->stopped)
        uv_timer_start(&t->timer, on_time, (uint64_t)t->every * 1000, 0);
    buf_free(&w->text);
    free(w);
}

static void reported(void *arg, const struct buf *text)
{
    struct textfile *t = arg;
    struct writing *w = xcalloc(1, sizeof *w);
    w->to = t;
    buf_add(&w->text, text->data, text->len);
    service_offload(t->service, write_report, written, w);
}

static void on_time(uv_timer_t *timer)
{
    struct textfile *t = timer->data;
    monitor_report(t->service, METRICS_TEXT, reported, t);
}

void textfile_open(struct textfile *t, struct service *sv, const char *path, int every)
{
    *t = (struct textfile){.service = sv, .path = path, .every = every};
    uv_timer_init(sv->loop, &t->timer);
    t->timer.data = t;
    if (path)
        uv_timer_start(&t->timer, on_time, 0, 0);
}

void textfile_close(struct textfile *t)
{
    if (t->path)
        unlink(t->path);
    uv_close((uv_handle_t *)&t->timer, NULL);
}
