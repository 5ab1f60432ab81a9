/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages, made of the tables of other commands. A browser learns by events (EventSource) that a page has changed:
 * those of the first page carry its new tables, an ensemble's have the page loaded again.
 */
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/ensembles/list.h"
#include "client/ensembles/status.h"
#include "client/report/report.h"
#include "client/show/page.h"
#include "client/web/pages.h"

static int put_ensembles(struct buf *out, const struct client *c, struct err *e)
{
    struct table t;
    json_t *ensembles = ensembles_get(c, e);
    if (!ensembles)
        return -(int)e->code;
    page_element(out, "h2", "", "Ensembles");
    ensembles_put(c, ensembles, &t);
    out_table(&(struct out){out, 0, true}, &t);
    if ((int64_t)json_array_size(ensembles) == c->limit)
        page_element(out, "p", "soft", "These are the newest; --limit shows more.");
    json_decref(ensembles);
    return 0;
}

static int put_devices(struct buf *out, const struct client *c, struct err *e)
{
    const struct out page = {out, 0, true};
    struct buf remarks = {0};
    json_t *version = client_get(c, "/v1/version", e);
    if (!version)
        return -(int)e->code;
    struct table t = status_devices(c, json_object_get(version, "devices"));
    page_element(out, "h2", "", "Devices");
    out_table(&page, &t);
    status_put_remarks(version, &remarks);
    if (remarks.len)
        out_put(&page, "%s", remarks.data);
    buf_free(&remarks);
    json_decref(version);
    return 0;
}

/* All of the first page that changes; of an error its message alone. */
static void put_tables(struct buf *out, const struct client *c, struct err *e)
{
    const size_t begin = out->len;
    if (!put_ensembles(out, c, e) && !put_devices(out, c, e))
        return;
    out->len = begin;
    page_element(out, "p", "bad", e->msg);
}

static json_t *get_ensemble(const struct client *c, const char *word, struct err *e)
{
    struct buf path = {0};
    client_path(&path, word, "");
    json_t *ensemble = client_get(c, path.data, e);
    buf_free(&path);
    return ensemble;
}

/* In whole percent, so that a long run does not have its page loaded again all the time. */
static void put_state(struct buf *out, const json_t *ensemble)
{
    buf_printf(out, "%s %lld %lld %lld %.0f ", answer_text(ensemble, "state"), answer_whole(ensemble, "revision"),
               answer_whole(ensemble, "done"), answer_whole(ensemble, "failed"),
               100 * answer_number(ensemble, "progress"));
    answer_estimate(out, ensemble);
}

/* `shown`: what the page says, as its events compare it. */
static void put_script(struct buf *out, const char *nonce, const char *shown, const char *what)
{
    buf_printf(out, "<script nonce=\"%s\">new EventSource(\"?events=", nonce);
    http_escape(out, shown);
    buf_printf(out, "\").onmessage = event => { %s; };</script>\n", what);
}

static void put_first(struct buf *out, const struct client *c, const char *nonce, struct err *e)
{
    page_begin(out, "Shoal", c->socket);
    buf_printf(out, "<main>\n");
    put_tables(out, c, e);
    buf_printf(out, "</main>\n");
    put_script(out, nonce, "", "document.querySelector(\"main\").innerHTML = event.data");
}

static void put_ensemble(struct buf *out, const struct client *c, const char *word, const char *nonce, struct err *e)
{
    int rc;
    struct buf shown = {0};
    json_t *ensemble = get_ensemble(c, word, e);
    put_state(&shown, ensemble);
    if (!ensemble || report_put(out, c, ensemble, &rc, e)) {
        out->len = 0;
        page_begin(out, ensemble ? answer_text(ensemble, "name") : "Shoal", answer_text(ensemble, "state"));
        page_element(out, "p", "bad", e->msg);
    }
    buf_printf(out, "<p><a href=\"./\">all ensembles</a></p>\n");
    if (ensemble && !ensemble_ended(answer_text(ensemble, "state")))
        put_script(out, nonce, shown.data, "location.reload()");
    buf_free(&shown);
    json_decref(ensemble);
}

void pages_put(struct buf *out, const struct client *c, const char *word, const char *nonce, struct err *e)
{
    if (*word)
        put_ensemble(out, c, word, nonce, e);
    else
        put_first(out, c, nonce, e);
    page_end(out);
}

int pages_put_shown(struct buf *out, const struct client *c, const char *word)
{
    struct err e = {0};
    if (!*word) {
        put_tables(out, c, &e);
        return 0;
    }
    json_t *ensemble = get_ensemble(c, word, &e);
    if (ensemble)
        put_state(out, ensemble);
    json_decref(ensemble);
    return -(int)e.code;
}

void pages_put_event(struct buf *out, const char *word, const char *shown)
{
    for (const char *line = *word ? "" : shown;; line++) {
        int n = (int)strcspn(line, "\n");
        buf_printf(out, "data: %.*s\n", n, line);
        line += n;
        if (!*line)
            break;
    }
    buf_printf(out, "\n");
}
