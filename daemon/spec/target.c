/* SPDX-License-Identifier: Apache-2.0
 *
 * Targets: how far a replica goes, where that is not what the spec says. Only the last stage becomes longer or shorter,
 * and only one that produces: what came before stays what it was.
 */
#include <math.h>

#include "daemon/spec/document/value.h"
#include "daemon/spec/spec.h"

#define LONGEST_PS 1e9 /* as the schema has it for one stage */

/* NULL: it does not produce. ERR_CONFLICT. */
static const struct stage *last_stage(const struct spec *s, struct err *e)
{
    const struct stage *last = s->nstages ? &s->stages[s->nstages - 1] : NULL;
    if (last && last->kind == STAGE_PRODUCE)
        return last;
    err_set(e, ERR_CONFLICT,
            "%s:%d: protocol: its last stage does not produce; only production can be longer or shorter", s->file,
            s->protocol_line);
    return NULL;
}

uint64_t spec_produce_steps(const struct spec *s)
{
    uint64_t steps = 0;
    for (int i = 0; i < s->nstages; i++)
        steps += s->stages[i].kind == STAGE_PRODUCE ? s->stages[i].steps : 0;
    return steps;
}

int spec_retarget(const struct spec *s, struct stage *stages, uint64_t steps, struct err *e)
{
    if (!last_stage(s, e))
        return -ERR_CONFLICT;
    uint64_t before = spec_steps(s, s->nstages - 1);
    if (steps <= before)
        return err_set(e, ERR_CONFLICT, "a target of %llu steps; expected more than the %llu before the last stage",
                       (unsigned long long)steps, (unsigned long long)before);
    stages[s->nstages - 1].steps = steps - before;
    return 0;
}

int spec_production(const struct spec *s, const char *text, bool nearest, uint64_t *steps, struct err *e)
{
    struct quantity q = {0};
    const struct stage *last = last_stage(s, e);
    if (!last)
        return -ERR_CONFLICT;
    if (value_quantity(text, "ps", true, &q) != QUANTITY_OK)
        return err_set(e, ERR_USAGE, "%.100s: expected a time with its unit (%s) or a number of steps, as in \"2 ns\"",
                       text, value_units("ps"));
    const uint32_t cycle = mesh_cycle(&s->settings.integrator);
    const double unit = cycle * last->timestep, n = q.steps ? q.value / cycle : q.value / unit;
    double whole = rint(n);
    if (!(n > 0) || n * unit > LONGEST_PS)
        return err_set(e, ERR_USAGE, "%.100s: expected more than 0 and at most %g ps", text, LONGEST_PS);
    if (nearest)
        whole = n < 1 - 1e-9 ? 0 : whole;
    else if (whole < 1 || fabs(n - whole) > 1e-9 * whole)
        return err_set(e, ERR_USAGE, "%.100s: expected a whole multiple of %s, %.15g fs; the nearest is %.15g ps", text,
                       cycle > 1 ? "integrator.mesh-every timesteps" : "the timestep", unit * 1000,
                       (whole < 1 ? 1 : whole) * unit);
    *steps = cycle * (uint64_t)whole;
    return 0;
}
