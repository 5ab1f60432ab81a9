/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice on constraints: h-bonds, which tells hydrogens by their names as GROMACS does, where names and atoms disagree.
 */
#include "daemon/spec/advice/internal.h"

#include "engine/system/lines.h"

#define HYDROGEN_MOST 4.5 /* u, with the mass of heavy hydrogens */

/* As the topology has it. */
static double mass_of(const struct system *sys, int atom)
{
    return sys->weights ? sys->weights[atom] : sys->atoms[atom].mass[0];
}

/* In both states, by mass and by atomic number where the type has one: the dummy of a carbon may have a quarter of its
 * mass. */
static bool is_light(const struct system *sys, int atom)
{
    const struct atom *a = &sys->atoms[atom];
    bool light = mass_of(sys, atom) < HYDROGEN_MOST && a->mass[1] < HYDROGEN_MOST;
    for (int k = 0; k < 2 && sys->type_numbers; k++)
        light &= sys->type_numbers[a->type[k]] <= 1;
    return light;
}

/* The first bond whose atom is a hydrogen by its name alone (named) or by all but its name, and how many there are. */
static int find_misnamed(const struct system *sys, bool named, const struct bond **bond, int *which)
{
    int n = 0;
    for (int i = sys->nbonds - 1; i >= 0; i--) {
        const int *atom = sys->bonds[i].atom;
        bool h[2], light[2], site = false;
        for (int k = 0; k < 2; k++) {
            h[k] = is_hydrogen(&sys->atoms[atom[k]]);
            light[k] = is_light(sys, atom[k]);
            site |= sys->atoms[atom[k]].mass[0] == 0;
        }
        if (site || (h[0] || h[1]) != named || (light[0] || light[1]) == named)
            continue;
        *bond = &sys->bonds[i];
        *which = named ? !h[0] : !light[0];
        n++;
    }
    return n;
}

static void say_bonds(const struct advising *a, bool named)
{
    const struct bond *b = NULL;
    int which = 0, n = find_misnamed(a->sys, named, &b, &which);
    if (!n)
        return;
    const struct atom *of = &a->sys->atoms[b->atom[which]];
    struct buf place = {0};
    system_line(a->sys, b->atom, 2, &place);
    advice_say(
        a, "constraints", 1,
        "constraints: h-bonds takes bonds of atoms whose names begin with H, as GROMACS does: %s has a mass of %.4g, "
        "and its bond %s-%s (atoms %d and %d of %s, molecule type %s%s%.200s) %s (%d such in all)",
        of->name, mass_of(a->sys, b->atom[which]), a->sys->atoms[b->atom[0]].name, a->sys->atoms[b->atom[1]].name,
        b->atom[0] + 1, b->atom[1] + 1, of->resname, a->sys->kinds[a->sys->molecules[of->molecule].kind].name,
        place.len ? ", " : "", place.len ? place.data : "",
        named ? "becomes a constraint" : "stays a bond; expected a name with H, or all-bonds", n);
    buf_free(&place);
}

void advise_hydrogens(const struct advising *a)
{
    if (a->s->settings.constrain != CONSTRAIN_H_BONDS)
        return;
    say_bonds(a, false);
    say_bonds(a, true);
}
