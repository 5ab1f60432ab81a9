/* SPDX-License-Identifier: Apache-2.0
 *
 * list, status, version, and the commands that only ask for a move.
 */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "client/show.h"

static const char *text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static long long whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void headings(struct table *t, const char *const *heads, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_cell(t, "%s", heads[i]);
}

static void print_table(struct table *t)
{
    struct buf out = {0};
    table_put(t, &out);
    fputs(out.data, stdout);
    buf_free(&out);
}

static void ensembles_show(const json_t *ensembles)
{
    static const char *const heads[] = {"id", "name", "state", "windows", "done", "failed", "progress", "created"};
    struct table t;
    const json_t *e;
    size_t i;
    table_setup(&t, "lllrrrrl");
    headings(&t, heads, sizeof heads / sizeof *heads);
    json_array_foreach (ensembles, i, e) {
        table_cell(&t, "%s", text(e, "id"));
        table_cell(&t, "%s", text(e, "name"));
        table_state(&t, text(e, "state"));
        table_cell(&t, "%lld", whole(e, "windows"));
        table_cell(&t, "%lld", whole(e, "done"));
        table_cell(&t, "%lld", whole(e, "failed"));
        table_cell(&t, "%d %%", (int)(100 * json_number_value(json_object_get(e, "progress"))));
        table_cell(&t, "%.19s", text(e, "created"));
    }
    print_table(&t);
}

static void replicas_show(const json_t *replicas)
{
    static const char *const heads[] = {"window", "state",   "device",  "stage", "step",
                                        "of",     "time/ps", "attempt", "reason"};
    struct table t;
    const json_t *r;
    size_t i;
    table_setup(&t, "rllrrrrrl");
    headings(&t, heads, sizeof heads / sizeof *heads);
    json_array_foreach (replicas, i, r) {
        const json_t *stage = json_object_get(r, "stage"), *time = json_object_get(r, "time_ps");
        table_cell(&t, "%lld", whole(r, "window"));
        table_state(&t, text(r, "state"));
        table_cell(&t, "%s", text(r, "device"));
        if (json_is_integer(stage))
            table_cell(&t, "%lld", (long long)json_integer_value(stage));
        else
            table_cell(&t, "-");
        table_cell(&t, "%lld", whole(r, "step"));
        table_cell(&t, "%lld", whole(r, "steps"));
        if (json_is_number(time))
            table_cell(&t, "%.1f", json_number_value(time));
        else
            table_cell(&t, "-");
        table_cell(&t, "%lld", whole(r, "attempt"));
        table_cell(&t, "%s", text(r, "reason"));
    }
    print_table(&t);
}

static void ensemble_show(const json_t *e)
{
    printf("%s  %s  %s%s%s\n", text(e, "id"), text(e, "name"), text(e, "state"), *text(e, "reason") ? ": " : "",
           text(e, "reason"));
    printf("%lld of %lld windows done, %lld failed, %d %% of all steps; submitted %.19s\n\n", whole(e, "done"),
           whole(e, "windows"), whole(e, "failed"), (int)(100 * json_number_value(json_object_get(e, "progress"))),
           text(e, "created"));
    replicas_show(json_object_get(e, "replicas"));
}

static json_t *get_list(const struct client *c, const char *state, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "/v1/ensembles%s", state ? "?state=" : "");
    if (state)
        http_escape_path(&path, state);
    json_t *answer = client_get(c, path.data, e);
    buf_free(&path);
    return answer;
}

int list_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    json_t *answer = get_list(c, c->state, &e);
    if (!answer)
        return client_fail(c, &e);
    if (c->json)
        client_print(answer);
    else
        ensembles_show(json_object_get(answer, "ensembles"));
    json_decref(answer);
    return EXIT_OK;
}

static bool is_over(const json_t *ensemble)
{
    const char *state = text(ensemble, "state");
    return !strcmp(state, "done") || !strcmp(state, "failed") || !strcmp(state, "cancelled");
}

/* What runs now: devices, and the ensembles that have not ended. */
static int status_all(struct client *c)
{
    struct err e = {0};
    json_t *version = client_get(c, "/v1/version", &e), *list = version ? get_list(c, NULL, &e) : NULL;
    json_t *devices = json_object_get(version, "devices"), *open = json_array(), *item;
    size_t i;
    if (!list) {
        json_decref(version);
        json_decref(open);
        return client_fail(c, &e);
    }
    json_array_foreach (json_object_get(list, "ensembles"), i, item)
        if (!is_over(item))
            json_array_append(open, item);
    if (c->json) {
        json_t *both = json_pack("{s:O,s:O}", "devices", devices, "ensembles", open);
        client_print(both);
        json_decref(both);
    } else {
        json_array_foreach (devices, i, item)
            printf("%s  %s%s%s  %lld of %lld slots busy\n", text(item, "device"), text(item, "state"),
                   *text(item, "model") ? ", " : "", text(item, "model"), whole(item, "running"), whole(item, "slots"));
        putchar('\n');
        ensembles_show(open);
    }
    json_decref(open);
    json_decref(list);
    json_decref(version);
    return EXIT_OK;
}

int status_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf path = {0};
    if (!argc)
        return status_all(c);
    client_path(&path, argv[0], "");
    json_t *ensemble = client_get(c, path.data, &e);
    buf_free(&path);
    if (!ensemble)
        return client_fail(c, &e);
    if (c->json)
        client_print(ensemble);
    else
        ensemble_show(ensemble);
    json_decref(ensemble);
    return EXIT_OK;
}

/* POST of a move; says what became of it and what to do next. */
static int ask(struct client *c, const char *id, const char *verb, const char *next, const char *does)
{
    struct err e = {0};
    struct buf path = {0}, reply = {0};
    long status = 0;
    json_t *ensemble = NULL;
    client_path(&path, id, "/");
    buf_printf(&path, "%s", verb);
    if (!http_request(c->http, "POST", path.data, NULL, &status, &reply, &e))
        ensemble = answer_object(status, &reply, &e);
    buf_free(&path);
    buf_free(&reply);
    if (!ensemble)
        return client_fail(c, &e);
    fprintf(stderr, "shoal: %s is %s; `shoal %s %s` %s\n", text(ensemble, "name"), text(ensemble, "state"), next, id,
            does);
    if (c->json)
        client_print(ensemble);
    else
        printf("%s\n", text(ensemble, "state"));
    json_decref(ensemble);
    return EXIT_OK;
}

int cancel_main(struct client *c, int argc, char **argv)
{
    return ask(c, argv[0], "cancel", "results", "shows what finished");
}

int pause_main(struct client *c, int argc, char **argv)
{
    return ask(c, argv[0], "pause", "resume", "goes on with it");
}

int resume_main(struct client *c, int argc, char **argv)
{
    return ask(c, argv[0], "resume", "watch", "follows it");
}

int retry_main(struct client *c, int argc, char **argv)
{
    return ask(c, argv[0], "retry", "watch", "follows it");
}

int version_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    json_t *service = client_get(c, "/v1/version", &e);
    if (!c->json)
        printf("shoal %s\n", SHOAL_VERSION);
    if (!service)
        return client_fail(c, &e);
    if (c->json) {
        json_t *both = json_pack("{s:s,s:O}", "client", SHOAL_VERSION, "service", service);
        client_print(both);
        json_decref(both);
    } else {
        printf("shoald %s\n", text(service, "version"));
    }
    json_decref(service);
    return EXIT_OK;
}
