/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/spec.h"

#include <math.h>
#include <string.h>

#include "daemon/spec/phase.h"
#include "daemon/spec/sections/fold.h"
#include "daemon/spec/sections/reader.h"
#include "engine/math/box.h"
#include "engine/prepare/topology.h"

static int check_decoupled(const struct spec *s, const struct system *sys, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < s->settings.alchemy.ndecouple && !rc; k++)
        rc = spec_check_molecule(s, sys, "decouple", s->settings.alchemy.decouple[k].molecule, e);
    return rc;
}

/* A path from A to B needs a B. */
static int check_b_states(const struct spec *s, const struct system *sys, struct err *e)
{
    if (s->settings.alchemy.kind != ALCHEMY_B_STATES || spec_has_b_states(sys))
        return 0;
    return err_set(e, ERR_SPEC,
                   "%s:%d: alchemy.perturb: b-states: nothing in %s has a B state that differs from its A state",
                   s->file, s->alchemy_line, s->topology);
}

#define START_BOX_MOST 0.05 /* by which boxes of windows may differ */
#define CUBE 0.01           /* by which edges of a cube may differ, as much as the volume fluctuates */

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
    return rc ? spec_missing(s, src, "index", s->index, e) : 0;
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
