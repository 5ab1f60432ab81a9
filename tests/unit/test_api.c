/* SPDX-License-Identifier: Apache-2.0
 *
 * The API's table: paths, methods, parameters and who sees which ensemble, over a scheduler that is not carried out.
 * What needs a database or workers is in tests/e2e.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/api/api.h"
#include "tests/lib/sched_play.h"
#include "tests/lib/server_play.h"

enum { SOMEBODY = 4242 };

struct fixture {
    struct play play;
    struct service service;
    struct api api;
    struct server_play server;
};

static void add(struct fixture *f, uint32_t owner, const char *id, const char *name, const char *key)
{
    struct ensemble *e = play_ensemble(owner, 2, 1);
    snprintf(e->id, sizeof e->id, "%s", id);
    ensemble_string(&e->name, name);
    ensemble_string(&e->key, key);
    ensemble_string(&e->spec_name, "spec.yaml");
    assert_int_equal(play_feed(&f->play, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    service_register(&f->service, e);
    ensemble_show_all(e);
    e->shown.seq = 1; /* it is committed */
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    play_begin(&f->play, 1);
    add(f, getuid(), "aaaa1", "methane", "first");
    add(f, getuid(), "aaaa2", "methanol", NULL);
    add(f, SOMEBODY, "bbbb1", "methane", "first");
    add(f, SOMEBODY, "bbbb2", "mine", "methanol");
    add(f, SOMEBODY, "bbbb3", "mine too", "aaaa1");
    add(f, SOMEBODY, "bbbb4", "x", "wanted");
    add(f, SOMEBODY + 1, "cccc1", "wanted", NULL);
    add(f, SOMEBODY + 1, "dddd1", "y", NULL);
    add(f, SOMEBODY, "bbbb5", "dddd", NULL);
    f->service.sched = f->play.s;
    server_play_begin(&f->server, api_handle, &f->api, SERVER_IDLE_SECONDS);
    f->service.loop = &f->server.loop;
    f->api = (struct api){.service = &f->service, .quota = f->server.quota};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    server_play_end(&f->server);
    for (int i = 0; i < f->play.s.nensembles; i++)
        service_unregister(&f->service, f->play.s.ensembles[i]);
    play_end(&f->play);
    free(f);
    return 0;
}

static void expect(struct fixture *f, const char *method, const char *path, int status, const char *part)
{
    char line[32];
    int fd = server_play_dial(&f->server);
    server_play_ask(fd, method, path);
    const char *text = server_play_answer(&f->server, fd, strcmp(method, "HEAD") ? "}\n" : "\r\n\r\n");
    snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
    if (strncmp(text, line, strlen(line)) || !strstr(text, part))
        fail_msg("%s %s: \"%s\" is not %d with \"%s\"", method, path, text, status, part);
    close(fd);
    server_play_turn(&f->server, 5);
}

static void paths_and_methods(void **state)
{
    struct fixture *f = *state;
    expect(f, "GET", "/healthz/live", 200, "\"ok\":true");
    expect(f, "HEAD", "/healthz/live", 200, "Content-Length: 12\r\n");
    expect(f, "GET", "/v1/nothing", 404, "no such path: /v1/nothing");
    expect(f, "GET", "/v1/ensembles/", 404, "no such path");
    expect(f, "POST", "/healthz/live", 405, "Allow: GET, HEAD\r\n");
    expect(f, "DELETE", "/v1/ensembles", 405, "Allow: GET, HEAD, POST\r\n");
    expect(f, "PUT", "/v1/ensembles/aaaa1", 405, "Allow: GET, HEAD, DELETE\r\n");
    expect(f, "GET", "/v1/ensembles/aaaa1/pause", 405, "does not take GET but POST");
}

static void parameters(void **state)
{
    struct fixture *f = *state;
    expect(f, "GET", "/v1/ensembles?state=running", 200, "{\"ensembles\":[],\"next\":null}");
    expect(f, "GET", "/v1/ensembles?state=runing", 400, "state=runing: expected queued, running");
    expect(f, "GET", "/v1/ensembles?limit=1e3", 400, "limit=1e3: expected a whole number from 0");
    expect(f, "GET", "/v1/ensembles?limit", 400, "limit=");
    expect(f, "GET", "/v1/ensembles?page=2", 400, "takes no parameter \\\"page\\\"");
    expect(f, "GET", "/v1/ensembles?label==x", 400, "expected KEY=VALUE or KEY");
    expect(f, "GET", "/v1/ensembles?label=a&label=b&label=c&label=d&label=e&label=f&label=g&label=h&label=i", 400,
           "at most 8");
    expect(f, "GET", "/v1/ensembles/aaaa1/events?follow=2", 400, "follow=2: expected a whole number from 0 to 1");
    expect(f, "GET", "/v1/version?x=1", 400, "takes no parameter");
}

