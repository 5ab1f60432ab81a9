/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/extension.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/add_windows.h"
#include "daemon/spec/spec.h"
#include "engine/base/json/err_json.h"

static json_t *longer(const json_t *request, const char *file, const char *spec, struct err *e)
{
    const char *time = json_string_value(json_object_get(request, "time"));
    struct spec *s = NULL;
    uint64_t steps = 0;
    int rc = spec_parse(&s, file, spec, strlen(spec), e);
    if (!rc)
        rc = spec_production(s, time, json_is_true(json_object_get(request, "nearest")), &steps, e);
    if (!rc && !json_is_true(json_object_get(request, "more")))
        steps += spec_steps(s, s->nstages) - spec_produce_steps(s);
    spec_free(s);
    return rc ? NULL : json_pack("{s:I}", "steps", (json_int_t)steps);
}

static json_t *wider(const char *windows, const char *file, struct buf *spec, struct err *e)
{
    struct added_windows x;
    json_t *origin = json_array();
    int rc = spec_add_windows(spec, file, windows, &x, e);
    for (int i = 0; i < x.windows; i++)
        json_array_append_new(origin, json_integer(x.origin[i]));
    free(x.origin);
    json_t *answer = rc ? NULL : json_pack("{s:i,s:O}", "windows", x.windows, "origin", origin);
    json_decref(origin);
    return answer;
}

void extension_check(const char *body, size_t len, struct buf *out)
{
    struct err e = {0};
    struct buf spec = {0};
    json_t *request = json_loadb(body, len, 0, NULL), *answer = NULL;
    const char *windows = json_string_value(json_object_get(request, "windows")),
               *file = json_string_value(json_object_get(request, "spec_name")),
               *text = json_string_value(json_object_get(request, "spec"));
    if (!file || !text)
        err_set(&e, ERR_INTERNAL, "request for an extension: expected \"spec\" and \"spec_name\"");
    else if (windows)
        buf_add(&spec, text, strlen(text));
    if (!e.code)
        answer = windows ? wider(windows, file, &spec, &e) : longer(request, file, text, &e);
    answer = answer ? answer : err_json(&e);
    char *line = json_dumps(answer, JSON_COMPACT);
    buf_printf(out, "%s\n", line);
    if (windows && !e.code)
        buf_add(out, spec.data, spec.len + 1);
    free(line);
    buf_free(&spec);
    json_decref(answer);
    json_decref(request);
}
