/* SPDX-License-Identifier: Apache-2.0
 *
 * shoald: wiring. Options, places, lock, database, workers, socket, signals; then the loop. Every shutdown takes the
 * same path: drain if asked, close everything, exit. A crash needs no special case, because everything that was
 * answered is in the database, where the next start goes on.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/api/api.h"
#include "daemon/host/devices.h"
#include "daemon/host/notify.h"
#include "daemon/host/paths.h"
#include "daemon/monitor/on_end.h"
#include "daemon/monitor/textfile.h"
#include "daemon/options.h"
#include "daemon/service/stored.h"
#include "engine/base/log.h"
#include "schemas/build.h"

/* Bytes of a block of memory. Larger ones go back to the system when they are freed, however many were held at once. */
#define BIG_BLOCK (32 << 10)
#define EXTEND_MS 5000 /* while draining, the service manager is asked for more time this often */

struct daemon {
    uv_loop_t loop;
    int argc;
    char **argv;
    struct options options;
    struct service service;
    struct api api;
    struct quota *quota;
    struct metrics *metrics;
    struct stored stored;
    struct textfile textfile;
    struct on_end on_end;
    struct server *server;
    char *state, *socket, *worker;
    json_t *left_out;
    bool own_socket; /* to be removed at the end */
    int lock;
    uv_signal_t term, interrupt, hangup;
    uv_timer_t watchdog, extend;
};

/* ---- stopping ---- */

static void close_signal(uv_signal_t *s)
{
    uv_close((uv_handle_t *)s, NULL);
}

static void close_all(struct daemon *d)
{
    check_stop(&d->api.checks);
    api_stop_imports(&d->api);
    server_close(d->server);
    d->server = NULL;
    if (d->own_socket)
        unlink(d->socket);
    close_signal(&d->term);
    close_signal(&d->interrupt);
    close_signal(&d->hangup);
    uv_close((uv_handle_t *)&d->watchdog, NULL);
    uv_close((uv_handle_t *)&d->extend, NULL);
    stored_stop(&d->stored);
    textfile_close(&d->textfile);
    on_end_close(&d->on_end);
    service_close(&d->service);
}

static void on_stopped(void *arg)
{
    struct daemon *d = arg;
    log_line(LOG_INFO, "stopped");
    uv_stop(&d->loop);
}

static void on_more_time(uv_timer_t *t)
{
    notify("EXTEND_TIMEOUT_USEC=%d", 3 * EXTEND_MS * 1000);
}

static void on_term(uv_signal_t *s, int number)
{
    struct daemon *d = s->data;
    if (d->service.draining && d->service.config.portable) /* signals to all processes of a job come more than once */
        return;
    if (d->service.draining) {
        log_line(LOG_WARNING, "signal %d again: leaving at once", number);
        supervisor_kill(d->service.supervisor);
        _exit(EXIT_FAILED); /* as after a crash */
    }
    log_line(LOG_INFO, "signal %d: draining", number);
    notify("STOPPING=1");
    uv_timer_start(&d->extend, on_more_time, 0, EXTEND_MS);
    check_stop(&d->api.checks);
    api_stop_imports(&d->api);
    service_drain(&d->service);
}

/* Sets what may change while the service runs. */
static void tune(struct daemon *d)
{
    struct options *o = &d->options;
    struct service_tuning t = {.estimate_seconds = o->estimate_seconds,
                               .estimate_mib = o->estimate_mib,
                               .live_seconds = o->live_seconds,
                               .drain_seconds = o->drain_seconds,
                               .slice_seconds = o->slice_seconds,
                               .stall_seconds = o->stall_seconds,
                               .half_life_hours = o->half_life_hours,
                               .accounting_days = o->accounting_days};
    options_limit(o, d->quota, server_connections_possible());
    service_tune(&d->service, &t);
    d->api.checks.seconds = o->check_seconds;
    d->api.checks.mib = o->check_mib;
    d->api.checks.at_once = o->checks;
    d->textfile.every = o->metrics_every;
    log_setup("shoald", o->verbose ? LOG_DEBUG : LOG_INFO);
}

static void on_hangup(uv_signal_t *s, int number)
{
    struct daemon *d = s->data;
    struct err e = {0};
    if (options_reload(&d->options, d->argc, d->argv, &e))
        log_line(LOG_ERROR, "signal %d: nothing is changed: %s", number, e.msg);
    else
        tune(d);
}

static void on_watchdog(uv_timer_t *t)
{
    notify("WATCHDOG=1");
}

static void on_status(void *arg, const char *text)
{
    notify("STATUS=%s", text);
}

/* ---- starting ---- */

static void start_handles(struct daemon *d)
{
    uv_signal_init(&d->loop, &d->term);
    uv_signal_init(&d->loop, &d->interrupt);
    uv_signal_init(&d->loop, &d->hangup);
    uv_timer_init(&d->loop, &d->watchdog);
    uv_timer_init(&d->loop, &d->extend);
    d->term.data = d->interrupt.data = d->hangup.data = d;
    uv_signal_start(&d->term, on_term, SIGTERM);
    uv_signal_start(&d->interrupt, on_term, SIGINT);
    uv_signal_start(&d->hangup, on_hangup, SIGHUP);
    uint64_t every = notify_watchdog_ms();
    if (every)
        uv_timer_start(&d->watchdog, on_watchdog, 0, every);
}

