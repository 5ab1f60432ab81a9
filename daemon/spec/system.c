/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/fold.h"
#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/base/suggest.h"
#include "engine/observe/observe.h"
#include "engine/math/box.h"
#include "engine/prepare/ewald.h"
#include "engine/system/lines.h"
#include "engine/derive/masses.h"
#include "engine/derive/solute_tempering.h"
#include "engine/prepare/topology.h"

/* A molecule that `key` of alchemy names must be in the topology's molecules. */
static int check_molecule(const struct spec *s, const struct system *sys, const char *key, const char *name,
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

static int check_decoupled(const struct spec *s, const struct system *sys, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < s->settings.alchemy.ndecouple && !rc; k++)
        rc = check_molecule(s, sys, "decouple", s->settings.alchemy.decouple[k].molecule, e);
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

/* A path from A to B needs a B. */
static int check_b_states(const struct spec *s, const struct system *sys, struct err *e)
{
    if (s->settings.alchemy.kind != ALCHEMY_B_STATES || differs(sys) || biases_differ(sys))
        return 0;
    return err_set(e, ERR_SPEC,
                   "%s:%d: alchemy.perturb: b-states: nothing in %s has a B state that differs from its A state",
                   s->file, s->alchemy_line, s->topology);
}

#define START_BOX_MOST 0.05 /* by which boxes of windows may differ */
#define CUBE 0.01           /* by which edges of a cube may differ, as much as the volume fluctuates */
#define CHARGE_MAX 100.0    /* e; atoms of real models have less than ten */

/* The formulas are those of a cube. */
static int check_cube(const struct spec *s, const struct system *sys, struct err *e)
{
    const double *b = sys->box;
    if (!s->settings.alchemy.dielectric || (!box_triclinic(b) && fabs(b[BOX_YY] - b[BOX_XX]) < CUBE * b[BOX_XX] &&
                                            fabs(b[BOX_ZZ] - b[BOX_XX]) < CUBE * b[BOX_XX]))
        return 0;
    return err_set(e, ERR_SPEC, "%s:%d: alchemy.finite-size: expected a cubic box, %s has one of %g x %g x %g nm",
                   s->file, s->alchemy_line, s->coordinates, b[BOX_XX], b[BOX_YY], b[BOX_ZZ]);
}

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
        rc = check_molecule(s, sys, "temper", t->molecule[k], e);
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

/* What lists and meshes are sized for holds in every window: with a barostat boxes are near that of `coordinates`, else
 * equal. */
static int check_start_boxes(const struct spec *s, const struct system *sys, struct err *e)
{
    bool varies = s->settings.barostat.on;
    double cutoff = fmax(s->settings.nonbonded.vdw_cutoff, s->settings.nonbonded.coulomb_cutoff);
    for (int w = 0; w < sys->nstarts; w++) {
        const double *box = sys->starts[w].box;
        for (int d = 0; d < BOX_SIZE; d++)
            if (fabs(box[d] - sys->box[d]) > (varies ? START_BOX_MOST : 0) * fabs(sys->box[d]))
                return err_set(
                    e, ERR_SPEC,
                    "%s:%d: system.window-coordinates[%d]: %s has a box of %.15g nm where %s has %.15g nm; expected "
                    "%s",
                    s->file, s->system_line, w, s->starts[w], box[d], s->coordinates, sys->box[d],
                    varies ? "5 % less to 5 % more" : "the same, as there is no barostat");
        if (!(cutoff < box_cutoff_limit(box)))
            return err_set(e, ERR_SPEC,
                           "%s:%d: nonbonded.cutoff: %.15g nm: expected less than %.15g nm in the box of %s", s->file,
                           s->nonbonded_line, cutoff, box_cutoff_limit(box), s->starts[w]);
    }
    return 0;
}

/* One that the spec itself names is missing: says where. */
static int missing(const struct spec *s, const struct source *src, const char *key, const char *name, struct err *e)
{
    if (e->code == ERR_MISSING_FILE && src->wanted[0] && !strcmp(src->wanted[0], name))
        err_prefix(e, "%s:%d: system.%s", s->file, s->system_line, key);
    return -(int)e->code;
}

static int read_files(const struct spec *s, int phase, struct source *src, struct system *sys, struct err *e)
{
    const struct phase *p = &s->phases[phase];
    if (top_read(sys, src, s->topology, p->defines, p->ndefines, e))
        return missing(s, src, "topology", s->topology, e);
    if (gro_read(sys, src, s->coordinates, e))
        return missing(s, src, "coordinates", s->coordinates, e);
    if (s->reference && gro_read_reference(sys, src, s->reference, e))
        return missing(s, src, "reference", s->reference, e);
    int rc = read_starts(s, src, sys, e);
    return rc ? missing(s, src, "window-coordinates", s->starts[sys->nstarts], e) : 0;
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
    if (rc && s->index)
        missing(s, src, "index", s->index, e);
    if (rc)
        system_close(sys);
    return rc;
}

/* ---- phases with systems of their own ---- */

static bool has_own_system(const struct phase *p)
{
    return p->own_defines || p->restraint_scale != 1;
}

/* As many as the coordinates have they are, both. */
static int same_atoms(const struct system *of, const struct system *sys, struct err *e)
{
    for (int i = 0; i < sys->natoms; i++) {
        const struct atom *a = &of->atoms[i], *b = &sys->atoms[i];
        if (strcmp(a->name, b->name) || strcmp(a->resname, b->resname) || a->molecule != b->molecule)
            return err_set(e, ERR_SPEC, "atom %d is %s %s; expected %s %s, as without them", i + 1, a->resname, a->name,
                           b->resname, b->name);
    }
    return 0;
}

static bool same_waters(const struct topology *a, const struct topology *b)
{
    bool same = a->nwaters == b->nwaters;
    for (int i = 0; i < a->nwaters && same; i++) {
        const struct rigid_water *w = &a->waters[i], *u = &b->waters[i];
        same = !memcmp(w->atom, u->atom, sizeof w->atom) && w->r_oh == u->r_oh && w->r_hh == u->r_hh;
    }
    return same;
}

static bool same_distances(const struct topology *a, const struct topology *b)
{
    return a->ndistances == b->ndistances &&
           !memcmp(a->distances, b->distances, (size_t)a->ndistances * sizeof *a->distances);
}

/* Where atoms move from one phase into another, what is rigid must be so in both. */
static int same_constraints(const struct spec *s, const struct system *of_phase, const struct topology *ours,
                            struct err *e)
{
    struct topology of = {0};
    int rc = topology_build(&of, of_phase, &s->settings, e);
    if (!rc && !(same_waters(&of, ours) && same_distances(&of, ours)))
        rc = err_set(e, ERR_SPEC, "other rigid waters or constraints than without them; that is for minimize only");
    topology_close(&of);
    return rc;
}

static bool phase_moves(const struct spec *s, int phase)
{
    bool moves = false;
    for (int i = 0; i < s->nstages; i++)
        moves |= s->stages[i].phase == phase && s->stages[i].kind != STAGE_MINIMIZE;
    return moves;
}

static int check_phase(const struct spec *s, int phase, struct source *src, const struct system *sys,
                       const struct topology *ours, struct err *e)
{
    struct system of = {0};
    int rc = spec_phase_system(s, phase, src, &of, e);
    if (!rc)
        rc = same_atoms(&of, sys, e);
    if (!rc && phase_moves(s, phase))
        rc = same_constraints(s, &of, ours, e);
    if (rc)
        err_prefix(e, "%s:%d: protocol%s", s->file, s->phases[phase].line,
                   s->phases[phase].own_defines ? ": with the stage's defines" : "");
    system_close(&of);
    return rc;
}

/* What is wrong without a stage's defines too is not blamed on them. */
static int check_phases(const struct spec *s, struct source *src, const struct system *sys, struct err *e)
{
    struct topology ours = {0};
    bool any = false;
    for (int p = 1; p < s->nphases; p++)
        any |= has_own_system(&s->phases[p]);
    int rc = any ? topology_build(&ours, sys, &s->settings, e) : 0;
    for (int p = 1; p < s->nphases && !rc; p++)
        rc = has_own_system(&s->phases[p]) ? check_phase(s, p, src, sys, &ours, e) : 0;
    topology_close(&ours);
    return rc;
}

/* Groups that the spec names have atoms. */
static int check_fold(const struct spec *s, struct source *src, const struct system *sys, struct err *e)
{
    struct fold_atoms atoms;
    int rc = fold_atoms_find(&atoms, s, src, sys, e);
    fold_atoms_close(&atoms);
    return rc ? missing(s, src, "index", s->index, e) : 0;
}

int spec_system(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    int rc = spec_phase_system(s, 0, src, sys, e);
    if (!rc)
        rc = check_decoupled(s, sys, e);
    if (!rc)
        rc = spec_check_b_states(s, sys, e);
    if (!rc)
        rc = check_b_states(s, sys, e);
    if (!rc)
        rc = check_cube(s, sys, e);
    if (!rc)
        rc = check_start_boxes(s, sys, e);
    if (!rc)
        rc = check_phases(s, src, sys, e);
    if (!rc)
        rc = check_fold(s, src, sys, e);
    if (rc)
        system_close(sys);
    return rc;
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

/* The topology says whether replicas can change windows. */
static int check_exchangeable(const struct spec *s, const struct system *sys, struct err *e)
{
    struct topology t = {0};
    int rc = topology_build(&t, sys, &s->settings, e);
    topology_close(&t);
    return rc ? err_prefix(e, "%s: exchange", s->file) : 0;
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
    return rc || !s->settings.exchange ? rc : check_exchangeable(s, sys, e);
}
