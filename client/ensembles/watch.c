/* SPDX-License-Identifier: Apache-2.0
 *
 * watch: follows the event stream. On a terminal a progress line redraws itself; elsewhere a line a minute. When the
 * service goes away the stream is asked for again from the last event seen, for as long as it takes to restart one.
 */
#include "client/ensembles/watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/command/handlers.h"
#include "client/show/show.h"
#include "engine/base/clock.h"
#include "engine/base/printable.h"

enum { PATIENCE_S = 60, QUIET_S = 60 };

struct watch {
    const struct client *c;
    bool lines, quiet, terminal, drawn; /* lines: events go to stdout, nothing to stderr */
    json_int_t seq;
    char state[16];
    double began, first_fraction; /* of the first progress seen */
    double said;                  /* when the last line was written */
};

static void clear(struct watch *w)
{
    if (w->drawn)
        fputs("\r\033[K", stderr);
    w->drawn = false;
}

/* ---- interrupts ---- */

static char farewell[256];

/* As the default would end it, after a word. */
static void on_interrupt(int number)
{
    (void)!write(STDERR_FILENO, farewell, strlen(farewell));
    signal(number, SIG_DFL);
    raise(number);
}

void watch_interruptible(const char *id)
{
    snprintf(farewell, sizeof farewell, "\nshoal: %.64s goes on; `shoal watch %.64s` follows it again\n", id, id);
    signal(SIGINT, on_interrupt);
}

void watch_interruptible_run(const char *file)
{
    snprintf(farewell, sizeof farewell,
             "\nshoal: what was submitted goes on; `shoal campaign run %.150s` waits for it again\n", file);
    signal(SIGINT, on_interrupt);
}

/* ---- progress ---- */

static double eta(struct watch *w, double fraction)
{
    double t = clock_now();
    if (!w->began) {
        w->began = t;
        w->first_fraction = fraction;
    }
    double gained = fraction - w->first_fraction, spent = t - w->began;
    return gained > 0 && spent > 3 ? (1 - fraction) * spent / gained : -1;
}

static void draw(struct watch *w, const json_t *ensemble)
{
    double fraction = json_number_value(json_object_get(ensemble, "progress")), t = clock_now(),
           left = eta(w, fraction);
    if (w->quiet || (!w->terminal && w->said && t - w->said < QUIET_S))
        return;
    struct buf line = {0}, estimate = {0};
    int columns, rows;
    show_size(stderr, &columns, &rows);
    answer_estimate(&estimate, ensemble);
    show_progress(&line, w->terminal ? columns - 1 : 120, fraction,
                  (int)json_integer_value(json_object_get(ensemble, "done")),
                  (int)json_integer_value(json_object_get(ensemble, "windows")),
                  (int)json_integer_value(json_object_get(ensemble, "failed")), left, estimate.data);
    clear(w);
    fprintf(stderr, w->terminal ? "%s" : "%s\n", line.data);
    fflush(stderr);
    w->drawn = w->terminal;
    w->said = t;
    buf_free(&estimate);
    buf_free(&line);
}

/* An event as a line; replica moves that say nothing new, and that production has begun, are left to the progress. */
static void say_event(struct watch *w, const json_t *event)
{
    const char *kind = json_string_value(json_object_get(event, "kind"));
    const char *state = json_string_value(json_object_get(event, "state"));
    const char *message = json_string_value(json_object_get(event, "message"));
    struct buf replica = {0};
    if (w->quiet || !kind || (!strcmp(kind, "replica") && !message) || !strcmp(kind, "produces"))
        return;
    clear(w);
    fputs("shoal: ", stderr);
    if (answer_replica(&replica, event))
        fprintf(stderr, "%s: ", replica.data);
    buf_free(&replica);
    const char *what = state ? state : strcmp(kind, "ensemble") != 0 ? kind : "";
    printable_line(stderr, "%s%s%s", what, *what && message ? ": " : "", message ? message : "");
}

static int on_watched_line(void *arg, const char *line)
{
    struct watch *w = arg;
    json_t *event = json_loads(line, 0, NULL);
    const char *kind = json_string_value(json_object_get(event, "kind"));
    const char *state = json_string_value(json_object_get(event, "state"));
    const json_t *seq = json_object_get(event, "seq"), *ensemble = json_object_get(event, "ensemble");
    if (json_is_integer(seq))
        w->seq = json_integer_value(seq);
    if (w->lines && event) {
        puts(line);
        fflush(stdout);
    } else if (kind && strcmp(kind, "progress") != 0) {
        say_event(w, event);
    }
    if (kind && !strcmp(kind, "ensemble") && state)
        snprintf(w->state, sizeof w->state, "%s", state);
    if (json_is_object(ensemble) && !w->lines && !ensemble_ended(w->state))
        draw(w, ensemble);
    json_decref(event);
    return ensemble_ended(w->state);
}