/* As the user that started it: the last that root does. */
static int get_socket(struct daemon *d, const struct options *o, const struct identity *who, int *fd, struct err *e)
{
    if (notify_listen_fd(fd, e))
        return -(int)e->code;
    if (*fd >= 0)
        return 0;
    if (paths_socket(&d->socket, o->socket, who, e) || paths_listen(fd, d->socket, who, e))
        return -(int)e->code;
    d->own_socket = true;
    return 0;
}

static int find_places(struct daemon *d, const struct options *o, int *fd, struct err *e)
{
    struct identity who;
    if (privileges_identity(&who, o->user, o->group, e) || get_socket(d, o, &who, fd, e) ||
        paths_state(&d->state, o->state, &who, e) || privileges_drop(&who, e) || paths_private(d->state, e) ||
        paths_lock(&d->lock, d->state, e) || paths_database(d->state, e) || paths_worker(&d->worker, o->worker, e))
        return -(int)e->code;
    return 0;
}

static int start_server(struct daemon *d, int fd, struct err *e)
{
    struct server_config c = {.listen_fd = fd,
                              .quota = d->quota,
                              .metrics = d->metrics,
                              .handler = api_handle,
                              .arg = &d->api,
                              .idle_seconds = SERVER_IDLE_SECONDS,
                              .uploads = api_uploads};
    return server_new(&d->server, &d->loop, &c, e);
}

static int start(struct daemon *d, struct err *e)
{
    struct options *o = &d->options;
    int fd;
    if (find_places(d, o, &fd, e))
        return -(int)e->code;
    d->left_out = devices_choose(d->worker, o->devices, &o->ndevices);
    d->quota = quota_new();
    d->metrics = metrics_new();
    struct service_config c = {.state = d->state,
                               .worker = d->worker,
                               .portable = o->portable,
                               .idle = o->idle,
                               .ndevices = o->ndevices,
                               .devices = o->devices,
                               .left_out = d->left_out,
                               .slots = o->slots,
                               .quota = d->quota,
                               .metrics = d->metrics,
                               .build = BUILD_TEXT};
    int rc = service_open(&d->service, &d->loop, &c, e);
    if (rc)
        return rc;
    d->service.on_stopped = on_stopped;
    d->service.on_stopped_arg = d;
    d->service.on_status = on_status;
    d->api.service = &d->service;
    d->api.quota = d->quota;
    d->api.checks =
        (struct checks){.loop = &d->loop, .worker = d->worker, .quota = d->quota, .sched = &d->service.sched};
    tune(d);
    start_handles(d);
    stored_start(&d->stored, &d->service);
    textfile_open(&d->textfile, &d->service, o->metrics_file, o->metrics_every);
    on_end_open(&d->on_end, &d->service, o->on_end, d->socket);
    rc = service_start(&d->service, e);
    if (rc == 0)
        on_end_go_on(&d->on_end);
    if (rc == 0)
        rc = start_server(d, fd, e);
    if (rc)
        close_all(d);
    return rc;
}

static int exit_code(const struct daemon *d)
{
    return d->service.lost ? err_exit(ERR_DATABASE) : EXIT_OK;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    struct options *o = &d.options;
    struct err e = {0};
    privileges_begin();
    mallopt(M_MMAP_THRESHOLD, BIG_BLOCK);
    setenv("UV_THREADPOOL_SIZE", "8", 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the size limit is an error of who writes it */
    d.argc = argc;
    d.argv = argv;
    log_setup("shoald", LOG_INFO);
    if (options_parse(o, NULL, argc, argv, &e)) {
        fprintf(stderr, "shoald: %s\n", e.msg);
        return EXIT_BAD_USAGE;
    }
    if (options_answered(o, BUILD_TEXT))
        return EXIT_OK;
    log_setup("shoald", o->verbose ? LOG_DEBUG : LOG_INFO);
    if (o->log && !strcmp(o->log, "json"))
        log_as(LOG_JSON);
    uv_loop_init(&d.loop);
    if (start(&d, &e)) {
        log_line(LOG_ERROR, "%s", e.msg);
        if (d.own_socket)
            unlink(d.socket);
        return EXIT_FAILED;
    }
    log_line(LOG_INFO, "listening socket=%s state=%s devices=%d", d.socket ? d.socket : "(handed over)", d.state,
             o->ndevices);
    notify("READY=1");
    uv_run(&d.loop, UV_RUN_DEFAULT);
    if (!service_finish_offloaded(&d.service)) {
        service_leave(&d.service);
        if (d.own_socket)
            unlink(d.socket);
        _exit(exit_code(&d)); /* threads of the pool hold what would be closed */
    }
    int code = exit_code(&d);
    close_all(&d);
    uv_run(&d.loop, UV_RUN_DEFAULT);
    uv_loop_close(&d.loop);
    quota_free(d.quota);
    metrics_free(d.metrics);
    json_decref(d.left_out);
    free(d.state);
    free(d.socket);
    free(d.worker);
    options_free(o);
    return code;
}
