/* SPDX-License-Identifier: Apache-2.0
 *
 * events: what happened to an ensemble, as the service recorded it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/command/handlers.h"
#include "client/show/show.h"
#include "engine/base/printable.h"

struct telling {
    const struct client *c;
    json_t *events; /* for --json and for the table; NULL: each is told as it comes */
    bool ended;
};

/* "2026-11-20T10:00:00Z  window 3  failed: blew up" */
static void print_event(const json_t *event)
{
    const char *kind = answer_text(event, "kind"), *state = answer_text(event, "state"),
               *message = answer_text(event, "message");
    struct buf time = {0}, replica = {0};
    show_time(&time, answer_text(event, "time"));
    printf("%s  ", time.data);
    if (answer_replica(&replica, event))
        printf("%s  ", replica.data);
    buf_free(&replica);
    printable_line(stdout, "%s%s%s", *state ? state : kind, *message ? ": " : "", message);
    fflush(stdout);
    buf_free(&time);
}

static int on_event_line(void *arg, const char *line)
{
    struct telling *t = arg;
    json_t *event = json_loads(line, 0, NULL);
    const char *kind = answer_text(event, "kind");
    if (event && strcmp(kind, "progress") != 0) {
        if (t->events)
            json_array_append(t->events, event);
        else if (t->c->jsonl)
            puts(line);
        else
            print_event(event);
        fflush(stdout);
    }
    json_decref(event);
    return 0;
}

static void print_table(const struct client *c, const json_t *events)
{
    static const char *const heads[] = {"seq", "time", "window", "what", "message"};
    struct table t;
    const json_t *event;
    size_t i;
    table_setup(&t, "r5 l r l l+");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (events, i, event) {
        const json_t *window = json_object_get(event, "window");
        const char *state = answer_text(event, "state");
        struct buf time = {0};
        show_time(&time, answer_text(event, "time"));
        table_cell(&t, "%lld", answer_whole(event, "seq"));
        table_cell(&t, "%s", time.data);
        if (json_object_get(event, "walker"))
            table_cell(&t, "%s %lld", answer_text(event, "end"), answer_whole(event, "walker"));
        else if (json_is_integer(window))
            table_cell(&t, "%lld", (long long)json_integer_value(window));
        else
            table_cell(&t, "%s", "");
        table_state(&t, *state ? state : answer_text(event, "kind"));
        table_cell(&t, "%s", answer_text(event, "message"));
        buf_free(&time);
    }
    client_table(c, &t);
}

int events_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf path = {0}, reply = {0};
    struct telling t = {.c = c, .events = c->json || !(c->follow || c->jsonl) ? json_array() : NULL};
    long status = 0;
    client_path(&path, argv[0], "/events");
    buf_printf(&path, "?since=%" PRId64 "%s", c->since, c->follow ? "&follow=1" : "");
    int rc = http_lines(c->http, path.data, 0, on_event_line, &t, &status, &reply, &e);
    if (rc == HTTP_REFUSED)
        json_decref(answer_object(status, &reply, &e));
    if (!rc && c->json) {
        json_t *answer = json_pack("{s:O}", "events", t.events);
        client_print(answer);
        json_decref(answer);
    } else if (!rc && t.events) {
        print_table(c, t.events);
    }
    json_decref(t.events);
    buf_free(&path);
    buf_free(&reply);
    return rc ? client_fail(c, &e) : EXIT_OK;
}
