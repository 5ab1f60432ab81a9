/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule of GROMACS' mass-repartition-factor: an atom lighter than factor times the lightest gets that mass, and the
 * atom it is bonded to gives it. An atom whose mass changes has the larger in both states: no average over
 * configurations depends on it. Nor does any on what dummies weigh: an atom that is one in state A or in B takes
 * nothing from its partner, since a hybrid's carbon may have more hydrogens, of A, of B and of both, than it has mass
 * for.
 */
#include "engine/derive/masses.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/system/lines.h"
#include "engine/system/rare_kinds.h"

enum { UNBONDED = -1, SEVERAL = -2 };

static void join_one(int *partner, int a, int b)
{
    partner[a] = partner[a] == UNBONDED || partner[a] == b ? b : SEVERAL;
}

static void join(int *partner, const int atom[2])
{
    join_one(partner, atom[0], atom[1]);
    join_one(partner, atom[1], atom[0]);
}

/* The one atom that each is chemically bonded to. */
static int *find_partners(const struct system *sys)
{
    int *partner = xcalloc((size_t)sys->natoms, sizeof *partner);
    for (int i = 0; i < sys->natoms; i++)
        partner[i] = UNBONDED;
    for (int i = 0; i < sys->nbonds; i++)
        join(partner, sys->bonds[i].atom);
    for (int i = 0; i < sys->nconnections; i++)
        join(partner, sys->connections[i].atom);
    for (int i = 0; i < sys->nconstraints; i++)
        if (sys->constraints[i].bonded)
            join(partner, sys->constraints[i].atom);
    for (int i = 0; i < sys->nrare; i++)
        if (rare_is_bond(sys->rare[i].kind))
            join(partner, sys->rare[i].atom);
    for (int i = 0; i < sys->nsettles; i++)
        for (int k = 0; k < 2; k++)
            join(partner, (int[2]){sys->settles[i].oxygen, sys->settles[i].hydrogen[k]});
    return partner;
}

/* Atoms whose masses stay: those of rigid waters, where they are to. */
static bool *find_kept(const struct system *sys, const struct mass_settings *set)
{
    bool *kept = xcalloc((size_t)sys->natoms, sizeof *kept);
    for (int i = 0; i < sys->nsettles && set->keep_waters; i++)
        kept[sys->settles[i].oxygen] = kept[sys->settles[i].hydrogen[0]] = kept[sys->settles[i].hydrogen[1]] = true;
    return kept;
}

/* In one of the states. */
static bool is_dummy(const struct system *sys, int i)
{
    return system_is_dummy(sys, i, 0) != system_is_dummy(sys, i, 1);
}

/* Of atoms but dummies, which may have any mass. */
static double lightest_of(const struct system *sys)
{
    double lightest = INFINITY;
    for (int i = 0; i < sys->natoms; i++)
        if (sys->atoms[i].mass[0] > 0 && !is_dummy(sys, i))
            lightest = fmin(lightest, sys->atoms[i].mass[0]);
    return lightest;
}

/* Hybrids have dummies whose mass is that of no atom, such as 1 or a quarter of a carbon's. */
static void take_larger(struct atom *a)
{
    a->mass[0] = a->mass[1] = fmax(a->mass[0], a->mass[1]);
}

/* What the atom lacks comes from its partner, or of a dummy from nowhere. */
static int give(struct system *sys, int i, int partner, double least, struct err *e)
{
    struct atom *a = &sys->atoms[i];
    if (is_dummy(sys, i)) {
        a->mass[0] = a->mass[1] = least;
        return 0;
    }
    if (partner < 0) {
        err_set(e, ERR_TOPOLOGY, "atom %d (%s %s%d) has mass %g and %s: expected a bond to one atom that gives it %g",
                i + 1, a->name, a->resname, a->residue, a->mass[0], partner == SEVERAL ? "several bonds" : "no bond",
                least - a->mass[0]);
        return system_blame(sys, &i, 1, e);
    }
    struct atom *heavy = &sys->atoms[partner];
    heavy->mass[0] = heavy->mass[1] = heavy->mass[0] - (least - a->mass[0]);
    a->mass[0] = a->mass[1] = least;
    return 0;
}

int masses_repartition(struct system *sys, const struct mass_settings *set, struct err *e)
{
    if (set->repartition == 1)
        return 0;
    int *partner = find_partners(sys), rc = 0;
    bool *kept = find_kept(sys, set), *light = xcalloc((size_t)sys->natoms, sizeof *light);
    sys->weights = xcalloc((size_t)sys->natoms, sizeof *sys->weights);
    for (int i = 0; i < sys->natoms; i++) {
        sys->weights[i] = sys->atoms[i].mass[0];
        take_larger(&sys->atoms[i]);
    }
    const double least = set->repartition * lightest_of(sys);
    for (int i = 0; i < sys->natoms; i++)
        light[i] = !kept[i] && sys->atoms[i].mass[0] > 0 && sys->atoms[i].mass[0] < least;
    for (int i = 0; i < sys->natoms && !rc; i++)
        rc = light[i] ? give(sys, i, partner[i], least, e) : 0;
    for (int i = 0; i < sys->natoms && !rc; i++) {
        const struct atom *a = &sys->atoms[i];
        if (!kept[i] && a->mass[0] != 0 && a->mass[0] < least) {
            err_set(e, ERR_TOPOLOGY,
                    "atom %d (%s %s%d) would keep a mass of %g, less than its hydrogens' %g: expected a smaller factor",
                    i + 1, a->name, a->resname, a->residue, a->mass[0], least);
            rc = system_blame(sys, &i, 1, e);
        }
    }
    free(partner);
    free(kept);
    free(light);
    return rc;
}
