/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows at the start of windows that drift. Equilibration looks like a slow state that was visited once, and leaving out
 * early visits while late ones count is a bias. So all rows count, unless that matters: where the result without those
 * rows is another, by more than its error, or where a window has too few uncorrelated rows with them. Then they are
 * left out, and the verdict says so.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/estimate/rows/rows.h"
#include "engine/estimate/trust/trust.h"

/* Of one run those of all windows that come before the last of them. */
static void heads_of_run(const struct sampling *s, size_t *head)
{
    size_t place = 0;
    for (int k = 0; k < s->nstates; k++)
        if (head[k] && s->place[s->start[k] + head[k] - 1] + 1 > place)
            place = s->place[s->start[k] + head[k] - 1] + 1;
    for (int k = 0; k < s->nstates; k++)
        head[k] = sampling_before(s, k, place);
}

/* Rows to leave out of each window, which are as many in all windows that exchange replicas; false: none. */
static bool heads(const struct result *r, const struct sampling *s, size_t *head)
{
    size_t most = 0;
    for (int k = 0; k < s->nstates; k++) {
        const struct window_result *w = r->windows + k;
        head[k] = w->used && w->drift > w->discarded ? w->drift - w->discarded : 0;
        most = head[k] > most ? head[k] : most;
    }
    for (int k = 0; k < s->nstates; k++)
        if (s->together && sampling_count(s, k))
            head[k] = most;
    if (s->place)
        heads_of_run(s, head);
    return most > 0;
}

static bool few_with_all(const struct result *r, const size_t *head)
{
    for (int k = 0; k < r->ladder->nstates; k++)
        if (head[k] && r->windows[k].uncorrelated < ESTIMATE_UNCORRELATED)
            return true;
    return false;
}

/* Whether the result without the heads is another. */
static bool matters(struct result *r, const struct sampling *s, const size_t *head)
{
    struct mbar m = {0};
    struct bar b = {0};
    struct err e = {0};
    struct range all = {.from = 0, .to = s->nstates - 1}, late = all;
    double *guess = xcalloc((size_t)s->nstates, sizeof *guess);
    const bool begins = !bar_solve(&b, s, &e);
    if (begins)
        bar_guess(&b, guess);
    if (!mbar_solve(&m, s, begins ? guess : NULL, &e)) {
        solution_range(&m.solution, &all);
        mbar_part(&m, head, 0, 1, &late, &e);
    }
    free(guess);
    bar_close(&b);
    mbar_close(&m);
    r->moved = fabs(late.value - all.value);
    r->allowed = all.error;
    return late.ok && r->moved > fmax(r->allowed, ESTIMATE_ROUNDING);
}

void result_discard(struct result *r, struct sampling *s)
{
    size_t *head = xcalloc((size_t)s->nstates, sizeof *head);
    if (heads(r, s, head) && (matters(r, s, head) || few_with_all(r, head))) {
        sampling_cut(s, head);
        for (int k = 0; k < s->nstates; k++) {
            r->windows[k].drifted = head[k] > 0;
            if (head[k])
                window_drop(r->windows + k, head[k], s, k);
        }
    }
    free(head);
}
