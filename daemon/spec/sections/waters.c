/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters between bulk and a sphere: what the spec says of it, and the atoms of the center in a system.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/derive/fold.h"
#include "engine/prepare/waters/water_table.h"

static const char place[] = "water-exchange";

/* What follows waters from frame to frame has no meaning where they jump. */
static int check_observables(struct reader *r, const struct spec *s, struct view v)
{
    for (int i = 0; i < s->nobservables; i++) {
        const int kind = (int)s->observables[i].of.kind;
        if (kind == OBSERVE_MSD || kind == OBSERVE_VACF)
            return spec_bad(r, v, place,
                            "observables[%d] (%s) follows molecules through time, and waters that are exchanged jump; "
                            "expected one of the two in a spec",
                            i, s->observables[i].kind);
    }
    return 0;
}

/* A batch needs velocities at the time of positions, half a kick from those that a timestep leaves, and impulses of the
 * mesh are kicks of another length. */
static int check_mesh(struct reader *r, const struct spec *s, struct view v)
{
    const uint32_t cycle = mesh_cycle(&s->settings.integrator);
    if (cycle > 1)
        return spec_bad(r, v, place, "beside integrator.mesh-every: %u: expected one of the two in a spec", cycle);
    return 0;
}

int spec_read_waters(struct reader *r, struct spec *s, struct view v)
{
    struct water_settings *w = &s->settings.waters;
    struct view around = view_key(v, "around"), every = view_key(v, "every");
    uint64_t steps;
    w->on = view_given(v);
    w->radius = view_quantity(view_key(v, "radius")).value;
    w->tries = (uint32_t)view_integer(view_key(v, "tries"));
    int rc = w->on ? check_mesh(r, s, v) : 0;
    if (!rc)
        rc = spec_steps_of(r, every, "water-exchange.every", &steps);
    if (rc || !w->on)
        return rc;
    if (steps > INT32_MAX)
        return spec_bad(r, every, "water-exchange.every", "%s: expected at most %d steps", view_text(every), INT32_MAX);
    w->every = (int)steps;
    s->waters.line = v.node->line;
    s->waters.given = view_given(around);
    if (s->waters.given)
        rc = selection_read(r, &s->waters.around, around, "water-exchange.around", s->index);
    if (!rc)
        rc = spec_check_thermostat(r, s->settings.integrator.kind, v, place);
    return rc ? rc : check_observables(r, s, v);
}

/* The center, where the spec names none: what the alchemy changes. */
static int find_changed(const struct spec *s, struct system *sys, struct err *e)
{
    sys->naround = fold_changed(sys, &s->settings.alchemy, NULL, 0, &sys->around);
    if (sys->naround)
        return 0;
    return err_set(e, ERR_SPEC,
                   "the alchemy changes no residue of %d heavy atoms or more that the sphere could be about; expected "
                   "around: and a group of atoms",
                   FOLD_LEAST);
}

int spec_make_waters(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    if (!s->settings.waters.on)
        return 0;
    int rc = s->waters.given ? selection_atoms(&s->waters.around, s->index, src, sys, &sys->around, &sys->naround, e)
                             : find_changed(s, sys, e);
    if (!rc)
        rc = waters_check(sys, &s->settings, e);
    return rc && rc != -ERR_MISSING_FILE ? err_prefix(e, "%s:%d: water-exchange", s->file, s->waters.line) : rc;
}
