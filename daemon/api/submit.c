/* SPDX-License-Identifier: Apache-2.0
 *
 * Submissions. The happy path: the body is read and checked in the thread pool (JSON, spec, topology, coordinates, from the
 * uploaded contents alone); back on the loop thread the ensemble is numbered and put into the store's batch; when that is
 * committed, the answer goes out. Two submissions with one key meet on the loop thread, so that one of them is the second.
 */
#include "daemon/api/api.h"
#include "daemon/spec/spec.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/sha256.h"

#define READING_MAX 3 /* submissions that are read at once */
#define FILES_MAX 4096
#define NAME_MAX_BYTES 255

struct submit {
    struct submit *next;
    struct api *api;
    struct request *request;
    bool only_validate;
    json_t *root; /* owns every string below */
    const char *spec_text, *spec_name, *key;
    json_t *files;
    struct spec *spec;
    int64_t atoms, steps;
    char hash[65];
    struct err err;
    json_t *missing;           /* with ERR_MISSING_FILE */
    struct ensemble *ensemble; /* stored, to be answered after the commit */
    int status;
};

/* ---- reading; thread pool ---- */

static int bad_body(struct submit *s, const char *text)
{
    return err_set(&s->err, ERR_USAGE, "request body: %s", text);
}

static bool valid_key(const char *key)
{
    size_t n = strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return key[n] == '\0' && n >= 1 && n <= 64;
}

/* Relative, normalised, and not the name under which the spec itself is kept. */
static bool valid_file_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_BYTES || strcmp(name, "spec.yaml") == 0)
        return false;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            return false;
    for (const char *part = name;; part = strchr(part, '/') + 1) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[n] == '\0')
            return true;
    }
}

static int check_files(struct submit *s)
{
    const char *name;
    json_t *text;
    if (!json_is_object(s->files))
        return bad_body(s, "\"files\": expected an object, name to text");
    if (json_object_size(s->files) > FILES_MAX)
        return err_set(&s->err, ERR_USAGE, "\"files\": at most %d files are accepted", FILES_MAX);
    json_object_foreach (s->files, name, text) {
        if (!valid_file_name(name))
            return err_set(
                &s->err, ERR_USAGE,
                "\"files\": \"%.300s\": expected a relative path without \".\" and \"..\", not \"spec.yaml\"", name);
        if (!json_is_string(text))
            return err_set(&s->err, ERR_USAGE, "\"files\": \"%.300s\": expected text", name);
    }
    return 0;
}

static int check_keys(struct submit *s)
{
    const char *key;
    json_t *value;
    json_object_foreach (s->root, key, value) {
        if (strcmp(key, "files") == 0)
            continue;
        if (strcmp(key, "spec") != 0 && strcmp(key, "spec_name") != 0 && strcmp(key, "id") != 0)
            return err_set(&s->err, ERR_USAGE,
                           "request body: unknown key \"%.100s\" (known: spec, spec_name, files, id)", key);
        if (!json_is_string(value))
            return err_set(&s->err, ERR_USAGE, "request body: \"%s\": expected text", key);
    }
    return 0;
}

static int read_body(struct submit *s)
{
    size_t len;
    const char *body = request_body(s->request, &len);
    json_error_t why;
    s->root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &why);
    if (!s->root)
        return err_set(&s->err, ERR_USAGE, "request body: not JSON: line %d: %s", why.line, why.text);
    if (!json_is_object(s->root))
        return bad_body(s, "expected a JSON object");
    if (check_keys(s))
        return -(int)s->err.code;
    s->spec_text = json_string_value(json_object_get(s->root, "spec"));
    s->spec_name = json_string_value(json_object_get(s->root, "spec_name"));
    s->key = json_string_value(json_object_get(s->root, "id"));
    s->files = json_object_get(s->root, "files");
    if (!s->spec_text)
        return bad_body(s, "\"spec\" is missing: the text of the ensemble spec");
    if (!s->spec_name || !*s->spec_name)
        s->spec_name = "spec.yaml";
    if (s->key && !valid_key(s->key))
        return bad_body(s, "\"id\": expected 1 to 64 letters, digits, '.', '_' or '-'");
    return check_files(s);
}

/* Names that would do for each file that is known to be missing: the one the readers stopped at, then what else the spec
 * names. */
static json_t *list_missing(const struct submit *s, const struct source *src)
{
    json_t *all = json_array(), *first = json_array();
    for (int i = 0; i < 3 && src->wanted[i]; i++)
        json_array_append_new(first, json_string(src->wanted[i]));
    json_array_append(all, first);
    const char *named[] = {s->spec->topology, s->spec->coordinates, s->spec->reference};
    for (int i = 0; i < 3; i++) {
        if (!named[i] || json_object_get(s->files, named[i]))
            continue;
        if (src->wanted[0] && strcmp(src->wanted[0], named[i]) == 0)
            continue;
        json_array_append_new(all, json_pack("[s]", named[i]));
    }
    json_decref(first);
    return all;
}

