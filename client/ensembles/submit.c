/* SPDX-License-Identifier: Apache-2.0
 *
 * submit: posts the spec; the service answers with the names of the files that it lacks, this side finds them where
 * they lead from the spec's folder or in the include folders, and posts again. The client reads no YAML and no topology
 * itself; but it opens no file that the spec, or a file sent before, does not name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/ask/answer.h"
#include "client/ask/files.h"
#include "client/ask/http.h"
#include "client/ask/results.h"
#include "client/command/handlers.h"
#include "client/ensembles/reach.h"
#include "client/ensembles/watch.h"
#include "client/results/results.h"
#include "engine/base/gzip.h"
#include "engine/base/number.h"
#include "engine/base/path.h"
#include "engine/base/json/text_json.h"

static const char gromacs_folder[] = "/usr/share/gromacs/top";

struct include_search {
    char *base; /* folder of the spec */
    const char *folders[40];
    int nfolders;
    char *gmxlib; /* a copy of GMXLIB, cut up */
};

static void search_open(struct include_search *s, const struct client *c, const char *spec_path)
{
    const char *gmxlib = getenv("GMXLIB"), *slash = strrchr(spec_path, '/');
    *s = (struct include_search){.base = xstrdup(slash ? spec_path : ".")};
    if (slash)
        s->base[slash == spec_path ? 1 : slash - spec_path] = '\0';
    s->folders[s->nfolders++] = s->base;
    for (int i = 0; i < c->nincludes; i++)
        s->folders[s->nfolders++] = c->includes[i];
    s->gmxlib = xstrdup(gmxlib ? gmxlib : "");
    for (char *rest = s->gmxlib, *folder; (folder = strsep(&rest, ":")) && s->nfolders < 39;)
        if (*folder)
            s->folders[s->nfolders++] = folder;
    s->folders[s->nfolders++] = gromacs_folder;
}

static void search_close(struct include_search *s)
{
    free(s->base);
    free(s->gmxlib);
}

/* Whether the spec or a file that was sent names this one. */
static bool is_reached(const json_t *body, const char *name)
{
    const json_t *spec = json_object_get(body, "spec");
    const char *from;
    json_t *text;
    if (reach_names(NULL, json_string_value(spec), json_string_length(spec), name))
        return true;
    json_object_foreach (json_object_get(body, "files"), from, text)
        if (reach_names(from, json_string_value(text), json_string_length(text), name))
            return true;
    return false;
}

/* Where the file of a name lies, appended. False: nowhere. One above the folder of the spec, or absolute, may be kept
 * in it instead, as it is in the inputs of an ensemble. */
static bool locate(const struct include_search *s, const char *name, struct buf *path)
{
    char *kept = path_kept(name);
    bool there = false;
    for (int k = 0; k <= s->nfolders && !there; k++) {
        const char *file = k < s->nfolders ? name : kept, *folder = k < s->nfolders ? s->folders[k] : s->base;
        struct stat st;
        path->len = 0;
        buf_printf(path, "%s%s%s", *file == '/' ? "" : folder, *file == '/' ? "" : "/", file);
        there = !stat(path->data, &st) && S_ISREG(st.st_mode);
    }
    free(kept);
    return there;
}

/* The first of the candidates that is there goes into the files of the body. 0, 1: none is, or ERR_IO; ERR_FORBIDDEN:
 * nothing that was sent names any. */
static int add_file(const struct include_search *s, const json_t *candidates, json_t *body, struct err *e)
{
    const json_t *item;
    const char *stranger = NULL;
    bool reached = false;
    size_t i;
    json_array_foreach (candidates, i, item) {
        const char *name = json_string_value(item);
        struct buf path = {0}, text = {0};
        int rc = 1;
        if (!name || !path_is_normal(name))
            continue;
        if (is_reached(body, name)) {
            reached = true;
            rc = locate(s, name, &path) ? gzip_read_file(&text, path.data, e) : 1;
        } else {
            stranger = name;
        }
        if (!rc)
            json_object_set_new(json_object_get(body, "files"), name, text_json(text.data, text.len));
        buf_free(&path);
        buf_free(&text);
        if (rc <= 0)
            return rc;
    }
    return !stranger || reached ? 1
                                : err_set(e, ERR_FORBIDDEN,
                                          "the service asks for the file %.300s, which neither the spec nor a file it "
                                          "includes names: it is not "
                                          "sent",
                                          stranger);
}

