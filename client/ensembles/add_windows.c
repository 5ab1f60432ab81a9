/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ensembles/add_windows.h"

#include "client/ask/answer.h"
#include "client/ensembles/confirm.h"

/* "methane, revision 2, would have 5 windows; 44 of the 204 rows sampled so far would count: those that are frames" */
static void describe(struct buf *out, const json_t *would)
{
    const long long rows = answer_whole(would, "rows"), kept = answer_whole(would, "kept");
    buf_printf(out, "%s, revision %lld, would have %lld windows", answer_text(would, "name"),
               answer_whole(would, "revision"), answer_whole(would, "windows"));
    if (kept < rows)
        buf_printf(out, "; %lld of the %lld rows sampled so far would count: those that are frames", kept, rows);
}

int add_windows_agree(const struct client *c, const char *path, struct on_each *m, struct err *e)
{
    struct buf dry = {0}, text = {0};
    buf_printf(&dry, "%s&dry_run=1", path);
    json_t *would = client_ask(c, "POST", dry.data, e);
    int rc = would ? 0 : -(int)e->code;
    if (would)
        describe(&text, would);
    if (would && c->dry_run) {
        if (!c->json)
            printf("%s\n", text.data);
        json_array_append(m->ensembles, would);
        rc = 1;
    } else if (would && answer_whole(would, "kept") < answer_whole(would, "rows")) {
        client_say(c, "%s", text.data);
        if (!ask_yes(c, "add the windows"))
            rc = err_set(e, ERR_CONFLICT, "no windows are added; --yes adds them without asking");
    }
    json_decref(would);
    buf_free(&text);
    buf_free(&dry);
    return rc;
}
