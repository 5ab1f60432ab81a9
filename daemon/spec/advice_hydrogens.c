/* SPDX-License-Identifier: Apache-2.0
 *
 * Of constraints: h-bonds, which goes by names as GROMACS does, where names and atoms disagree.
 */
#include "daemon/spec/advice_parts.h"

#define HYDROGEN_MOST 4.5 /* u, with the mass of heavy hydrogens */

/* By atomic number where the type has one, else by mass; of a virtual site as its name says. */
static bool is_light(const struct system *sys, const struct atom *a)
{
    int number = sys->type_numbers ? sys->type_numbers[a->type[0]] : 0;
    if (a->mass[0] == 0)
        return is_hydrogen(a);
    return number > 0 ? number == 1 : a->mass[0] < HYDROGEN_MOST;
}

/* The first bond whose atom is a hydrogen by its name alone (named) or by all but its name, and how many there are. */
static int find_misnamed(const struct system *sys, bool named, const struct bond **bond, int *which)
{
    int n = 0;
    for (int i = sys->nbonds - 1; i >= 0; i--) {
        const struct bond *b = &sys->bonds[i];
        const struct atom *a[2] = {&sys->atoms[b->atom[0]], &sys->atoms[b->atom[1]]};
        bool constrained = is_hydrogen(a[0]) || is_hydrogen(a[1]), light = is_light(sys, a[0]) || is_light(sys, a[1]);
        if (constrained != named || light == named || a[0]->mass[0] == 0 || a[1]->mass[0] == 0)
            continue;
        *bond = b;
        *which = named ? !is_hydrogen(a[0]) : !is_light(sys, a[0]);
        n++;
    }
    return n;
}

static void say(const struct advising *a, bool named)
{
    const struct bond *b = NULL;
    int which = 0, n = find_misnamed(a->sys, named, &b, &which);
    if (!n)
        return;
    const struct atom *of = &a->sys->atoms[b->atom[which]];
    advice_say(
        a, "constraints", 1,
        "constraints: h-bonds takes bonds of atoms whose names begin with H, as GROMACS does: %s has a mass of %.4g, "
        "and its bond %s-%s (atoms %d and %d of %s, molecule type %s) %s (%d such in all)",
        of->name, of->mass[0], a->sys->atoms[b->atom[0]].name, a->sys->atoms[b->atom[1]].name, b->atom[0] + 1,
        b->atom[1] + 1, of->resname, a->sys->kinds[a->sys->molecules[of->molecule].kind].name,
        named ? "becomes a constraint" : "stays a bond; expected a name with H, or all-bonds", n);
}

void advise_hydrogens(const struct advising *a)
{
    if (a->s->settings.constrain != CONSTRAIN_H_BONDS)
        return;
    say(a, false);
    say(a, true);
}
