/* SPDX-License-Identifier: Apache-2.0
 *
 * report of an ensemble: its results as one page that needs no other file and no network.
 */
#include "client/report/report.h"

#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/results.h"
#include "client/results/methods.h"
#include "client/results/results.h"
#include "client/show/page.h"

static void put_methods(struct buf *out, const json_t *ensemble, const json_t *results)
{
    if (!json_array_size(json_object_get(results, "methods")))
        return;
    page_element(out, "h2", "", "What was run");
    page_element(out, "p", "soft", "for the methods section of a paper; all of it is in results.json too, as methods");
    methods_put(out, results, ensemble);
}

static int put_page(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                    struct err *e)
{
    struct buf below = {0};
    buf_printf(&below, "ensemble %s, %s, made by Shoal %s", answer_text(ensemble, "id"), answer_text(ensemble, "state"),
               answer_text(results, "version"));
    page_begin(out, answer_text(ensemble, "name"), below.data);
    report_answer(out, ensemble, results);
    report_figures(out, ensemble, results);
    report_switching(out, results);
    report_fold(out, results);
    int rc = report_observed(out, c, ensemble, results, e);
    if (!rc)
        rc = report_series(out, c, ensemble, results, e);
    put_methods(out, ensemble, results);
    page_element(out, "h2", "", "Numbers");
    results_put(&(struct out){out, 0, true}, results);
    buf_free(&below);
    return rc;
}

int report_put(struct buf *out, const struct client *c, const json_t *ensemble, int *rc, struct err *e)
{
    const char *state = answer_text(ensemble, "state");
    json_t *results = results_get(c, answer_text(ensemble, "id"), !ensemble_ended(state), NULL, e);
    *rc = results_exit(state, results);
    if (results)
        put_page(out, c, ensemble, results, e);
    json_decref(results);
    return -(int)e->code;
}

int report_ensemble(struct client *c, const char *word)
{
    struct err e = {0};
    struct buf path = {0}, out = {0};
    int rc = EXIT_OK;
    client_path(&path, word, "");
    json_t *ensemble = client_get(c, path.data, &e);
    if (ensemble && !report_put(&out, c, ensemble, &rc, &e)) {
        page_end(&out);
        client_page(c, answer_text(ensemble, "name"), &out, &e);
    }
    if (e.code)
        rc = client_fail(c, &e);
    buf_free(&path);
    buf_free(&out);
    json_decref(ensemble);
    return rc;
}
