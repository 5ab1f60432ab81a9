/* SPDX-License-Identifier: Apache-2.0 */
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
        if (s->place)
            memmove(s->place + at, s->place + from, n * sizeof *s->place);
        at += n;
        s->start[k + 1] = at;
    }
    if (s->place)
        begin_anew(s);
}

void sampling_align(struct sampling *s)
{
    size_t least = SIZE_MAX, *head = xcalloc((size_t)s->nstates, sizeof *head);
    for (int k = 0; k < s->nstates; k++)
        if (sampling_count(s, k) && sampling_count(s, k) < least)
            least = sampling_count(s, k);
    for (int k = 0; k < s->nstates; k++)
        head[k] = sampling_count(s, k) ? sampling_count(s, k) - least : 0;
    sampling_cut(s, head);
    free(head);
    s->together = true;
}

void sampling_close(struct sampling *s)
{
    free(s->start);
    free(s->u);
    free(s->dhdl);
    free(s->along);
    free(s->place);
    *s = (struct sampling){0};
}
