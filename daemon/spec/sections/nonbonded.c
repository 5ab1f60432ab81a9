/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/system/vdw_modifiers.h"

static int no_switch(struct reader *r, struct view start, struct view modifier)
{
    struct buf switching = {0};
    vdw_modifiers_that_switch(&switching);
    int rc = spec_bad(r, start, "nonbonded.vdw.switch-start", "%s: only %s begin somewhere, not %s", view_text(start),
                      switching.data, view_text(modifier));
    buf_free(&switching);
    return rc;
}

static int read_vdw(struct reader *r, struct nonbonded_settings *nb, struct view v)
{
    struct view cutoff = view_key(v, "cutoff"), start = view_key(v, "switch-start"), modifier = view_key(v, "modifier");
    if (view_given(cutoff))
        nb->vdw_cutoff = view_quantity(cutoff).value;
    nb->vdw_modifier = (enum vdw_modifier)view_choice(modifier);
    nb->dispersion = (enum dispersion_correction)view_choice(view_key(v, "dispersion-correction"));
    const bool switches = vdw_modifiers[nb->vdw_modifier].switches;
    if (!switches && view_given(start))
        return no_switch(r, start, modifier);
    if (switches && !view_given(start))
        return spec_bad(r, modifier, "nonbonded.vdw.switch-start",
                        "missing; %s needs it, below the cut-off of %.15g nm", view_text(modifier), nb->vdw_cutoff);
    nb->vdw_switch = view_quantity(start).value;
    if (switches && nb->vdw_switch >= nb->vdw_cutoff)
        return spec_bad(r, start, "nonbonded.vdw.switch-start", "%s: expected less than the cut-off of %.15g nm",
                        view_text(start), nb->vdw_cutoff);
    return 0;
}

/* Each method has keys of its own. */
static int read_method(struct reader *r, struct nonbonded_settings *nb, struct view v)
{
    static const struct {
        const char *key;
        enum coulomb_method of;
    } own[] = {{"modifier", COULOMB_PME}, {"grid-spacing", COULOMB_PME}, {"grid", COULOMB_PME},
               {"order", COULOMB_PME},    {"tolerance", COULOMB_PME},    {"epsilon-rf", COULOMB_REACTION_FIELD}};
    struct view method = view_key(v, "method"), epsilon = view_key(v, "epsilon-rf");
    nb->coulomb_method = (enum coulomb_method)view_choice(method);
    nb->epsilon_r = view_number(view_key(v, "epsilon-r"));
    nb->epsilon_rf = view_number(epsilon);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct view key = view_key(v, own[i].key);
        char place[48];
        snprintf(place, sizeof place, "nonbonded.coulomb.%s", own[i].key);
        if (view_given(key) && own[i].of != nb->coulomb_method)
            return spec_bad(r, key, place, "a key of another method than %s", view_text(method));
    }
    if (nb->epsilon_rf > 0 && nb->epsilon_rf < nb->epsilon_r)
        return spec_bad(r, epsilon, "nonbonded.coulomb.epsilon-rf",
                        "%s: expected at least epsilon-r, %.15g, or 0 for an infinite constant", view_text(epsilon),
                        nb->epsilon_r);
    return 0;
}

static void read_grid(struct nonbonded_settings *nb, struct view grid)
{
    for (int d = 0; d < view_count(grid); d++)
        nb->pme_grid[d] = (int)view_integer(view_item(grid, d));
}

static int read_coulomb(struct reader *r, struct nonbonded_settings *nb, struct view v)
{
    int rc = read_method(r, nb, v);
    if (rc)
        return rc;
    struct view cutoff = view_key(v, "cutoff"), spacing = view_key(v, "grid-spacing"), grid = view_key(v, "grid");
    if (view_given(cutoff))
        nb->coulomb_cutoff = view_quantity(cutoff).value;
    nb->coulomb_modifier = (enum coulomb_modifier)view_choice(view_key(v, "modifier"));
    nb->ewald_tolerance = view_number(view_key(v, "tolerance"));
    nb->pme_order = (int)view_integer(view_key(v, "order"));
    nb->pme_spacing = view_quantity(spacing).value;
    if (view_given(spacing) && view_given(grid))
        return spec_bad(r, grid, "nonbonded.coulomb.grid", "expected grid or grid-spacing, not both");
    read_grid(nb, grid);
    for (int d = 0; d < view_count(grid); d++)
        if (nb->pme_grid[d] < 2 * nb->pme_order)
            return spec_bad(r, grid, "nonbonded.coulomb.grid", "%d: expected at least twice the order, %d points",
                            nb->pme_grid[d], 2 * nb->pme_order);
    return 0;
}

/* What the section says before is what errors are measured by. */
static int read_split(struct reader *r, struct spec *s, struct view v)
{
    struct nonbonded_settings *nb = &s->settings.nonbonded;
    s->asked = *nb;
    if (!view_given(v))
        return 0;
    if (nb->coulomb_method != COULOMB_PME)
        return spec_bad(r, v, "nonbonded.split", "expected coulomb: {method: pme}, or no split");
    s->split = v.node->kind == NODE_MAP ? SPLIT_GIVEN : SPLIT_AUTO;
    if (s->split == SPLIT_AUTO)
        return 0;
    nb->coulomb_cutoff = view_quantity(view_key(v, "cutoff")).value;
    nb->ewald_tolerance = view_number(view_key(v, "tolerance"));
    nb->pme_order = (int)view_integer(view_key(v, "order"));
    read_grid(nb, view_key(v, "grid"));
    return 0;
}

int spec_read_nonbonded(struct reader *r, struct spec *s, struct view v)
{
    struct nonbonded_settings *nb = &s->settings.nonbonded;
    nb->vdw_cutoff = nb->coulomb_cutoff = view_quantity(view_key(v, "cutoff")).value;
    nb->list_buffer = view_quantity(view_key(v, "list-buffer")).value;
    int rc = read_vdw(r, nb, view_key(v, "vdw"));
    if (!rc)
        rc = read_coulomb(r, nb, view_key(v, "coulomb"));
    return rc ? rc : read_split(r, s, view_key(v, "split"));
}
