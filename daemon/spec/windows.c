/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/spec.h"

#include <math.h>
#include <string.h>

#include "engine/math/box.h"
#include "engine/observe/observe.h"
#include "engine/prepare/ewald.h"
#include "engine/prepare/topology.h"

/* A pair must not be in reach of two images of one atom; and the mesh must not be beyond what can be computed. */
int spec_check_box(const struct spec *s, const struct system *sys, struct err *e)
{
    double cutoff = fmax(s->settings.nonbonded.vdw_cutoff, s->settings.nonbonded.coulomb_cutoff);
    double limit = box_cutoff_limit(sys->box);
    int32_t mesh[3];
    if (cutoff < limit) {
        int rc = mesh_sizes(mesh, sys->box, &s->settings.nonbonded, e);
        return rc ? err_prefix(e, "%s:%d", s->file, s->nonbonded_line) : 0;
    }
    if (box_triclinic(sys->box))
        return err_set(e, ERR_SPEC, "%s:%d: nonbonded.cutoff: %.15g nm: expected less than %.15g nm in the box of %s",
                       s->file, s->nonbonded_line, cutoff, limit, s->coordinates);
    return err_set(e, ERR_SPEC,
                   "%s:%d: nonbonded.cutoff: %.15g nm: expected less than half the shortest box edge in %s, %.15g nm",
                   s->file, s->nonbonded_line, cutoff, s->coordinates, 2 * limit);
}

static bool has_charges(const struct system *sys, const char *kind)
{
    for (int i = 0; i < sys->natoms; i++)
        if (sys->atoms[i].charge[0] != 0 && !strcmp(sys->kinds[sys->molecules[sys->atoms[i].molecule].kind].name, kind))
            return true;
    return false;
}

/* How much of a part of a molecule is there. */
static double strength(const struct decoupled *d, unsigned part, double lambda)
{
    return (1 - lambda) * !!(d->on[0] & part) + lambda * !!(d->on[1] & part);
}

/* A charge on an atom without repulsion meets its opposite, and the energy has no floor. */
static int check_window(const struct spec *s, int window, const struct decoupled *d, bool charged, struct err *e)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    double vdw = a->lambda[window][LAMBDA_VDW], coulomb = a->lambda[window][LAMBDA_COULOMB];
    double repulsion = strength(d, COUPLED_VDW, vdw), charge = strength(d, COUPLED_CHARGE, coulomb);
    bool gapsys = a->soft_core.function == SOFT_GAPSYS;
    if (charged && repulsion == 0 && charge > 0 && !a->soft_core.coulomb)
        return err_set(
            e, ERR_SPEC,
            "%s:%d: alchemy.windows: window %d has charges (coulomb %.15g) without Lennard-Jones (vdw %.15g); expected "
            "coulomb %d before vdw ends, or %s",
            s->file, s->alchemy_line, window, coulomb, vdw, d->on[1] & COUPLED_CHARGE ? 0 : 1,
            gapsys ? "soft-core.scale-linpoint-coulomb above 0" : "soft-core.coulomb yes");
    if (repulsion < 1 && d->on[0] != d->on[1] && a->soft_core.alpha == 0)
        return err_set(e, ERR_SPEC, "%s:%d: alchemy.soft-core.%s: 0: expected more than 0, as window %d has vdw %.15g",
                       s->file, s->alchemy_line, gapsys ? "scale-linpoint-lj" : "alpha", window, vdw);
    return 0;
}

/* The topology says whether replicas can change lambda. */
static int check_changeable(const struct spec *s, const struct system *sys, struct err *e)
{
    struct topology t = {0};
    int rc = topology_build(&t, sys, &s->settings, e);
    topology_close(&t);
    return rc ? err_prefix(e, "%s: %s", s->file, s->walkers ? "switch" : "exchange") : 0;
}

/* In a run: where each window begins. */
static int check_observables(const struct spec *s, const struct system *sys, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < sys->nobservables && !rc; i++) {
        const struct observable *o = &sys->observables[i];
        rc = observe_check(o, sys, e);
        for (int w = 0; w < s->settings.alchemy.nwindows && !rc; w++)
            rc = observe_check_box(o, sys, system_start(sys, w).box, e);
    }
    return rc ? err_prefix(e, "%s:%d: observables", s->file, s->observables_line) : 0;
}

static int check_mesh_every(const struct spec *s, const struct system *sys, struct err *e)
{
    bool charged = false;
    for (int i = 0; i < sys->natoms; i++)
        charged |= sys->atoms[i].charge[0] != 0 || sys->atoms[i].charge[1] != 0;
    if (charged || mesh_cycle(&s->settings.integrator) == 1)
        return 0;
    return err_set(e, ERR_SPEC,
                   "%s:%d: integrator.mesh-every: %d: no atom has a charge, so there is no mesh; expected 1", s->file,
                   s->integrator_line, s->settings.integrator.mesh_every);
}

int spec_check_windows(const struct spec *s, const struct system *sys, struct err *e)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    int rc = spec_check_box(s, sys, e);
    if (!rc)
        rc = check_mesh_every(s, sys, e);
    for (int k = 0; k < a->ndecouple && !rc; k++) {
        bool charged = has_charges(sys, a->decouple[k].molecule);
        for (int i = 0; i < a->nwindows && !rc; i++)
            rc = check_window(s, i, &a->decouple[k], charged, e);
    }
    if (!rc)
        rc = check_observables(s, sys, e);
    return rc || !(s->settings.exchange || s->walkers) ? rc : check_changeable(s, sys, e);
}
