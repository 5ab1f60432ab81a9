/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json/err_json.h"

json_t *err_json(const struct err *e)
{
    json_t *message = json_string(e->msg);
    return json_pack("{s:{s:s,s:o}}", "error", "code", err_name(e->code), "message",
                     message ? message : json_string(err_text(e->code)));
}

int err_from_json(const json_t *object, struct err *e)
{
    const json_t *error = json_object_get(object, "error");
    const char *name = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    enum err_code code;
    if (!name || !message)
        return err_set(e, ERR_PROTOCOL, "an answer without a result, and without saying why");
    return err_set(e, err_named(name, &code) ? ERR_PROTOCOL : code, "%s", message);
}