static int read_system(struct submit *s)
{
    struct source *src = source_memory_new();
    struct system sys = {0};
    const char *name;
    json_t *text;
    json_object_foreach (s->files, name, text)
        if (source_memory_add(src, name, json_string_value(text), json_string_length(text), &s->err))
            break;
    int rc = -(int)s->err.code;
    if (!rc)
        rc = spec_system(s->spec, src, &sys, &s->err);
    if (!rc)
        rc = spec_check_windows(s->spec, &sys, &s->err);
    if (rc == -ERR_MISSING_FILE)
        s->missing = list_missing(s, src);
    s->atoms = sys.natoms;
    system_close(&sys);
    source_free(src);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_text(struct sha256 *h, const char *text)
{
    uint64_t len = strlen(text);
    uint8_t head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (uint8_t)(len >> (8 * i));
    sha256_add(h, head, sizeof head);
    sha256_add(h, text, len);
}

static void hash_content(struct submit *s)
{
    size_t n = json_object_size(s->files), i = 0;
    const char **names = xcalloc(n, sizeof *names), *name;
    json_t *text;
    json_object_foreach (s->files, name, text)
        names[i++] = name;
    qsort(names, n, sizeof *names, by_name);
    struct sha256 h;
    sha256_init(&h);
    add_text(&h, s->spec_text);
    for (i = 0; i < n; i++) {
        add_text(&h, names[i]);
        add_text(&h, json_string_value(json_object_get(s->files, names[i])));
    }
    sha256_hex(&h, s->hash);
    free(names);
}

static void submit_work(void *arg)
{
    struct submit *s = arg;
    if (read_body(s) || spec_parse(&s->spec, s->spec_name, s->spec_text, strlen(s->spec_text), &s->err) ||
        spec_check_run(s->spec, &s->err) || read_system(s))
        return;
    for (int i = 0; i < s->spec->nstages; i++)
        s->steps += (int64_t)s->spec->stages[i].steps;
    hash_content(s);
}

/* ---- answering; loop thread ---- */

static void submit_free(struct submit *s)
{
    spec_free(s->spec);
    json_decref(s->root);
    json_decref(s->missing);
    free(s);
}

static struct reply answer_summary(struct submit *s)
{
    return reply_json(s->request, 200,
                      json_pack("{s:b,s:s,s:I,s:i,s:i,s:I}", "ok", 1, "name", s->spec->name, "atoms",
                                (json_int_t)s->atoms, "windows", s->spec->settings.alchemy.nwindows, "stages",
                                s->spec->nstages, "steps_per_window", (json_int_t)s->steps));
}

static void committed(void *arg)
{
    struct submit *s = arg;
    reply_json(s->request, s->status, api_ensemble_json(s->ensemble, true));
    submit_free(s);
}

static void store_submission(struct submit *s)
{
    struct service *sv = s->api->service;
    int n = (int)json_object_size(s->files), i = 0;
    struct ensemble *en =
        ensemble_of_windows(s->spec->settings.alchemy.nwindows, s->spec->repeats, service_next_replica(sv), s->steps);
    struct submission sub = {.spec = s->spec_text,
                             .nfiles = n,
                             .file_names = xcalloc((size_t)n, sizeof(char *)),
                             .file_texts = xcalloc((size_t)n, sizeof(char *))};
    const char *name;
    json_t *text;
    json_object_foreach (s->files, name, text) {
        sub.file_names[i] = name;
        sub.file_texts[i++] = json_string_value(text);
    }
    en->owner = request_uid(s->request);
    ensemble_string(&en->key, s->key);
    ensemble_string(&en->name, s->spec->name);
    ensemble_string(&en->spec_name, s->spec_name);
    memcpy(en->hash, s->hash, sizeof en->hash);
    en->atoms = s->atoms;
    en->stages = s->spec->nstages;
    en->retries = s->spec->retries;
    service_add(sv, en, &sub);
    free(sub.file_names);
    free(sub.file_texts);
    s->ensemble = en;
    s->status = 201;
}

/* The same key again: the same ensemble, or a conflict. False: the key is new. */
static bool find_earlier(struct submit *s)
{
    struct ensemble *en = s->key ? service_find_key(s->api->service, request_uid(s->request), s->key) : NULL;
    if (!en)
        return false;
    if (strcmp(en->hash, s->hash) != 0)
        err_set(&s->err, ERR_CONFLICT, "id \"%s\" was used for ensemble %s, which has other content", s->key, en->id);
    s->ensemble = en;
    s->status = 200;
    return true;
}

static int may_admit(struct submit *s)
{
    if (s->api->service->draining)
        return err_set(&s->err, ERR_BUSY, "the service is draining: it takes no submissions");
    if (!store_ok(s->api->service->store))
        return err_set(&s->err, ERR_BUSY, "the state folder takes no writes now");
    return 0;
}

static void run_waiting(struct api *api);

static void submit_done(void *arg)
{
    struct submit *s = arg;
    struct api *api = s->api;
    api->reading--;
    if (!s->err.code && !s->only_validate && !find_earlier(s) && may_admit(s) == 0)
        store_submission(s);
    if (!s->err.code && !s->only_validate) {
        store_after_commit(api->service->store, committed, s);
    } else {
        if (s->err.code)
            reply_missing(s->request, &s->err, json_incref(s->missing));
        else
            answer_summary(s);
        submit_free(s);
    }
    run_waiting(api);
}

static void run_waiting(struct api *api)
{
    while (api->waiting && api->reading < READING_MAX) {
        struct submit *s = api->waiting;
        api->waiting = s->next;
        api->reading++;
        service_job(api->service, submit_work, submit_done, s);
    }
}

static struct reply begin(struct api_call *c, bool only_validate)
{
    struct submit *s = xcalloc(1, sizeof *s);
    *s = (struct submit){.api = c->api, .request = c->request, .only_validate = only_validate};
    if (!only_validate && may_admit(s)) {
        struct reply done = reply_error(c->request, &s->err);
        submit_free(s);
        return done;
    }
    struct submit **at = &c->api->waiting;
    while (*at)
        at = &(*at)->next;
    *at = s;
    run_waiting(c->api);
    return reply_later(c->request);
}

struct reply api_submit(struct api_call *c)
{
    return begin(c, false);
}

struct reply api_validate(struct api_call *c)
{
    return begin(c, true);
}
