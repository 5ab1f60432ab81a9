/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/placing.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/spec/facts.h"
#include "daemon/spec/place_windows.h"

/* What a submission of these windows would be refused for fails the ensemble. */
static struct spec *checked_spec(const struct estimate_request *q, const struct buf *text, struct err *e)
{
    struct spec *s = NULL;
    int rc = spec_parse(&s, q->spec->file, text->data, text->len, e);
    if (!rc && q->sys.natoms)
        rc = spec_check_windows(s, &q->sys, e);
    if (!rc)
        return s;
    spec_free(s);
    struct err said = *e;
    err_set(e, ERR_ESTIMATE, "the windows that were placed cannot run: %s", said.msg);
    return NULL;
}

static void put_answer(const struct spec *s, const struct buf *text, const char *before, const struct buf *said,
                       struct buf *json)
{
    json_t *answer = json_pack("{s:s%,s:I,s:o,s:s}", "spec", text->data, text->len, "grown",
                               (json_int_t)(text->len - strlen(before)), "facts", spec_facts(s), "message", said->data);
    char *line = json_dumps(answer, JSON_COMPACT);
    buf_free(json);
    buf_printf(json, "%s\n", line);
    free(line);
    json_decref(answer);
}

int placing_answer(const struct estimate_request *q, struct buf *json, struct err *e)
{
    const char *before = json_string_value(json_object_get(q->description, "spec"));
    json_t *results = json_loadb(json->data, json->len, 0, NULL);
    struct buf text = {0}, said = {0};
    struct spec *s = NULL;
    if (spec_place_windows(q->spec, before, results, &text, &said, e) == 0)
        s = checked_spec(q, &text, e);
    if (s)
        put_answer(s, &text, before, &said, json);
    spec_free(s);
    buf_free(&text);
    buf_free(&said);
    json_decref(results);
    return -(int)e->code;
}
