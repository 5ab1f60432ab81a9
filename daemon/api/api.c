/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/json/err_json.h"
#include "engine/base/number.h"

#define IMPORT_PATH "/v1/import"
#define ID_MAX 264 /* an id, a key or a name, and the end of the string */

static const struct api_command commands[] = {
    {"GET", "/v1/version", api_version, {{0}}},
    {"GET", "/healthz/live", api_live, {{0}}},
    {"GET", "/healthz/ready", api_ready, {{0}}},
    {"GET", "/metrics", api_metrics, {{0}}},
    {"GET",
     "/v1/ensembles",
     api_list,
     {[API_LIST_STATE] = {"state", API_STATES},
      [API_LIST_LIMIT] = {"limit", API_NUMBER},
      [API_LIST_AFTER] = {"after", API_NUMBER},
      [API_LIST_OWNER] = {"owner", API_TEXT},
      [API_LIST_NAME] = {"name", API_TEXT},
      [API_LIST_KEY] = {"key", API_TEXT},
      [API_LIST_OLDER] = {"older_than", API_NUMBER},
      [API_LIST_LABEL] = {"label", API_LABEL},
      [API_LIST_ALL] = {"all_users", API_FLAG}}},
    {"GET", "/v1/usage", api_usage, {{0}}},
    {"GET",
     "/v1/accounting",
     api_accounting,
     {[API_ACCOUNTING_BY] = {"by", API_TEXT},
      [API_ACCOUNTING_SINCE] = {"since", API_NUMBER},
      [API_ACCOUNTING_OWNER] = {"owner", API_TEXT},
      [API_ACCOUNTING_ALL] = {"all_users", API_FLAG}}},
    {"POST", "/v1/drain", api_drain, {{"device", API_TEXT}, {"reason", API_TEXT}}},
    {"POST", "/v1/undrain", api_undrain, {{"device", API_TEXT}}},
    {"POST", "/v1/hold", api_hold, {{"reason", API_TEXT}}},
    {"POST", "/v1/release", api_release, {{0}}},
    {"POST", "/v1/ensembles", api_submit, {{"priority", API_TEXT}}},
    {"POST", "/v1/validate", api_validate, {{0}}},
    {"POST", IMPORT_PATH, api_import, {{0}}},
    {"GET", "/v1/ensembles/{id}", api_status, {{0}}},
    {"DELETE", "/v1/ensembles/{id}", api_remove, {{0}}},
    {"GET", "/v1/ensembles/{id}/events", api_events, {{"since", API_NUMBER}, {"follow", API_FLAG}}},
    {"GET", "/v1/ensembles/{id}/results", api_results, {{"live", API_FLAG}}},
    {"GET", "/v1/ensembles/{id}/export", api_export, {{0}}},
    {"GET", "/v1/ensembles/{id}/files", api_files, {{0}}},
    {"GET", "/v1/ensembles/{id}/files/*", api_file, {{0}}},
    {"POST", "/v1/ensembles/{id}/cancel", api_cancel, {{0}}},
    {"POST", "/v1/ensembles/{id}/pause", api_pause, {{0}}},
    {"POST", "/v1/ensembles/{id}/resume", api_resume, {{0}}},
    {"POST", "/v1/ensembles/{id}/retry", api_retry, {{"window", API_NUMBER}}},
    {"POST", "/v1/ensembles/{id}/priority", api_priority, {{"to", API_TEXT}}},
    {"POST", "/v1/ensembles/{id}/move", api_move, {{"to", API_TEXT}}},
    {"POST", "/v1/ensembles/{id}/reestimate", api_reestimate, {{0}}},
    {"POST",
     "/v1/ensembles/{id}/extend",
     api_extend,
     {{"time", API_TEXT}, {"until", API_TEXT}, {"windows", API_TEXT}, {"nearest", API_FLAG}, {"dry_run", API_FLAG}}},
};

/* ---- parameters ---- */

struct parsing {
    const struct api_command *command;
    struct api_call *call;
};

/* The bit of a state, 0: there is none of this name. */
static int64_t state_bit(const char *name, size_t len)
{
    for (uint32_t i = 0; i < ensemble_states.count; i++)
        if (strlen(ensemble_states.states[i].name) == len && !memcmp(name, ensemble_states.states[i].name, len))
            return INT64_C(1) << i;
    return 0;
}

/* One state or several, between commas or said again: a set of bits. */
static int parse_states(const char *value, int64_t *out, struct err *e)
{
    const char *part = value ? value : "";
    for (*out = *out < 0 ? 0 : *out;; part++) {
        size_t n = strcspn(part, ",");
        int64_t bit = state_bit(part, n);
        if (!bit)
            return err_set(e, ERR_USAGE,
                           "state=%.100s: expected queued, running, paused, finishing, done, failed or cancelled, or "
                           "several of them between commas",
                           value ? value : "");
        *out |= bit;
        part += n;
        if (!*part)
            return 0;
    }
}

static int parse_number(const char *name, const char *value, int64_t max, int64_t *out, struct err *e)
{
    char what[64];
    snprintf(what, sizeof what, "%.50s=", name);
    return number_whole(out, what, value, 0, max, e);
}

