/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/sampling.h"

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
        at += n;
        s->start[k + 1] = at;
    }
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
    *s = (struct sampling){0};
}
