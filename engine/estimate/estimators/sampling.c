/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/sampling.h"

/* Rows of the one run count from the first that is left. */
static void begin_anew(struct sampling *s)
{
    size_t total = s->start[s->nstates], first = SIZE_MAX;
    for (size_t row = 0; row < total; row++)
        first = s->place[row] < first ? s->place[row] : first;
    for (size_t row = 0; row < total; row++)
        s->place[row] -= first;
    s->run -= total ? first : 0;
}

size_t sampling_before(const struct sampling *s, int k, size_t place)
{
    size_t from = s->start[k], to = s->start[k + 1];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (s->place[middle] < place)
            from = middle + 1;
        else
            to = middle;
    }
    return from - s->start[k];
}

void sampling_cut(struct sampling *s, const size_t *head)
{
    size_t ns = (size_t)s->nstates, nc = (size_t)s->ncomponents, at = 0, end = s->start[0];
    size_t na = s->along ? (size_t)s->nalong : 0;
    for (size_t k = 0; k < ns; k++) {
        size_t from = end + head[k], n = s->start[k + 1] - from;
        end = s->start[k + 1];
        memmove(s->u + at * ns, s->u + from * ns, n * ns * sizeof *s->u);
        if (s->dhdl)
            memmove(s->dhdl + at * nc, s->dhdl + from * nc, n * nc * sizeof *s->dhdl);
        if (s->along)
            memmove(s->along + at * na, s->along + from * na, n * na * sizeof *s->along);
        if (s->time)
            memmove(s->time + at, s->time + from, n * sizeof *s->time);
        if (s->place)
            memmove(s->place + at, s->place + from, n * sizeof *s->place);
        at += n;
        s->start[k + 1] = at;
    }
    if (s->place)
        begin_anew(s);
}

#define SAME_TIME 0.51e-4 /* ps: dhdl.xvg has 4 decimals */
#define FEWEST 4          /* rows that are a sampling */

/* Whether state k has a row of a time; *at: where to look from, and then where that is. */
static bool has_time(const struct sampling *s, int k, double time, size_t *at)
{
    while (*at < s->start[k + 1] && s->time[*at] < time - SAME_TIME)
        ++*at;
    return *at < s->start[k + 1] && s->time[*at] <= time + SAME_TIME;
}

/* Of the sampled state with the fewest rows the times that all have: how many, and flags of all rows of such times. */
static size_t common_times(const struct sampling *s, bool *common)
{
    size_t n = 0, *at = xcalloc((size_t)s->nstates, sizeof *at);
    int base = 0;
    for (int k = 0; k < s->nstates; k++) {
        at[k] = s->start[k];
        if (sampling_count(s, k) && (!sampling_count(s, base) || sampling_count(s, k) < sampling_count(s, base)))
            base = k;
    }
    for (size_t row = s->start[base]; row < s->start[base + 1]; row++) {
        bool all = true;
        for (int k = 0; k < s->nstates; k++)
            all = all && (!sampling_count(s, k) || has_time(s, k, s->time[row], &at[k]));
        for (int k = 0; k < s->nstates && all; k++)
            if (sampling_count(s, k))
                common[at[k]] = true;
        n += all;
    }
    free(at);
    return n;
}

static void keep_flagged(struct sampling *s, const bool *keep)
{
    const size_t ns = (size_t)s->nstates, nc = (size_t)s->ncomponents, na = s->along ? (size_t)s->nalong : 0;
    size_t at = 0, end = s->start[0];
    for (size_t k = 0; k < ns; k++) {
        const size_t begin = end;
        end = s->start[k + 1];
        for (size_t row = begin; row < end; row++) {
            if (!keep[row])
                continue;
            memmove(s->u + at * ns, s->u + row * ns, ns * sizeof *s->u);
            if (s->dhdl)
                memmove(s->dhdl + at * nc, s->dhdl + row * nc, nc * sizeof *s->dhdl);
            if (s->along)
                memmove(s->along + at * na, s->along + row * na, na * sizeof *s->along);
            s->time[at++] = s->time[row];
        }
        s->start[k + 1] = at;
    }
}

static bool align_by_time(struct sampling *s)
{
    bool *common = xcalloc(s->start[s->nstates] + 1, sizeof *common);
    const bool some = s->time && common_times(s, common) >= FEWEST;
    if (some)
        keep_flagged(s, common);
    free(common);
    return some;
}

void sampling_align(struct sampling *s)
{
    s->together = true;
    if (align_by_time(s))
        return;
    size_t least = SIZE_MAX, *head = xcalloc((size_t)s->nstates, sizeof *head);
    for (int k = 0; k < s->nstates; k++)
        if (sampling_count(s, k) && sampling_count(s, k) < least)
            least = sampling_count(s, k);
    for (int k = 0; k < s->nstates; k++)
        head[k] = sampling_count(s, k) ? sampling_count(s, k) - least : 0;
    sampling_cut(s, head);
    free(head);
}

void sampling_close(struct sampling *s)
{
    free(s->start);
    free(s->u);
    free(s->dhdl);
    free(s->along);
    free(s->place);
    free(s->time);
    *s = (struct sampling){0};
}
