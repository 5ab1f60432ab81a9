/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask/results.h"

#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"

json_t *results_get(const struct client *c, const char *id, bool live, struct buf *text, struct err *e)
{
    struct buf path = {0}, reply = {0};
    long status = 0;
    json_t *results = NULL;
    client_path(&path, id, live ? "/results?live=1" : "/results");
    if (!http_request(c->http, "GET", path.data, NULL, &status, &reply, e))
        results = answer_object(status, &reply, e);
    if (!results && live && e->code == ERR_USAGE) /* a service that knows of no results but the last */
        err_set(e, ERR_BUSY, "ensemble %s has not ended: it has no results yet", id);
    if (!results && status == 409)
        e->code = ERR_BUSY; /* there will be results: try later */
    if (results && text)
        buf_add(text, reply.data, reply.len);
    buf_free(&path);
    buf_free(&reply);
    return results;
}

long long results_earlier(const json_t *ensemble, const json_t *results)
{
    const long long revision = answer_whole(json_object_get(results, "ensemble"), "revision");
    return revision < answer_whole(ensemble, "revision") ? revision : 0;
}

int results_exit(const char *state, const json_t *results)
{
    const json_t *estimate = json_object_get(results, "estimate");
    bool none = !json_is_object(estimate) && strcmp(answer_text(results, "status"), "averages") != 0;
    return !ensemble_ended(state) ? EXIT_TRY_LATER : none || strcmp(state, "done") != 0 ? EXIT_FAILED : EXIT_OK;
}
