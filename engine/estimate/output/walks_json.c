/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says of replicas that exchanged windows.
 */
#include "engine/base/json/json_writer.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/rows/rows.h"

static void pairs(struct writer *w, const struct walks *x)
{
    size_t n = (size_t)x->nstates;
    jw_begin(w, "pairs", '[');
    for (size_t k = 0; k + 1 < n; k++) {
        size_t attempts = walks_attempts(x, (int)k);
        jw_begin(w, NULL, '{');
        jw_integer(w, "from", k);
        jw_integer(w, "to", k + 1);
        jw_integer(w, "exchanged", (size_t)x->moves[k * n + k + 1]);
        if (attempts) {
            jw_integer(w, "attempted", attempts);
            jw_real(w, "acceptance", x->moves[k * n + k + 1] / (double)attempts);
        } else {
            jw_null(w, "attempted");
            jw_null(w, "acceptance");
        }
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

static void walks(struct writer *w, const struct walks *x, int repeat)
{
    static const char *const schemes[] = {[EXCHANGE_NEIGHBOURS] = "neighbours", [EXCHANGE_GIBBS] = "gibbs"};
    size_t n = (size_t)x->nstates, trips = 0;
    for (size_t r = 0; r < n; r++)
        trips += x->round_trips[r];
    jw_begin(w, NULL, '{');
    jw_integer(w, "repeat", (size_t)repeat);
    jw_text(w, "scheme", schemes[x->scheme]);
    jw_integer(w, "exchanges", x->exchanges);
    jw_integer(w, "round_trips", trips);
    jw_real(w, "eigenvalue", x->eigenvalue);
    pairs(w, x);
    jw_matrix(w, "transitions", x->moves, n, 1 / (double)x->exchanges);
    jw_begin(w, "replicas", '[');
    for (size_t r = 0; r < n; r++) {
        size_t visited = 0;
        for (size_t k = 0; k < n; k++)
            visited += x->visited[r * n + k];
        jw_begin(w, NULL, '{');
        jw_integer(w, "replica", r);
        jw_integer(w, "windows", visited);
        jw_integer(w, "round_trips", x->round_trips[r]);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    jw_end(w, '}');
}

/* Of every repeat: their replicas never meet. */
void report_exchanges(struct writer *w, const struct report *r)
{
    jw_begin(w, "exchange", '[');
    for (int i = 0; i < r->nrepeats; i++)
        if (r->repeats[i].walks.exchanges)
            walks(w, &r->repeats[i].walks, i);
    jw_end(w, ']');
}
