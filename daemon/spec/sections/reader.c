/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/sections/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

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

void spec_phase_close(struct phase *p)
{
    for (int i = 0; i < p->ndefines; i++)
        free((char *)p->defines[i].name);
    free(p->defines);
}

uint64_t spec_steps(const struct spec *s, int stages)
{
    uint64_t steps = 0;
    for (int i = 0; i < stages; i++)
        steps += s->stages[i].steps;
    return steps;
}