/* An id, a key, a name, the beginning of an id; one's own before those of others. */
static void words(void **state)
{
    struct fixture *f = *state;
    expect(f, "GET", "/v1/ensembles/aaaa2", 200, "\"name\":\"methanol\"");
    expect(f, "GET", "/v1/ensembles/first", 200, "\"id\":\"aaaa1\"");
    expect(f, "GET", "/v1/ensembles/methane", 200, "\"id\":\"aaaa1\"");
    expect(f, "GET", "/v1/ensembles/aaaa", 409, "\"candidates\":[");
    expect(f, "GET", "/v1/ensembles/aaa", 404, "give at least four characters");
    expect(f, "POST", "/v1/ensembles/nobody/cancel", 404, "\"NOT_FOUND\"");
    /* root and the service's own user see those of others, by their ids; this user is the service's */
    expect(f, "GET", "/v1/ensembles/bbbb1", 200, "\"owner\":4242");
    expect(f, "GET", "/v1/ensembles/mine", 200, "\"id\":\"bbbb2\"");
    /* another's key is one's own name, or the id of one's own: one's own is meant */
    expect(f, "GET", "/v1/ensembles/methanol", 200, "\"id\":\"aaaa2\"");
    expect(f, "GET", "/v1/ensembles/aaaa1", 200, "\"name\":\"methane\"");
    /* one's key is another's name, or how their id begins: neither is meant */
    expect(f, "GET", "/v1/ensembles/wanted", 409, "\"id\":\"bbbb4\"");
    expect(f, "GET", "/v1/ensembles/wanted", 409, "\"id\":\"cccc1\"");
    expect(f, "DELETE", "/v1/ensembles/dddd", 409, "\"candidates\":[");
}

static void pages(void **state)
{
    struct fixture *f = *state;
    expect(f, "GET", "/v1/ensembles?limit=1", 200, "\"next\":\"");
    expect(f, "GET", "/v1/ensembles?owner=4242", 200, "\"id\":\"bbbb1\"");
    expect(f, "GET", "/v1/ensembles?owner=4242", 200, "\"next\":null");
    expect(f, "GET", "/v1/ensembles?name=methanol", 200, "\"id\":\"aaaa2\"");
    expect(f, "GET", "/v1/ensembles?key=first&owner=4243", 200, "{\"ensembles\":[],\"next\":null}");
}

/* What replicas take on a device everybody is told; whose they are, those who see them. */
static void memory_of_replicas(void **state)
{
    (void)state;
    struct play play;
    json_t *load = json_object(), *told = json_array();
    play_begin(&play, 1);
    for (uint32_t k = 0; k < 2; k++) {
        struct ensemble *e = play_ensemble(SOMEBODY + k, 1, 1);
        snprintf(e->id, sizeof e->id, "bbbb%u", k);
        play_add(&play, e);
    }
    play_up(&play, 0, 2, "cpu");
    struct service service = {.sched = play.s, .loads = &load, .config.quota = quota_new()};
    assert_int_equal(play.s.workers[0].nsets, 2);
    for (int i = 0; i < 2; i++)
        json_array_append_new(told,
                              json_pack("[I,i]", (json_int_t)play.s.workers[0].sets[i]->replicas[0].number, 1000 + i));
    json_array_append_new(told, json_pack("[I,i]", (json_int_t)9999, 7)); /* has ended */
    json_object_set_new(load, "replicas", told);
    for (uint32_t k = 0; k < 3; k++) {
        json_t *list = api_replicas_on(&service, 0, SOMEBODY + k);
        char id[16];
        int named = 0;
        snprintf(id, sizeof id, "bbbb%u", k);
        assert_int_equal(json_array_size(list), 2);
        for (size_t i = 0; i < 2; i++) {
            const json_t *r = json_array_get(list, i), *is = json_object_get(r, "ensemble");
            assert_int_equal(json_integer_value(json_object_get(r, "bytes")), 1000 + i);
            assert_int_equal(json_is_null(is), json_is_null(json_object_get(r, "window")));
            assert_true(json_is_null(is) || !strcmp(json_string_value(is), id));
            named += json_is_string(is);
        }
        assert_int_equal(named, k < 2);
        json_decref(list);
    }
    json_decref(load);
    quota_free(service.config.quota);
    play_end(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(paths_and_methods, setup, teardown),
                                       cmocka_unit_test_setup_teardown(parameters, setup, teardown),
                                       cmocka_unit_test_setup_teardown(words, setup, teardown),
                                       cmocka_unit_test_setup_teardown(pages, setup, teardown),
                                       cmocka_unit_test(memory_of_replicas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
