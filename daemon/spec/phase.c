/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/base/suggest.h"
#include "engine/derive/masses.h"
#include "engine/derive/solute_tempering.h"
#include "engine/system/lines.h"

int spec_check_molecule(const struct spec *s, const struct system *sys, const char *key, const char *name,
                        struct err *e)
{
    const char **known = xcalloc((size_t)sys->nkinds, sizeof *known);
    bool *used = xcalloc((size_t)sys->nkinds, sizeof *used), found = false;
    size_t n = 0;
    for (int m = 0; m < sys->nmolecules; m++)
        used[sys->molecules[m].kind] = true;
    for (int k = 0; k < sys->nkinds; k++) {
        if (used[k])
            known[n++] = sys->kinds[k].name;
        found |= used[k] && !strcmp(sys->kinds[k].name, name);
    }
    free(used);
    int rc = 0;
    if (!found) {
        const char *near = suggest_nearest(name, known, n);
        rc = err_set(e, ERR_SPEC, "%s:%d: alchemy.%s: %s: %s has no molecules of this type; %s %s%s", s->file,
                     s->alchemy_line, key, name, s->topology, near ? "did you mean" : "it has",
                     near ? near
                     : n  ? known[0]
                          : "none",
                     near    ? "?"
                     : n > 1 ? " and others"
                             : "");
    }
    free(known);
    return rc;
}

#define DIFFER(list, n, field)                                                                                         \
    for (int i = 0; i < sys->n; i++)                                                                                   \
        if (memcmp(&sys->list[i].field[0], &sys->list[i].field[1], sizeof sys->list[i].field[0]) != 0)                 \
            return true;

/* Biases aside. */
static bool differs(const struct system *sys)
{
    DIFFER(atoms, natoms, type)
    DIFFER(atoms, natoms, charge)
    DIFFER(atoms, natoms, mass)
    DIFFER(bonds, nbonds, r0)
    DIFFER(bonds, nbonds, k)
    DIFFER(harmonics, nharmonics, r0)
    DIFFER(harmonics, nharmonics, k)
    DIFFER(angles, nangles, theta0)
    DIFFER(angles, nangles, k)
    DIFFER(angles, nangles, ub_r0)
    DIFFER(angles, nangles, ub_k)
    DIFFER(dihedrals, ndihedrals, phi0)
    DIFFER(dihedrals, ndihedrals, k)
    DIFFER(rb_dihedrals, nrb_dihedrals, c)
    DIFFER(cmaps, ncmaps, share)
    DIFFER(impropers, nimpropers, xi0)
    DIFFER(impropers, nimpropers, k)
    DIFFER(constraints, nconstraints, r0)
    DIFFER(position_restraints, nposition_restraints, k)
    DIFFER(rare, nrare, c)
    DIFFER(centers, ncenters, c)
    return false;
}

static bool biases_differ(const struct system *sys)
{
    DIFFER(biases, nbiases, c)
    return false;
}

bool spec_is_umbrella(const struct spec *s, const struct system *sys)
{
    return s->settings.alchemy.kind == ALCHEMY_B_STATES && biases_differ(sys) && !differs(sys);
}

bool spec_has_b_states(const struct system *sys)
{
    return differs(sys) || biases_differ(sys);
}

#define CHARGE_MAX 100.0 /* e; atoms of real models have less than ten */

/* What reads as a number and can be none of a molecule. */
static int check_sense(const struct system *sys, struct err *e)
{
    for (int i = 0; i < sys->natoms; i++) {
        const struct atom *a = &sys->atoms[i];
        double charge = fabs(a->charge[0]) > fabs(a->charge[1]) ? a->charge[0] : a->charge[1];
        if (fabs(charge) > CHARGE_MAX) {
            err_set(e, ERR_TOPOLOGY, "atom %d (%s %s%d): charge %g e: expected -%g to %g", i + 1, a->name, a->resname,
                    a->residue, charge, CHARGE_MAX, CHARGE_MAX);
            return system_blame(sys, &i, 1, e);
        }
    }
    for (int i = 0; i < sys->nsettles; i++) {
        const struct settle *t = &sys->settles[i];
        if (!(t->r_oh > 0 && t->r_hh > 0 && t->r_hh < 2 * t->r_oh)) {
            err_set(e, ERR_TOPOLOGY,
                    "[ settles ] of atom %d: distances %g and %g nm make no triangle; expected the second less than "
                    "twice the first",
                    t->oxygen + 1, t->r_oh, t->r_hh);
            return system_blame(sys, (const int[2]){t->oxygen, t->hydrogen[0]}, 2, e);
        }
    }
    return 0;
}