/* The service's message is about the first file that it lacks, so the others get one of ours. */
static int not_found(const struct include_search *s, const json_t *answer, size_t which, const json_t *candidates,
                     struct err *e)
{
    const char *name = json_string_value(json_array_get(candidates, 0));
    struct buf where = {0};
    char message[sizeof e->msg];
    if (which)
        err_set(e, ERR_MISSING_FILE, "%s: no such file", name ? name : "?");
    else
        answer_error(answer, 422, e);
    for (int k = 0; k < s->nfolders; k++)
        buf_printf(&where, "%s%s", k ? ", " : "", s->folders[k]);
    snprintf(message, sizeof message, "%.600s; looked in %.350s", e->msg, where.data);
    buf_free(&where);
    return err_set(e, ERR_MISSING_FILE, "%s", message);
}

/* Finds what the service lacks. ERR_MISSING_FILE says where was looked. */
static int add_files(const struct include_search *s, const json_t *answer, json_t *body, struct err *e)
{
    const json_t *wanted = json_object_get(json_object_get(answer, "error"), "files"), *candidates;
    size_t i;
    json_array_foreach (wanted, i, candidates) {
        int rc = add_file(s, candidates, body, e);
        if (rc)
            return rc < 0 ? rc : not_found(s, answer, i, candidates, e);
    }
    return 0;
}

