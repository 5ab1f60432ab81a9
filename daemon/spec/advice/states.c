/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of parts of state B that do something else than their numbers suggest: lengths and force constants of
 * bonds that are constraints, and masses.
 */
#include "daemon/spec/advice/internal.h"

#include <string.h>

#include "engine/base/number.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/fixed_distances.h"

static void advise_lengths(const struct advising *a, const struct topology *t)
{
    const struct fixed_distance *d = topology_stretched(t, &a->s->settings);
    struct buf text = {0};
    if (!d)
        return;
    fixed_distance_describe(d, a->sys, &text);
    advice_say(
        a, "constraint", a->s->alchemy_line,
        "alchemy: a constraint changes its length along the ladder (%s): energies at windows with another length "
        "are known to first order only, so that MBAR and BAR will give no number and the estimate is TI's. "
        "Expected a bond in its place (constraints: none, or [ bonds ] for [ constraints ])",
        text.data);
    buf_free(&text);
}

/* Bonds that are constraints in every window. */
struct stiff {
    const struct advising *a;
    int count, atom[2]; /* of the first */
};

static void add_stiff(struct stiff *s, const int atom[2], bool same_length, bool same_strength)
{
    if (!same_length || same_strength || !fixed_distance_constrains(s->a->sys, atom, s->a->s->settings.constrain))
        return;
    for (int k = 0; k < 2 && !s->count; k++)
        s->atom[k] = atom[k];
    s->count++;
}

static void advise_strengths(const struct advising *a)
{
    struct stiff s = {.a = a};
    for (int i = 0; i < a->sys->nbonds; i++) {
        const struct bond *b = &a->sys->bonds[i];
        add_stiff(&s, b->atom, b->r0[0] == b->r0[1], b->k[0] == b->k[1]);
    }
    for (int i = 0; i < a->sys->nrare; i++) {
        const struct rare_term *r = &a->sys->rare[i];
        if (fixed_distance_has_length(r))
            add_stiff(&s, r->atom, r->c[0][0] == r->c[1][0], !memcmp(r->c[0], r->c[1], sizeof r->c[0]));
    }
    if (!s.count || !alchemy_moves(&a->s->settings.alchemy, LAMBDA_BONDED))
        return;
    const struct atom *one = &a->sys->atoms[s.atom[0]], *other = &a->sys->atoms[s.atom[1]];
    advice_say(a, "constraint", a->s->alchemy_line,
               "constraints: %d %s another force constant in state B and %s in every window, so that its change has no "
               "effect. The first: atoms %d (%s) and %d (%s) of molecule %s. Expected constraints: none, where this "
               "change is to count",
               s.count, number_word(s.count, "bond has", "bonds have"),
               number_word(s.count, "is a constraint", "are constraints"), s.atom[0] + 1, one->name, s.atom[1] + 1,
               other->name, a->sys->kinds[a->sys->molecules[one->molecule].kind].name);
}

static void advise_masses(const struct advising *a)
{
    int n = 0;
    for (int i = 0; i < a->sys->natoms && alchemy_moves(&a->s->settings.alchemy, LAMBDA_MASS); i++)
        n += a->sys->atoms[i].mass[0] != a->sys->atoms[i].mass[1];
    if (n)
        advice_say(a, "masses", a->s->alchemy_line,
                   "alchemy.windows.mass: %d %s another mass in state B. Free energies are without the kinetic part, "
                   "which cancels between legs, and configurations do not depend on masses: the ladder mass changes "
                   "how fast atoms move and no free energy. Expected no ladder of masses",
                   n, number_word(n, "atom has", "atoms have"));
}

void advise_states(const struct advising *a, const struct topology *t)
{
    if (a->s->settings.alchemy.kind == ALCHEMY_NONE)
        return;
    advise_lengths(a, t);
    advise_strengths(a);
    advise_masses(a);
}
