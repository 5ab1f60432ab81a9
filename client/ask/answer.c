/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions to the service and its answers, as values.
 */
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "engine/base/json/err_json.h"
#include "engine/base/json/number_json.h"
#include "engine/base/number.h"
#include "engine/base/room_line.h"
#include "engine/base/printable.h"

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

const char *answer_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

long long answer_whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double answer_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool answer_replica(struct buf *out, const json_t *object)
{
    const bool any = json_is_integer(json_object_get(object, "window"));
    if (json_is_integer(json_object_get(object, "walker")))
        buf_printf(out, "walker %s %lld", answer_text(object, "end"), answer_whole(object, "walker"));
    else if (any)
        buf_printf(out, "window %lld", answer_whole(object, "window"));
    return any;
}

long long answer_replicas(const json_t *ensemble)
{
    long long repeats = answer_whole(ensemble, "repeats");
    return answer_whole(ensemble, "windows") * (repeats > 1 ? repeats : 1);
}

void answer_labels(struct buf *out, const json_t *ensemble)
{
    const char *key;
    json_t *value;
    size_t begin = out->len;
    buf_add(out, "", 0);
    json_object_foreach (json_object_get(ensemble, "labels"), key, value)
        buf_printf(out, "%s%s=%s", out->len > begin ? "," : "", key, json_string_value(value));
}

void answer_fits(struct buf *out, const json_t *ensemble)
{
    const json_t *fit;
    size_t i;
    buf_add(out, "", 0);
    json_array_foreach (json_object_get(ensemble, "fits"), i, fit) {
        const char *device = answer_text(fit, "device");
        if (!strncmp(device, "cpu", 3) && answer_whole(fit, "replicas") >= answer_replicas(ensemble))
            continue;
        room_line(out, device, answer_number(fit, "memory_bytes"), answer_whole(fit, "replicas"),
                  answer_number(fit, "replica_bytes"));
        buf_printf(out, "\n");
    }
}

void answer_estimate(struct buf *out, const json_t *ensemble)
{
    const json_t *estimate = json_object_get(ensemble, "estimate");
    buf_add(out, "", 0);
    if (!json_is_object(estimate))
        return;
    if (!json_is_number(json_object_get(estimate, "value"))) {
        buf_printf(out, "no free energy yet");
        return;
    }
    number_with_error(out, answer_number(estimate, "value"), answer_number(estimate, "error"));
    buf_printf(out, " %s, %s", answer_text(estimate, "unit"), answer_text(estimate, "verdict"));
    long long revision = answer_whole(estimate, "revision");
    if (revision && revision < answer_whole(ensemble, "revision"))
        buf_printf(out, " (revision %lld)", revision);
}

void client_path(struct buf *out, const char *id, const char *rest)
{
    buf_printf(out, "/v1/ensembles/");
    http_escape(out, id);
    buf_printf(out, "%s", rest);
}

json_t *client_ask(const struct client *c, const char *method, const char *path, struct err *e)
{
    struct buf reply = {0};
    long status = 0;
    json_t *answer = NULL;
    if (!http_request(c->http, method, path, NULL, &status, &reply, e))
        answer = answer_object(status, &reply, e);
    buf_free(&reply);
    return answer;
}

json_t *client_get(const struct client *c, const char *path, struct err *e)
{
    return client_ask(c, "GET", path, e);
}

double answer_magnitude(const json_t *quantity)
{
    return number_from_json(json_object_get(quantity, "magnitude"));
}