/* KEY=VALUE, or KEY: whatever its value. */
static int parse_label(struct api_call *c, const char *text, struct err *e)
{
    size_t n = strcspn(text, "=");
    if (c->nlabels == API_LABELS)
        return err_set(e, ERR_USAGE, "label: at most %d can be asked for at once", API_LABELS);
    if (n == 0 || n >= sizeof c->labels[0].key)
        return err_set(e, ERR_USAGE, "label=%.100s: expected KEY=VALUE or KEY", text);
    memcpy(c->labels[c->nlabels].key, text, n);
    c->labels[c->nlabels].key[n] = '\0';
    c->labels[c->nlabels++].value = text[n] ? text + n + 1 : NULL;
    return 0;
}

static int parse_param(void *arg, const char *key, const char *value, struct err *e)
{
    struct parsing *p = arg;
    for (int i = 0; i < API_PARAMS && p->command->params[i].name; i++) {
        int64_t *out = &p->call->value[i];
        if (strcmp(key, p->command->params[i].name) != 0)
            continue;
        switch (p->command->params[i].kind) {
        case API_NUMBER:
            return parse_number(key, value, INT64_MAX - 1, out, e);
        case API_FLAG:
            return parse_number(key, value, 1, out, e);
        case API_STATES:
            return parse_states(value, out, e);
        case API_TEXT:
            p->call->text[i] = value ? value : "";
            return 0;
        case API_LABEL:
            return parse_label(p->call, value ? value : "", e);
        }
    }
    return err_set(e, ERR_USAGE, "%s takes no parameter \"%.100s\"", p->command->path, key);
}

/* ---- routing ---- */

/* Whether `path` has the form of `pattern`; `id` (of ID_MAX bytes) and `tail` get what `path` has for {id} and '*'. */
static bool matches(const char *pattern, const char *path, char *id, const char **tail)
{
    while (*pattern) {
        if (*pattern == '*') {
            *tail = path;
            return *path != '\0';
        }
        if (*pattern == '{') {
            size_t n = strcspn(path, "/");
            if (n == 0 || n >= ID_MAX)
                return false;
            memcpy(id, path, n);
            id[n] = '\0';
            path += n;
            pattern = strchr(pattern, '}') + 1;
            continue;
        }
        if (*pattern++ != *path++)
            return false;
    }
    return *path == '\0';
}

/* The error, and the ensembles that the word may mean. */
static struct reply refuse_word(struct request *r, const struct candidates *found, const struct err *e)
{
    json_t *object = err_json(e), *list = json_array();
    for (int i = 0; i < found->n && i < SERVICE_CANDIDATES; i++) {
        const struct ensemble *en = found->items[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s?,s:s}", "id", en->id, "name", en->name, "key", en->key,
                                              "state", sm_name(&en->sm)));
    }
    if (json_array_size(list))
        json_object_set(json_object_get(object, "error"), "candidates", list);
    json_decref(list);
    return reply_json(r, err_http(e->code), object);
}

static struct reply run_command(const struct api_command *command, struct api_call *c, const char *id)
{
    struct err e = {0};
    struct parsing p = {command, c};
    c->command = command;
    for (int i = 0; i < API_PARAMS && command->params[i].name; i++)
        c->value[i] = -1;
    if (request_query(c->request, parse_param, &p, &e))
        return reply_error(c->request, &e);
    if (*id) {
        struct candidates found;
        c->ensemble = service_find(c->service, request_uid(c->request), id, &found, &e);
        if (!c->ensemble)
            return refuse_word(c->request, &found, &e);
    }
    if (strcmp(command->method, "GET"))
        act_begin(c);
    return command->handler(c);
}

enum { ALLOW_GET = 1, ALLOW_POST = 2, ALLOW_DELETE = 4 };

static unsigned allow_bit(const char *method)
{
    return strcmp(method, "GET") == 0 ? ALLOW_GET : strcmp(method, "POST") == 0 ? ALLOW_POST : ALLOW_DELETE;
}

/* HEAD is GET without the body, which the server leaves out. */
static bool takes(const struct api_command *command, const char *method)
{
    return strcmp(command->method, strcmp(method, "HEAD") == 0 ? "GET" : method) == 0;
}

/* The path is known, the method is not. No path takes both DELETE and POST. */
static struct reply refuse_method(struct request *r, unsigned methods)
{
    static const char *const allow[] = {[ALLOW_GET] = "GET, HEAD",
                                        [ALLOW_POST] = "POST",
                                        [ALLOW_GET | ALLOW_POST] = "GET, HEAD, POST",
                                        [ALLOW_GET | ALLOW_DELETE] = "GET, HEAD, DELETE"};
    struct err e = {0};
    err_set(&e, ERR_METHOD, "%.200s does not take %.20s but %s", request_path(r), request_method(r), allow[methods]);
    request_allow(r, allow[methods]);
    return reply_error(r, &e);
}

struct reply api_handle(void *arg, struct request *r)
{
    struct api *api = arg;
    struct api_call c = {.api = api, .service = api->service, .request = r};
    struct err e = {0};
    unsigned methods = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char id[ID_MAX] = "";
        if (!matches(commands[i].path, request_path(r), id, &c.tail))
            continue;
        if (takes(&commands[i], request_method(r)))
            return run_command(&commands[i], &c, id);
        methods |= allow_bit(commands[i].method);
    }
    if (methods)
        return refuse_method(r, methods);
    err_set(&e, ERR_NOT_FOUND, "no such path: %.200s", request_path(r));
    return reply_error(r, &e);
}

bool api_uploads(const char *method, const char *path)
{
    return !strcmp(method, "POST") && !strcmp(path, IMPORT_PATH);
}
