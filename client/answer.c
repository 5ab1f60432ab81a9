/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of the service and errors, as values and exit codes.
 */
#include <stdio.h>
#include <string.h>

#include "client/client.h"

int client_exit_code(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return EXIT_OK;
    case ERR_SPEC:
    case ERR_TOPOLOGY:
    case ERR_COORDINATES:
    case ERR_UNSUPPORTED:
        return EXIT_BAD_SPEC;
    case ERR_MISSING_FILE:
    case ERR_NOT_FOUND:
        return EXIT_NO_INPUT;
    case ERR_UNREACHABLE:
        return EXIT_UNREACHABLE;
    case ERR_BUSY:
        return EXIT_TRY_LATER;
    case ERR_FORBIDDEN:
        return EXIT_NOT_PERMITTED;
    case ERR_USAGE:
        return EXIT_BAD_USAGE;
    case ERR_IO:
    case ERR_NO_SPACE:
        return EXIT_CANNOT_CREATE;
    case ERR_INTERNAL:
    case ERR_MEMORY:
    case ERR_PROTOCOL:
    case ERR_DATABASE:
        return EXIT_INTERNAL;
    case ERR_DEVICE:
    case ERR_DRIFT:
    case ERR_NONFINITE:
    case ERR_CONSTRAINT:
    case ERR_OVERFLOW:
    case ERR_CHECKPOINT:
    case ERR_CONFLICT:
    case ERR_ESTIMATE:
    case ERR_CANCELLED:
        return EXIT_ENSEMBLE_FAILED;
    }
    return EXIT_INTERNAL;
}

int client_fail(const struct client *c, const struct err *e)
{
    fprintf(stderr, "shoal: %s\n", e->msg);
    if (c->json) {
        json_t *object = json_pack("{s:{s:s,s:s}}", "error", "code", err_name(e->code), "message", e->msg);
        client_print(object);
        json_decref(object);
    }
    return client_exit_code(e->code);
}

void client_print(const json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
}

static enum err_code code_named(const char *name)
{
#define ERR(symbol, number, text)                                                                                      \
    if (!strcmp(name, #symbol))                                                                                        \
        return ERR_##symbol;
#include "schemas/errors.def"
#undef ERR
    return ERR_PROTOCOL;
}

int answer_error(const json_t *answer, long status, struct err *e)
{
    const json_t *error = json_object_get(answer, "error");
    const char *name = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    if (!name || !message)
        return err_set(e, ERR_PROTOCOL, "the service answered %ld without saying why", status);
    return err_set(e, code_named(name), "%s", message);
}

json_t *answer_object(long status, const struct buf *reply, struct err *e)
{
    json_error_t why;
    json_t *answer = json_loadb(reply->data, reply->len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(answer)) {
        json_decref(answer);
        err_set(e, ERR_PROTOCOL, "the service answered %ld with something that is not a JSON object", status);
        return NULL;
    }
    if (status >= 200 && status < 300)
        return answer;
    answer_error(answer, status, e);
    json_decref(answer);
    return NULL;
}

void client_path(struct buf *out, const char *id, const char *rest)
{
    buf_printf(out, "/v1/ensembles/");
    http_escape_path(out, id);
    buf_printf(out, "%s", rest);
}

json_t *client_get(const struct client *c, const char *path, struct err *e)
{
    struct buf reply = {0};
    long status = 0;
    json_t *answer = NULL;
    if (!http_request(c->http, "GET", path, NULL, &status, &reply, e))
        answer = answer_object(status, &reply, e);
    buf_free(&reply);
    return answer;
}