/* One connection's worth. 0: go on asking, 1: over (*rc says how), negative: e. */
static int follow(struct watch *w, const char *id, double deadline, int *rc, struct err *e)
{
    struct buf path = {0}, reply = {0};
    long status = 0;
    double left = deadline ? deadline - clock_now() : 0;
    if (deadline && left <= 0) {
        *rc = EXIT_TIMEOUT;
        return 1;
    }
    client_path(&path, id, "/events");
    buf_printf(&path, "?follow=1&since=%lld", (long long)w->seq);
    int end = http_lines(w->c->http, path.data, left, on_watched_line, w, &status, &reply, e);
    if (end == HTTP_REFUSED) {
        json_t *answer = answer_object(status, &reply, e);
        json_decref(answer);
        end = -(int)e->code;
    } else if (end == HTTP_TIMEOUT) {
        *rc = EXIT_TIMEOUT;
        end = 1;
    }
    buf_free(&path);
    buf_free(&reply);
    return end;
}

/* Asks for the ensemble's state and newest event. */
static int look(struct watch *w, const char *id, struct err *e)
{
    struct buf path = {0};
    client_path(&path, id, "");
    json_t *ensemble = client_get(w->c, path.data, e);
    const char *state = json_string_value(json_object_get(ensemble, "state"));
    buf_free(&path);
    if (!ensemble)
        return -(int)e->code;
    snprintf(w->state, sizeof w->state, "%s", state ? state : "");
    w->seq = json_integer_value(json_object_get(ensemble, "seq"));
    if (!w->lines && !ensemble_ended(w->state))
        draw(w, ensemble);
    json_decref(ensemble);
    return 0;
}

/* After a lost connection: 0 to ask again, else the exit code. */
static int wait_for_service(const struct watch *w, double *lost)
{
    struct err e = {0};
    if (!*lost) {
        *lost = clock_now();
        client_say(w->c, "lost the service; asking again for %d s", PATIENCE_S);
    } else if (clock_now() - *lost > PATIENCE_S) {
        err_set(&e, ERR_UNREACHABLE, "%s: the service went away", w->c->socket);
        return client_fail(w->c, &e);
    }
    usleep(500000);
    return 0;
}

int watch_ensemble(const struct client *c, const char *id, double deadline, bool lines, struct watch_end *state)
{
    struct watch w = {.c = c, .lines = lines, .quiet = c->quiet, .terminal = show_is_terminal(stderr) && !lines};
    struct err e = {0};
    double lost = 0;
    int rc = EXIT_OK, end = look(&w, id, &e);
    if (end)
        return client_fail(c, &e);
    while (!ensemble_ended(w.state)) {
        json_int_t before = w.seq;
        end = follow(&w, id, deadline, &rc, &e);
        clear(&w);
        if (end == 1 || ensemble_ended(w.state))
            break;
        if (end < 0 && e.code != ERR_UNREACHABLE && e.code != ERR_BUSY)
            return client_fail(c, &e);
        if (w.seq != before)
            lost = 0;
        if ((rc = wait_for_service(&w, &lost)))
            return rc;
    }
    if (state)
        snprintf(state->state, sizeof state->state, "%s", w.state);
    if (rc == EXIT_TIMEOUT)
        fprintf(stderr, "shoal: %s has not ended after %.15g s\n", id, c->timeout);
    else
        rc = strcmp(w.state, "done") ? EXIT_FAILED : EXIT_OK;
    return rc;
}

/* ---- watch, wait ---- */

int watch_main(struct client *c, int argc, char **argv)
{
    struct watch_end end = {0};
    struct err e = {0};
    watch_interruptible(argv[0]);
    int rc = watch_ensemble(c, argv[0], client_deadline(c), c->jsonl, &end);
    if (rc != EXIT_OK && rc != EXIT_FAILED)
        return rc;
    if (c->json) {
        struct buf path = {0};
        client_path(&path, argv[0], "");
        json_t *ensemble = client_get(c, path.data, &e);
        buf_free(&path);
        if (!ensemble)
            return client_fail(c, &e);
        client_print(ensemble);
        json_decref(ensemble);
    } else if (!c->jsonl) {
        puts(end.state);
    }
    return rc;
}

/* The worst of two outcomes of a wait: an error, then a timeout, then a failure. */
static int worse(int a, int b)
{
    if (a == EXIT_OK || b == EXIT_OK)
        return a + b;
    return a == EXIT_FAILED ? b : a;
}

int wait_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    double deadline = client_deadline(c);
    json_t *chosen = ensembles_chosen(c, argc, argv, "queued,running,finishing", &e), *item, *states = json_array();
    struct client inner = *c;
    size_t i;
    int rc = EXIT_OK;
    inner.json = false; /* one value is printed, at the end */
    json_array_foreach (chosen, i, item) {
        const char *id = answer_text(item, "id");
        struct watch_end end = {0};
        watch_interruptible(id);
        rc = worse(rc, watch_ensemble(&inner, id, deadline, false, &end));
        if (!*end.state)
            break;
        json_array_append_new(states, json_pack("{s:s,s:s}", "id", id, "state", end.state));
        if (!c->json)
            printf("%s %s\n", id, end.state);
        fflush(stdout);
    }
    if (chosen && c->json) {
        json_t *answer = json_pack("{s:O}", "ensembles", states);
        client_print(answer);
        json_decref(answer);
    }
    json_decref(states);
    json_decref(chosen);
    return chosen ? rc : client_fail(c, &e);
}
