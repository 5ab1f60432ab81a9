/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of the service and errors, as values and exit codes.
 */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "engine/base/err_json.h"

int client_fail(const struct client *c, const struct err *e)
{
    fprintf(stderr, "shoal: %s\n", e->msg);
    if (c->json) {
        json_t *object = err_json(e);
        client_print(object);
        json_decref(object);
    }
    return err_exit(e->code);
}

void client_print(const json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
}

int answer_error(const json_t *answer, long status, struct err *e)
{
    if (!json_object_get(answer, "error"))
        return err_set(e, ERR_PROTOCOL, "the service answered %ld without saying why", status);
    return err_from_json(answer, e);
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
