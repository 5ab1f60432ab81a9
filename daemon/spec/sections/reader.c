/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/sections/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define IMPULSE_MOST 0.005 /* ps from one to the next (docs/theory.md) */

int spec_bad(struct reader *r, struct view v, const char *place, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(r->e, ERR_SPEC, fmt, ap);
    va_end(ap);
    return err_prefix(r->e, "%s:%d: %s", r->file, v.node ? v.node->line : r->line, place);
}

int spec_steps_of(struct reader *r, struct view v, const char *place, uint64_t *out)
{
    struct quantity q = view_quantity(v);
    double n = q.steps ? q.value : q.value / r->timestep, whole = rint(n);
    if (!q.steps && (whole < 1 || fabs(n - whole) > 1e-9 * whole))
        return spec_bad(r, v, place, "%s: expected a whole multiple of the timestep, %.15g fs; the nearest is %.15g ps",
                        view_text(v), r->timestep * 1000, (whole < 1 ? 1 : whole) * r->timestep);
    *out = (uint64_t)whole;
    return 0;
}

int spec_cycles_of(struct reader *r, struct view v, const char *place, uint64_t *out)
{
    int rc = spec_steps_of(r, v, place, out);
    const uint64_t over = rc ? 0 : *out % r->cycle, next = *out - over + r->cycle;
    if (rc || !over)
        return rc;
    if (view_given(v))
        return spec_bad(r, v, place,
                        "%s: expected a multiple of integrator.mesh-every, %u timesteps or %.15g ps; the next is %llu "
                        "steps, %.15g ps",
                        view_text(v), r->cycle, r->cycle * r->timestep, (unsigned long long)next,
                        (double)next * r->timestep);
    *out = next;
    return 0;
}

int spec_check_impulse(struct reader *r, struct view v, const char *place)
{
    if (r->cycle == 1 || r->cycle * r->timestep <= IMPULSE_MOST * (1 + 1e-9))
        return 0;
    return spec_bad(r, v, place,
                    "%s: impulses of the mesh every %u timesteps of %.15g fs: expected them every %g fs or sooner, for "
                    "longer ones resonate with the fastest motions; expected a timestep of %.3g fs at most, or "
                    "integrator.mesh-every 1",
                    view_text(v), r->cycle, 1000 * r->timestep, 1000 * IMPULSE_MOST,
                    floor(1e5 * IMPULSE_MOST / r->cycle) / 100);
}

void spec_read_defines(struct phase *p, struct view v)
{
    p->ndefines = view_count(v);
    p->defines = xcalloc((size_t)p->ndefines, sizeof *p->defines);
    for (int i = 0; i < p->ndefines; i++) {
        char *name = xstrdup(view_text(view_item(v, i))), *equals = strchr(name, '=');
        if (equals)
            *equals = '\0';
        p->defines[i] = (struct define){.name = name, .value = equals ? equals + 1 : ""};
    }
}

int spec_check_friction(struct reader *r, enum integrator kind, struct view v, const char *place)
{
    if (!view_given(v) || integrators[kind].thermostat == THERMOSTAT_FRICTION)
        return 0;
    struct buf others = {0};
    integrators_with(THERMOSTAT_FRICTION, &others);
    int rc = spec_bad(r, v, place, "%s: %s has no friction; %s has", view_text(v), integrators[kind].word, others.data);
    buf_free(&others);
    return rc;
}

int spec_check_thermostat(struct reader *r, enum integrator kind, struct view v, const char *place)
{
    if (!integrator_conserves_energy(kind))
        return 0;
    struct buf others = {0};
    integrators_with_thermostat(true, &others);
    int rc = spec_bad(r, v, place, "%s has no thermostat; expected integrator.method %s", integrators[kind].word,
                      others.data);
    buf_free(&others);
    return rc;
}

void spec_phase_close(struct phase *p)
{
    for (int i = 0; i < p->ndefines; i++)
        free((char *)p->defines[i].name);
    free(p->defines);
}

uint64_t spec_exchanges_alone(const struct spec *s)
{
    uint64_t n = 0, begin = 0;
    for (int i = 0; i < s->nstages && begin < s->exchange_after; i++) {
        const struct stage *stage = &s->stages[i];
        uint64_t span = s->exchange_after - begin;
        span = i + 1 < s->nstages && span > stage->steps ? stage->steps : span; /* the last may have become longer */
        n += stage->exchange_every ? span / stage->exchange_every : 0;
        begin += stage->steps;
    }
    return n;
}

uint64_t spec_steps(const struct spec *s, int stages)
{
    uint64_t steps = 0;
    for (int i = 0; i < stages; i++)
        steps += s->stages[i].steps;
    return steps;
}
