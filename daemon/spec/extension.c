/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/extension.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/add_windows.h"
#include "daemon/spec/facts.h"
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

/* How often the production that the protocol ends with has rows and frames, and which steps come before all production.
 */
static void add_rhythm(json_t *answer, const char *file, const struct buf *spec, struct err *e)
{
    struct spec *s = NULL;
    if (spec_parse(&s, file, spec->data, spec->len, e) == 0) {
        const struct stage *last = &s->stages[s->nstages - 1];
        json_object_set_new(answer, "before",
                            json_integer((json_int_t)(spec_steps(s, s->nstages) - spec_produce_steps(s))));
        json_object_set_new(answer, "sample_every", json_integer((json_int_t)last->sample_every));
        json_object_set_new(answer, "frames_every", json_integer((json_int_t)last->frames_every));
        json_object_set_new(answer, "placed", spec_placed_json(s));
        if (s->settings.exchange != EXCHANGE_NONE)
            json_object_set_new(answer, "exchange_after", json_integer((json_int_t)s->exchange_after));
    }
    spec_free(s);
}

static json_t *wider(const char *windows, const char *file, uint64_t made, struct buf *spec, struct err *e)
{
    struct added_windows x;
    json_t *origin = json_array();
    int rc = spec_add_windows(spec, file, windows, made, &x, e);
    for (int i = 0; i < x.windows; i++)
        json_array_append_new(origin, json_integer(x.origin[i]));
    free(x.origin);
    json_t *answer = rc ? NULL : json_pack("{s:i,s:O}", "windows", x.windows, "origin", origin);
    if (answer)
        add_rhythm(answer, file, spec, e);
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
        answer = windows
                     ? wider(windows, file, (uint64_t)json_integer_value(json_object_get(request, "made")), &spec, &e)
                     : longer(request, file, text, &e);
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
