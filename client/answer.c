/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of the service and errors, as values and exit codes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "engine/base/err_json.h"
#include "engine/base/number.h"
#include "engine/base/room_line.h"
#include "engine/base/printable.h"

int client_fail(const struct client *c, const struct err *e)
{
    printable_line(stderr, "shoal: %s", e->msg);
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
}

void client_say(const struct client *c, const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;
    if (c->quiet)
        return;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    printable_line(stderr, "shoal: %s", text.data);
    buf_free(&text);
}

int client_width(void)
{
    int columns = 0, rows;
    if (show_is_terminal(stdout))
        show_size(stdout, &columns, &rows);
    return columns;
}

void client_table(const struct client *c, struct table *t)
{
    struct buf out = {0};
    if (c->plain)
        table_put_plain(t, &out);
    else
        table_put(t, client_width(), &out);
    fputs(out.data, stdout);
    buf_free(&out);
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

void answer_window(struct table *t, const json_t *object, bool repeats)
{
    if (repeats)
        table_cell(t, "%lld.%lld", answer_whole(object, "repeat"), answer_whole(object, "window"));
    else
        table_cell(t, "%lld", answer_whole(object, "window"));
}
