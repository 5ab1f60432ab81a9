/* SPDX-License-Identifier: Apache-2.0
 *
 * One run in which the state changes, as of an expanded ensemble or AWH along lambda: its rows go to the states that
 * they were sampled in, in order of time, and each keeps its place in the run, by which errors know of correlation.
 *
 * Weights of states are not in the file and no estimator needs them, as long as they stay: within a state they change
 * nothing. While they change (Wang-Landau, the initial stage of AWH) the share of rows that a state gets changes too.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/estimate/estimators/visits.h"
#include "engine/estimate/rows/rows.h"

/* The rows of state k alone. */
static void rows_of_state(struct dhdl *part, const struct dhdl *d, int k)
{
    const size_t ns = (size_t)d->nstates, nc = (size_t)d->ncomponents;
    *part = *d;
    part->state = k;
    part->n = 0;
    part->slopeless = 0;
    part->nonfinite = d->dropped[k];
    part->time = xcalloc(d->n, sizeof *part->time);
    part->dhdl = xcalloc(d->n * nc, sizeof *part->dhdl);
    part->dh = xcalloc(d->n * ns, sizeof *part->dh);
    for (size_t i = 0; i < d->n; i++) {
        if (d->at[i] != k)
            continue;
        part->time[part->n] = d->time[i];
        memcpy(part->dhdl + part->n * nc, d->dhdl + i * nc, nc * sizeof *part->dhdl);
        memcpy(part->dh + part->n * ns, d->dh + i * ns, ns * sizeof *part->dh);
        part->n++;
    }
    part->seen = (part->n + part->nonfinite) * d->stride;
    part->cut_short = false; /* it is said once, of the run */
}

static void close_part(struct dhdl *part)
{
    free(part->time);
    free(part->dhdl);
    free(part->dh);
}

/* Of the rows of state k that have just been appended. */
static void keep_places(struct sampling *s, const struct dhdl *d, int k)
{
    const size_t rows = sampling_count(s, k);
    s->place = xrealloc(s->place, s->start[k + 1] + 1, sizeof *s->place);
    for (size_t i = 0, row = 0; i < d->n && row < rows; i++)
        if (d->at[i] == k)
            s->place[s->start[k] + row++] = i;
}

static void take_state(struct result *r, const char *name, const struct dhdl *d, int k, struct sampling *s)
{
    struct window_result *w = r->windows + k;
    struct dhdl part;
    s->start[k + 1] = s->start[k];
    rows_of_state(&part, d, k);
    if (part.n) {
        window_take(r, name, &part, k, s);
        const double interval = d->n > 1 ? (d->time[d->n - 1] - d->time[0]) / (double)(d->n - 1) : 0;
        w->sampled_ps = interval * (double)(w->used ? w->used - 1 : 0); /* not with the time in other states */
    } else {
        w->status = ESTIMATE_FAILED;
        snprintf(w->reason, sizeof w->reason, "the run was never in this state");
    }
    keep_places(s, d, k);
    close_part(&part);
}

/* How often the run went from one end of the ladder to the other, either way. */
static size_t crossings(const struct dhdl *d)
{
    size_t n = 0;
    int end = -1;
    for (size_t i = 0; i < d->n; i++) {
        if (d->at[i] != 0 && d->at[i] != d->nstates - 1)
            continue;
        n += end >= 0 && d->at[i] != end;
        end = d->at[i];
    }
    return n;
}

/* Whether the share of rows that some state gets changes along the run, by the test for drift of series. */
static void look_at_shares(struct result *r, const struct dhdl *d)
{
    double *in = xcalloc(d->n, sizeof *in);
    size_t most = 0;
    int state = -1;
    for (int k = 0; k < d->nstates; k++) {
        for (size_t i = 0; i < d->n; i++)
            in[i] = d->at[i] == k;
        const size_t drift = stats_drift(in, d->n, ESTIMATE_DRIFT_LEVEL / d->nstates);
        if (drift > most) {
            most = drift;
            state = k;
        }
    }
    if (state >= 0)
        result_warn(r,
                    "the share of rows in window %d changes until %.4g ps: weights were still changing there, or the "
                    "run was not in equilibrium; leave that time out with --begin '%.4g ps'",
                    state, d->time[most], d->time[most]);
    free(in);
}

void run_take(struct result *r, const char *name, const struct dhdl *d, struct sampling *s)
{
    r->one_run = true;
    r->crossings = crossings(d);
    s->run = d->n;
    for (int k = 0; k < r->ladder->nstates; k++)
        take_state(r, name, d, k, s);
    if (d->cut_short)
        result_warn(r, "%s: the last line is not whole and was left out", name);
    look_at_shares(r, d);
}
