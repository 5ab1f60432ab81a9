/* SPDX-License-Identifier: Apache-2.0
 *
 * Where lambda moves and energies do not: a free energy there is 0 by construction, whatever was sampled.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/estimate/trust/trust.h"

static bool row_tells_apart(const struct sampling *s, size_t row, int k)
{
    const double *u = s->u + row * (size_t)s->nstates;
    return !(fabs(u[k + 1] - u[k]) <= ESTIMATE_ROUNDING);
}

static bool slope_at(const struct sampling *s, size_t row, int k)
{
    const double *from = s->lambda + k * s->ncomponents, *to = from + s->ncomponents;
    for (int c = 0; s->dhdl && c < s->ncomponents; c++)
        if (!(fabs(s->dhdl[row * (size_t)s->ncomponents + (size_t)c] * (to[c] - from[c])) <= ESTIMATE_ROUNDING))
            return true;
    return false;
}

/* From window k to the next: by energy differences in all rows, and by slopes in the rows of both. */
static bool step_changes(const struct sampling *s, int k)
{
    for (size_t row = 0; row < s->start[s->nstates]; row++)
        if (row_tells_apart(s, row, k))
            return true;
    for (size_t row = s->start[k]; row < s->start[k + 2]; row++)
        if (slope_at(s, row, k))
            return true;
    return false;
}

void result_find_changes(struct result *r, const struct sampling *s)
{
    r->changes = xcalloc((size_t)s->nstates, sizeof *r->changes);
    for (int k = 0; k + 1 < s->nstates; k++)
        r->changes[k] = !s->start[s->nstates] || step_changes(s, k);
}

static bool lambda_moves(const struct ladder *l, int k)
{
    for (int c = 0; c < l->ncomponents; c++)
        if (l->lambda[(k + 1) * l->ncomponents + c] != l->lambda[k * l->ncomponents + c])
            return true;
    return false;
}

bool result_no_change(const struct result *r, int from, int to)
{
    bool moves = to - from == r->ladder->nstates - 1; /* of twin windows, which are one state, 0 is right */
    for (int k = from; k < to; k++) {
        if (r->changes[k])
            return false;
        moves |= lambda_moves(r->ladder, k);
    }
    return moves && !r->ladder->allow_no_change;
}

void result_warn_no_change(struct result *r)
{
    const struct ladder *l = r->ladder;
    for (int i = 0; i < l->nlegs && !result_no_change(r, 0, l->nstates - 1); i++) {
        struct buf name = {0};
        if (!result_no_change(r, l->legs[i].from, l->legs[i].to))
            continue;
        ladder_leg_name(l, l->legs[i].from, &name);
        result_warn(r,
                    "the leg %s, windows %d to %d, changes nothing: all its energy differences are 0; does the "
                    "topology have what this ladder is to change?",
                    name.data, l->legs[i].from, l->legs[i].to);
        buf_free(&name);
    }
}
