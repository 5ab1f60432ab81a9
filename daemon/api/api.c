/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

static const struct api_command commands[] = {
    {"GET", "/v1/version", api_version, {{0}}},
    {"GET", "/healthz/live", api_live, {{0}}},
    {"GET", "/healthz/ready", api_ready, {{0}}},
    {"GET", "/v1/ensembles", api_list, {{"state", API_STATE}}},
    {"POST", "/v1/ensembles", api_submit, {{0}}},
    {"POST", "/v1/validate", api_validate, {{0}}},
    {"GET", "/v1/ensembles/{id}", api_status, {{0}}},
    {"GET", "/v1/ensembles/{id}/events", api_events, {{"since", API_NUMBER}, {"follow", API_FLAG}}},
    {"GET", "/v1/ensembles/{id}/results", api_results, {{0}}},
    {"GET", "/v1/ensembles/{id}/files", api_files, {{0}}},
    {"GET", "/v1/ensembles/{id}/files/*", api_file, {{0}}},
    {"POST", "/v1/ensembles/{id}/cancel", api_cancel, {{0}}},
    {"POST", "/v1/ensembles/{id}/pause", api_pause, {{0}}},
    {"POST", "/v1/ensembles/{id}/resume", api_resume, {{0}}},
    {"POST", "/v1/ensembles/{id}/retry", api_retry, {{0}}},
};

/* ---- errors ---- */

static int status_of(enum err_code code)
{
    switch (code) {
    case ERR_SPEC:
    case ERR_TOPOLOGY:
    case ERR_COORDINATES:
    case ERR_UNSUPPORTED:
    case ERR_MISSING_FILE:
        return 422;
    case ERR_NOT_FOUND:
        return 404;
    case ERR_FORBIDDEN:
        return 403;
    case ERR_CONFLICT:
        return 409;
    case ERR_BUSY:
        return 503;
    case ERR_NO_SPACE:
        return 507;
    case ERR_USAGE:
    case ERR_PROTOCOL:
        return 400;
    case ERR_NONE:
    case ERR_INTERNAL:
    case ERR_MEMORY:
    case ERR_IO:
    case ERR_DEVICE:
    case ERR_DRIFT:
    case ERR_NONFINITE:
    case ERR_CONSTRAINT:
    case ERR_OVERFLOW:
    case ERR_CHECKPOINT:
    case ERR_DATABASE:
    case ERR_UNREACHABLE:
    case ERR_ESTIMATE:
    case ERR_CANCELLED:
        return 500;
    }
    return 500;
}

static struct reply reply_status(struct request *r, int status, const struct err *e, json_t *files)
{
    json_t *body = json_pack("{s:s}", "code", err_name(e->code));
    /* A message may quote bytes of the user's that are no UTF-8. */
    json_t *message = json_string(e->msg);
    json_object_set_new(body, "message", message ? message : json_string(err_text(e->code)));
    if (files)
        json_object_set_new(body, "files", files);
    return reply_json(r, status, json_pack("{s:o}", "error", body));
}

struct reply reply_error(struct request *r, const struct err *e)
{
    return reply_status(r, status_of(e->code), e, NULL);
}

struct reply reply_missing(struct request *r, const struct err *e, json_t *files)
{
    return reply_status(r, status_of(e->code), e, files);
}

/* ---- parameters ---- */

struct parsing {
    const struct api_command *command;
    struct api_call *call;
};

static int parse_state(const char *value, int64_t *out, struct err *e)
{
    for (uint32_t i = 0; i < ensemble_states.count; i++)
        if (value && strcmp(value, ensemble_states.states[i].name) == 0) {
            *out = i;
            return 0;
        }
    return err_set(e, ERR_USAGE, "state=%s: expected queued, running, paused, finishing, done, failed or cancelled",
                   value ? value : "");
}

static int parse_number(const char *name, const char *value, int64_t max, int64_t *out, struct err *e)
{
    char *end = NULL;
    long long n = value && *value >= '0' && *value <= '9' ? strtoll(value, &end, 10) : -1;
    if (n < 0 || n > max || *end)
        return err_set(e, ERR_USAGE, "%s=%s: expected a whole number from 0 to %lld", name, value ? value : "",
                       (long long)max);
    *out = n;
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
        case API_STATE:
            return parse_state(value, out, e);
        }
    }
    return err_set(e, ERR_USAGE, "%s takes no parameter \"%.100s\"", p->command->path, key);
}

/* ---- routing ---- */

/* Whether `path` has the form of `pattern`; `id` (of 64 bytes) and `tail` get what stands for {id} and '*'. */
static bool matches(const char *pattern, const char *path, char *id, const char **tail)
{
    while (*pattern) {
        if (*pattern == '*') {
            *tail = path;
            return *path != '\0';
        }
        if (*pattern == '{') {
            size_t n = strcspn(path, "/");
            if (n == 0 || n >= 64)
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

static struct reply run_command(const struct api_command *command, struct api_call *c, const char *id)
{
    struct err e = {0};
    struct parsing p = {command, c};
    for (int i = 0; i < API_PARAMS && command->params[i].name; i++)
        c->value[i] = command->params[i].kind == API_STATE ? -1 : 0;
    if (request_query(c->request, parse_param, &p, &e))
        return reply_error(c->request, &e);
    if (*id) {
        c->ensemble = service_find(c->service, request_uid(c->request), id, &e);
        if (!c->ensemble)
            return reply_error(c->request, &e);
    }
    return command->handler(c);
}

struct reply api_handle(void *arg, struct request *r)
{
    struct api *api = arg;
    struct api_call c = {.api = api, .service = api->service, .request = r};
    struct err e = {0};
    bool known = false;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char id[64] = "";
        if (!matches(commands[i].path, request_path(r), id, &c.tail))
            continue;
        known = true;
        if (strcmp(commands[i].method, request_method(r)) == 0)
            return run_command(&commands[i], &c, id);
    }
    if (known)
        err_set(&e, ERR_USAGE, "%.200s does not take %.20s", request_path(r), request_method(r));
    else
        err_set(&e, ERR_NOT_FOUND, "no such path: %.200s", request_path(r));
    return reply_status(r, known ? 405 : 404, &e, NULL);
}