static bool lacks_files(const json_t *answer)
{
    const json_t *error = json_object_get(answer, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    return code && !strcmp(code, "MISSING_FILE") && json_array_size(json_object_get(error, "files")) > 0;
}

/* Posts until nothing is missing. Each round adds a file, or ends. */
static json_t *post_all_files(const struct client *c, const struct include_search *s, json_t *body, struct err *e)
{
    json_t *files = json_object_get(body, "files");
    char path[40] = "/v1/ensembles";
    if (c->priority)
        snprintf(path, sizeof path, "/v1/ensembles?priority=%s", c->priority);
    for (;;) {
        struct buf text = {0}, reply = {0};
        long status = 0;
        char *dumped = json_dumps(body, JSON_COMPACT);
        buf_add(&text, dumped, strlen(dumped));
        free(dumped);
        int rc = http_request(c->http, "POST", path, &text, &status, &reply, e);
        buf_free(&text);
        json_t *answer = rc ? NULL : json_loadb(reply.data, reply.len, 0, NULL);
        if (!rc && status == 422 && lacks_files(answer)) {
            size_t before = json_object_size(files);
            rc = add_files(s, answer, body, e);
            if (!rc && json_object_size(files) == before)
                rc = answer_error(answer, status, e);
            json_decref(answer);
            buf_free(&reply);
            if (rc)
                return NULL;
            continue;
        }
        json_decref(answer);
        answer = rc ? NULL : answer_object(status, &reply, e);
        buf_free(&reply);
        return answer;
    }
}

static int read_spec(struct buf *text, const char *path, struct err *e)
{
    int rc = gzip_read_file(text, strcmp(path, "-") ? path : "/dev/stdin", e);
    if (rc)
        e->code = ERR_MISSING_FILE;
    return rc;
}

/* The last of two with one name counts. */
static json_t *labels_json(const struct client *c)
{
    json_t *labels = json_object();
    for (int i = 0; i < c->nlabels; i++) {
        const char *equals = strchr(c->labels[i], '=');
        struct buf name = {0};
        buf_add(&name, c->labels[i], (size_t)(equals - c->labels[i]));
        json_object_set_new(labels, name.data, text_json(equals + 1, strlen(equals + 1)));
        buf_free(&name);
    }
    return labels;
}

static json_t *submit(const struct client *c, const char *path, struct err *e)
{
    struct buf spec = {0};
    struct include_search s;
    if (read_spec(&spec, path, e))
        return NULL;
    json_t *text = json_stringn(spec.data, spec.len), *answer = NULL;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (text) {
        json_t *body = json_pack("{s:o,s:o,s:{}}", "spec", text, "spec_name", text_json(name, strlen(name)), "files");
        if (c->key)
            json_object_set_new(body, "id", text_json(c->key, strlen(c->key)));
        if (c->nlabels)
            json_object_set_new(body, "labels", labels_json(c));
        search_open(&s, c, path);
        answer = post_all_files(c, &s, body, e);
        search_close(&s);
        json_decref(body);
    } else {
        err_set(e, ERR_SPEC, "%s: not UTF-8 text", path);
    }
    buf_free(&spec);
    return answer;
}

/* Results and files after the wait. With `json` they go into `ensemble`, the one value that will be printed. */
static int finish(const struct client *c, bool json, const char *id, json_t *ensemble)
{
    struct err e = {0};
    struct buf text = {0};
    struct watch_end end = {0};
    int rc = watch_ensemble(c, id, client_deadline(c), false, &end);
    if (rc != EXIT_OK && rc != EXIT_FAILED)
        return rc;
    client_path(&text, id, "");
    json_t *results = results_get(c, id, false, NULL, &e), *now = results ? client_get(c, text.data, &e) : NULL;
    if (now)
        json_object_update(ensemble, now);
    if (!now || (c->output && files_download(c, ensemble, c->output, &e)))
        rc = client_fail(c, &e);
    else
        rc = results_exit(end.state, results);
    text.len = 0;
    if (json)
        json_object_set(ensemble, "results", results ? results : json_null());
    else if (results)
        results_put(&(struct out){&text, client_width(), false}, results);
    if (results && !json)
        fputs(text.data, stdout);
    buf_free(&text);
    json_decref(now);
    json_decref(results);
    return rc;
}

static void say_warnings(const struct client *c, const json_t *ensemble)
{
    size_t i;
    json_t *one;
    json_array_foreach (json_object_get(ensemble, "warnings"), i, one)
        client_say(c, "warning: %s", answer_text(one, "message"));
}

static void say_fits(const struct client *c, const json_t *ensemble)
{
    struct buf text = {0};
    answer_fits(&text, ensemble);
    for (char *rest = text.data, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            client_say(c, "%s", line);
    buf_free(&text);
}

int submit_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    json_t *ensemble = submit(c, argv[0], &e);
    const char *id = answer_text(ensemble, "id"), *name = answer_text(ensemble, "name");
    int rc = EXIT_OK;
    if (ensemble && (!*id || !*name))
        err_set(&e, ERR_PROTOCOL, "the service's answer has no id");
    if (e.code) {
        json_decref(ensemble);
        return client_fail(c, &e);
    }
    const long long walkers = answer_whole(ensemble, "walkers"), windows = answer_whole(ensemble, "windows");
    if (walkers)
        client_say(c, "%s is %s, %lld %s of each end; `shoal watch %.12s` follows it", name, id, walkers,
                   number_word(walkers, "walker", "walkers"), id);
    else
        client_say(c, "%s is %s, %lld %s; `shoal watch %.12s` follows it", name, id, windows,
                   number_word(windows, "window", "windows"), id);
    say_fits(c, ensemble);
    say_warnings(c, ensemble);
    if (!c->json) {
        printf("%s\n", id);
        fflush(stdout);
    }
    struct client inner = *c;
    inner.json = false; /* there is one value to print, and this is not it */
    if (c->output && files_claim(c->output, id, &e)) {
        rc = client_fail(&inner, &e); /* before the wait, not after it */
    } else if (c->wait || c->output) {
        watch_interruptible(id);
        rc = finish(&inner, c->json, id, ensemble);
    }
    if (c->json)
        client_print(ensemble);
    json_decref(ensemble);
    return rc;
}