static int repartition(const struct spec *s, struct system *sys, struct err *e)
{
    int changing = 0, first = 0;
    for (int i = sys->natoms - 1; i >= 0; i--)
        if (sys->atoms[i].mass[0] != sys->atoms[i].mass[1]) {
            changing++;
            first = i;
        }
    if (changing && s->settings.masses.repartition != 1)
        system_note(
            sys,
            "%s:%d: masses.repartition: %d of the atoms have another mass in state B (the first is atom %d, %s of "
            "%s%d): they get the larger mass in both states, and dummies of a state get theirs without taking it from "
            "an "
            "atom; no average over configurations depends on it",
            s->file, s->masses_line, changing, first + 1, sys->atoms[first].name, sys->atoms[first].resname,
            sys->atoms[first].residue);
    int rc = masses_repartition(sys, &s->settings.masses, e);
    return rc ? err_prefix(e, "%s:%d: masses.repartition", s->file, s->masses_line) : 0;
}

static int temper(const struct spec *s, struct system *sys, struct err *e)
{
    const struct tempered *t = &s->settings.alchemy.temper;
    int rc = 0;
    for (int k = 0; k < t->nmolecules && !rc; k++)
        rc = spec_check_molecule(s, sys, "temper", t->molecule[k], e);
    if (rc || !t->nmolecules)
        return rc;
    if (differs(sys))
        return err_set(e, ERR_SPEC,
                       "%s:%d: alchemy.temper: %s has B states, and tempering makes B states itself; expected none",
                       s->file, s->alchemy_line, s->topology);
    rc = temper_make(sys, t, s->settings.integrator.temperature, e);
    if (rc)
        return err_prefix(e, "%s:%d: alchemy.temper: %s", s->file, s->alchemy_line, s->topology);
    return differs(sys) ? 0
                        : err_set(e, ERR_SPEC,
                                  "%s:%d: alchemy.temper: %s: no charges, Lennard-Jones or dihedrals that a higher "
                                  "temperature would weaken",
                                  s->file, s->alchemy_line, t->molecule[0]);
}

static int read_starts(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    int rc = 0;
    sys->starts = xcalloc((size_t)s->nstarts, sizeof *sys->starts);
    while (sys->nstarts < s->nstarts && !rc) {
        rc = gro_read_start(sys, src, s->starts[sys->nstarts], &sys->starts[sys->nstarts], e);
        sys->nstarts += !rc;
    }
    return rc;
}

int spec_missing(const struct spec *s, const struct source *src, const char *key, const char *name, struct err *e)
{
    if (e->code == ERR_MISSING_FILE && src->wanted[0] && !strcmp(src->wanted[0], name))
        err_prefix(e, "%s:%d: system.%s", s->file, s->system_line, key);
    return -(int)e->code;
}

static int read_files(const struct spec *s, int phase, struct source *src, struct system *sys, struct err *e)
{
    const struct phase *p = &s->phases[phase];
    if (top_read(sys, src, s->topology, p->defines, p->ndefines, e))
        return spec_missing(s, src, "topology", s->topology, e);
    if (gro_read(sys, src, s->coordinates, e))
        return spec_missing(s, src, "coordinates", s->coordinates, e);
    if (s->reference && gro_read_reference(sys, src, s->reference, e))
        return spec_missing(s, src, "reference", s->reference, e);
    int rc = read_starts(s, src, sys, e);
    return rc ? spec_missing(s, src, "window-coordinates", s->starts[sys->nstarts], e) : 0;
}

static int scale_restraints(const struct spec *s, int phase, struct system *sys, struct err *e)
{
    const double scale = s->phases[phase].restraint_scale;
    if (scale == 1 || system_scale_position_restraints(sys, scale))
        return 0;
    return err_set(
        e, ERR_SPEC,
        "position-restraint-scale: %.15g: %s has no position restraints in this stage; expected defines that "
        "bring them in (such as [POSRES]), or no scale",
        scale, s->topology);
}

int spec_phase_system(const struct spec *s, int phase, struct source *src, struct system *sys, struct err *e)
{
    int rc = read_files(s, phase, src, sys, e);
    if (!rc)
        rc = scale_restraints(s, phase, sys, e);
    if (!rc)
        rc = check_sense(sys, e);
    if (!rc)
        rc = repartition(s, sys, e);
    if (!rc)
        rc = temper(s, sys, e);
    if (!rc)
        rc = spec_make_restraints(s, src, sys, e);
    if (!rc)
        rc = spec_make_biases(s, src, sys, e);
    if (!rc)
        rc = spec_make_observables(s, src, sys, e);
    if (!rc)
        rc = spec_make_waters(s, src, sys, e);
    if (rc && s->index)
        spec_missing(s, src, "index", s->index, e);
    if (rc)
        system_close(sys);
    return rc;
}
