/* SPDX-License-Identifier: Apache-2.0
 *
 * What every file of gather asks of what was gathered: verdicts, names, remarks; and freeing it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/gather/gather.h"

const char *verdict_word(enum verdict v)
{
    static const char *const words[] = {"", "converged", "unconverged", "failed", "pending"};
    return words[v];
}

const char *verdict_text(enum verdict v, bool so_far)
{
    static const char *const words[] = {"", "converged so far", "unconverged so far", "failed so far",
                                        "so far, repeats pending"};
    return so_far ? words[v] : verdict_word(v);
}

bool gather_so_far(const struct gathered *g)
{
    bool any = false;
    for (int i = 0; i < g->nrows; i++)
        any |= g->rows[i].so_far || g->rows[i].verdict == VERDICT_PENDING;
    return any;
}

const char *gather_system(const struct gathered *g, int i)
{
    return answer_text(json_array_get(json_object_get(g->campaign->plan, "systems"), (size_t)i), "name");
}

/* ---- legs ---- */

double gather_corrections(const struct gathered_ensemble *r)
{
    bool none = isnan(r->standard_state) && isnan(r->finite_size);
    return none ? NAN
                : (isnan(r->standard_state) ? 0 : r->standard_state) + (isnan(r->finite_size) ? 0 : r->finite_size);
}

enum verdict gather_worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

struct gathered_item *gather_item(const struct gathered *g, const json_t *planned)
{
    bool is_edge = !strcmp(answer_text(planned, "of"), "edge");
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].is_edge == is_edge && !strcmp(g->items[i].name, answer_text(planned, "item")))
            return &g->items[i];
    return NULL;
}

void gather_remark(struct gathered *g, const char *fmt, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    json_array_append_new(g->remarks, json_string(text));
}

void gather_free(struct gathered *g)
{
    for (int i = 0; i < g->nitems; i++)
        free(g->items[i].legs);
    for (int i = 0; i < g->nrows; i++) {
        json_decref(g->rows[i].convergence);
        json_decref(g->rows[i].reasons);
        json_decref(g->rows[i].run);
        free(g->rows[i].spec);
    }
    free(g->items);
    free(g->rows);
    free(g->experiments);
    free(g->measured);
    free(g->of_item);
    free(g->shift);
    free(g->verdicts);
    free(g->values_so_far);
    json_decref(g->remarks);
    json_decref(g->services);
    contradictions_free(g->contradictions, g->ncontradictions);
    loops_free(g->loops, g->nloops);
    network_free(&g->network);
}
