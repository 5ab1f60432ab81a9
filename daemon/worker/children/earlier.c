/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/earlier.h"

#include <string.h>

/* "revision_1" of an origin "revision_1/lambda_00". False: no replica has one. */
static bool revision_folder(const struct estimate_request *q, struct buf *out)
{
    const struct estimate_ensemble *x = &q->ensemble;
    for (int i = 0; i < x->repeats * estimate_windows(x); i++)
        if (q->replicas[i].origin) {
            buf_printf(out, "%s/%.*s", x->directory, (int)strcspn(q->replicas[i].origin, "/"), q->replicas[i].origin);
            return true;
        }
    return false;
}

static bool has_estimate(const struct buf *json)
{
    json_t *results = json_loadb(json->data, json->len, 0, NULL);
    bool has = json_is_object(json_object_get(results, "estimate"));
    json_decref(results);
    return has;
}

void earlier_results(const struct estimate_request *q, struct buf *json)
{
    struct buf path = {0}, earlier = {0};
    struct err unread = {0};
    if (revision_folder(q, &path) && !has_estimate(json)) {
        buf_printf(&path, "/results.json");
        if (!buf_read_file(&earlier, path.data, &unread) && has_estimate(&earlier)) {
            buf_free(json);
            *json = earlier;
            earlier = (struct buf){0};
        }
    }
    buf_free(&earlier);
    buf_free(&path);
}
