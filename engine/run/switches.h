/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a non-equilibrium switch is after so many timesteps, and the work that it has done.
 *
 * Lambda goes along the rows of a schedule. Of the timesteps from one row to the next, one is that of the change: its
 * forces are those half way between both rows, so that a switch and the one back along its rows have the same kicks in
 * opposite order. The work is the energy at the row behind less that at the row before, at the positions of that kick.
 * Half way, it has no part that is quadratic in the Coulomb lambda: the slope of the mesh is all that the mesh adds.
 */
#ifndef SHOAL_ENGINE_RUN_SWITCHES_H
#define SHOAL_ENGINE_RUN_SWITCHES_H

#include "engine/prepare/device_tables.h"
#include "engine/run/ctl.h"

/* With these rows, of the host or the device; no rows where the settings have no switches. */
static inline struct switch_schedule switch_schedule_of(const struct settings *set,
                                                        const double (*lambda)[LAMBDA_COUNT])
{
    const struct switch_settings *to = &set->switching;
    struct switch_schedule t = {0};
    if (!to->changes)
        return t;
    t.lambda = lambda;
    t.changes = (uint32_t)to->changes;
    t.every = (uint32_t)to->every;
    t.change_at = t.every - mesh_cycle(&set->integrator);
    t.doublings = (uint32_t)to->doublings;
    return t;
}

/* Of a switch of so many doublings. */
MATH_FN uint32_t switch_changes(const struct switch_schedule *t, const struct switch_course *s)
{
    return t->changes << s->doublings;
}

/* The row after so many changes; the last of them where there are no more. */
MATH_FN const double *switch_row(const struct switch_schedule *t, const struct switch_course *s, uint32_t changes)
{
    const uint32_t all = switch_changes(t, s), n = changes < all ? changes : all;
    return t->lambda[(s->way == SWITCH_FORWARD ? n : all - n) << (t->doublings - s->doublings)];
}

/* Lambda of the timestep after so many. */
MATH_FN void switch_lambda(const struct switch_schedule *t, const struct switch_course *s, uint32_t steps,
                           double lambda[LAMBDA_COUNT])
{
    const uint32_t changes = steps / t->every, at = steps % t->every;
    const double *before = switch_row(t, s, changes + (at > t->change_at));
    const double *after = switch_row(t, s, changes + (at >= t->change_at));
    for (int k = 0; k < LAMBDA_COUNT; k++)
        lambda[k] = 0.5 * (before[k] + after[k]);
}

/* What follows from the number of timesteps: lambda, and what the next evaluation looks at. */
MATH_FN void switch_set(const struct switch_schedule *t, struct ctl *c)
{
    struct switch_course *s = &c->switching;
    const struct fixed_sum none = {0, 0};
    const uint32_t changes = s->steps / t->every;
    switch_lambda(t, s, s->steps, c->lambda);
    switch_lambda(t, s, s->steps + 1, s->ahead);
    s->looks = s->steps % t->every == t->change_at && changes < switch_changes(t, s);
    for (uint32_t r = 0; r < 2; r++) {
        s->at_row[r] = none;
        for (int k = 0; k < LAMBDA_COUNT && s->looks; k++)
            s->row[r][k] = switch_row(t, s, changes + r)[k];
    }
}

/* A timestep is done. */
MATH_FN void switch_follow(const struct switch_schedule *t, struct ctl *c)
{
    struct switch_course *s = &c->switching;
    if (!s->under_way)
        return;
    if (s->looks)
        fixed_merge(&s->work, fixed_minus(s->at_row[1], s->at_row[0]));
    s->steps++;
    switch_set(t, c);
}

#endif
